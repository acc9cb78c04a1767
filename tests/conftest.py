from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("trilens", deadline=None, derandomize=True)
settings.load_profile("trilens")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public data sets: `make test` sets TRILENS_DATA where they lie beside the checkout."""
    if not os.environ.get("TRILENS_DATA"):
        from trilens.datasets import fetch_all

        return fetch_all()
    return Path(os.environ["TRILENS_DATA"])


@pytest.fixture(scope="session")
def cars(data_dir: Path) -> Path:
    return data_dir / "cars"
