"""A question has one answer: the report says what the commands say."""

from __future__ import annotations

import numpy as np
import pytest

from commandline import facts
from trilens.files import write_statements, write_table
from trilens.simulate import gaussian, mixture, simulate_statements, study
from trilens.statements import Statements


def _noise() -> Statements:
    triples = np.random.default_rng(3).permuted(np.tile(np.arange(20), (600, 1)), axis=1)[:, :3]
    return Statements(triples, n_objects=20, kind="odd")


def _disconnected() -> Statements:
    one, two = (simulate_statements(gaussian(9, random_state=i), 80) for i in range(2))
    return Statements(np.concatenate([one.triples, two.triples + 9]), n_objects=18, kind="central")


def _closer() -> Statements:
    drawn = mixture(18, [[0, 0], [7, 0]], random_state=0)
    return simulate_statements(drawn, 900, kind="closer", random_state=1)


#: The first has few objects; the others take a minute together.
COLLECTIONS = {
    "disconnected": _disconnected,
    "study": lambda: study(n_objects=30, n_statements=1500, n_raters=15).statements,
    "closer": _closer,
    "noise": _noise,
}


def _labels(names: tuple[str, ...]) -> dict[str, list[str]]:
    shown = [name for i, name in enumerate(names) if i % 3]
    return {"object": shown, "label": [f"class {i % 2}" for i in range(len(shown))]}


def _check(file, labels, folder, seed):
    whole = facts("analyze", file, "--labels", labels, "--seed", seed)
    given = ("--labels", labels, "--seed", seed)
    described = facts("describe", file)
    assert described.pop("reading")["files"] == [str(file)]  # how the file was read; no finding
    assert whole["describe"] == described
    assert whole["reliability"] == facts("reliability", file, "--seed", seed)
    assert whole["medoid"] == facts("medoid", file, *given)
    assert whole["outliers"] == facts("outliers", file, "--seed", seed)
    assert whole["cluster"] == facts("cluster", file, *given)
    assert whole["classify"] == facts("classify", file, *given)
    assert whole["graph"] == facts("graph", file, "-o", folder / "edges.csv", "--seed", seed)


@pytest.mark.parametrize(
    "name",
    ["disconnected", *(pytest.param(n, marks=pytest.mark.slow) for n in list(COLLECTIONS)[1:])],
)
def test_the_report_and_the_commands_say_the_same(name, tmp_path):
    S = COLLECTIONS[name]()
    write_statements(S, tmp_path / "answers.csv")
    write_table(_labels(S.names), tmp_path / "labels.csv")
    _check(tmp_path / "answers.csv", tmp_path / "labels.csv", tmp_path, 3)


@pytest.mark.slow
def test_the_report_and_the_commands_say_the_same_of_the_cars(cars, tmp_path):
    file = cars / "ordinal_data_preprocessed" / "T_ALL_REDUCED.csv"
    write_table(_labels(tuple(str(i) for i in range(1, 61))), tmp_path / "labels.csv")
    _check(file, tmp_path / "labels.csv", tmp_path, 0)
    whole = facts("analyze", file, "--n-clusters", 4)
    assert whole["cluster"] == facts("cluster", file, "--n-clusters", 4)
    assert whole["classify"] is None
