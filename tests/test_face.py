"""The public face: what `dir(trilens)` shows, and where it comes from."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import trilens as tl


def names_of_the_stub() -> list[str]:
    stub = Path(tl.__file__).with_suffix(".pyi")
    imports = [x for x in ast.parse(stub.read_text()).body if isinstance(x, ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


def test_dir_shows_the_names_of_the_stub_and_each_can_be_had():
    names = names_of_the_stub()
    assert len(names) == len(set(names)) > 40
    assert sorted(dir(tl)) == sorted(tl.__all__) == sorted(names)
    assert all(getattr(tl, name) is not None for name in names)
    assert tl.__version__


def test_rooms_are_there_from_the_start():
    # in a process of its own: here other tests have imported the rooms
    code = "import trilens as tl; tl.counts.count_pairs, tl.depth.lens_depth, tl.maps.SOE"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_classifier_on_a_map_keeps_its_old_name():
    assert tl.LensMapClassifier is tl.MapClassifier
