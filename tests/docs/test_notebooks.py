"""The notebooks run, and show what they say they show."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import matplotlib as mpl
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("run", NOTEBOOKS / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv-to-report", "things-to-map", "evaluating-an-embedding"])
def test_a_notebook_shows_what_it_says(runner, name):
    mpl.use("Agg")
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert any(stored)
    for told, shown in zip(stored, runner.run(notebook), strict=True):
        assert runner.texts(told) == runner.texts(shown)
        for one, other in zip(told, shown, strict=True):
            assert set(one.get("data", ())) == set(other.get("data", ()))


def test_every_notebook_is_tested_and_listed():
    listed = (NOTEBOOKS.parent / "notebooks.md").read_text()
    files = sorted(file.name for file in NOTEBOOKS.glob("*.ipynb"))
    assert files == ["csv-to-report.ipynb", "evaluating-an-embedding.ipynb", "things-to-map.ipynb"]
    assert all(f"notebooks/{name}" in listed for name in files)
