"""The public face: what `dir(trilens)` shows, and where it comes from."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import trilens as tl
from trilens.cli import trilens


def names_of_the_stub() -> list[str]:
    stub = Path(tl.__file__).with_suffix(".pyi")
    imports = [x for x in ast.parse(stub.read_text()).body if isinstance(x, ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


def test_dir_shows_the_names_of_the_stub_and_each_can_be_had():
    names = names_of_the_stub()
    assert len(names) == len(set(names)) > 40
    rooms = {"analysis", "counts", "files", "lens", "maps", "questions", "report", "statements"}
    assert sorted(dir(tl)) == sorted(tl.__all__) == sorted(set(names) - rooms)
    assert all(getattr(tl, name) is not None for name in names)
    assert tl.__version__


def test_rooms_are_there_from_the_start():
    # in a process of its own: here other tests have imported the rooms
    code = "import trilens as tl; tl.counts.count_pairs, tl.lens.lens_depth, tl.maps.SOE"
    subprocess.run([sys.executable, "-c", code], check=True)


def public_parameters(name: str) -> list[tuple[str, inspect.Parameter]]:
    """Every public function, class and method that has the parameter, and the parameter."""
    found: dict[int, list[tuple[str, Any]]] = {}
    for called in tl.__all__:
        value = getattr(tl, called)
        members = {called: value}
        if inspect.ismodule(value):
            members = {f"{called}.{x}": getattr(value, x) for x in getattr(value, "__all__", ())}
        for path, member in members.items():
            methods = inspect.getmembers(member, callable) if inspect.isclass(member) else []
            own = [(f"{path}.{x}", m) for x, m in methods if not x.startswith(("_", "set_"))]
            found.setdefault(id(member), [(path, member), *own])
    shown = []
    for path, member in (each for several in found.values() for each in several):
        try:
            parameters = inspect.signature(member).parameters
        except (TypeError, ValueError):
            continue
        if callable(member) and name in parameters:
            shown.append((path, parameters[name]))
    return shown


def test_what_has_one_name_means_the_same_everywhere() -> None:
    states = public_parameters("random_state")
    assert len(states) > 40
    assert {where: p.default for where, p in states if p.default != 0} == {}
    assert {where: p.annotation for where, p in states if p.annotation != "RandomState"} == {}
    # fields of results are what they are; the methods of a map of one kind have none
    kinds = public_parameters("kind")
    assert len(kinds) > 10
    assert {where: p.annotation for where, p in kinds if not p.annotation.startswith("Kind")} == {}
    progress = public_parameters("progress")
    assert len(progress) > 15
    by_name = inspect.Parameter.KEYWORD_ONLY
    assert [w for w, p in progress if p.kind is not by_name or p.default is not None] == []
    assert {p.annotation for _, p in progress} == {"Progress | None"}
    # of what is fitted it belongs to the fitting, so that a clone has none
    assert {where for where, _ in progress} & estimators() == set()


def test_the_number_of_dimensions_has_one_name_and_two_options() -> None:
    for other in ("dim", "dims", "n_dim", "n_dims", "ndim", "n_dimensions", "n_features"):
        assert public_parameters(other) == []
    assert len(public_parameters("n_components")) > 8
    context = click.Context(trilens)
    commands = [trilens.get_command(context, name) for name in trilens.list_commands(context)]
    options = [p.opts for command in commands for p in getattr(command, "params", ())]
    both = [opts for opts in options if "--dim" in opts]
    assert len(both) > 3
    assert all("--n-components" in opts for opts in both)


def estimators() -> set[str]:
    return {name for name in names_of_the_stub() if hasattr(getattr(tl, name), "fit")}


def test_estimators_have_jobs_and_functions_threads() -> None:
    assert {w for w, _ in public_parameters("n_threads")} & estimators() == set()
    assert {w for w, _ in public_parameters("n_jobs")} <= estimators()
    assert {w for w, _ in public_parameters("n_jobs")} >= {"ChoiceMap", "SOE", "LensDepth"}
    S = tl.simulate_statements(np.arange(8.0)[:, None], 30)
    one, every = (tl.SOE(1, n_jobs=n).fit(S).embedding_ for n in (1, -1))
    assert one.tolist() == every.tolist()
    with pytest.raises(tl.errors.ParameterError, match=r"n_jobs is 0; .* or -1 for every core"):
        tl.ChoiceMap(1, n_jobs=0).fit(S)


@pytest.mark.slow
def test_types_see_misspelt_parameters_and_attributes(tmp_path: Path) -> None:
    lines = (
        "import trilens as tl",
        "tl.ChoiceMap(n_components=2).embedding_",
        "tl.ChoiceMap(n_componets=2)",
        "tl.ChoiceMap().emebdding_",
        "tl.MapClassifier().transducton_",
        "tl.KRNGClustering(2).lables_",
        "tl.LensDepthOutlierDetector(contaminaton=0.1)",
    )
    (tmp_path / "misspelt.py").write_text("\n".join(lines) + "\n")
    # as `make lint` does it, so that what it learned of the package is known already
    done = subprocess.run(
        [sys.executable, "-m", "mypy", str(tmp_path / "misspelt.py")],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"MYPYPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert told == ["3", "4", "5", "6", "7"], done.stdout
