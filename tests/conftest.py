from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public data sets: `make test` sets TRILENS_DATA, or fills the cache."""
    return Path(os.environ["TRILENS_DATA"])
