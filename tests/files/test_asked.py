"""What a file does not say is asked at the command line, and the answer is a way to read it."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

import trilens as tl
from commandline import facts, run
from trilens.cli.options import _report_reading
from trilens.errors import FormatError
from trilens.files import read_statements

HEADER = ["odd", "other_1", "other_2"]


@pytest.fixture
def asked(tmp_path):
    """A file of sixty answers, the last object of three being the odd one, and more columns."""

    def write(more=(), copies=1, extra=()):
        rng = np.random.default_rng(0)
        names = ["van", "bus", "car", "ski", "tram", "bike", "boat", "jet"]
        rows = [[*rng.permutation(names)[:3], *(of(i) for _, of in more)] for i in range(60)]
        with open(tmp_path / "a.csv", "w", newline="") as file:
            header = [*HEADER, *(name for name, _ in more)]
            csv.writer(file).writerows([header, *rows * copies, *extra])
        return tmp_path / "a.csv"

    return write


def test_raters_that_are_not_known_are_asked_for(asked, tmp_path):
    file = asked([("id", lambda i: f"p{i // 6}"), ("nr", lambda i: i)])
    said = "No column names the person. If one does, add --columns rater=COLUMN"
    assert said in run("describe", file).stderr
    assert said in run("medoid", file, "--method", "depth").stderr
    assert said not in run("medoid", file, "--method", "depth", "--quiet").stderr
    assert "names the person" not in run("describe", file, "--columns", "rater=id").stderr
    assert tl.reliability(tl.Answers(file)).cautions[0].code == "raters"
    run("analyze", file, "-o", tmp_path / "report.html")
    assert "No column names the person" in (tmp_path / "report.html").read_text()


def test_columns_that_mark_rows_are_named(asked):
    file = asked([("rater", lambda i: "x"), ("phase", lambda i: "main" if i % 3 else "practice")])
    assert "--where 'phase = main'" in run("describe", file).stderr
    assert "divides" not in run("describe", file, "--where", "phase = main").stderr
    assert len(tl.Answers(file, where="phase = main").read()) == 40


def test_a_sampler_of_another_tool(asked):
    file = asked([("alg_label", lambda i: "InfoGain" if i % 3 else "RandomSampling")])
    remedy = "--columns reason=alg_label --reason-random RandomSampling"
    assert remedy in run("describe", file).stderr
    told = facts("describe", file, *remedy.split())
    assert (told["statements"], told["chosen"]) == (60, 40)
    with pytest.raises(FormatError, match="no row has 'random' as the reason"):
        read_statements(file, columns="reason=alg_label", reason_random="random")


def test_a_file_that_was_read_twice_is_named(asked):
    file = asked(copies=2)
    said = "How often each row occurs is a multiple of 2."
    assert said in run("describe", file).stderr
    for data in (tl.Answers(file), tl.read_statements(file)):
        whats = [each.what for each in tl.reliability(data).cautions]
        assert whats.count(said) == 1


def test_describe_tells_the_checks(asked):
    file = asked(extra=[["van", "bus", "bus"]])
    assert "1 row shows an object twice" in run("describe", file).stdout
    assert facts("describe", file)["reading"]["checks"] == 1


def test_columns_that_are_asked_for_are_not_unused(asked, capsys):
    file = asked([("rater", lambda i: i % 6), ("expertise", lambda i: i % 2), ("age", lambda i: 7)])
    assert tl.Answers(file, where="expertise = 1").reading.left_out == ("age",)
    answers = tl.Answers(file)
    answers.read()
    _report_reading(answers, quiet=False, reported=True, by="expertise")
    assert "unused: age" in capsys.readouterr().err


def test_raters_whose_names_have_commas(tmp_path):
    (tmp_path / "a.csv").write_text(
        'odd,other_1,other_2,rater\na,b,c,"Müller, Jörg"\nb,c,d,x\nc,d,a,y\n'
    )
    for given in (['"Müller, Jörg",x'], ['"Müller, Jörg"', "x"]):
        options = [word for name in given for word in ("--exclude-raters", name)]
        found = facts("describe", tmp_path / "a.csv", *options)
        assert [each["rater"] for each in found["raters"]] == ["y"]


def test_a_wide_table_in_memory_and_on_the_command_line(tmp_path):
    wide, design = tmp_path / "wide.csv", tmp_path / "questions.csv"
    wide.write_text("ResponseId,Q1,q2\nR1,bus,ski\nR2,car,\n")
    design.write_text("id,a,b,c\nQ1,van,bus,car\nQ2,ski,van,bus\n")
    S = tl.Answers(pd.read_csv(wide), kind="odd", questions=pd.read_csv(design)).read()
    assert list(S) == list(read_statements(wide, kind="odd", questions=design))
    found = facts("describe", wide, "--questions", design, "--kind", "odd")
    assert found["statements"] == len(S) == 3
    only = tl.Answers(wide, kind="odd", questions=design, where="question_id = Q2")
    assert [row[0] for row in only.read()] == ["ski"]
