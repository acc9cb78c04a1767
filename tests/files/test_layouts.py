"""Studies as labs have them, each read by one call."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import pandas as pd
import pyreadstat
import pytest

import trilens as tl
from commandline import run
from trilens.cli.options import _report_reading
from trilens.errors import FormatError, TrilensError
from trilens.files import Reading, read_statements

QUESTIONS = "id,a,b,c\nQ1,van,bus,car\nQ2,ski,van,bus\n"
ASKED = [("bus", "van", "car"), ("ski", "van", "bus")]


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


def sets(S):
    """The chosen object, and the others in any order."""
    return [(row[0], *sorted(row[1:])) for row in S]


def test_wide_with_a_table_of_questions(tmp_path, design):
    file = written(
        tmp_path / "wide.csv",
        ["ResponseId", "Q1", "q2", "Q2_RT", "Q1_RT"],
        ["R1", "bus", "ski", "2.5", "1.5"],
        ["R2", "car", "", "", "1"],
    )
    told: list[Reading] = []
    S = read_statements(file, kind="odd", questions=design, tell=told.append)
    assert sets(S) == [("bus", "car", "van"), ("ski", "bus", "van"), ("car", "bus", "van")]
    assert S.raters.tolist() == ["R1", "R1", "R2"]
    assert S.seconds.tolist() == [1.5, 2.5, 1.0]
    assert "cells without an answer (empty or -99) skipped: 1" in str(told[0])
    assert "raters from ResponseId" in str(told[0])
    frame = pd.read_csv(file)
    assert sets(tl.Answers(frame, kind="odd", questions=pd.read_csv(design)).read()) == sets(S)
    found = json.loads(
        run("describe", file, "--questions", design, "--kind", "odd", "--json").stdout
    )
    assert found["statements"] == 3


@pytest.mark.parametrize("n_header", [1, 2, 3])
def test_wide_with_several_rows_of_header(tmp_path, design, n_header):
    header = [
        ["StartDate", "ResponseId", "Q1", "Q2"],
        ["Start Date", "Response ID", "Which is the odd one?", "Which is the odd one?"],
        ['{"ImportId":"s"}', '{"ImportId":"r"}', '{"ImportId":"QID1"}', '{"ImportId":"QID2"}'],
    ]
    file = written(
        tmp_path / "w.csv", *header[:n_header], ["1", "R1", "2", "1"], ["1", "R2", "3", "1"]
    )
    S = read_statements(file, kind="odd", questions=design)
    assert [row[0] for row in S] == ["bus", "ski", "car", "ski"]
    assert S.raters.tolist() == ["R1", "R1", "R2", "R2"]


@pytest.mark.parametrize(
    "asked",
    [
        ["Which does not belong? [red, white, and blue, van, car]", "Which? [ski, van, bus]"],
        ["Is van more like bus or car?", "Is ski more like van or bus?"],
    ],
)
def test_questions_of_a_form_are_no_objects(tmp_path, asked):
    rows = [["2025/03/01 9:00:00 AM", "van", "ski"], ["2025/03/01 9:01:00 AM", "car", "van"]]
    for n in (1, 2):
        file = written(tmp_path / "form.csv", ["Timestamp", *asked], *rows[:n])
        with pytest.raises(TrilensError, match="looks like a header"):
            read_statements(file, kind="odd")
    file = written(tmp_path / "plain.csv", ["Who?", "Why?", "How?"], ["How?", "Who?", "Where?"])
    assert len(read_statements(file, kind="odd")) == 2


def test_a_rater_or_an_answer_is_no_id_of_a_question(tmp_path):
    design = tmp_path / "numbered.csv"
    design.write_text("id,a,b,c\n1,van,bus,car\n2,ski,van,bus\n")
    for ids in (("1", "2"), ("01", "02")):
        rows = [["1", ids[0], "2"], ["1", ids[1], "1"], ["2", ids[1], "3"]]
        file = written(tmp_path / "l.csv", ["subject", "trial", "response"], *rows)
        S = read_statements(file, kind="odd", questions=design)
        assert [row[0] for row in S] == ["bus", "ski", "bus"]
        assert S.raters.tolist() == ["1", "1", "2"]


@pytest.mark.parametrize("cell", ["1,200", "12?", "n=12", "2.5"])
def test_a_number_of_answers_that_is_none_is_refused(tmp_path, cell):
    header = ["odd", "other_1", "other_2", "n_answers"]
    rows = [["van", "bus", "car", "40"], ["bus", "ski", "car", cell], ["ski", "bus", "van", cell]]
    file = written(tmp_path / "n.csv", header, *rows)
    with pytest.raises(TrilensError, match=rf"row 3: '{re.escape(cell)}' is no number of answers"):
        read_statements(file)


def test_answers_with_the_id_of_a_question(tmp_path, design):
    file = written(
        tmp_path / "l.csv", ["who", "question", "answer"], ["1", "Q2", "A"], ["2", "Q1", "C"]
    )
    S = read_statements(file, kind="odd", questions=design, columns="rater=who")
    assert [row[0] for row in S] == ["ski", "car"]
    assert S.questions is None  # that is for questions about more than three objects
    file = written(tmp_path / "l.csv", ["trial", "answer"], ["Q2", "A"], ["Q9", "C"], ["Q1", "B"])
    with pytest.raises(TrilensError, match=r"row 3: there is no question 'Q9' in .*questions.csv"):
        read_statements(file, kind="odd", questions=design)
    assert len(read_statements(file, kind="odd", questions=design, skip_bad=True)) == 2
    anchored = tmp_path / "design" / "anchored.csv"
    anchored.write_text("id,anchor,a,b\nQ1,van,bus,car\nQ2,ski,van,bus\n")
    file = written(tmp_path / "l.csv", ["trial", "answer"], ["Q2", "1"], ["Q1", "2"])
    assert list(read_statements(file, questions=anchored)) == [
        ("ski", "van", "bus"),
        ("van", "car", "bus"),
    ]


@pytest.mark.parametrize(
    ("design", "problem"),
    [
        ("a,b\n1,2\n", "a table of questions has the columns id, a, b, c"),
        ("id,a,b,c\nQ1,x,y,\n", "row 2: an empty cell"),
        ("id,a,b,c\nQ1,x,y,x\n", "an object comes twice in question 'Q1'"),
        ("id,a,b,c\nQ1,x,y,z\nQ1,x,y,w\n", "the id 'Q1' comes twice"),
        ("id,a,b,c\n", "no questions, only a header"),
        ("id,a,b,c\nK1,x,y,z\n", "no column is called like a question"),
    ],
)
def test_tables_of_questions_that_are_none(tmp_path, design, problem):
    path = tmp_path / "q.csv"
    path.write_text(design)
    file = written(tmp_path / "wide.csv", ["who", "Q1", "Q2"], ["1", "bus", "ski"])
    with pytest.raises(FormatError, match=problem):
        read_statements(file, kind="odd", questions=path)


def test_answers_of_a_wide_file_that_are_codes(tmp_path, design):
    header = ["ResponseId", "Q1", "Q2"]
    told: list[Reading] = []
    file = written(
        tmp_path / "w.csv", header, ["R1", "2", "-99"], ["R2", "3", "1"], ["R3", "", "2"]
    )
    S = read_statements(file, kind="odd", questions=design, tell=told.append)
    assert S.raters.tolist() == ["R1", "R2", "R2", "R3"]
    assert told[0].left_out == ()  # the raters are from ResponseId
    assert "cells without an answer (empty or -99) skipped: 2" in told[0].notes
    for cells in (("4", "5", "6"), ("Image 1", "Image 2", "Image 3")):
        rows = [[f"R{i}", cell, cell] for i, cell in enumerate(cells * 2)]
        file = written(tmp_path / "w.csv", header, *rows)
        listed = ", ".join(f"'{cell}'" for cell in cells)
        with pytest.raises(FormatError, match=f"the answers in column Q1 are {listed}; they must"):
            read_statements(file, kind="odd", questions=design)
    file = written(tmp_path / "w.csv", ["ResponseId", "Q1", "Q2", "Q3"], ["R1", "2", "1", "3"])
    with pytest.raises(FormatError, match=r"if each column is a question, .* with questions="):
        read_statements(file, kind="odd")


def test_answers_that_are_keys_are_named(tmp_path):
    rows = [["a", "b", "c", letter] for letter in "jkl" * 4]
    file = written(tmp_path / "keys.csv", ["image1", "image2", "image3", "resp"], *rows)
    problem = r"the answers are j, k, l, .* \(a, b, c\); recode .* 1, 2, 3 or left, middle, right"
    with pytest.raises(TrilensError, match=problem):
        read_statements(file, kind="odd", columns="chosen=resp")


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
    from trilens.counts.partition import Plan, each_batch, partitions, rater_keys

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
    assert who == [rater_keys(["P1"]).tolist(), rater_keys(["P2"]).tolist()]


def test_jspsych_without_being_told(tmp_path):
    more = {"trial_type": "html-button-response", "time_elapsed": 9, "subject": "s"}
    html = "<p>Odd?</p><img src=\"i/van.jpg\"><img src='i/bus.jpg'><img width=9 src=i/car.jpg>"
    trials = [
        {"stimulus": "<p>Welcome</p>", "response": 0, "rt": 5, "trial_index": 0} | more,
        {"stimulus": html, "response": 1, "rt": 1500, "trial_index": 1} | more,
        {"stimulus": html, "response": None, "rt": None, "trial_index": 2} | more,
    ]
    file = tmp_path / "data.json"
    file.write_text(json.dumps(trials))
    told: list[Reading] = []
    S = read_statements(file, kind="odd", tell=told.append)
    assert list(S) == [("i/bus.jpg", "i/van.jpg", "i/car.jpg")]
    assert S.seconds.tolist() == [1.5]
    said = str(told[0])
    assert "a file of jsPsych" in said
    assert "1 record without objects skipped, 1 record without an answer skipped" in said
    above = {"stimulus": "x.jpg", "choices": ["<img src='y.jpg'>", "z.jpg"], "response": 1, "rt": 9}
    file.write_text(json.dumps([above | {"trial_index": 1} | more]))
    assert list(read_statements(file)) == [("x.jpg", "z.jpg", "y.jpg")]


def test_jspsych_response_is_the_number_of_a_button(tmp_path):
    trial = {
        "stimulus": "<img src='i/a.jpg'><img src='i/b.jpg'><img src='i/c.jpg'>",
        "choices": ["c.jpg", "a.jpg", "b.jpg"],
        "trial_type": "html-button-response",
        "time_elapsed": 9,
        "subject": "s",
        "rt": 9,
    }
    trials = [trial | {"response": k, "trial_index": k} for k in range(3)]
    file = tmp_path / "data.json"
    file.write_text(json.dumps(trials))
    found = [row[0] for row in read_statements(file, kind="odd")]
    assert found == ["i/c.jpg", "i/a.jpg", "i/b.jpg"]
    file.write_text(json.dumps([one | {"choices": ["1", "2", "3"]} for one in trials]))
    found = [row[0] for row in read_statements(file, kind="odd")]
    assert found == ["i/a.jpg", "i/b.jpg", "i/c.jpg"]


def test_some_chosen_of_many(tmp_path):
    implied = [("q", "a", "c"), ("q", "a", "d"), ("q", "b", "c"), ("q", "b", "d")]
    header = ["who", "query", "image_1", "image_2", "image_3", "image_4", "chosen_1", "chosen_2"]
    file = written(tmp_path / "g.csv", header, ["p", "q", "a", "c", "b", "d", "a", "b"])
    S = read_statements(file)
    assert (sorted(S), S.kind) == (implied, "closer")
    assert len(set(S.questions.tolist())) == 1
    file = written(tmp_path / "g.csv", ["query", "shown", "picks"], ["q", "a; c; b; d", "a; b"])
    assert sorted(read_statements(file)) == implied
    assert sorted(read_statements(file, columns="anchor=query,shown=shown,chosen=picks")) == implied
    numbers = written(
        tmp_path / "g.csv",
        ["query", "shown", "picks"],
        ["q", "a;c;b;d", "1;3"],
        ["q", "a;c;b;d", "4;1"],
    )
    assert sorted(read_statements(numbers)[:4]) == implied
    both = [{"anchor": "q", "chosen": ["a", "b"], "not_chosen": ["c", "d"]}]
    (tmp_path / "g.json").write_text(json.dumps(both))
    assert sorted(read_statements(tmp_path / "g.json")) == implied
    outside = written(
        tmp_path / "g.csv",
        header,
        ["p", "q", "a", "c", "b", "d", "a", "b"],
        ["p", "q", "a", "c", "b", "d", "z", "b"],
    )
    with pytest.raises(TrilensError):
        read_statements(outside)


def test_votes(tmp_path):
    two = [("r", "a", "b")] * 3 + [("r", "b", "a")]
    for header, cells in (
        (["reference", "image_1", "image_2", "votes"], ["[3, 1]"]),
        (["reference", "image_1", "image_2", "votes_1", "votes_2"], ["3", "1"]),
    ):
        file = written(tmp_path / "v.csv", header, ["r", "a", "b", *cells])
        assert list(read_statements(file)) == two
    file = written(tmp_path / "v.csv", ["anchor", "near", "far", "n"], ["r", "a", "b", "3"])
    hints: list[Reading] = []
    assert len(read_statements(file, tell=hints.append)) == 1
    assert any("add --columns count=n" in each.remedy for each in hints[0].concerns)
    assert len(read_statements(file, columns="count=n", tell=hints.append)) == 3
    assert not any(each.code == "count" for each in hints[1].concerns)
    hertz = written(
        tmp_path / "v.csv", ["anchor", "near", "far", "frequency"], ["r", "a", "b", "440"]
    )
    assert len(read_statements(hertz)) == 1  # of a sound, perhaps
    file = written(
        tmp_path / "v.csv",
        ["anchor", "near", "far", "n_answers"],
        ["r", "a", "b", "3"],
        ["r", "b", "a", "1"],
    )
    assert list(read_statements(file)) == two
    for header in ("count", "Counts"):
        file = written(
            tmp_path / "v.csv",
            ["anchor", "near", "far", header],
            ["r", "a", "b", "3"],
            ["r", "a", "c", "0"],
            ["r", "b", "a", "1"],
        )
        assert list(read_statements(file)) == two
    file = written(
        tmp_path / "v.csv",
        ["image_1", "image_2", "image_3", "votes_a", "votes_b", "votes_c"],
        ["a", "b", "c", "0", "2", "1"],
    )
    assert [row[0] for row in read_statements(file, kind="odd")] == ["b", "b", "c"]
    (tmp_path / "m.json").write_text(
        json.dumps({"answers": [[0, 1, 2]], "agreement": [[3, 1]], "more": 1})
    )
    told: list[Reading] = []
    S = read_statements(tmp_path / "m.json", tell=told.append)
    assert S.triples.tolist() == [[0, 1, 2]] * 3 + [[0, 2, 1]]
    assert "not read: more" in told[0].notes


def test_an_unfolded_file_is_counted_and_scanned_as_it_is_read(tmp_path, design):
    rows = [["R" + str(i), "bus", "ski"] for i in range(30)]
    file = written(tmp_path / "wide.csv", ["ResponseId", "Q1", "Q2"], *rows)
    answers = tl.Answers(file, kind="odd", questions=design)
    assert answers.count().statements == len(answers.read()) == 60
    assert sum(len(part) for part in answers.scan(chunk_rows=7)) == 60
    only = tl.Answers(file, kind="odd", questions=design, where="question_id = Q2")
    assert [row[0] for row in only.read()] == ["ski"] * 30


@pytest.mark.parametrize("whole", [False, True])
def test_lines_of_json_in_a_txt_file_as_jatos_writes_it(tmp_path, whole):
    rows = [
        {"odd": "a", "other_1": "b", "other_2": "c"},
        {"odd": "b", "other_1": "a", "other_2": "c"},
    ]
    lines = [json.dumps([row] if whole else row) for row in rows]
    (tmp_path / "results.txt").write_text("\n" + "\n".join(lines) + "\n")
    assert list(read_statements(tmp_path / "results.txt")) == [("a", "b", "c"), ("b", "a", "c")]


def test_a_column_that_is_asked_for_is_not_unused(tmp_path, capsys):
    header = ["odd", "other_1", "other_2", "expertise", "age"]
    file = written(tmp_path / "a.csv", header, ["a", "b", "c", "x", "7"], ["b", "a", "c", "y", "8"])
    assert tl.Answers(file, where="expertise = x").reading.left_out == ("age",)
    answers = tl.Answers(file)
    answers.read()
    _report_reading(answers, quiet=False, reported=True, by="expertise")
    assert "unused: age" in capsys.readouterr().err
