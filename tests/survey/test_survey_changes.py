"""A study that is changed between two starts, and a server that cannot store."""

from __future__ import annotations

import csv
import json
import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from sqlalchemy import select

import trilens as tl
from studies import database_of, edit, running
from trilens.cli import trilens
from trilens.errors import SurveyError
from trilens_survey.auth import researcher_names
from trilens_survey.database import Database
from trilens_survey.log import JsonLines
from trilens_survey.payment import payments_due
from trilens_survey.schema import assignments, designs, participants


def test_objects_can_be_added(folder: Path) -> None:
    with running(folder) as app:
        rater = app.participant()
        rater.join()
        first = rater.round()
        cookies = dict(rater.cookies)
    with (folder / "objects.csv").open("a") as file:
        file.write("kiwi,a kiwi,eine Kiwi\n")
    with running(folder) as app:
        rater = app.participant(cookies=cookies)
        rater.post("/api/round")
        second = rater.round()
        newcomer = app.participant()
        newcomer.join()
        newcomer.round()
        newcomer.post("/api/round")
        newcomer.round()
        with app.survey.database.reading() as connection:
            rows = connection.execute(select(designs.c.content).order_by(designs.c.id))
            kept = [json.loads(content) for content in rows.scalars()]
            used = set(connection.execute(select(assignments.c.design)).scalars())
            reasons = connection.execute(
                select(assignments.c.round, assignments.c.number, assignments.c.reason).where(
                    assignments.c.participant == 1
                )
            ).all()
    assert [len(design["objects"]) for design in kept] == [14, 15]
    assert used == {1, 2}
    # still without replacement for whoever had begun before
    drawn = {(row.round, row.number) for row in reasons if row.reason == "random"}
    asked = [frozenset(q["objects"]) for q in first + second if (q["round"], q["number"]) in drawn]
    assert len(asked) == len(set(asked)) == 30


def test_objects_that_nobody_was_asked_about_may_vanish(folder: Path, database: Database) -> None:
    with running(folder, database):
        pass
    file = folder / "objects.csv"
    file.write_text(file.read_text().replace("walnut,a walnut", "hazelnut,a hazelnut"))
    with running(folder, database) as app:
        assert "walnut" not in app.survey.store.assigned.numbers
        rater = app.participant()
        rater.join()
        rater.round()


def test_objects_that_were_asked_cannot_vanish(folder: Path) -> None:
    with running(folder) as app:
        for _ in range(3):
            app.participant().join()
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("walnut,a walnut,eine Walnuss\n", ""))
    with pytest.raises(SurveyError, match="'walnut' was part of this study"), running(folder):
        pass
    checked = CliRunner().invoke(trilens, ["survey", "check", str(folder)])
    assert checked.exit_code == 1
    assert "'walnut' was part of this study" in checked.stdout


def test_blocks_that_were_answered_and_are_gone_are_noticed(folder: Path) -> None:
    file = folder / "study.yaml"
    before = file.read_text()
    file.write_text(before + "\nconditions: {a: {}, b: {}}\n")
    with running(folder) as app:
        rater = app.participant()
        rater.join()
        rater.round()
        with app.survey.database.reading() as connection:
            (condition,) = connection.execute(select(participants.c.condition)).scalars()
    file.write_text(before)
    checked = CliRunner().invoke(trilens, ["survey", "check", str(folder)])
    said = f"the condition '{condition}' has been taken out of the study since answers were stored"
    assert (checked.exit_code, said in checked.stderr) == (0, True), checked.output


