"""`trilens columns`: the facts through a pipe, three questions in a terminal."""

from __future__ import annotations

import json

import pytest

from commandline import run
from trilens.cli import columns
from trilens.files import read_statements

ROWS = [("van", "bus", "car", "2"), ("bus", "ski", "van", "1"), ("ski", "car", "bus", "3")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.csv"
    lines = ["who,p,q,r,key", *(f"s{i % 2},{','.join(row)}" for i, row in enumerate(ROWS))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_facts_through_a_pipe(file):
    shown = run("columns", file).stdout
    assert "p       van, bus, ski" in shown
    assert "fill in --columns 'chosen=?,shown_1=?,shown_2=?,shown_3=?,rater=?'" in shown
    found = json.loads(run("columns", file, "--json").stdout)
    assert [each["name"] for each in found["columns"]] == ["who", "p", "q", "r", "key"]
    assert found["columns"][4] == {"name": "key", "values": ["2", "1", "3"], "holds": None}
    assert (found["option"], found["first"]) == (None, [])
    said = "chosen=key,shown_1=p,shown_2=q,shown_3=r,rater=who"
    found = json.loads(run("columns", file, "--columns", said, "--kind", "odd", "--json").stdout)
    assert found["first"][0] == ["bus", "van", "car"]
    assert found["raters"] == ["s0", "s1", "s0"]
    assert (
        f"keep: --columns {said} --kind odd"
        in run("columns", file, "--columns", said, "--kind", "odd").stdout
    )


def test_a_file_that_says_it_all(tmp_path):
    (tmp_path / "a.csv").write_text("odd,other_1,other_2,vp\na,b,c,1\n")
    shown = run("columns", tmp_path / "a.csv").stdout
    assert "the names of the columns suffice" in shown
    found = json.loads(run("columns", tmp_path / "a.csv", "--json").stdout)
    assert (found["kind"], found["first"]) == ("odd", [["a", "b", "c"]])
    assert [each["holds"] for each in found["columns"]] == ["odd", "other_1", "other_2", "rater"]


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ("odd\np,q,r\nkey\nwho\n", "chosen=key,shown_1=p,shown_2=q,shown_3=r,rater=who"),
        ("odd\n2, 3, 4\n9\n5\n\n", "chosen=key,shown_1=p,shown_2=q,shown_3=r"),
        ("closer\np,q,r\nr\n\n", "anchor=p,near=r,far=q"),
    ],
)
def test_three_questions_in_a_terminal(file, monkeypatch, answers, kept):
    monkeypatch.setattr(columns, "in_terminal", lambda: True)
    result = run("columns", file, stdin=answers)
    assert f"keep: --columns {kept}" in result.stdout
    assert "Which columns were shown" in result.stderr
    kind = answers.split("\n")[0]
    assert len(read_statements(file, columns=kept, kind=None if kind == "closer" else kind)) == 3


def test_bad_files_get_one_line(tmp_path):
    assert "no such file" in run("columns", tmp_path / "none.csv", status=1).stderr
