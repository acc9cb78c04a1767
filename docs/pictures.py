"""The pictures of the report on these pages: ``python docs/pictures.py`` draws them again.

Needs the extra ``test`` (Chromium by selenium) and the car survey (`trilens.datasets`).
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

import trilens as tl

IMAGES = Path(__file__).parent / "images"


def _report(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "trilens", *map(str, arguments)], check=True)


def _shot(page: Path, **names: str) -> None:
    """Parts of the first screen of a page, each by its selector, as pictures of these names."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 1200, "height": 800, "deviceScaleFactor": 1.5, "mobile": False},
    )
    browser.get(page.as_uri())
    for name, selector in names.items():
        box = browser.find_element(By.CSS_SELECTOR, selector).rect
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": box | {"scale": 1}})
        picture = Image.open(BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
        small = picture.quantize(256, dither=Image.Dither.NONE)
        small.save(IMAGES / f"report-{name}.png", optimize=True)
    browser.quit()


def cars(folder: Path) -> None:
    """The first screen of the report on the car survey."""
    data = tl.datasets.load_cars()
    answers = folder / "cars.csv"
    tl.write_statements(data.survey, answers)
    pictures = Path(next(iter(data.pictures.values()))).parent
    title = ["--title", "Sixty cars"]
    _report("analyze", answers, "--images", pictures, "-o", folder / "cars.html", *title)
    _shot(folder / "cars.html", cars="body .first")


def shapes(folder: Path) -> None:
    """The first screen of the report of `trilens demo`, and its map."""
    _report("demo", "-o", folder / "demo")
    _shot(folder / "demo" / "report.html", shapes="body .first", map="figure.map")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        cars(Path(made))
        shapes(Path(made))
