"""What is printed says what it is, once, and agrees with what other commands print."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trilens as tl
from commandline import run


@pytest.fixture(scope="module")
def guesses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No header, no kind and no raters."""
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("guesses") / "guesses.csv"
    rows = np.array([rng.permutation(14)[:3] for _ in range(400)])
    np.savetxt(file, rows, fmt="%d", delimiter=",")
    return file


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("shapes") / "shapes.csv"
    tl.write_statements(tl.simulate.study(20, 600, n_raters=8, random_state=1).statements, file)
    return file


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("command", ["analyze", "reliability"])
def test_a_caution_is_said_once(command: str, quiet: bool, guesses: Path, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "page.html"]
    said = run(command, guesses, *out, *["--quiet"] * quiet).stderr
    assert said.count("kind central is assumed") == 1
    assert said.count("No column names the person") == 1


def test_guesses_are_called_guesses(guesses: Path) -> None:
    done = run("reliability", guesses, "--kind", "central").stdout
    first = "These answers cannot be distinguished from guessing."
    assert done.splitlines()[0] == first
    found = tl.reliability(tl.Answers(guesses, kind="central"))
    assert repr(found).splitlines() == [
        f"Reliability: {first}",
        "  (no rows; .to_frame(), .to_dict())",
    ]
    assert "could not be distinguished from guessing" in found.methods
    assert "error rate" not in found.methods
    # nobody knows whether two raters gave them
    assert "two answers agree" in done
    assert "raters agree" not in done


def test_without_raters_nobody_is_said_to_agree(guesses: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.csv"
    rows = np.random.default_rng(1).normal(size=(14, 2)).tolist()
    model.write_text("object,x,y\n" + "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(rows)))
    said = run("evaluate", guesses, "--embedding", model, "--kind", "central", "--no-align").stderr
    assert "how often two answers agree" in said


def test_a_doubted_kind_is_predicted_on_a_plane(tmp_path: Path) -> None:
    """The report predicts by a map of as many dimensions as fit, and gives another number."""
    X = np.random.default_rng(0).normal(size=(14, 2))
    S = tl.simulate_statements(X, 300, kind="odd", random_state=0)
    np.savetxt(tmp_path / "odd.csv", S.triples, fmt="%d", delimiter=",")
    for command in ("depth", "medoid", "outliers", "structure", "describe", "reliability"):
        first, *others = run(command, tmp_path / "odd.csv").stderr.splitlines()
        assert "On a plane, three quarters of the answers predict the rest as kind odd" in first
        assert not any("fit kind odd" in line for line in others)
    (first,) = run("depth", tmp_path / "odd.csv", "--quiet").stderr.splitlines()[:1]
    assert "the answers fit kind odd" in first


def test_on_a_ring_nobody_is_the_least_central(tmp_path: Path) -> None:
    turn = np.arange(24) * 2 * np.pi / 24
    points = np.c_[np.cos(turn), np.sin(turn)]
    S = tl.simulate_statements(points, 3000, kind="odd", sampling="replacement", random_state=0)
    tl.write_statements(S, tmp_path / "ring.csv")
    said = run("outliers", tmp_path / "ring.csv").stderr
    assert "on a ring no object is the least central" in said
    assert "least central:" not in said
    # and of few objects none has more neighbors than there are others
    points = np.random.default_rng(0).normal(size=(8, 2))
    S = tl.simulate_statements(points, 300, kind="odd", sampling="replacement", random_state=0)
    tl.write_statements(S, tmp_path / "few.csv")
    assert ", k 7," in run("cluster", tmp_path / "few.csv").stderr


def test_a_fit_says_what_its_command_says(shapes: Path, tmp_path: Path) -> None:
    said = run("fit", shapes, "-o", tmp_path / "shapes.fit").stderr
    rate = next(line for line in said.splitlines() if "go against the map" in line).split("; ")[1]
    assert repr(tl.load(tmp_path / "shapes.fit")).splitlines()[0].endswith(f"; {rate}")
    # which error rate to report, and which depth it is, is said where each is printed
    assert "report that of trilens reliability" in said
    assert "report this error rate" in run("reliability", shapes).stderr
    assert "shares of these answers" in run("depth", shapes).stderr
    assert "depth is estimated for all questions" in run("medoid", shapes).stderr
    rows = [[0, 1, 2], [3, 1, 2], [4, 0, 5]]
    few = repr(tl.fit(tl.Statements(rows, 6, kind="central"))).splitlines()[0]
    assert "Little can be concluded from these answers" in few


def test_results_begin_with_what_was_found(shapes: Path) -> None:
    F = tl.fit(shapes)
    for found, said in (
        (tl.reliability(F), "A map of some answers predicts "),
        (tl.cluster(F), "The objects form three groups, "),
        (tl.cluster(F, 2), "2 groups, as requested"),
    ):
        first, _ = repr(found).splitlines()
        assert first.startswith(f"{type(found).__name__}: {said}")
