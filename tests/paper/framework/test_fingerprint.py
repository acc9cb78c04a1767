from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import trilens
from tiny_experiment import TINY
from trilens_paper.framework import fingerprint as module
from trilens_paper.framework.fingerprint import fingerprint
from trilens_paper.registry import EXPERIMENTS

PACKAGES = Path(trilens.__file__).parents[1]
Change = tuple[str, str, str]


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """New folders, one after another."""
    return (tmp_path / str(i) for i in range(9))


def changes_it(folders: Iterator[Path], change: Change) -> bool:
    """Whether the fingerprint is another when a text in a file is another.

    The package has this file alone: to read all of it would take longer than all else here.
    """
    file, old, new = change
    text = (PACKAGES / file).read_text(encoding="utf-8")
    assert old in text
    found = set()
    for content in (text, text.replace(old, new, 1)):
        folder = next(folders)
        copy = folder / file
        copy.parent.mkdir(parents=True)
        copy.write_text(content, encoding="utf-8")
        found.add(fingerprint(TINY.measure, folder))
    return len(found) == 2


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (("trilens/simulate/answers.py", "1", "2"), True),
        (("trilens/maps/lens_map.py", "_MORE = 8", "_MORE = 9"), True),
        (("trilens_paper/ingredients/methods.py", "times: int = 5", "times: int = 6"), True),
        (("trilens_paper/framework/experiment.py", "2**31", "2**30"), True),
        (("trilens/simulate/answers.py", '"""', '"""Other words. '), False),
        (("trilens/simulate/answers.py", "import numpy as np", "import numpy as np  # so"), False),
        (("trilens/__init__.py", '__version__ = "', '__version__ = "9.'), False),
        (("trilens_paper/command.py", "experiments", "studies"), False),
        (("trilens/plots/style.py", "#0072B2", "#000000"), False),
        (("trilens_paper/paper.py", "354.85", "354.86"), False),
        (("trilens_paper/recovery.py", "N_POINTS = 100", "N_POINTS = 101"), False),
    ],
)
def test_code_that_measures_counts_and_all_else_does_not(
    change: Change, counts: bool, folders: Iterator[Path]
) -> None:
    assert changes_it(folders, change) == counts


def test_the_measuring_file_counts_and_its_neighbors_do_not(folders: Iterator[Path]) -> None:
    empty = next(folders)
    found = {name: fingerprint(e.measure, empty) for name, e in EXPERIMENTS.items()}
    assert found["recovery"] != found["speed"]
    assert found["outliers-gauss"] == found["outliers-usps"]


def test_versions_of_the_libraries_count(
    folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(TINY.measure, next(folders))
    monkeypatch.setattr(module, "version", lambda name: "0.0")
    assert fingerprint(TINY.measure, next(folders)) != before
