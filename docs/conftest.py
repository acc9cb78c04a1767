"""The examples of the pages run as doctests, each page in an empty folder of its own."""

from pathlib import Path

import pytest

# nothing to test in them
collect_ignore = ["conf.py", "conftest.py", "console.py"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
