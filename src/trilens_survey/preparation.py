"""The next questions, made ready beside the server; and whether there are enough answers.

Participants take what is ready, and a question at random where nothing is: nobody waits. What is
ready lies in the database, and so does what was found: both survive a restart.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.engine import Connection

from trilens_survey.dashboard import Beside, Worker, where
from trilens_survey.database import Database
from trilens_survey.export import count_statements
from trilens_survey.log import log
from trilens_survey.schema import prepared
from trilens_survey.store import (
    Store,
    count_answers,
    get_setting,
    is_paused,
    is_spent,
    look_at_price,
    put_setting,
    stop_study,
    stopped_by,
    take_turns,
)
from trilens_survey.study import Study
from trilens_survey.writer import Writer

#: Seconds between two looks whether there are new answers; after a failure.
_SECONDS, _AFTER_FAILURE = 2.0, 60.0
#: New answers that make a new model worth while, also as a share of all.
_NEW, _SHARE = 10, 0.05
#: Questions made ready at once.
_MOST = 400
#: A process that makes a model says so again and again; one that has been silent for so many
#: seconds has died, and another one takes over.
RENEW_SECONDS, LEASE_SECONDS = 2.0, 10.0


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
        What the rule saw: the facts of `trilens.Stopping`. A price needs no model, and is
        counted whenever somebody asks.
    problem
        Why no questions could be chosen, if so.
    terms
        The goal and the rule of the study for which it was made.
    """

    number: int = 0
    answers: int = 0
    made: float = 0.0
    stopping: dict[str, Any] | None = None
    problem: str | None = None
    terms: dict[str, Any] | None = None


def model_of(connection: Connection) -> Model:
    """The last model."""
    stored = get_setting(connection, "model")
    known = {} if stored is None else json.loads(stored)
    return Model(**{one.name: known[one.name] for one in fields(Model) if one.name in known})


def keep_model(connection: Connection, model: Model) -> None:
    put_setting(connection, "model", json.dumps(asdict(model)))


def terms_of(study: Study) -> dict[str, Any]:
    """What a model is made for: of one that was made for something else, nothing is kept."""
    adaptive, stop = study.adaptive, study.stop
    return {
        "goal": None if adaptive is None else adaptive.goal,
        "stop": None if stop is None else stop.terms,
    }


def watched(study: Study) -> str | None:
    """The rule for which a model is looked at.

    Without one it is that of the goal: it tells how far the goal is, and nothing follows from it.
    """
    if study.stop is not None:
        return None if study.stop.by_price else study.stop.rule
    from trilens.tasks.stopping import RULES

    goal = None if study.adaptive is None else study.adaptive.goal
    return goal if goal in RULES else None


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
    met = False
    if study.stop is not None and study.stop.by_price:
        cost = study.stop.cost(count_answers(connection))
        said += [_sentence(cost.why), _sentence(cost.next)]
        met = cost.stop
    elif watched(study) is not None:
        if model.number and model.terms != terms_of(study):
            said.append("The goal or the rule has changed; the server looks again when it runs.")
        else:
            told = model.stopping
            said += [_sentence(one) for one in _seen(connection, study, told)]
            met = told is not None and bool(told["stop"])
    stopped = stopped_by(connection)
    if stopped is not None and is_paused(connection):
        said.append(f"The study was closed for this: {stopped.why}.")
    elif met and study.stop is not None:
        said.append("By the study's rule there are enough answers.")
    return Headway(tuple(said), met)


