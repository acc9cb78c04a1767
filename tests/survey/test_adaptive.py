"""Questions chosen by what is not known yet, and studies that close by themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError

import trilens as tl
from studies import Here, Postgres, Running, edit, survey
from trilens.kinds import KINDS, Kind
from trilens_survey.background import work
from trilens_survey.database import Database, open_database
from trilens_survey.example import write_example
from trilens_survey.export import collect, count_statements, write_export
from trilens_survey.preparation import goal_progress, keep_model, model_of, ready
from trilens_survey.schema import answers, assignments, log
from trilens_survey.server import Survey
from trilens_survey.store.administration import resume
from trilens_survey.study import load_study, remarks

QUESTIONS = "questions: adaptive\nrandom_share: 0.25\n"


class Told(Here):
    """Chooses the first questions by the alphabet, and says what a test wants about the rule."""

    def __init__(self) -> None:
        self.stop_now = False
        self.fails: BaseException | None = None
        self.tasks: list[dict[str, Any]] = []

    def run(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["what"] != "questions":
            return super().run(task)
        self.tasks.append(task)
        if self.fails is not None:
            raise self.fails
        names = sorted(task["objects"])
        kept = {frozenset(three) for three in task["reserved"]}
        three = [
            [a, b, c]
            for i, a in enumerate(names)
            for j, b in enumerate(names[i + 1 :], i + 1)
            for c in names[j + 1 :]
        ]
        told = {"stop": self.stop_now, "why": "2 objects are left", "next": "3 more"}
        told |= {"look": 1, "looked_at": 16}
        return {
            "answers": 20 * len(self.tasks),
            "questions": [names for names in three if frozenset(names) not in kept][:40],
            "stopping": told | {"rule": "medoid", "next_look": 50},
            "problem": None,
        }


@contextmanager
def study(
    folder: Path,
    more: str,
    database: Database | None = None,
    *,
    kind: Kind = "central",
    worker: Here | None = None,
) -> Iterator[tuple[Running, Any]]:
    """A study with more lines; models are made when a test says so."""
    if not folder.exists():
        write_example(folder, kind)
        edit(folder, ("retention:", f"{more}retention:"), ("most: 3", "most: 9"))
    worker = worker or Told()
    survey = Survey(load_study(folder), database or open_database(folder), None, worker)
    survey.preparation._run = lambda: None  # type: ignore[method-assign]
    app = Running(survey)
    try:
        yield app, worker
    finally:
        app.close()


def look(app: Running, query: Any) -> Any:
    return app.look(lambda c: c.execute(query).all())


def reasons(app: Running) -> Counter[tuple[str, int | None]]:
    query = select(assignments.c.reason, assignments.c.model).join(
        answers, answers.c.assignment == assignments.c.id
    )
    return Counter((row.reason, row.model) for row in look(app, query))


def test_participants_are_asked_what_is_ready(tmp_path: Path, database: Database) -> None:
    with study(tmp_path / "s", QUESTIONS, database) as (app, worker):
        app.rater()
        # nothing is ready: everything is random, and nobody waits
        assert set(reasons(app)) == {
            ("random", None), ("random", 0), ("test", None), ("shared", None), ("repeat", None)
        }  # fmt: skip
        assert app.survey.preparation.step()
        assert not app.survey.preparation.step(), "there is nothing new"
        assert worker.tasks[0]["goal"] == "medoid"
        assert worker.tasks[0]["kind"] == "central"
        app.rater()
        found = reasons(app)
        # 15 are drawn in a round: a quarter of them stays random
        assert found["adaptive", 1] == 11
        assert (found["random", None], found["test", None], found["repeat", None]) == (8, 2, 4)
        app.rater(test=app.survey.store.test_link())
        assert app.look(ready) == 40 - 11, "test runs take nothing"
        told = app.look(model_of)
        assert (told.number, told.answers) == (1, 20)
        said = app.look(lambda c: goal_progress(c, app.survey.study))
        made = "goal medoid: model 1, made of 20 answers; 29 questions are ready."
        assert said is not None
        assert made in said.sentences[0]
    # what is ready, and what was found, survive a restart
    with study(tmp_path / "s", "", database) as (app, _):
        app.rater()
        assert reasons(app)["adaptive", 1] == 22


def test_nobody_is_asked_the_same_twice(tmp_path: Path) -> None:
    with study(tmp_path / "s", QUESTIONS, kind="closer") as (app, _):
        for k in range(2):
            rater = app.joined()
            for _ in range(4):
                rater.round()
                app.survey.preparation.step()
                if k:
                    rater.post("/api/round")
        query = select(assignments).where(assignments.c.reason.not_in(("repeat", "test")))
        rows = look(app, query)
        assert sum(row.reason == "adaptive" for row in rows) > 20
        asked = Counter((row.participant, row.a, frozenset((row.b, row.c))) for row in rows)
        assert max(asked.values()) == 1
        # the two to choose from are in either order
        chosen = [row for row in rows if row.reason == "adaptive"]
        assert {row.b < row.c for row in chosen} == {True, False}


class Died(BaseException):
    """The end of a process, in the middle of whatever it does."""


def test_a_process_that_fails_or_dies_leaves_random_questions_and_is_tried_again(
    tmp_path: Path, database: Database
) -> None:
    with study(tmp_path / "s", QUESTIONS, database) as (app, worker):
        worker.fails = RuntimeError("no memory")
        rater = app.rater()
        with pytest.raises(RuntimeError):
            app.survey.preparation.step()
        assert "the server's log says why" in str(app.look(model_of).problem)
        said = app.look(lambda c: goal_progress(c, app.survey.study))
        assert said is not None
        assert "could not be chosen" in said.sentences[0]
        rater.post("/api/round")
        rater.round()
        assert not [key for key in reasons(app) if key[0] == "adaptive"]
        worker.fails = Died()
        with pytest.raises(Died):
            app.survey.preparation.step()
    with study(tmp_path / "s", "", database) as (app, _):
        assert app.survey.preparation.step()


def test_one_process_makes_a_model_and_its_death_is_noticed(
    tmp_path: Path, postgres: Postgres, postgres_url: str
) -> None:
    database = open_database(tmp_path / "s", postgres_url)
    with study(tmp_path / "s", QUESTIONS, database) as (app, worker):
        app.rater()
        with suppress(OperationalError), database.alone("model") as first:
            assert first
            assert not app.survey.preparation.step(), "another process is at it"
            postgres.kill_backends(postgres_url)  # of a process that dies the connections end
            assert app.survey.preparation.step()
        made = worker.run

        def slowly(task: dict[str, Any]) -> dict[str, Any]:
            """Another process has taken over meanwhile."""
            app.do(lambda c: keep_model(c, replace(model_of(c), number=7)))
            return dict(made(task))

        worker.run = slowly
        app.rater()
        assert app.survey.preparation.step()
        assert app.look(model_of).number == 7, "what comes too late is not kept"


def _model(app: Running, answers: int | None = None, **seen: Any) -> None:
    """As if the last look had been at so many answers, and had seen this."""

    def change(connection: Connection) -> None:
        model = model_of(connection)
        told = None if model.stopping is None else model.stopping | seen
        n = model.answers if answers is None else answers
        keep_model(connection, replace(model, answers=n, stopping=told))

    app.do(change)


STOP = "stop: {rule: medoid, at_most: 2, then: %s}\n"


def test_a_study_closes_by_itself_and_says_why(tmp_path: Path) -> None:
    with study(tmp_path / "s", STOP % "close") as (app, worker):
        worker.stop_now = True
        app.rater()
        assert app.survey.preparation.step()
        late = app.ask_to_join()
        assert late.status_code == 403
        (deed,) = look(app, select(log.c.who, log.c.what).order_by(log.c.id.desc()).limit(1))
        assert deed == ("the stopping rule", "closed the study: 2 objects are left")
        told = survey("status", tmp_path / "s").output
        assert "The study was closed for this: 2 objects are left." in told
    with study(tmp_path / "s", "") as (app, worker):
        app.do(lambda c: resume(c, "me"))
        worker.stop_now = True
        app.rater()
        _model(app, 0, next_look=0)
        assert app.survey.preparation.step()
        assert app.joined(), "whoever lets a study go on is heeded"


def test_a_rule_may_only_warn_and_what_was_seen_holds_for_its_limits(tmp_path: Path) -> None:
    with study(tmp_path / "s", STOP % "warn") as (app, worker):
        worker.stop_now = True
        app.rater()
        assert app.survey.preparation.step()
        page = app.survey.page("live.html", **app.look(app.survey.dashboard.facts)).body.decode()
        assert "At the last look, at 16 answers: 2 objects are left." in page
        assert "The next look is at 50 answers; there are 17, and 3 to test and" in page
        assert "there are enough answers" in page
        assert app.joined(), "it is not closed"
    with study(tmp_path / "s", "") as (app, worker):
        assert not app.survey.preparation.step(), "nothing is new"
        _model(app, 0, next_look=18)
        assert not app.survey.preparation.step(), "3 of 20 answers are tests and repeats"
        _model(app, next_look=17)
        assert app.survey.preparation.step()
        assert worker.tasks[0]["known"]["why"] == "2 objects are left"
    edit(tmp_path / "s", ("at_most: 2, then: warn", "at_most: 1, then: close"))
    told = survey("status", tmp_path / "s").output
    assert "The goal or the rule has changed; the server looks again when it runs." in told
    assert "2 objects are left" not in told
    with study(tmp_path / "s", "") as (app, worker):
        assert app.survey.preparation.step(), "it looks at once, whatever is new"
        assert worker.tasks[0]["limits"] == {"at_most": 1}
        assert worker.tasks[0]["known"] is None
        app.joined()
        assert not app.survey.preparation.step()


def test_what_was_seen_holds_for_its_look_alone(tmp_path: Path) -> None:
    with study(tmp_path / "s", STOP % "warn") as (app, worker):
        app.rater()
        assert app.survey.preparation.step()
        seen = work(worker.tasks[0])["stopping"]
        for change, holds in (
            ({"next_look": 18}, True),  # there are 17 statements
            ({"next_look": 17}, False),
            ({"next_look": 18, "erased": 1}, False),  # the first answers are now others
        ):
            known = seen | change | {"why": "as before"}
            found = work(worker.tasks[0] | {"known": known})["stopping"]
            assert (found["why"] == "as before") == holds, change


GRIDS: tuple[tuple[Kind, str], ...] = (
    ("central", ""), ("odd", "grid: {of: 5}\n"), ("closer", "grid: {of: 6, choose: 2}\n")
)  # fmt: skip


@pytest.mark.parametrize(("kind", "more"), GRIDS)
def test_statements_are_counted_without_a_table(tmp_path: Path, kind: Kind, more: str) -> None:
    write_example(tmp_path / "s", kind)
    file = tmp_path / "s" / "study.yaml"
    file.write_text(re.sub(r"tests:(\n .*)+", more, file.read_text()))
    with study(tmp_path / "s", "") as (app, _):
        for person in (app.joined(test=app.survey.store.test_link()), app.joined()):
            while "token" in (question := person.question()):
                options = question["objects"][int(kind == "closer") :]
                chosen = options[: question["choose"]]
                body = {"token": question["token"], "chosen": chosen, "seconds": 1.5}
                assert person.post("/api/answer", json=body).status_code == 200
        names = app.survey.study.names
        with app.survey.database.reading() as connection:
            made = collect(connection, kind, 0).statements()
            assert count_statements(connection, kind, names) == len(made) > 0
            among = sum(names[-1] not in [names[i] for i in three] for three in made.triples)
            if not more:
                assert count_statements(connection, kind, names[:-1]) == among


@pytest.mark.slow
def test_the_library_chooses_and_the_export_says_so(tmp_path: Path) -> None:
    """From the page to `S.chosen`, with the model of the library."""
    with study(tmp_path / "s", QUESTIONS, worker=Here()) as (app, _):
        for rounds in (5, 2):
            rater = app.joined()
            for _ in range(rounds):
                rater.round(min_of)
                rater.post("/api/round")
            assert app.survey.preparation.step()
        collected = app.look(lambda c: collect(c, "central", 0))
        said = app.look(lambda c: goal_progress(c, app.survey.study))
    assert said is not None
    assert "could be the most central" in " ".join(said.sentences)
    chosen = [reason == "adaptive" for reason in collected.column("reason")]
    assert sum(chosen) == 22
    assert {n for n, by in zip(collected.column("model"), chosen, strict=True) if by} == {1}
    write_export(collected, "all", tmp_path / "a.csv")
    read = tl.read_statements(tmp_path / "a.csv")
    assert read.chosen is not None
    assert read.chosen.sum() == sum(chosen)


def min_of(question: dict[str, Any]) -> str:
    return str(min(question["objects"]))


@pytest.mark.parametrize("more", ["questions: adaptive\ngoal: groups", "stop: {rule: groups}"])
def test_a_caution_about_groups(tmp_path: Path, more: str) -> None:
    for kind in KINDS:
        folder = tmp_path / kind
        write_example(folder, kind)
        edit(folder, ("retention:", f"{more}\nretention:"))
        said = [one for one in remarks(load_study(folder)) if "how wide the gap" in one]
        assert len(said) == (kind == "central")
