"""The next questions, made ready in the background; and whether there are enough answers.

Participants take what is ready, and a question at random where nothing is: nobody waits. What is
ready lies in the database, and so does what was found: both survive a restart.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.engine import Connection

from trilens_survey.dashboard import ChildProcess, Worker, where
from trilens_survey.database import Database
from trilens_survey.export import count_statements
from trilens_survey.goal import Goal
from trilens_survey.log import log
from trilens_survey.schema import prepared
from trilens_survey.store.administration import (
    count_answers,
    get_setting,
    is_paused,
    lock,
    put_setting,
    stop_study,
    stopped_by,
)
from trilens_survey.store.assignments import Assignments
from trilens_survey.study import Study
from trilens_survey.writer import Writer

#: Seconds between two looks whether there are new answers; after a failure.
_SECONDS, _AFTER_FAILURE = 2.0, 60.0
#: New answers that make a new model worth while, also as a share of all.
_NEW, _SHARE = 10, 0.05
#: Questions made ready at once.
_MOST = 400


@dataclass(frozen=True)
class Model:
    """What was found last; models are numbered from 1."""

    number: int = 0
    #: from which it was made, and when, in seconds since 1970
    answers: int = 0
    made: float = 0.0
    #: what the rule saw: the facts of `trilens.Stopping`
    stopping: dict[str, Any] | None = None
    #: why no questions could be chosen
    problem: str | None = None
    #: the goal and the rule of the study for which it was made
    terms: dict[str, Any] | None = None


def model_of(connection: Connection) -> Model:
    """The last model."""
    return Model(**json.loads(get_setting(connection, "model") or "{}"))


def keep_model(connection: Connection, model: Model) -> None:
    put_setting(connection, "model", json.dumps(asdict(model)))


def ready(connection: Connection) -> int:
    """How many questions are ready."""
    return int(connection.execute(select(func.count()).select_from(prepared)).scalar_one())


@dataclass(frozen=True)
class GoalProgress:
    """How far the goal is: sentences for people, and whether the rule has enough answers."""

    sentences: tuple[str, ...]
    met: bool


def goal_progress(connection: Connection, study: Study) -> GoalProgress | None:
    """How far the goal is; None where a study has no goal."""
    goal = study.goal
    if goal is None:
        return None
    model = model_of(connection)
    sentences = [] if goal.adaptive is None else [_about_questions(connection, goal, model)]
    met = False
    if goal.rule is not None and model.number and model.terms != goal.terms:
        sentences.append("The goal or the rule has changed; the server looks again when it runs.")
    elif goal.rule is not None:
        sentences += _about_looks(connection, study, goal, model.stopping)
        met = model.stopping is not None and bool(model.stopping["stop"])
    stopped = stopped_by(connection)
    if stopped is not None and is_paused(connection):
        sentences.append(f"The study was closed for this: {stopped.why}.")
    elif met and (goal.closes or goal.warns):
        sentences.append("By the study's rule there are enough answers.")
    return GoalProgress(tuple(sentences), met)


def _about_questions(connection: Connection, goal: Goal, model: Model) -> str:
    """What chooses the questions."""
    chosen = f"Questions are chosen for the goal {goal.adaptive}"
    if model.problem is not None:
        return f"{chosen}: {model.problem}."
    if not model.number:
        return f"{chosen} as soon as there are answers to choose by."
    return (
        f"{chosen}: model {model.number:,}, made of {model.answers:,} answers; "
        f"{ready(connection):,} questions are ready."
    )


def _about_looks(
    connection: Connection, study: Study, goal: Goal, seen: dict[str, Any] | None
) -> list[str]:
    """What the rule saw at its last look, and how many answers there are for the next one."""
    stored = count_answers(connection)
    n = count_statements(connection, study.kind, study.first.objects)
    there = f"there are {n:,}"
    if n != stored and study.first.shown == 3:
        there += f", and {stored - n:,} to test and repeated questions, which do not count for it"
    if seen is None or not seen["look"]:
        return [f"The first look is at {goal.first_look:,} answers; {there}."]
    why = str(seen["why"])
    if n != seen["looked_at"]:
        why = f"at the last look, at {seen['looked_at']:,} answers: {why}"
    return [
        f"{why[:1].upper()}{why[1:]}.",
        f"The next look is at {seen['next_look']:,} answers; {there}.",
    ]


class Preparation:
    """Looks for new answers, and has a model made of them when there are enough."""

    def __init__(
        self, study: Study, database: Database, writer: Writer, worker: Worker | None = None
    ) -> None:
        self._study = study
        self._database = database
        self._writer = writer
        self._worker = worker or ChildProcess()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(
        self, assigned: Assignments, read: Callable[[Callable[[Connection], Any]], Any]
    ) -> None:
        """Begin, if the study has something to prepare or to look at."""
        if self._study.goal is None:
            return
        self._goal = self._study.goal
        self._assigned, self._read = assigned, read
        self._thread = threading.Thread(target=self._run, name="trilens-preparation", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; what is under way is given up."""
        self._over.set()
        self._worker.stop()
        if self._thread is not None:
            self._thread.join(5.0)

    def _run(self) -> None:
        rest = _SECONDS
        while not self._over.wait(rest):
            begun = time.monotonic()
            try:
                worked = self.step()
                # as long as it worked: half of one processor at most, and that politely
                rest = max(_SECONDS, time.monotonic() - begun) if worked else _SECONDS
            except Exception:
                if not self._over.is_set():
                    log.exception("preparation failed")
                rest = _AFTER_FAILURE

    def step(self) -> bool:
        """Have a model made, if it is time and no other process does it; whether it was."""
        if not self._read(self._due):
            return False
        with self._database.alone("model") as alone:
            if not alone or not self._read(self._due):
                return False
            before: Model = self._read(model_of)
            try:
                found = self._worker.run(self._task(before))
            except Exception:
                self._writer.submit(self._give_up).result()
                raise
            self._writer.submit(lambda c: self._keep(c, before, found)).result()
        return True

    def _due(self, connection: Connection) -> bool:
        """Whether there are enough new answers."""
        model = model_of(connection)
        answers = count_answers(connection)
        # those that were erased count as new: the model knew them
        new = abs(answers - model.answers)
        if model.number and model.terms != self._goal.terms:
            return answers > 0
        if self._goal.adaptive is None:
            look = (model.stopping or {}).get("next_look")
            return new >= _NEW and (look is None or self._has(connection, answers, look))
        short = ready(connection) < self._study.first.length
        return new >= (_NEW if short else max(_NEW, _SHARE * answers))

    def _has(self, connection: Connection, answers: int, look: int) -> bool:
        """Whether the answers suffice for a look; they are told apart only if they may."""
        block = self._study.first
        most = max(design.statements for design in self._assigned.designs.values())
        return answers * most >= look <= count_statements(connection, block.kind, block.objects)

    def _give_up(self, connection: Connection) -> None:
        why = "the next questions could not be chosen; the server's log says why"
        keep_model(connection, replace(model_of(connection), problem=why))

    def _task(self, model: Model) -> dict[str, Any]:
        """What `trilens_survey.background.prepare` must know; plain enough for JSON."""
        block, goal = self._study.first, self._goal
        sampler = self._assigned.samplers[block.of]
        return where(self._database) | {
            "what": "questions",
            "kind": block.kind,
            "objects": list(block.objects),
            "reserved": [[block.objects[i] for i in one] for one in sorted(sampler.reserved)],
            "goal": goal.adaptive,
            "count": _MOST,
            "rule": goal.rule,
            "limits": goal.limits,
            # what was seen with other limits does not hold
            "known": model.stopping if model.terms == goal.terms else None,
            "seed": model.number,
        }

    def _keep(self, connection: Connection, before: Model, found: dict[str, Any]) -> None:
        """Store the questions instead of those of the last model; close the study if it is time."""
        lock(connection, "keep")
        if model_of(connection).number != before.number:
            return  # the database was away for a while, and another process has made a model
        goal, assigned = self._goal, self._assigned
        number, now = before.number + 1, time.time()
        if goal.adaptive is not None:
            first = self._study.first
            connection.execute(delete(prepared))
            design = assigned.rows[first.of]
            rows = [
                {"design": design, "model": number, "made": now}
                | {key: assigned.numbers[name] for key, name in zip("abc", names, strict=True)}
                for names in found["questions"]
            ]
            if rows:
                connection.execute(insert(prepared), rows)
        seen = found["stopping"]
        if seen is not None and seen["stop"]:
            stop_study(connection, goal, str(seen["why"]))
        new = Model(number, found["answers"], now, seen, found["problem"], terms=goal.terms)
        keep_model(connection, new)
