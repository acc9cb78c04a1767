from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import trilens
from tiny_experiment import TINY
from trilens_paper.framework import fingerprint as module
from trilens_paper.framework.fingerprint import fingerprint
from trilens_paper.registry import EXPERIMENTS

PACKAGES = Path(trilens.__file__).parents[1]


@pytest.fixture
def with_changes(tmp_path: Path) -> Callable[..., str]:
    """The fingerprint of a copy of the package in which some texts of some files are others."""

    def changed(*changes: tuple[str, str, str]) -> str:
        copy = tmp_path / "copy"
        shutil.copytree(PACKAGES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for file, old, new in changes:
            text = (copy / file).read_text(encoding="utf-8")
            assert old in text
            (copy / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        return fingerprint(TINY.measure, copy)

    return changed


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        pytest.param("trilens/simulate/answers.py", "1", "2", marks=pytest.mark.slow),
        pytest.param("trilens/maps/lens_map.py", "_MORE = 8", "_MORE = 9", marks=pytest.mark.slow),
        ("trilens_paper/ingredients/methods.py", "times: int = 5", "times: int = 6"),
        pytest.param(
            "trilens_paper/framework/experiment.py", "2**31", "2**30", marks=pytest.mark.slow
        ),
    ],
)
def test_code_that_measures_counts(
    file: str, old: str, new: str, with_changes: Callable[..., str]
) -> None:
    assert with_changes((file, old, new)) != fingerprint(TINY.measure)


def test_all_else_does_not(with_changes: Callable[..., str]) -> None:
    found = with_changes(
        ("trilens/simulate/answers.py", '"""', '"""Other words. '),
        ("trilens/simulate/answers.py", "import numpy as np", "import numpy as np  # a comment"),
        ("trilens/__init__.py", '__version__ = "', '__version__ = "9.'),
        ("trilens_paper/command.py", "experiments", "studies"),
        ("trilens/plots/style.py", "#0072B2", "#000000"),
        ("trilens_paper/paper.py", "354.85", "354.86"),
        ("trilens_paper/recovery.py", "N_POINTS = 100", "N_POINTS = 101"),
    )
    assert found == fingerprint(TINY.measure)


def test_experiments_of_other_files_differ() -> None:
    found = {name: fingerprint(e.measure) for name, e in EXPERIMENTS.items()}
    assert found["recovery"] != found["speed"]
    assert found["outliers-gauss"] == found["outliers-usps"]


def test_versions_of_the_libraries_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(TINY.measure)
    module._of_package.cache_clear()
    monkeypatch.setattr(module, "version", lambda name: "0.0")
    try:
        assert fingerprint(TINY.measure) != before
    finally:
        module._of_package.cache_clear()
