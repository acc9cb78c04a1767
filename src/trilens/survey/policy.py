"""Which questions a participant gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from trilens.statements import Kind
from trilens.survey.draw import at_place, in_places, n_questions, number, question, rank, shuffled

Three = tuple[int, int, int]


@dataclass(frozen=True)
class Past:
    """What a policy may know about a participant.

    Attributes
    ----------
    seed
        The participant's own.
    round
        The round to be filled, from 1.
    asked
        Ranks (see `trilens.survey.draw.rank`) of the questions asked before.
    place
        The first place in the participant's order that no draw has looked at.
    """

    seed: int
    round: int
    asked: frozenset[int] = frozenset()
    place: int = 0


@dataclass(frozen=True)
class Asked:
    """One question, and why it is asked.

    Attributes
    ----------
    objects
        In the order in which they are shown; for ``closer`` the anchor is first.
    reason
        ``drawn``, ``test``, ``shared`` or ``repeated``.
    place
        Of a drawn question: its place in the participant's order. Of a shared one: in the
        study's order. Of a test: which one. Of a repeated one: the number, in the same round,
        of the question that it repeats.
    expected
        The right answer of a test.
    """

    objects: Three
    reason: str
    place: int
    expected: int | None = None


class Policy(Protocol):
    """What chooses the questions of a study."""

    def round(self, past: Past) -> list[Asked]:
        """The questions of a participant's next round, in order; none when all were asked."""
        ...


class Uniform:
    """Uniformly at random without replacement, with tests, shared and repeated questions.

    Parameters
    ----------
    design
        As `Study.design` makes it.
    """

    def __init__(self, design: dict[str, Any]) -> None:
        self.kind: Kind = design["kind"]
        self.length: int = design["length"]
        self.among_first: int = design["among_first"]
        self.shared: int = design["shared"]
        self.repeated: int = design["repeated"]
        self.seed: int = design["seed"]
        at = {name: i for i, name in enumerate(design["objects"])}
        self.size = n_questions(self.kind, len(at))
        self.tests = [(_three(at[x] for x in test[:3]), at[test[3]]) for test in design["tests"]]
        of_tests = {rank(self.kind, objects) for objects, _ in self.tests}
        #: the study's order without the tests: the first so many of each round are shared
        self.pool: list[tuple[int, int]] = []
        wanted = min(self.shared * design["most"], self.size - len(of_tests))
        place = 0
        while len(self.pool) < wanted:
            found = at_place(self.seed, place, self.size)
            if found not in of_tests:
                self.pool.append((place, found))
            place += 1
        self.reserved = of_tests | {found for _, found in self.pool}

    def round(self, past: Past) -> list[Asked]:
        """See `Policy.round`."""
        seed, r = past.seed, past.round
        shared = self.pool[(r - 1) * self.shared : r * self.shared]
        n_tests = int(bool(self.tests))
        n_drawn = self.length - n_tests - len(shared) - self.repeated
        drawn = self._draw(past, n_drawn)
        # a study that is nearly asked through ends with a shorter round
        repeated = min(self.repeated, len(drawn))
        length = n_tests + len(shared) + len(drawn) + repeated
        if not drawn and not shared:
            return []
        of_test = None
        if self.tests:
            of_test = number(seed, "test place", r) % min(self.among_first, length)
        free = [i for i in range(length) if i != of_test]
        late = [i for i in free if i >= (length + 1) // 2]
        again = sorted(shuffled(seed, late, "repeated at", r)[:repeated])
        rest = [i for i in free if i not in again]
        of_shared = sorted(shuffled(seed, rest, "shared at", r)[: len(shared)])
        of_drawn = [i for i in rest if i not in of_shared]
        plan: dict[int, tuple[Three, str, int, int | None]] = {}
        if of_test is not None:
            which = (number(seed, "test") + r - 1) % len(self.tests)
            plan[of_test] = (self.tests[which][0], "test", which, self.tests[which][1])
        for i, (place, found) in zip(of_shared, shared, strict=True):
            plan[i] = (question(self.kind, found), "shared", place, None)
        for i, (place, found) in zip(of_drawn, drawn, strict=True):
            plan[i] = (question(self.kind, found), "drawn", place, None)
        # what is asked again was asked in the first half of the round
        early = [i for i in of_drawn + of_shared if i < (length + 1) // 2]
        sources = shuffled(seed, early, "repeated of", r)
        for i, source in zip(again, sources, strict=False):
            plan[i] = (plan[source][0], "repeated", source + 1, None)
        return [
            Asked(in_places(self.kind, objects, seed, r, i), reason, place, expected)
            for i, (objects, reason, place, expected) in sorted(plan.items())
        ]

    def _draw(self, past: Past, count: int) -> list[tuple[int, int]]:
        """The next places of the participant's order, and the questions that stand there."""
        drawn: list[tuple[int, int]] = []
        place = past.place
        while len(drawn) < count and place < self.size:
            found = at_place(past.seed, place, self.size)
            if found not in self.reserved and found not in past.asked:
                drawn.append((place, found))
            place += 1
        return drawn


def make_policy(design: dict[str, Any]) -> Policy:
    """The policy that a design names."""
    assert design["policy"] == "uniform"
    return Uniform(design)


def _three(items: Any) -> Three:
    a, b, c = items
    return a, b, c