#: A participant of a platform who was asked three questions, answered all, and finished; the test
#: question was answered wrongly.
_BEFORE = (
    "INSERT INTO settings VALUES ('key', '{key}'), ('password', 'a hash')",
    "INSERT INTO designs VALUES (1, 5.0, '{design}')",
    "INSERT INTO objects VALUES (1, 'orange'), (2, 'lemon'), (3, 'potato')",
    "INSERT INTO participants (id, receipt, rater, seed, language, consent_version, joined, round, "
    "finished) VALUES (1, 'ABCD-EFGH-JKMN-PQRS', 'somebody', 7, 'en', '1', 5.0, 1, 9.0)",
    "INSERT INTO platform_ids VALUES (1, 'one')",
    "INSERT INTO assignments VALUES (1, 't1', 1, 1, 1, 1, 3, 1, 2, 3, 'drawn', 0, NULL), "
    "(2, 't2', 1, 1, 1, 2, 3, 3, 2, 1, 'test', 0, 2), "
    "(3, 't3', 1, 1, 1, 3, 3, 2, 1, 3, 'repeated', 1, NULL)",
    "INSERT INTO answers VALUES (1, 2, 1.5, 6.0), (2, 3, 2.5, 7.0), (3, 2, 3.5, 8.0)",
)
_DESIGN = {
    "kind": "central", "objects": ["orange", "lemon", "potato"], "length": 3, "most": 1,
    "tests": [["orange", "lemon", "potato", "lemon"]], "among_first": 2, "shared": 0,
    "repeated": 1, "seed": 1,
}  # fmt: skip


def test_a_database_of_the_first_version_is_upgraded(folder: Path, database: Database) -> None:
    engine = database_of(database, "0001")
    with engine.begin() as connection:
        for row in _BEFORE:
            filled = row.replace("{key}", "ab" * 32).replace("{design}", json.dumps(_DESIGN))
            connection.exec_driver_sql(filled)
        if not database.embedded:  # rows with numbers of their own do not count there
            for table in ("designs", "objects", "participants", "assignments"):
                connection.exec_driver_sql(
                    f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))"
                )
    engine.dispose()
    where = [] if database.url is None else ["--database", database.url.render_as_string(False)]
    for command in ("status", "payments", "export"):
        told = CliRunner().invoke(trilens, ["survey", command, str(folder), *where])
        assert "start the server once with trilens survey serve DIR" in told.output, told.output
        assert told.exit_code == 1
    with running(folder, database) as app:
        rater = app.participant()
        rater.join(platform_id="two")
        rater.round()
        with app.survey.database.reading() as connection:
            (two, one) = payments_due(connection)
            names = researcher_names(connection)
    assert (one.platform_id, one.code, one.tests, one.tests_passed) == ("one", "not recorded", 1, 0)
    assert (one.repeats, one.repeats_agreed) == (1, 1)
    assert (two.platform_id, two.answers) == ("two", 20)
    assert names == ["researcher"]
    file = folder / "answers.csv"
    wrote = CliRunner().invoke(trilens, ["survey", "export", str(folder), "-o", str(file), *where])
    assert wrote.exit_code == 0, wrote.output
    first, second, third, *others = csv.DictReader(file.read_text().splitlines())
    assert (first["central"], first["reason"], first["test"]) == ("lemon", "random", "failed")
    assert (second["central"], second["reason"], second["seconds"]) == ("potato", "test", "2.5")
    assert (third["central"], third["reason"]) == ("lemon", "repeat")
    assert len(others) == 20
    receipt = ["survey", "forget", str(folder), "abcd efgh jkmn pqrs", *where]
    assert "erased one participant and 3 answers" in CliRunner().invoke(trilens, receipt).output


def test_decisions_about_payments_are_kept_before_they_leave(
    folder: Path, database: Database
) -> None:
    engine = database_of(database, "0006")
    with engine.begin() as connection:
        for number, name in ((1, "one"), (2, "two")):
            connection.exec_driver_sql(
                "INSERT INTO participants (id, receipt, rater, seed, language, consent_version, "
                f"joined, round) VALUES ({number}, '{name}', '{name}', 1, 'en', '1', {number}, 0)"
            )
            connection.exec_driver_sql(f"INSERT INTO platform_ids VALUES ({number}, '{name}')")
        connection.exec_driver_sql(
            "INSERT INTO payments (participant, code, decision, decided) "
            "VALUES (1, 'THANKS', 'approved', 7.5), (2, NULL, NULL, NULL)"
        )
    engine.dispose()
    with running(folder, database) as app, app.survey.database.reading() as connection:
        assert {row.platform_id: row.code for row in payments_due(connection)} == {
            "one": "THANKS",
            "two": None,
        }
    kept = folder / "payments-decided.csv"
    assert kept.stat().st_mode & 0o777 == 0o600
    (row,) = csv.DictReader(kept.read_text().splitlines())
    assert row == {
        "platform_id": "one", "code": "THANKS", "decision": "approved", "decided": "7.5"
    }  # fmt: skip


