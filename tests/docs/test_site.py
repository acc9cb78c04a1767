"""The site can be built: every link leads somewhere, every picture is drawn, every page fits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path, browser):
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("plots"))
    for file in ("README.md", "CHANGELOG.md", "deploy", "benchmarks", "src"):
        (tmp_path / file).symlink_to(DOCS.parent / file)
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "site"],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    site = tmp_path / "site"
    assert "<math" in (site / "science.html").read_text()
    assert (site / "notebooks" / "things-to-map.html").exists()
    pictures = {picture.name for picture in (site / "_images").glob("sphx_glr_plot_*_001.png")}
    scripts = {f"sphx_glr_{script.stem}_001.png" for script in DOCS.glob("gallery/plot_*.py")}
    assert scripts
    assert scripts <= pictures
    assert "copybutton" in (site / "index.html").read_text()
    assert too_wide(browser, site, 1200) == []
    assert too_wide(browser, site, 390) == []


def too_wide(browser, site: Path, width: int) -> list[str]:
    """The pages that scroll sideways in a window of this width."""
    browser.resize(width)
    found = []
    for page in (*site.glob("*.html"), *site.glob("questions/*.html")):
        browser.open(page)
        if browser.run("return document.scrollingElement.scrollWidth") > width:
            found.append(page.name)
    browser.console()  # what these pages miss without a network is none of other tests' matter
    browser.requests()
    return found
