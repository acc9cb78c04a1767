"""The next questions, made ready beside the server; and whether there are enough answers.

Participants take what is ready, and a question at random where nothing is: nobody waits. What is
ready lies in the database, and so does what was found: both survive a restart.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.engine import Connection

from trilens.survey.dashboard import Beside, Worker, where
from trilens.survey.database import Database
from trilens.survey.schema import prepared
from trilens.survey.store import (
    Store,
    count_answers,
    get_setting,
    is_paused,
    put_setting,
    record,
    take_turns,
)
from trilens.survey.study import Study
from trilens.survey.writer import Writer

#: Who closes a study whose rule is met, in the log.
RULE = "the stopping rule"
#: Seconds between two looks whether there are new answers; after a failure.
_SECONDS, _AFTER_FAILURE = 2.0, 60.0
#: New answers that make a new model worth while, also as a share of all.
_NEW, _SHARE = 10, 0.05
#: Questions made ready at once.
_MOST = 400
#: Whoever began so long ago and has not ended has died.
_LOST_SECONDS = 900.0


@dataclass(frozen=True)
class Model:
    """What was found last.

    Attributes
    ----------
    number
        Of the model, from 1; 0 before the first.
    answers
        The answers from which it was made.
    made
        When, in seconds since 1970.
    stopping
        What the rule saw: the facts of `trilens.Stopping`.
    problem
        Why no questions could be chosen, if so.
    claimed
        Since when somebody works on the next one.
    stopped
        Why the study was closed. That happens once: a researcher may let it go on.
    """

    number: int = 0
    answers: int = 0
    made: float = 0.0
    stopping: dict[str, Any] | None = None
    problem: str | None = None
    claimed: float | None = None
    stopped: str | None = None


def model_of(connection: Connection) -> Model:
    """The last model."""
    stored = get_setting(connection, "model")
    return Model() if stored is None else Model(**json.loads(stored))


def keep_model(connection: Connection, model: Model) -> None:
    put_setting(connection, "model", json.dumps(asdict(model)))


def ready(connection: Connection) -> int:
    """How many questions are ready."""
    return int(connection.execute(select(func.count()).select_from(prepared)).scalar_one())


@dataclass(frozen=True)
class Headway:
    """How far the goal is, for people.

    Attributes
    ----------
    said
        A sentence each.
    met
        Whether the rule says that there are enough answers.
    """

    said: tuple[str, ...]
    met: bool


def headway(connection: Connection, study: Study) -> Headway | None:
    """How far the goal is; None where a study has no goal."""
    if study.adaptive is None and study.stop is None:
        return None
    model, said = model_of(connection), []
    if study.adaptive is not None:
        n = ready(connection)
        chosen = f"Questions are chosen for the goal {study.adaptive.goal}"
        if model.problem is not None:
            said.append(f"{chosen}: {model.problem}.")
        elif not model.number:
            said.append(f"{chosen} as soon as there are answers to choose by.")
        else:
            said.append(
                f"{chosen}: model {model.number:,}, made of {model.answers:,} answers; {n:,} "
                f"questions are ready."
            )
    told = model.stopping
    if told is not None:
        said += [_sentence(told["why"]), _sentence(told["next"])]
    met = told is not None and bool(told["stop"])
    if model.stopped is not None and is_paused(connection):
        said.append(f"The study was closed for this: {model.stopped}.")
    elif met and study.stop is not None:
        said.append("By the study's rule there are enough answers.")
    return Headway(tuple(said), met)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


class Preparation:
    """Looks for new answers, and has a model made of them when there are enough.

    Parameters
    ----------
    study
    database
    writer
    worker
    """

    def __init__(
        self, study: Study, database: Database, writer: Writer, worker: Worker | None = None
    ) -> None:
        self._study = study
        self._database = database
        self._writer = writer
        self._worker = worker or Beside()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, store: Store, read: Callable[[Callable[[Connection], bool]], bool]) -> None:
        """Begin, if the study has something to prepare or to look at."""
        if self._study.adaptive is None and self._study.stop is None:
            return
        self._store, self._read = store, read
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
                    logging.getLogger("trilens.survey").exception("preparation failed")
                rest = _AFTER_FAILURE

    def step(self) -> bool:
        """Have a model made, if it is time; whether it was."""
        if not self._read(self._due):
            return False
        claimed = self._writer.submit(self._claim).result()
        if claimed is None:
            return False
        try:
            found = self._worker.run(self._task(claimed))
        except Exception:
            why = "the next questions could not be chosen; the server's log says why"
            self._writer.submit(lambda c: self._give_up(c, why)).result()
            raise
        self._writer.submit(lambda c: self._keep(c, found)).result()
        return True

    def _due(self, connection: Connection) -> bool:
        """Whether there are enough new answers; nobody else may be at it."""
        model = model_of(connection)
        if model.claimed is not None and time.time() - model.claimed < _LOST_SECONDS:
            return False
        answers = count_answers(connection)
        # those that were erased count as new: the model knew them
        new = abs(answers - model.answers)
        if self._study.adaptive is None:
            look = (model.stopping or {}).get("next_look")
            return new >= _NEW and (look is None or answers >= look)
        short = ready(connection) < self._study.length
        return new >= (_NEW if short else max(_NEW, _SHARE * answers))

    def _claim(self, connection: Connection) -> Model | None:
        """Let nobody else do it at the same time; the last model, None if somebody does it."""
        take_turns(connection, "model")
        if not self._due(connection):
            return None
        model = model_of(connection)
        keep_model(connection, Model(**asdict(model) | {"claimed": time.time()}))
        return model

    def _give_up(self, connection: Connection, why: str) -> None:
        model = model_of(connection)
        keep_model(connection, Model(**asdict(model) | {"claimed": None, "problem": why}))

    def _task(self, model: Model) -> dict[str, Any]:
        """What `trilens.survey.beside.prepare` must know; plain enough for JSON."""
        study = self._study
        block, adaptive, stop = study.first, study.adaptive, study.stop
        sampler = self._store.samplers[block.condition, block.name]
        return where(self._database) | {
            "what": "questions",
            "kind": block.kind,
            "objects": list(block.names),
            "reserved": [[block.names[i] for i in one] for one in sampler.reserved_questions],
            "goal": None if adaptive is None else adaptive.goal,
            "count": _MOST,
            "rule": None if stop is None else stop.rule,
            "limits": {} if stop is None else stop.limits,
            "known": model.stopping,
            "seed": model.number,
        }

    def _keep(self, connection: Connection, found: dict[str, Any]) -> None:
        """Store the questions instead of those of the last model; close the study if it is time."""
        model = model_of(connection)
        study, store = self._study, self._store
        number, now = model.number + 1, time.time()
        if study.adaptive is not None:
            of = (study.first.condition, study.first.name)
            connection.execute(delete(prepared))
            rows = [
                {"design": store.rows[of], "model": number, "made": now}
                | {key: store.numbers[name] for key, name in zip("abc", names, strict=True)}
                for names in found["questions"]
            ]
            if rows:
                connection.execute(insert(prepared), rows)
        told, stop, stopped = found["stopping"], study.stop, model.stopped
        met = told is not None and told["stop"] and stop is not None and stop.closes
        if met and stopped is None and not is_paused(connection):
            stopped = str(told["why"])
            put_setting(connection, "closed", "yes")
            record(connection, RULE, f"closed the study: {stopped}")
        new = Model(number, found["answers"], now, told, found["problem"], None, stopped)
        keep_model(connection, new)
