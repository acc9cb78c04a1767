from __future__ import annotations

import pytest

from browser import Browser


@pytest.fixture(scope="session")
def browser():
    with Browser() as opened:
        yield opened
