"""The examples of the pages run as doctests, each page in an empty folder of its own."""

from pathlib import Path

import pytest

# Sphinx's own files: nothing to test, and Sphinx need not be there
collect_ignore = ["conf.py"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
