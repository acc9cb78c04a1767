"""From answers to files that the library reads."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import trilens as tl
from studies import Running, running
from trilens.errors import FormatError, SurveyError
from trilens.questions.reliability.cautions import about_conditions
from trilens_survey.database import Database, back_up, open_database
from trilens_survey.example import write_example
from trilens_survey.export import AnswerTable, collect, write_export


def by_test(app: Running, right: bool) -> Callable[[dict[str, Any]], str]:
    """Answers the test as told, and everything else by the alphabet."""
    (test,) = app.survey.study.first.known

    def choose(question: dict[str, Any]) -> str:
        names = question["objects"][1 if question["kind"] == "closer" else 0 :]
        if set(question["objects"]) == set(test.objects) and set(test.objects) >= set(names):
            other = next(name for name in names if name != test.answer)
            return test.answer if right and test.answer in names else other
        return str(min(names))

    return choose


def filled(app: Running) -> AnswerTable:
    """Three raters: one passes, one fails, one stops early."""
    app.joined().round(by_test(app, True))
    app.joined().round(by_test(app, False))
    early = app.joined()
    for _ in range(5):
        early.answer_one(2.5)
    return app.look(lambda c: collect(c, app.survey.study.kind, app.survey.study.minimum))


def test_sets(folder: Path, database: Database) -> None:
    with running(folder, database) as app:
        collected = filled(app)
    assert len(collected) == len(collected.select("all")) == 45
    passed = collected.select("passed").to_pylist()
    assert len(passed) == 20
    assert {row["test"] for row in passed} == {"passed"}
    assert Counter(collected.column("counted")) == {True: 40, False: 5}
    assert Counter(collected.column("round")) == {1: 20, 2: 20, 3: 5}
    reasons = Counter(row["reason"] for row in passed)
    assert reasons == {"random": 15, "test": 1, "shared": 2, "repeat": 2}
    for row in collected.select("all").to_pylist():
        assert row[f"shown_{row['place'] + 1}"] == row["central"]


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_an_export_is_what_the_library_reads(tmp_path: Path, kind: Any) -> None:
    write_example(tmp_path / "study", kind)
    with running(tmp_path / "study") as app:
        app.joined().round(by_test(app, True))
        collected = app.look(lambda c: collect(c, kind, 1))
    for ending, which in (("csv", "all"), ("csv", "passed"), ("tsv", "all"), ("parquet", "all")):
        file = tmp_path / f"answers.{ending}"
        rows = write_export(collected, which, file)
        expected = collected.statements(which)
        # one test question and two that were repeated are no findings
        assert len(expected) == rows - 3
        read = tl.read_statements(file)
        assert read.kind == kind
        assert list(read) == list(expected)
        # the same places, from 0, in the file and in memory
        assert read.places is not None
        assert np.array_equal(read.places, expected.places)
        assert set(read.places.tolist()) == ({1, 2} if kind == "closer" else {0, 1, 2})


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> AnswerTable:
    folder = tmp_path_factory.mktemp("filled") / "study"
    write_example(folder)
    with running(folder) as app:
        return filled(app)


def test_the_columns_and_endings_of_an_export(collected: AnswerTable, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    write_export(collected, "all", file)
    assert file.read_text().splitlines()[0].replace('"', "").split(",") == [
        "central", "shown_1", "shown_2", "shown_3", "rater", "round", "number", "seconds",
        "place", "reason", "test", "counted", "design", "language", "answered_at",
    ]  # fmt: skip
    with pytest.raises(FormatError, match=r"end in \.csv, \.tsv or \.parquet"):
        write_export(collected, "all", tmp_path / "a.xlsx")


def test_a_backup_is_made_while_answers_come_in(
    folder: Path, database: Database, tmp_path: Path
) -> None:
    with running(folder, database) as app:
        rater = app.joined()
        asked = rater.round()
        copy = tmp_path / "copy" / "answers.db"
        copy.parent.mkdir()
        with pytest.raises(SurveyError, match="no answers yet"):
            back_up(open_database(tmp_path), copy)
        assert not list(copy.parent.iterdir())
        assert back_up(database, copy) == 20
        rater.post("/api/round")
        rater.round()
        cookies = dict(rater.cookies)
    with pytest.raises(SurveyError, match="already exists"):
        back_up(database, copy)
    # the copy can be served, and holds what was there at its moment
    with running(folder, open_database(copy.parent)) as restored:
        back = restored.participant(cookies=cookies)
        assert back.question()["round_done"] is True
        token, chosen = asked[0]["token"], asked[0]["objects"][1]
        assert back.answer(token, chosen).json() == {"stored": True}
        assert restored.joined().question()["number"] == 1


def test_what_is_no_finding_is_left_out_and_said(collected: AnswerTable, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    assert write_export(collected, "all", file) == 45
    answers = tl.Answers(file)
    asked = Counter(collected.column("reason"))
    real = asked["random"] + asked["shared"]
    assert len(answers.read()) == real < 45
    assert answers.reading is not None
    (note,) = [note for note in answers.reading.notes if "findings" in note]
    said = f"{asked['repeat']} repeated questions and {asked['test']} test questions"
    assert note == f"not part of the findings: {said}"
    assert int(tl.count_central(file).singled.sum()) == real
    # how well raters agree with themselves is known from the repeated ones
    assert len(tl.Answers(file, preset="survey").read()) == real + asked["repeat"]
    assert tl.reliability(answers).within is not None


def changed(collected: AnswerTable, column: str, values: list[Any]) -> AnswerTable:
    """The same with other values in a column."""
    at = collected.table.column_names.index(column)
    return replace(collected, table=collected.table.set_column(at, column, pa.array(values)))


def test_no_name_becomes_a_formula_and_every_name_is_read_back(
    collected: AnswerTable, tmp_path: Path
) -> None:
    names = ["=cmd|' /C calc'!A0", "'=1", "''+x", "-2", "+a", "@b", "'quoted", "\tc", "plain"]
    others = dict(zip(collected.names, names, strict=False))
    nasty = replace(collected, names=tuple(others.get(name, name) for name in collected.names))
    for column in ("shown", "chosen"):
        renamed = [[others.get(n, n) for n in some] for some in collected.column(column)]
        nasty = changed(nasty, column, renamed)
    for ending in ("csv", "tsv", "parquet"):
        file = tmp_path / f"answers.{ending}"
        write_export(nasty, "all", file)
        assert list(tl.read_statements(file)) == list(nasty.statements()), ending
    text = (tmp_path / "answers.csv").read_text()
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row[:4]]
    assert not [c for c in cells if c[:1] in "=+@\t" and c]


def test_a_round_without_a_test_passes_with_its_rater(collected: AnswerTable) -> None:
    """Such as those of another kind of question: who failed elsewhere has not passed there."""
    untested = changed(collected, "test", ["none"] * len(collected))
    raters = collected.column("rater")
    assert raters[20] in untested.failed
    assert set(untested.select("passed").column("rater").to_pylist()) == {raters[0]}
    assert len(replace(untested, failed=frozenset()).select("passed")) == 40


def test_reading_says_that_conditions_are_pooled(collected: AnswerTable, tmp_path: Path) -> None:
    named = [["high", "low"][i >= 20] for i in range(len(collected))]
    both = changed(collected, "condition", named)
    file = tmp_path / "a.csv"
    write_export(both, "all", file)
    answers = tl.Answers(file)
    answers.read()
    assert answers.reading is not None
    said = "conditions high and low are pooled; to take one: --where 'condition=high'"
    assert said in answers.reading.notes
    (caution,) = about_conditions(answers.reading.conditions)
    assert caution.what == "Conditions high and low are pooled."
    one = tl.Answers(file, where="condition=high")
    assert len(one.read()) < 20
    assert one.reading is not None
    assert not about_conditions(one.reading.conditions)
