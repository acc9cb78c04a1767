"""A crowd that answers while the server is killed, and goes on when it is back."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from studies import Client, Served, edit, plain
from trilens_survey.database import Database
from trilens_survey.schema import answers, assignments


@dataclass
class Rater:
    """One participant: what they were shown last, and what they were told is stored."""

    client: Client
    question: dict[str, Any]
    told: dict[str, str] = field(default_factory=dict)
    sent: str | None = None


class Crowd:
    """Participants who answer on threads of their own until the server is gone."""

    def __init__(self, server: Served, size: int, seed: int) -> None:
        self.server = server
        self.rng = random.Random(seed)
        self.raters = []
        for _ in range(size):
            client = server.client()
            client.join()
            self.raters.append(Rater(client, client.question()))
        self._lock = threading.Lock()

    def answer_until(self, strikes: dict[int, Callable[[], None]]) -> None:
        """Answer; strike when so many were told "stored"; go on until the server is gone."""
        told = [0]
        self._over = threading.Event()
        last = max(strikes)

        def count() -> None:
            with self._lock:
                told[0] += 1
                if told[0] in strikes:
                    strikes[told[0]]()
                if told[0] >= last:
                    self._over.set()

        threads = [threading.Thread(target=self._answer, args=(r, count)) for r in self.raters]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _answer(self, rater: Rater, count: Callable[[], None]) -> None:
        while True:
            try:
                stored = self._answer_one(rater, count)
            except httpx.TransportError:
                if self._over.is_set():
                    return  # the server is gone
                stored = False
            if not stored:
                self._over.wait(0.05)  # as a page would, not at once

    def _answer_one(self, rater: Rater, count: Callable[[], None]) -> bool:
        if "token" not in rater.question:
            begun = rater.client.post("/api/round")
            if begun.status_code >= 500:
                return False
            rater.question = begun.json()
        token = rater.question["token"]
        # a participant who sends again sends the same
        rater.sent = rater.sent or self.rng.choice(rater.question["objects"])
        answer = rater.client.answer(token, rater.sent)
        if answer.status_code >= 500:
            return False  # not stored, and said so: again
        assert answer.json() == {"stored": True}, answer.text
        if token not in rater.told:
            rater.told[token] = rater.sent
            count()
        following = rater.client.get("/api/question")
        if following.status_code == 200:
            rater.sent = None
            rater.question = following.json()
        return True

    def stored(self, database: Database) -> set[str]:
        """The tokens of the answers; everything that was told is there, nothing twice."""
        query = select(assignments.c.token).join(answers, answers.c.assignment == assignments.c.id)
        with database.reading() as connection:
            rows = connection.execute(query).scalars().all()
        found = set(rows)
        assert len(found) == len(rows)
        for rater in self.raters:
            missing = set(rater.told) - found
            assert not missing, f"{len(missing)} acknowledged answers are lost"
        return found

    def check(self, database: Database) -> int:
        """The number of answers; as above, and everybody can go on where they were."""
        stored = self.stored(database)
        for rater in self.raters:
            now = rater.client.question()
            if "token" in rater.question and rater.question["token"] not in stored:
                assert now == rater.question, "not the same question as before"
            if now != rater.question:
                rater.sent = None  # it was stored, though nobody could say so
            rater.question = now
        return len(stored)

    def close(self) -> None:
        for rater in self.raters:
            rater.client.close()


def long_study(folder: Path) -> Path:
    """The example with enough rounds for a crowd that never tires."""
    rows = "".join(f"o{i},o{i}\n" for i in range(40))
    (folder / "objects.csv").write_text("name,text\n" + rows)
    longer = (("most: 3", "most: 200"), ("length: 20", "length: 30"), ("shared: 2", "shared: 0"))
    return edit(plain(folder), *longer)
