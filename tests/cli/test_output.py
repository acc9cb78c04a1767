"""Tables that the next command reads; what is printed says what it is, once."""

from __future__ import annotations

import json
import os
import pty
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest

import trilens as tl
from commandline import facts, run
from trilens.cli.output import print_table
from trilens.statements import Statements

#: Any method will do where the point is what becomes of the table; this one is quick.
THREE_GROUPS = ("--n-clusters", 3, "--method", "lensmap")
NAMES = ["pear, ripe", 'the "best" fig', "nut", "كرز", "apple"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    drawn = tl.simulate.mixture(24, means=[[0, 0], [8, 0], [0, 8]], random_state=0)
    S = tl.simulate_statements(drawn, 1800, random_state=1)
    names = [*NAMES, *(f"object {i}" for i in range(5, 24))]
    path = tmp_path_factory.mktemp("output") / "answers.csv"
    raters = [f"rater {i % 3}" for i in range(1800)]
    tl.write_statements(Statements(S.triples, names=names, raters=raters, kind="central"), path)
    return path


def read(path):
    if path.suffix == ".json":
        return pd.DataFrame(json.loads(path.read_text()))
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")


#: The columns of each table, and how many rows it has.
TABLES = {
    "medoid --method depth": (["class", "medoid", "depth", "statements"], 1),
    "outliers --n 3 --method depth": (["object", "depth", "score"], 3),
    "depth": (["object", "depth", "from", "to", "statements"], 24),
    "cluster --n-clusters 3 --method lensmap": (["object", "label"], 24),
    "describe": (["rater", "statements", "median_seconds", "agreement"], 3),
    "embed --method lensmap": (["object", "x1", "x2"], 24),
}


@pytest.mark.parametrize("line", TABLES)
def test_every_table_can_be_written(file, tmp_path, line):
    columns, rows = TABLES[line]
    command, *options = line.split()
    # of one command in every format, of the others in one
    for ending in ("csv", "tsv", "json", "parquet") if line == "depth" else ("csv",):
        out = tmp_path / f"out.{ending}"
        said = run(command, file, *options, "-o", out)
        table = read(out)
        assert list(table.columns) == columns
        assert len(table) == rows
        assert "wrote" in said.stderr
        if "object" in columns and rows == 24:
            assert set(NAMES) <= set(table["object"])
    # before the work
    refused = run(command, file, "-o", tmp_path / "out.xlsx", status=2).stderr
    assert ".csv, .tsv, .json, .parquet" in refused


@pytest.mark.slow
def test_groups_are_labels_for_the_next_command(file, tmp_path):
    groups = tmp_path / "groups.csv"
    run("cluster", file, *THREE_GROUPS, "-o", groups)
    labels = read(groups)["label"]
    assert sorted(set(labels)) == [1, 2, 3]
    found = facts("medoid", file, "--labels", groups, "--method", "depth")
    assert set(found["per_class"]) == {"1", "2", "3"}
    assert facts("cluster", file, *THREE_GROUPS, "--labels", groups)["purity"] == 1.0
    printed = run("cluster", file, *THREE_GROUPS).stdout.splitlines()
    assert [line.split()[0] for line in printed] == ["group", "1", "2", "3"]
    some = tmp_path / "some.csv"
    rows = groups.read_text().splitlines()
    some.write_text("\n".join([rows[0], *rows[3:]]) + "\n")
    every = tmp_path / "every.csv"
    run("classify", file, "--labels", some, "--method", "lensmap", "-o", every)
    found = read(every)
    assert found["predicted"].sum() == 2
    assert found["label"].tolist() == labels.tolist()
    run("medoid", file, "--labels", every, "--method", "depth")


def test_what_is_printed(file, tmp_path):
    listed = run("cluster", file, "--n-clusters", 1, "--method", "lensmap").stdout
    assert '"pear, ripe"' in listed
    assert '"the ""best"" fig"' in listed
    few = run("medoid", file, "--method", "depth").stderr
    assert "could also be the most central (95% confidence): " in few
    said = run("embed", file, "--method", "lensmap", "--dim", 1, "-o", tmp_path / "x.csv").stderr
    assert "1 dimension:" in said
    assert "1 connected part:" in run("graph", file, "-o", tmp_path / "g.csv").stderr


def test_a_terminal_shows_a_ruled_table_without_markup():
    main, end = pty.openpty()
    with os.fdopen(end, "w") as terminal, redirect_stdout(terminal):
        print_table(["a", "b"], [("[red]x", 1.5)])
        terminal.flush()
        shown = os.read(main, 10_000).decode()
    os.close(main)
    assert "───" in shown
    assert "[red]x" in shown
    assert "1.500" in shown


def test_a_table_on_standard_output_is_alone_there(file):
    quick = ("--method", "depth")
    for command in (["depth"], ["outliers", "--n", 2, *quick], ["medoid", "--json", *quick]):
        out = run(command[0], file, *command[1:], "-o", "-").stdout
        assert out.splitlines()[0].startswith('"')
        assert "{" not in out
        assert "method" not in out


def test_messages_speak_of_options(tmp_path):
    path = tmp_path / "closer.csv"
    S = tl.simulate_statements([[0.0], [1.0], [3.0], [7.0]], kind="closer", random_state=0)
    tl.write_statements(S, path)
    said = run("graph", path, "--method", "krng", "-o", tmp_path / "g.csv", status=1).stderr
    assert "--method lensmap" in said
    assert "method=" not in said
    for command in ("medoid", "outliers", "depth"):
        run(command, path)


@pytest.fixture(scope="module")
def guesses(tmp_path_factory):
    """No header, no kind and no raters."""
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("guesses") / "guesses.csv"
    rows = np.array([rng.permutation(14)[:3] for _ in range(400)])
    np.savetxt(file, rows, fmt="%d", delimiter=",")
    return file


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    file = tmp_path_factory.mktemp("shapes") / "shapes.csv"
    tl.write_statements(tl.simulate.study(20, 600, n_raters=8, random_state=1).statements, file)
    return file


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("command", ["analyze", "reliability"])
def test_a_caution_is_said_once(command, quiet, guesses, tmp_path):
    out = ["-o", tmp_path / "page.html"]
    said = run(command, guesses, *out, *["--quiet"] * quiet).stderr
    assert said.count("kind central is assumed") == 1
    assert said.count("No column names the person") == 1


def test_guesses_are_called_guesses(guesses):
    done = run("reliability", guesses, "--kind", "central").stdout
    first = (
        "These answers cannot be distinguished from guessing: there are too few of them, or people "
        "guessed."
    )
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


def test_without_raters_nobody_is_said_to_agree(guesses, tmp_path):
    model = tmp_path / "model.csv"
    rows = np.random.default_rng(1).normal(size=(14, 2)).tolist()
    model.write_text("object,x,y\n" + "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(rows)))
    said = run("evaluate", guesses, "--embedding", model, "--kind", "central", "--no-align").stderr
    assert "how often two answers agree" in said


def test_a_doubted_kind_is_predicted_on_a_plane(tmp_path):
    """The report predicts by a map of as many dimensions as fit, and gives another number."""
    X = np.random.default_rng(0).normal(size=(14, 2))
    S = tl.simulate_statements(X, 300, kind="odd", random_state=0)
    np.savetxt(tmp_path / "odd.csv", S.triples, fmt="%d", delimiter=",")
    for command in ("depth", "medoid", "structure", "reliability"):
        first, *others = run(command, tmp_path / "odd.csv").stderr.splitlines()
        assert "On a plane, three quarters of the answers predict the rest as kind odd" in first
        assert not any("fit kind odd" in line for line in others)
    (first,) = run("depth", tmp_path / "odd.csv", "--quiet").stderr.splitlines()[:1]
    assert "the answers fit kind odd" in first


def test_on_a_ring_nobody_is_the_least_central(tmp_path):
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


def test_a_fit_says_what_its_command_says(shapes, tmp_path):
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


def test_results_begin_with_what_was_found(shapes):
    F = tl.fit(shapes)
    for found, said in (
        (tl.reliability(F), "A map of some answers predicts "),
        (tl.cluster(F), "The objects form three groups, "),
        (tl.cluster(F, 2), "2 groups, as requested"),
    ):
        first, _ = repr(found).splitlines()
        assert first.startswith(f"{type(found).__name__}: {said}")
