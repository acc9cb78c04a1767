"""A study that is changed between two starts, and a server that cannot store."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import select

import trilens as tl
from studies import edit, running, survey
from trilens.errors import SurveyError
from trilens_survey.database import Database
from trilens_survey.export import collect
from trilens_survey.log import JsonLines
from trilens_survey.schema import designs, participants


def test_objects_can_be_added(folder: Path) -> None:
    with running(folder) as app:
        cookies = dict(app.rater().cookies)
    with (folder / "objects.csv").open("a") as file:
        file.write("kiwi,a kiwi,eine Kiwi\n")
    with running(folder) as app:
        rater = app.participant(cookies=cookies)
        rater.post("/api/round")
        rater.round()
        app.rater()
        collected = app.look(lambda c: collect(c, "central", 0))
        kept = app.look(lambda c: c.execute(select(designs.c.content).order_by(designs.c.id)).all())
    assert [len(json.loads(row.content)["objects"]) for row in kept] == [14, 15]
    assert Counter(collected.column("design")) == {1: 20, 2: 40}
    # still without replacement for whoever had begun before
    columns = [collected.column(name) for name in ("round", "reason", "shown")]
    drawn = [
        set(names) for i, why, names in zip(*columns, strict=True) if i < 3 and why == "random"
    ]
    assert len(drawn) == 30
    assert all(drawn.count(three) == 1 for three in drawn)


def test_only_objects_that_nobody_was_asked_about_may_vanish(
    folder: Path, database: Database
) -> None:
    with running(folder, database):
        pass
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("walnut,a walnut", "hazelnut,a hazelnut"))
    with running(folder, database) as app:
        assert "walnut" not in app.survey.store.assigned.numbers
        for _ in range(3):
            app.joined()
    objects.write_text(objects.read_text().replace("hazelnut,a hazelnut,eine Walnuss\n", ""))
    gone = "'hazelnut' was part of this study"
    with pytest.raises(SurveyError, match=gone), running(folder, database):
        pass
    if database.embedded:
        checked = survey("check", folder)
        assert (checked.exit_code, gone in checked.stdout) == (1, True), checked.output


def test_blocks_that_were_answered_and_are_gone_are_noticed(folder: Path) -> None:
    file = folder / "study.yaml"
    before = file.read_text()
    file.write_text(before + "\nconditions: {a: {}, b: {}}\n")
    with running(folder) as app:
        app.rater()
        (condition,) = app.look(lambda c: c.execute(select(participants.c.condition)).all())[0]
    file.write_text(before)
    checked = survey("check", folder)
    said = f"the condition '{condition}' has been taken out of the study since answers were stored"
    assert (checked.exit_code, said in checked.stderr) == (0, True), checked.output


def test_a_study_with_answers_keeps_its_kind(folder: Path) -> None:
    with running(folder) as app:
        app.rater()
    edit(folder, ("kind: central", "kind: closer"))
    with pytest.raises(SurveyError, match="20 answers are stored to questions of kind central"):
        running(folder).__enter__()
    checked = survey("check", folder)
    assert checked.exit_code == 1
    assert "questions of kind central; change it back" in checked.stdout
    out = folder / "answers.csv"
    survey("export", folder, "-o", out)
    assert tl.read_statements(out).kind == "central", "the export speaks of what was asked"


def test_a_new_wording_or_picture_is_a_new_design_and_a_new_title_is_not(folder: Path) -> None:
    for changes in (
        (),
        (("Fruit and other food", "Fruit"), ("code: THANKS", "code: BYE")),
        (("seed: 1", 'question: {en: "Which is between?", de: "Was ist dazwischen?"}\nseed: 1'),),
    ):
        edit(folder, *changes)
        if len(changes) == 1:
            objects = folder / "objects.csv"
            objects.write_text(objects.read_text().replace("a walnut", "a big walnut"))
            checked = survey("check", folder)
        with running(folder) as app:
            app.rater()
    assert checked.exit_code == 0, checked.output
    assert "the wording of the question has changed since answers were stored" in checked.stderr
    assert "what is shown for 'walnut' has changed" in checked.stderr
    out = folder / "answers.csv"
    survey("export", folder, "-o", out)
    assert pd.read_csv(out)["design"].value_counts().to_dict() == {1: 40, 2: 20}


def test_a_server_that_cannot_store_says_so_and_the_log_says_why(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(folder) as app:
        rater = app.joined()
        question = rater.question()
        with closing(sqlite3.connect(folder / "answers.db")) as connection, connection:
            connection.execute("ALTER TABLE answers RENAME TO hidden")
        with caplog.at_level(logging.ERROR, "trilens_survey"):
            answer = rater.answer(question["token"], question["objects"][0])
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
        (line,) = [JsonLines().format(record) for record in errors]
        assert json.loads(line)["why"] == "no such table: answers"
        assert question["token"] not in line
        assert "SELECT" not in line
        with closing(sqlite3.connect(folder / "answers.db")) as connection, connection:
            connection.execute("ALTER TABLE hidden RENAME TO answers")
        assert rater.question() == question
        again = rater.answer(question["token"], question["objects"][0])
        assert again.json() == {"stored": True}
        question = rater.question()
        app.survey.writer.close()
        assert rater.get("/healthz").status_code == 503
        answer = rater.answer(question["token"], question["objects"][0])
        assert answer.status_code == 503
        assert "stored" not in answer.text
        # reading goes on
        assert rater.question() == question
