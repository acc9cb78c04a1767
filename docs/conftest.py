"""The examples of the pages run as doctests, each page in an empty folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

DOCS = Path(__file__).parent

# nothing to test in them
collect_ignore = [
    "conf.py",
    "conftest.py",
    "console.py",
    "pictures.py",
    "planning_example.py",
    "gallery",
    "plots",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The pages run whole studies: they are checked with what is slow."""
    for item in items:
        if item.path.is_relative_to(DOCS) and item.path.suffix == ".md":
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
