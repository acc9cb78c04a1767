from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from browser import Browser

#: What takes longest begins first: otherwise one worker is left with it when the others are done.
LONGEST = (
    *("test_outliers", "test_ask", "test_page_in_browser", "test_in_browser"),
    *("test_commands", "test_choice_map", "test_laplace", "test_medoid", "test_clustering"),
)

settings.register_profile("trilens", deadline=None, derandomize=True)
settings.load_profile("trilens")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in LONGEST)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public data sets, in TRILENS_DATA; without it the loaders download them."""
    if os.environ.get("TRILENS_DATA"):
        return Path(os.environ["TRILENS_DATA"])
    from trilens import datasets
    from trilens.datasets.fetch import cache_folder

    for load in (datasets.load_cars, datasets.load_usps, datasets.load_ca_hepth):
        load()
    datasets.load_things_odd_one_out()
    return cache_folder()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One for all tests of a worker."""
    from browser import Browser

    with Browser() as opened:
        yield opened


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """Chromium, with nothing left of what the tests before it have seen."""
    chromium.console()
    chromium.requests()
    return chromium


@pytest.fixture(scope="session")
def cars(data_dir: Path) -> Path:
    return data_dir / "cars"