def test_texts_can_change_without_a_new_design(folder: Path) -> None:
    with running(folder):
        pass
    edit(folder, ("Fruit and other food", "Fruit"), ("code: THANKS", "code: BYE"))
    with running(folder) as app, app.survey.database.reading() as connection:
        assert len(connection.execute(select(designs.c.id)).all()) == 1


def test_a_study_with_answers_keeps_its_kind(folder: Path) -> None:
    with running(folder) as app:
        rater = app.participant()
        rater.join()
        rater.round()
    edit(folder, ("kind: central", "kind: closer"))
    with pytest.raises(SurveyError, match="20 answers are stored to questions of kind central"):
        running(folder).__enter__()
    checked = CliRunner().invoke(trilens, ["survey", "check", str(folder)])
    assert checked.exit_code == 1
    assert "questions of kind central; change it back" in checked.stdout
    out = folder / "answers.csv"
    CliRunner().invoke(trilens, ["survey", "export", str(folder), "-o", str(out)])
    assert tl.read_statements(out).kind == "central", "the export speaks of what was asked"


def test_a_new_wording_or_picture_is_a_new_design(folder: Path) -> None:
    def one_round() -> None:
        with running(folder) as app:
            rater = app.participant()
            rater.join()
            rater.round()

    one_round()
    wording = '\nquestion: {en: "Which is in the middle?", de: "Was ist in der Mitte?"}'
    edit(folder, ("\nseed: 1\n", f"\nseed: 1{wording}\n"))
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("a walnut", "a big walnut"))
    checked = CliRunner().invoke(trilens, ["survey", "check", str(folder)])
    assert checked.exit_code == 0, checked.output
    assert "the wording of the question has changed since answers were stored" in checked.stderr
    assert "what is shown for 'walnut' has changed" in checked.stderr
    one_round()
    out = folder / "answers.csv"
    CliRunner().invoke(trilens, ["survey", "export", str(folder), "-o", str(out)])
    assert pd.read_csv(out)["design"].value_counts().to_dict() == {1: 20, 2: 20}


def test_an_outage_is_503_and_the_log_says_why(folder: Path, caplog: Any) -> None:
    with running(folder) as app:
        rater = app.participant()
        rater.join()
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


@pytest.mark.parametrize("most", [0, 30_000])
def test_a_start_on_a_full_disk_is_one_line(folder: Path, most: int) -> None:
    """Files may not grow beyond so many bytes, which SQLite takes for a full disk."""
    code = (
        "import resource, sys; from trilens.cli import main;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}));"
        f"sys.argv = ['trilens', 'survey', 'serve', {str(folder)!r}, '--port', '0']; main()"
    )
    # with a log that is a pipe, which has no limit
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith(("{", "other users"))]
    assert done.returncode == 1, done.stderr
    assert len(said) == 1, done.stderr
    assert said[0].startswith("Error: ")
    assert str(folder) in said[0]


def test_a_server_that_cannot_store_says_so(folder: Path) -> None:
    with running(folder) as app:
        rater = app.participant()
        rater.join()
        question = rater.question()
        app.survey.writer.close()
        assert rater.get("/healthz").status_code == 503
        answer = rater.answer(question["token"], question["objects"][0])
        assert answer.status_code == 503
        assert "stored" not in answer.text
        # reading goes on
        assert rater.question() == question


def test_an_error_of_the_database_is_not_an_acknowledgement(folder: Path) -> None:
    with running(folder) as app:
        rater = app.participant()
        rater.join()
        question = rater.question()
        app.survey.writer.submit(
            lambda c: c.exec_driver_sql("ALTER TABLE answers RENAME TO elsewhere")
        ).result()
        answer = rater.answer(question["token"], question["objects"][0])
        assert answer.status_code == 503
        app.survey.writer.submit(
            lambda c: c.exec_driver_sql("ALTER TABLE elsewhere RENAME TO answers")
        ).result()
        assert rater.question() == question
        again = rater.answer(question["token"], question["objects"][0])
        assert again.json() == {"stored": True}
