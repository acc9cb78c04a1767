"""Studies as labs have them, each read by one call."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pandas as pd
import pyreadstat
import pytest

import trilens as tl
from commandline import facts
from trilens.cli.options import _report_reading
from trilens.errors import FormatError
from trilens.files import Reading, read_statements

QUESTIONS = "id,a,b,c\nQ1,van,bus,car\nQ2,ski,van,bus\n"


def written(path, *rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue())
    return path


@pytest.fixture
def design(tmp_path):
    path = tmp_path / "design" / "questions.csv"
    path.parent.mkdir()
    path.write_text(QUESTIONS)
    return path


def test_a_wide_table_in_memory_and_on_the_command_line(tmp_path, design):
    rows = [["R1", "bus", "ski"], ["R2", "car", ""]]
    file = written(tmp_path / "wide.csv", ["ResponseId", "Q1", "q2"], *rows)
    S = tl.Answers(pd.read_csv(file), kind="odd", questions=pd.read_csv(design)).read()
    assert list(S) == list(read_statements(file, kind="odd", questions=design))
    found = facts("describe", file, "--questions", design, "--kind", "odd")
    assert found["statements"] == len(S) == 3


def test_spss(tmp_path):
    labels = {
        "Q1": {1.0: "van", 2.0: "bus", 3.0: "car"},
        "Q2": {1.0: "ski", 2.0: "van", 3.0: "bus"},
    }
    frame = pd.DataFrame({"id": ["r1", "r2"], "Q1": [2.0, 3.0], "Q2": [1.0, None]})
    path = tmp_path / "study.sav"
    titles = {"Q1": "Which is odd? [van, bus, car]", "Q2": "Which is odd? [ski, van, bus]"}
    pyreadstat.write_sav(frame, str(path), column_labels=titles, variable_value_labels=labels)
    S = read_statements(path, kind="odd")
    assert [row[0] for row in S] == ["bus", "ski", "car"]
    assert S.raters.tolist() == ["r1", "r1", "r2"]
    with zipfile.ZipFile(tmp_path / "study.zip", "w") as archive:
        archive.write(path, "study.sav")
    assert list(read_statements(tmp_path / "study.zip", kind="odd")) == list(S)
    path.write_bytes(b"$FL2 nothing")
    with pytest.raises(FormatError, match="SPSS"):
        read_statements(path)


def test_what_lies_beside_the_answers_is_named(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for name in ("P1.csv", "P2.csv"):
        (folder / name).write_text("odd,other_1,other_2\na,b,c\n")
    (folder / "notes.docx").write_text("x")
    (folder / "pictures").mkdir()
    told: list[Reading] = []
    S = read_statements(folder, rater_from_name=True, tell=told.append)
    assert S.raters.tolist() == ["P1", "P2"]
    assert "not read: notes.docx, pictures/" in told[0].notes
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for name in ("P1.csv", "P2.csv"):
            archive.write(folder / name, f"data/{name}")
        archive.writestr("data/a.jpg", b"x")
    T = read_statements(tmp_path / "p.zip", rater_from_name=True, tell=told.append)
    assert T == S
    assert "not read: data/a.jpg" in told[1].notes
    (tmp_path / "keys.json").write_text(
        json.dumps(
            {"people": [{"id": 1}], "trials": [{"odd": "a", "other_1": "b", "other_2": "c"}]}
        )
    )
    read_statements(tmp_path / "keys.json", tell=told.append)
    assert "not read: people" in told[2].notes
    assert len(read_statements(f"{tmp_path / 'keys.json'}::trials")) == 1
    with pytest.raises(FormatError, match=r"no key tri; the keys are people, trials"):
        read_statements(f"{tmp_path / 'keys.json'}::tri")


def test_a_streamed_rater_is_the_name_of_the_file(tmp_path):
    from trilens.counts.partition import Plan, each_batch, partitions

    for name in ("P1", "P2"):
        (tmp_path / f"{name}.csv").write_text("odd,other_1,other_2\n0,1,2\n")
    plan = Plan.of(rater_from_name=True)
    from dataclasses import replace

    plan = replace(plan, n_objects=3)
    who = [
        batch[2].tolist()
        for part in partitions(tmp_path, True)
        for batch in each_batch(part, plan, raters=True)
    ]
    assert who == [["P1"], ["P2"]]


def test_an_unfolded_file_is_counted_and_scanned_as_it_is_read(tmp_path, design):
    rows = [["R" + str(i), "bus", "ski"] for i in range(30)]
    file = written(tmp_path / "wide.csv", ["ResponseId", "Q1", "Q2"], *rows)
    answers = tl.Answers(file, kind="odd", questions=design)
    assert answers.count().statements == len(answers.read()) == 60
    assert sum(len(part) for part in answers.scan(chunk_rows=7)) == 60
    only = tl.Answers(file, kind="odd", questions=design, where="question_id = Q2")
    assert [row[0] for row in only.read()] == ["ski"] * 30


def test_a_column_that_is_asked_for_is_not_unused(tmp_path, capsys):
    header = ["odd", "other_1", "other_2", "expertise", "age"]
    file = written(tmp_path / "a.csv", header, ["a", "b", "c", "x", "7"], ["b", "a", "c", "y", "8"])
    assert tl.Answers(file, where="expertise = x").reading.left_out == ("age",)
    answers = tl.Answers(file)
    answers.read()
    _report_reading(answers, quiet=False, reported=True, by="expertise")
    assert "unused: age" in capsys.readouterr().err
