from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("trilens", deadline=None, derandomize=True)
settings.load_profile("trilens")


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
def cars(data_dir: Path) -> Path:
    return data_dir / "cars"
