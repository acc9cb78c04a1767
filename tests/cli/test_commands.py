"""Every command, on the paper's cars by counting, and on small studies with a map."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from carlabels import car_classes
from commandline import facts, run
from trilens import analysis  # noqa: F401  (registers every question)
from trilens.ask import QUESTIONS
from trilens.cli import COMMANDS, GROUPS, options
from trilens.files import write_statements
from trilens.questions.classify.classes import METHODS
from trilens.simulate import gaussian, mixture, simulate_statements


@pytest.fixture(scope="module")
def t_all(cars):
    return cars / "ordinal_data_preprocessed" / "T_ALL.csv"


@pytest.fixture(scope="module")
def classes(cars, tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "classes.csv"
    rows = [f"{name},{label}" for name, label in car_classes(cars).items() if label != "outlier"]
    path.write_text("\n".join(["object,label", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """Answers about three groups of objects, their fit, and the groups as labels."""
    folder = tmp_path_factory.mktemp("groups")
    drawn = mixture(18, [[0, 0], [9, 0], [0, 9]], random_state=1)
    S = simulate_statements(drawn.points, 450, random_state=2)
    write_statements(S, folder / "answers.csv")
    run("fit", folder / "answers.csv", "-o", folder / "study.fit")
    rows = [f"{i},{'abc'[label]}" for i, label in enumerate(drawn.labels)]
    (folder / "labels.csv").write_text("\n".join(["object,label", *rows]) + "\n")
    return folder


def test_help():
    listed = run("--help").stdout
    places = [listed.index(f"\n{title}:") for title in GROUPS]
    assert places == sorted(places)
    assert "..." not in listed.partition("Analyze:")[2], "whole sentences"
    for name in COMMANDS:
        assert f"  {name} " in listed
        assert f"Example: trilens {name}" in run(name, "--help").stdout
    # options for reading files are shown when asked for
    for command in ([], ["medoid"]):
        short, whole = run(*command, "--help").stdout, run(*command, "--help-all").stdout
        assert "--help-all" in short
        for flag in ("--columns", "--encoding", "--min-seconds"):
            assert flag not in short
            assert flag in whole
    plan = run("plan", "--help").stdout
    assert "Reading FILE" not in plan
    assert "--kind" in plan
    said = " ".join(run("graph", "--help").stdout.split())
    assert "two objects are neighbors when fewer than K others lie in their lens" in said
    assert "_TRILENS_COMPLETE" in run("completion", "bash").stdout
    assert "no such command: mediod; did you mean medoid?" in run("mediod", status=2).stderr
    assert "trilens --help lists them" in run("xyzzy", status=2).stderr


def test_convert_and_reduce(t_all, tmp_path):
    run("convert", t_all, tmp_path / "t.parquet", "--to", "closer")
    described = facts("describe", tmp_path / "t.parquet")
    assert (described["kind"], described["statements"]) == ("closer", 2 * 6757)
    # the output is an argument or, as elsewhere, an option
    assert facts("reduce", t_all, "-o", tmp_path / "r.csv")["statements"] == 6056
    assert facts("describe", tmp_path / "r.csv")["repeated_triples"] == 0
    for command in ("convert", "reduce"):
        assert "name the file to write" in run(command, t_all, status=2).stderr
        both = run(command, t_all, tmp_path / "1.csv", "-o", tmp_path / "2.csv", status=2)
        assert "two outputs" in both.stderr


def test_the_commands_offer_every_method():
    for name in ("medoid", "outliers", "embed", "cluster"):
        assert set(options.METHODS[name]) == set(QUESTIONS[name].methods)
    assert options.METHODS["classify"] == METHODS


def test_describe(t_all, cars, tmp_path):
    found = facts("describe", t_all)
    assert found["statements"] == 6757
    assert found["appearances"] == {"min": 292, "mean": 337.85, "max": 478}
    assert found["triples_possible"] == 34220
    assert found["coverage_percent"] == pytest.approx(19.745, abs=0.01)
    assert found["median_seconds"] is None
    survey = run("describe", cars / "survey_data.csv").stdout
    assert "4.02 s" in survey
    assert "146" in survey
    file = tmp_path / "a.csv"
    rows = [f"a,b,c,{who}" for who in (10, 9, "x", 1)]
    file.write_text("\n".join(["odd,other_1,other_2,rater", *rows]) + "\n")
    assert [each["rater"] for each in facts("describe", file)["raters"]] == ["1", "9", "10", "x"]


def test_depth_is_the_share_of_being_chosen(t_all, groups, tmp_path):
    found = facts("depth", t_all)
    rows = np.loadtxt(t_all, delimiter=",", dtype=int)
    chosen, seen = (rows[:, 0] == 44).sum(), (rows == 44).any(axis=1).sum()
    assert found["depth"]["44"] == chosen / seen
    assert found["appearances"]["44"] == seen
    assert run("depth", t_all).stdout.splitlines()[1].startswith("44 ")
    file = groups / "answers.csv"
    local = facts("depth", file, "--local", 0.2)
    S = tl.read_statements(file)
    assert list(local["local_depth"].values()) == tl.local_depth(S, 0.2).tolist()
    assert local["share"] == 0.2
    assert run("depth", file, "--local", 0.2).stdout.startswith("object  local")
    run("depth", file, "--local", 2, status=2)
    # a list of objects fixes their order and adds unseen ones; names cannot write to the terminal
    (tmp_path / "a.csv").write_text("\x1b[31mred,a,c\n", encoding="utf-8")
    (tmp_path / "objects.txt").write_text("a\n\x1b[31mred\nc\nunseen\n")
    line = ("depth", tmp_path / "a.csv", "--objects", tmp_path / "objects.txt")
    assert list(facts(*line)["depth"].values()) == [0.0, 1.0, 0.0, 0.0]
    assert "\x1b" not in run(*line).stdout


def test_medoid_of_all_and_of_each_class(t_all, classes, groups):
    by_counting = run("medoid", "-", "--labels", classes, "--method", "depth", "--json",
                      stdin=t_all.read_text())  # fmt: skip
    assert '"medoid": "44"' in by_counting.stdout
    found = facts("medoid", groups / "study.fit", "--labels", groups / "labels.csv")
    assert set(found["per_class"]) == {"a", "b", "c"}
    assert found["per_class"]["a"]["statements"] < 100


def test_the_medoid_of_a_class_with_few_statements_cannot_be_told(groups, tmp_path):
    header, *rows = (groups / "labels.csv").read_text().splitlines()
    # what the command for groups writes beside an object that stands apart is no class
    rows[0] = f"{rows[0].split(',')[0]},unassigned"
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join([header, *rows]) + "\n")
    few = tmp_path / "few.csv"
    few.write_text("\n".join((groups / "answers.csv").read_text().splitlines()[:151]) + "\n")
    done = run("medoid", few, "--labels", labels)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["class", "all", "a", "b", "c"]
    first, how, others, method, *_ = done.stderr.splitlines()
    assert first.startswith("the most central object of classes a, b and c cannot be told")
    assert how == "a, b, c: counted from the statements within the class alone"
    assert others.startswith("all: could also be the most central")
    assert method.startswith("all: method: choice")


@pytest.mark.slow
def test_the_page_says_it_of_classes_too(groups, tmp_path):
    few, page = tmp_path / "few.csv", tmp_path / "page.html"
    few.write_text("\n".join((groups / "answers.csv").read_text().splitlines()[:151]) + "\n")
    run("analyze", few, "--labels", groups / "labels.csv", "-o", page)
    said = page.read_text()
    assert "The most central object of classes a, b and c cannot be told" in said
    assert "of a, " not in said


def test_outliers(t_all, groups):
    found = facts("outliers", t_all, "--n", 4, "--method", "depth")
    assert [o["object"] for o in found["outliers"]] == ["48", "53", "21", "23"]
    share = ("--contamination", 0.1, "--method", "depth")
    assert len(facts("outliers", groups / "answers.csv", *share)["outliers"]) == 2
    default = facts("outliers", groups / "study.fit")
    assert default["method"] == "choice"
    assert len(default["outliers"]) == default["suggested"]
    run("outliers", t_all, "--n", 1, "--contamination", 0.1, status=2)
    assert "--n" in run("outliers", t_all, "--n", 0, status=2).stderr


@pytest.mark.parametrize("method", ["depth", "krng", "lensmap"])
def test_classify(t_all, cars, tmp_path, method):
    truth = car_classes(cars)
    held_out = ["2", "6", "15", "19", "1", "3"]
    path = tmp_path / "some.csv"
    rows = [f"{n},{c}" for n, c in truth.items() if c != "outlier" and n not in held_out]
    path.write_text("\n".join(["object,label", *rows]))
    found = facts("classify", t_all, "--labels", path, "--method", method)
    assert set(found["labels"]) == {*held_out, "21", "23", "30", "53"}
    assert sum(found["labels"][name] == truth[name] for name in held_out) >= 4
    assert found["method"] == method
    assert found["parameters"]
    alone = ("classify", t_all, "--labels", path, "--method", method, "--alone", "random")
    if method == "krng":
        assert set(facts(*alone)["labels"]) == set(found["labels"])
    else:
        assert "--alone is for the method krng" in run(*alone, status=1).stderr


def test_cluster(t_all, classes):
    options = ("--n-clusters", 3, "--labels", classes, "--method", "krng")
    found = facts("cluster", t_all, *options, "-k", 10, "--sigma", 0.5)
    assert len(found["clusters"]) == 60
    assert set(found["clusters"].values()) == {0, 1, 2}
    assert found["purity"] > 0.6
    assert found["parameters"]["k"] == 10


def test_graph(groups, tmp_path):
    answers = groups / "answers.csv"
    files = [tmp_path / f"graph.{ending}" for ending in ("csv", "graphml", "npz")]
    (edges,) = {facts("graph", answers, "-k", 5, "-o", file)["edges"] for file in files}
    table, graphml, arrays = files
    header, *rows = table.read_text().splitlines()
    assert header.replace('"', "") == "source,target,weight"
    assert len(rows) == graphml.read_text().count("<edge ") == len(np.load(arrays)["source"])
    assert len(rows) == edges > 18


def test_medoid_and_cluster_say_that_nothing_stands_out(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["central,other_1,other_2"]
    rows += [",".join(f"o{i}" for i in rng.choice(30, 3, replace=False)) for _ in range(400)]
    file = tmp_path / "guesses.csv"
    file.write_text("\n".join(rows) + "\n")
    told = run("medoid", file).stderr
    assert told.startswith("These answers cannot be distinguished from guessing: ")
    assert "could be the most central" not in told
    counted = run("medoid", file, "--method", "depth").stderr
    assert "could be the most central (95% confidence)" in counted
    assert facts("medoid", file, "--method", "depth")["stands_out"] is False
    assert "error_rate" not in run("cluster", file).stderr


def test_cluster_says_whether_there_are_groups(groups, tmp_path):
    cloud = tmp_path / "cloud.csv"
    write_statements(simulate_statements(gaussian(12).points, 200, random_state=2), cloud)
    for file, said in ((groups / "study.fit", "groups: p = 0.0"), (cloud, "No line")):
        assert said in run("cluster", file, "-o", tmp_path / "groups.csv").stderr
