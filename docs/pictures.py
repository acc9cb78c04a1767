"""The pictures of the report on these pages, drawn anew: ``python docs/pictures.py``.

Needs the extra ``test`` (Chromium by selenium) and the car survey (`trilens.datasets`).
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

import trilens as tl

IMAGES = Path(__file__).parent / "images"
PAPER, GAP = "#fbfaf7", 28


def _report(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "trilens", *map(str, arguments)], check=True)


def _browser(page: Path) -> Any:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options)
    browser.set_window_size(1000, 1400)
    browser.get(page.as_uri())
    return browser


def _shot(browser: Any, first: str, last: str | None = None) -> Image.Image:
    """The page from the first of these elements to the last."""
    boxes = [browser.find_element(By.CSS_SELECTOR, each).rect for each in (first, last or first)]
    left, top = min(box["x"] for box in boxes), boxes[0]["y"]
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = boxes[-1]["y"] + boxes[-1]["height"]
    clip = {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": 1}
    taken = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    return Image.open(BytesIO(base64.b64decode(taken["data"]))).convert("RGB")


def _above(*parts: Image.Image) -> Image.Image:
    """Pictures of one width, one above the other."""
    width = parts[0].width
    scaled = [part.resize((width, round(part.height * width / part.width))) for part in parts]
    whole = Image.new(
        "RGB", (width, sum(p.height for p in scaled) + GAP * (len(scaled) - 1)), PAPER
    )
    at = 0
    for part in scaled:
        whole.paste(part, (0, at))
        at += part.height + GAP
    return whole


def _beside(left: Image.Image, right: Image.Image) -> Image.Image:
    height = max(left.height, right.height) + 2 * GAP
    whole = Image.new("RGB", (left.width + right.width + 3 * GAP, height), PAPER)
    whole.paste(left, (GAP, GAP))
    whole.paste(right, (left.width + 2 * GAP, GAP))
    return whole


def _save(picture: Image.Image, name: str) -> None:
    picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)


def cars(folder: Path) -> None:
    """What the report finds in the car survey: the most central, the outliers, the map."""
    data = tl.datasets.load_cars()
    answers = folder / "cars.csv"
    tl.write_statements(data.survey, answers)
    pictures = Path(next(iter(data.pictures.values()))).parent
    _report("analyze", answers, "--images", pictures, "-o", folder / "cars.html")
    browser = _browser(folder / "cars.html")
    medoid = _shot(browser, "#medoid h2", "#medoid .rungs")
    outliers = _shot(browser, "#outliers h2", "#outliers .finding")
    apart = _shot(browser, "#outliers .cards")
    places = _shot(browser, "#map .map-area")
    browser.quit()
    _save(_beside(medoid, _above(outliers, apart, places)), "report-cars.png")


def shapes(folder: Path) -> None:
    """The report of `trilens demo`: its top, and its map."""
    _report("demo", "-o", folder / "demo")
    browser = _browser(folder / "demo" / "report.html")
    title = _shot(browser, "header h1", "header .finding")
    _save(_above(title, _shot(browser, "header nav")), "report-shapes.png")
    _save(_shot(browser, "#map h2", "#map .map"), "report-map.png")
    browser.quit()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        cars(Path(made))
        shapes(Path(made))
