"""Questions chosen by what is not known yet, and studies that close by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

import trilens as tl
from studies import Here, Running, edit
from trilens.cli import trilens
from trilens.kinds import Kind
from trilens.survey.database import Database, open_database
from trilens.survey.example import write_example
from trilens.survey.export import collect, write_export
from trilens.survey.preparation import headway, keep_model, model_of, ready
from trilens.survey.questions import Sampler
from trilens.survey.schema import answers, assignments, deeds, prepared
from trilens.survey.server import Survey
from trilens.survey.store import resume
from trilens.survey.study import check_study, load_study

QUESTIONS = "questions: adaptive\nrandom_share: 0.25\n"


class Told(Here):
    """Chooses the first questions by the alphabet, and says what a test wants about the rule."""

    def __init__(self) -> None:
        self.stop_now = False
        self.fails = False
        self.tasks: list[dict[str, Any]] = []

    def run(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["what"] != "questions":
            return super().run(task)
        self.tasks.append(task)
        if self.fails:
            raise RuntimeError("no memory")
        names = sorted(task["objects"])
        kept = {frozenset(three) for three in task["reserved"]}
        three = [
            [a, b, c]
            for i, a in enumerate(names)
            for j, b in enumerate(names[i + 1 :], i + 1)
            for c in names[j + 1 :]
        ]
        told = {"stop": self.stop_now, "why": "2 objects are left", "next": "3 more", "look": 1}
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
    with app.survey.database.reading() as connection:
        return connection.execute(query).all()


def reasons(app: Running) -> Counter[tuple[str, int | None]]:
    query = select(assignments.c.reason, assignments.c.model).join(
        answers, answers.c.assignment == assignments.c.id
    )
    return Counter((row.reason, row.model) for row in look(app, query))


def test_participants_are_asked_what_is_ready(tmp_path: Path, database: Database) -> None:
    with study(tmp_path / "s", QUESTIONS, database) as (app, worker):
        first, second = app.participant(), app.participant()
        first.join()
        first.round()
        # nothing is ready: everything is random, and nobody waits
        assert set(reasons(app)) == {
            ("random", None), ("random", 0), ("test", None), ("shared", None), ("repeat", None)
        }  # fmt: skip
        assert app.survey.preparation.step()
        assert not app.survey.preparation.step(), "there is nothing new"
        assert worker.tasks[0]["goal"] == "medoid"
        assert worker.tasks[0]["kind"] == "central"
        second.join()
        second.round()
        found = reasons(app)
        # 15 are drawn in a round: a quarter of them stays random
        assert found["adaptive", 1] == 11
        assert (found["random", None], found["test", None], found["repeat", None]) == (8, 2, 4)
        with app.survey.database.reading() as connection:
            assert ready(connection) == 40 - 11
            told = model_of(connection)
        assert (told.number, told.answers) == (1, 20)
    # what is ready, and what was found, survive a restart
    with study(tmp_path / "s", "", database) as (app, _):
        second_round = app.participant()
        second_round.join()
        second_round.round()
        assert reasons(app)["adaptive", 1] == 22


def test_nobody_is_asked_the_same_twice(tmp_path: Path) -> None:
    with study(tmp_path / "s", QUESTIONS, kind="closer") as (app, _):
        for k in range(2):
            rater = app.participant()
            rater.join()
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


def test_a_process_that_fails_leaves_random_questions(tmp_path: Path) -> None:
    with study(tmp_path / "s", QUESTIONS) as (app, worker):
        worker.fails = True
        rater = app.participant()
        rater.join()
        rater.round()
        with pytest.raises(RuntimeError):
            app.survey.preparation.step()
        with app.survey.database.reading() as connection:
            assert "the server's log says why" in str(model_of(connection).problem)
            said = headway(connection, app.survey.study)
        assert said is not None
        assert "could not be chosen" in said.said[0]
        rater.post("/api/round")
        rater.round()
        assert not [key for key in reasons(app) if key[0] == "adaptive"]
        worker.fails = False
        assert app.survey.preparation.step(), "it is tried again"


def test_what_is_asked_again_stays_as_it_was(folder: Path) -> None:
    edit(folder, ("retention:", f"{QUESTIONS}retention:"))
    sampler = Sampler(load_study(folder).design)
    for seed in range(20):
        plan = sampler.round(seed, 1)
        sources = {asked.place - 1 for asked in plan if asked.reason == "repeat"}
        opened = {i for i, asked in enumerate(plan) if asked.open}
        assert len(sources) == 2
        assert len(opened) == 11
        assert not sources & opened
        assert {plan[i].reason for i in opened} == {"random"}


STOP = "stop: {rule: medoid, at_most: 2, then: %s}\n"


def test_a_study_closes_by_itself_and_says_why(tmp_path: Path) -> None:
    with study(tmp_path / "s", STOP % "close") as (app, worker):
        worker.stop_now = True
        rater, late = app.participant(), app.participant()
        rater.join()
        rater.round()
        assert app.survey.preparation.step()
        assert late.post("/api/join", json={"consent": True}).status_code == 403
        (deed,) = look(app, select(deeds.c.who, deeds.c.what).order_by(deeds.c.id.desc()).limit(1))
        assert deed == ("the stopping rule", "closed the study: 2 objects are left")
        told = CliRunner().invoke(trilens, ["survey", "status", str(tmp_path / "s")]).output
        assert "The study was closed for this: 2 objects are left." in told
    with study(tmp_path / "s", "") as (app, worker):
        app.survey.writer.submit(lambda c: resume(c, "me")).result()
        worker.stop_now = True
        other = app.participant()
        other.join()
        other.round()
        _count(app, 0)
        assert app.survey.preparation.step()
        assert app.participant().post("/api/join", json={"consent": True}).status_code == 201, (
            "whoever lets a study go on is heeded"
        )


def _count(app: Running, n: int) -> None:
    """As if the last look had been at so many answers."""
    app.survey.writer.submit(
        lambda c: keep_model(c, replace(model_of(c), answers=n, stopping=None))
    ).result()


def test_a_rule_may_only_warn(tmp_path: Path) -> None:
    with study(tmp_path / "s", QUESTIONS + STOP % "warn") as (app, worker):
        worker.stop_now = True
        rater = app.participant()
        rater.join()
        rater.round()
        assert app.survey.preparation.step()
        with app.survey.database.reading() as connection:
            facts = app.survey.dashboard.facts(connection, app.survey.store)
        page = app.survey.page("live.html", at=str, **facts).body.decode()
        assert "2 objects are left. 3 more." in page
        assert "there are enough answers" in page
        app.participant().join()


@pytest.mark.slow
def test_the_library_chooses_and_the_export_says_so(tmp_path: Path) -> None:
    """From the page to `S.chosen`, with the model of the library."""
    with study(tmp_path / "s", QUESTIONS, worker=Here()) as (app, _):
        for rounds in (5, 2):
            rater = app.participant()
            rater.join()
            for _ in range(rounds):
                rater.round(min_of)
                rater.post("/api/round")
            assert app.survey.preparation.step()
        with app.survey.database.reading() as connection:
            collected = collect(connection, "central", 0)
            said = headway(connection, app.survey.study)
    assert said is not None
    assert "could be the most central" in " ".join(said.said)
    chosen = [reason == "adaptive" for reason in collected.column("reason")]
    assert sum(chosen) == 22
    assert {n for n, by in zip(collected.column("model"), chosen, strict=True) if by} == {1}
    write_export(collected, "all", tmp_path / "a.csv")
    read = tl.read_statements(tmp_path / "a.csv")
    assert read.chosen is not None
    assert read.chosen.sum() == sum(chosen)


def min_of(question: dict[str, Any]) -> str:
    return str(min(question["objects"]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("goal: medoid", "goal needs questions: adaptive"),
        ("questions: clever", "questions must be one of random, adaptive"),
        ("questions: adaptive\ngoal: best", "goal is 'best'; it must be one of"),
        ("questions: adaptive\nrandom_share: 2", "random_share must be a number from 0 to 1"),
        ("questions: adaptive\ngrid: {of: 6}", "adaptive questions show three objects"),
        ("questions: adaptive\nconditions: {a: {}, b: {}}", "without blocks and conditions"),
        ("stop: {at_most: 3}", "stop.rule is missing"),
        ("stop: {rule: luck}", "rule is 'luck'; it must be one of"),
        ("stop: {rule: price}", "price"),
        ("stop: {rule: price, price: 0, budget: 9}", "price"),
        ("stop: {rule: medoid, at_most: 0}", "at_most"),
        ("stop: {rule: medoid, then: cheer}", "stop.then must be one of close, warn"),
        ("stop: {rule: medoid, when: now}", "unknown key 'when'"),
        ("stop: {rule: map}\nconditions: {a: {}, b: {}}", "without blocks and conditions"),
    ],
)
def test_what_is_wrong_with_a_goal(folder: Path, more: str, said: str) -> None:
    edit(folder, ("retention:", f"{more}\nretention:"))
    problems = [str(problem) for problem in check_study(folder)]
    assert [problem for problem in problems if said in problem], problems


def test_a_design_of_before_reads_as_it_was(folder: Path) -> None:
    """A study without a goal stores what it stored before."""
    design = load_study(folder).design
    assert '"chosen"' not in design.to_json()
    edit(folder, ("retention:", f"{QUESTIONS}retention:"))
    adaptive = load_study(folder).design
    assert (adaptive.policy, adaptive.chosen) == ("adaptive medoid", 0.75)
    assert type(adaptive).from_json(adaptive.to_json()) == adaptive


def test_test_runs_take_nothing(tmp_path: Path) -> None:
    with study(tmp_path / "s", QUESTIONS) as (app, _):
        rater, tester = app.participant(), app.participant()
        rater.join()
        rater.round()
        app.survey.preparation.step()
        tester.join(test=app.survey.store.test_link())
        tester.round()
        ((left,),) = look(app, select(func.count()).select_from(prepared))
        assert left == 40
