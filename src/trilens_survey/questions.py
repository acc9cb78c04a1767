"""Which questions a participant gets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np

from trilens_survey.settings import Kind

#: A question, whatever the order of its objects: their positions sorted; for ``closer`` the
#: anchor first.
Key: TypeAlias = tuple[int, ...]


def key_of(kind: Kind, objects: Sequence[int]) -> Key:
    """The question that is asked about these objects.

    >>> key_of("central", (3, 0, 2)), key_of("closer", (3, 2, 0))
    ((0, 2, 3), (3, 0, 2))
    """
    if kind == "closer":
        return objects[0], *sorted(objects[1:])
    return tuple(sorted(objects))


def n_questions(kind: Kind, n_objects: int, shown: int = 3) -> int:
    """How many different questions there are: sets of objects, and for ``closer`` with an anchor.

    >>> n_questions("central", 60), n_questions("closer", 4), n_questions("odd", 10, shown=9)
    (34220, 12, 10)
    """
    return comb(n_objects, shown) * (shown if kind == "closer" else 1)


def mixed(seed: int, *what: str | int) -> int:
    """A number below 2^64 made of a seed and words: always the same for the same."""
    text = ":".join(map(str, (seed, *what)))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def in_places(kind: Kind, objects: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """The objects in the order in which they are shown; an anchor stays first."""
    first = int(kind == "closer")
    order = rng.permutation(len(objects) - first) + first
    return *objects[:first], *(objects[i] for i in order.tolist())


@dataclass(frozen=True)
class Design:
    """What decides which questions are asked, and what they look like; stored with the answers."""

    kind: Kind
    #: their names; everything else speaks of their positions here
    objects: tuple[str, ...]
    length: int
    most: int
    #: the objects and, last, the right answer of each test question
    tests: tuple[tuple[str, ...], ...]
    among_first: int
    shared: int
    repeated: int
    seed: int
    #: how questions are drawn; the share of those drawn that a model may choose
    policy: str = "uniform"
    chosen: float = 0.0
    #: its wording in each language
    question: dict[str, str] = field(default_factory=dict)
    #: the fingerprint of each object's picture, sound or texts
    stimuli: tuple[str, ...] = ()
    #: how many objects a screen shows, an anchor included, and how many of them are chosen
    shown: int = 3
    choose: int = 1
    #: the names of the part of the study and of the condition to which this belongs
    block: str = ""
    condition: str = ""

    def to_json(self) -> str:
        """As it is stored."""
        content = {field.name: getattr(self, field.name) for field in fields(Design)}
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, content: str) -> Design:
        """A design that was stored."""
        given = json.loads(content)
        lists = {
            name: tuple(tuple(each) if isinstance(each, list) else each for each in value)
            for name, value in given.items()
            if isinstance(value, list)
        }
        return cls(**given | lists)

    @property
    def statements(self) -> int:
        """How many statements an answer makes: see `Statements.from_questions`."""
        others = self.shown - 1
        return self.choose * (others - self.choose) if self.kind == "closer" else comb(others, 2)

    @property
    def of(self) -> tuple[str, str]:
        """The condition and the block to which this belongs."""
        return self.condition, self.block


@dataclass(frozen=True)
class Question:
    """One question, and why it is asked."""

    #: in the order in which they are shown; for ``closer`` the anchor is first
    objects: tuple[int, ...]
    #: ``random``, ``adaptive``, ``test``, ``shared``, ``repeat`` or ``practice``
    reason: str
    #: of a random or shared question: which one of those drawn. Of a test or a practice question:
    #: which one. Of a repeat: the number, in the same round, of the question that it repeats
    place: int
    #: the right answer of a test or a practice question; where several are chosen, one of them
    expected: int | None = None
    #: whether a model may put another question in its place
    open: bool = False


class Sampler:
    """Draws uniformly without replacement, and adds tests, shared and repeated questions.

    A participant's seed and what was asked of them before are enough to draw a round again.
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        at = {name: i for i, name in enumerate(design.objects)}
        self.size = n_questions(design.kind, len(at), design.shown)
        self.tests = [
            (tuple(at[name] for name in names), at[answer]) for *names, answer in design.tests
        ]
        of_tests = {key_of(design.kind, objects) for objects, _ in self.tests}
        #: the first so many of each round are shared by everybody
        self.pool = self._draw(
            np.random.default_rng(design.seed), design.shared * design.most, of_tests
        )
        #: asked of everybody, and so chosen for nobody
        self.reserved = of_tests | set(self.pool)

    def round(self, seed: int, number: int, before: Set[Key] = frozenset()) -> list[Question]:
        """The questions of a participant's next round, in order; none when all were asked.

        The seed is the participant's own, rounds count from 1, and what was asked ``before`` is
        not drawn again.
        """
        design = self.design
        rng = np.random.default_rng([seed, number])
        shared = self.pool[(number - 1) * design.shared : number * design.shared]
        n_tests = int(bool(self.tests))
        wanted = design.length - n_tests - len(shared) - design.repeated
        drawn = self._draw(rng, wanted, self.reserved | before)
        if not drawn and not shared:
            return []
        # a study that is nearly asked through ends with a shorter round
        repeated = min(design.repeated, len(drawn))
        length = n_tests + len(shared) + len(drawn) + repeated
        half = (length + 1) // 2
        plan: dict[int, Question] = {}
        if self.tests:
            which = (seed + number - 1) % len(self.tests)
            objects, expected = self.tests[which]
            place = int(rng.integers(min(design.among_first, length)))
            plan[place] = Question(objects, "test", which, expected)
        free = [i for i in range(length) if i not in plan]
        again = _some(rng, [i for i in free if i >= half], repeated)
        rest = [i for i in free if i not in again]
        of_shared = _some(rng, rest, len(shared))
        of_drawn = [i for i in rest if i not in of_shared]
        for which, (i, objects) in enumerate(zip(of_shared, shared, strict=True)):
            plan[i] = Question(objects, "shared", (number - 1) * design.shared + which)
        for which, (i, objects) in enumerate(zip(of_drawn, drawn, strict=True)):
            plan[i] = Question(objects, "random", which)
        # what is asked again was asked in the first half of the round, and stays as it is
        early = [i for i in (*of_drawn, *of_shared) if i < half]
        sources = rng.permutation(early)[: len(again)].tolist() if early else []
        chosen = round(design.chosen * len(of_drawn))
        for i in _some(rng, [i for i in of_drawn if i not in sources], chosen):
            plan[i] = replace(plan[i], open=True)
        for i, source in zip(again, sources, strict=False):
            plan[i] = Question(plan[source].objects, "repeat", source + 1)
        return [
            replace(asked, objects=in_places(design.kind, asked.objects, rng))
            for _, asked in sorted(plan.items())
        ]

    def _draw(self, rng: np.random.Generator, count: int, taken: Set[Key]) -> list[Key]:
        """Different questions, each as likely as any other; none of those that are taken."""
        count = min(count, self.size - len(taken))
        if len(taken) + count > self.size / 2:
            # few are left: better to list them than to find them by chance
            left = [question for question in self._every() if question not in taken]
            return [left[i] for i in rng.permutation(len(left))[:count].tolist()]
        n, shown = len(self.design.objects), self.design.shown
        drawn: dict[Key, None] = {}
        while len(drawn) < count:
            found = key_of(self.design.kind, rng.permutation(n)[:shown].tolist())
            if found not in taken:
                drawn[found] = None
        return list(drawn)

    def _every(self) -> Iterator[Key]:
        """All questions that there are."""
        for objects in combinations(range(len(self.design.objects)), self.design.shown):
            if self.design.kind != "closer":
                yield objects
                continue
            for anchor in objects:
                yield anchor, *(i for i in objects if i != anchor)


def _some(rng: np.random.Generator, items: Sequence[int], count: int) -> list[int]:
    """So many of the items, at random, in their order."""
    if not items or not count:
        return []
    return sorted(rng.permutation(items)[:count].tolist())