def _seen(connection: Connection, study: Study, told: dict[str, Any] | None) -> list[str]:
    """What the rule saw at its last look, and how many answers there are for the next one."""
    from trilens.tasks.stopping import looks

    names = study.first.names
    stored, n = count_answers(connection), count_statements(connection, study.kind, names)
    there = f"there are {n:,}"
    if n != stored and study.first.shown == 3:
        there += f", and {stored - n:,} to test and repeated questions, which do not count for it"
    if told is None or not told["look"]:
        return [f"the first look is at {looks(len(names), 0)[2]:,} answers; {there}"]
    why, at = str(told["why"]), f"at the last look, at {told['looked_at']:,} answers: "
    return [
        why if why.startswith(at) or n == told["looked_at"] else at + why,
        f"the next look is at {told['next_look']:,} answers; {there}",
    ]


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
        self._process = secrets.token_hex(8)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, store: Store, read: Callable[[Callable[[Connection], bool]], bool]) -> None:
        """Begin, if the study has something to prepare or to look at."""
        if self._study.adaptive is None and self._study.stop is None:
            return
        self._store, self._read = store, read
        if self._database.embedded:
            # the only process that writes: whatever it finds begun is dead
            self._writer.submit(lambda c: put_setting(c, "claim", None)).result()
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
        """Have a model made, if it is time; whether it was. A price is looked at every time."""
        if self._read(lambda c: is_spent(c, self._study)):
            self._writer.submit(lambda c: look_at_price(c, self._study)).result()
        if not self._read(self._due):
            return False
        claimed = self._writer.submit(self._claim).result()
        if claimed is None:
            return False
        try:
            with self._renewing():
                found = self._worker.run(self._task(claimed))
        except Exception:
            why = "the next questions could not be chosen; the server's log says why"
            self._writer.submit(lambda c: self._give_up(c, why)).result()
            raise
        self._writer.submit(lambda c: self._keep(c, found)).result()
        return True

    @contextmanager
    def _renewing(self) -> Iterator[None]:
        """Say until the end of the block that this process is alive, and at work."""
        done = threading.Event()

        def renew() -> None:
            while not done.wait(RENEW_SECONDS):
                with suppress(Exception):  # the database is away: then nobody else sees the claim
                    self._writer.submit(self._put_claim).result()

        thread = threading.Thread(target=renew, name="trilens-claim", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _put_claim(self, connection: Connection) -> None:
        claim = {"process": self._process, "renewed": time.time()}
        put_setting(connection, "claim", json.dumps(claim))

    def _claimed_by_another(self, connection: Connection) -> bool:
        """Whether another process that is alive makes a model."""
        stored = get_setting(connection, "claim")
        if stored is None:
            return False
        claim = json.loads(stored)
        alive = time.time() - claim["renewed"] < LEASE_SECONDS
        return bool(claim["process"] != self._process and alive)

    def _due(self, connection: Connection) -> bool:
        """Whether there are enough new answers; nobody else may be at it."""
        model = model_of(connection)
        if self._claimed_by_another(connection):
            return False
        answers = count_answers(connection)
        # those that were erased count as new: the model knew them
        new = abs(answers - model.answers)
        study = self._study
        if study.adaptive is None and watched(study) is None:
            return False
        if model.number and model.terms != terms_of(study):
            return answers > 0
        if study.adaptive is None:
            look = (model.stopping or {}).get("next_look")
            return new >= _NEW and (look is None or self._has(connection, answers, look))
        short = ready(connection) < study.length
        return new >= (_NEW if short else max(_NEW, _SHARE * answers))

    def _has(self, connection: Connection, answers: int, look: int) -> bool:
        """Whether the answers suffice for a look; they are told apart only if they may."""
        block = self._study.first
        most = max(design.statements for design in self._store.designs.values())
        return answers * most >= look <= count_statements(connection, block.kind, block.names)

    def _claim(self, connection: Connection) -> Model | None:
        """Let nobody else do it at the same time; the last model, None if somebody does it."""
        take_turns(connection, "model")
        if not self._due(connection):
            return None
        self._put_claim(connection)
        return model_of(connection)

    def _give_up(self, connection: Connection, why: str) -> None:
        put_setting(connection, "claim", None)
        keep_model(connection, replace(model_of(connection), problem=why))

    def _task(self, model: Model) -> dict[str, Any]:
        """What `trilens_survey.beside.prepare` must know; plain enough for JSON."""
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
            "rule": watched(study),
            "limits": {} if stop is None else stop.limits,
            # what was seen with other limits does not hold
            "known": model.stopping if model.terms == terms_of(study) else None,
            "seed": model.number,
        }

    def _keep(self, connection: Connection, found: dict[str, Any]) -> None:
        """Store the questions instead of those of the last model; close the study if it is time."""
        take_turns(connection, "model")
        if self._claimed_by_another(connection):
            return  # this one was silent for too long, and another took over
        put_setting(connection, "claim", None)
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
        told, stop = found["stopping"], study.stop
        if stop is not None and told is not None and told["stop"]:
            stop_study(connection, stop, str(told["why"]))
        new = Model(number, found["answers"], now, told, found["problem"], terms=terms_of(study))
        keep_model(connection, new)
