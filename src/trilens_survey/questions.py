"""Which questions a participant gets."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import asdict, dataclass, replace
from math import comb

from trilens.statements import Kind
from trilens_survey.shuffle import (
    at_place,
    n_questions,
    random_number,
    rank,
    shuffle_places,
    shuffled,
    unrank,
)


@dataclass(frozen=True)
class Design:
    """What decides which questions are asked, and what they look like; stored with the answers.

    Attributes
    ----------
    objects
        Their names; everything else speaks of their positions here.
    tests
        The objects and, last, the right answer of each test question.
    question
        Its wording in each language.
    stimuli
        The fingerprint of each object's picture, sound or texts.
    shown, choose
        How many objects a screen shows, an anchor included, and how many of them are chosen.
    block, condition
        The names of the part of the study and of the condition to which this belongs.
    policy, chosen
        How questions are drawn; the share of those drawn that a model may choose.
    """

    kind: Kind
    objects: tuple[str, ...]
    length: int
    most: int
    tests: tuple[tuple[str, ...], ...]
    among_first: int
    shared: int
    repeated: int
    seed: int
    policy: str = "uniform"
    question: tuple[tuple[str, str], ...] = ()
    stimuli: tuple[str, ...] = ()
    shown: int = 3
    choose: int = 1
    block: str = ""
    condition: str = ""
    chosen: float = 0.0

    def to_json(self) -> str:
        """As it is stored: what came later is left out where it says nothing."""
        content = asdict(self)
        plain = {"shown": 3, "choose": 1, "block": "", "condition": "", "chosen": 0.0}
        for name, value in plain.items():
            if content[name] == value:
                del content[name]
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, content: str) -> Design:
        """A design that was stored; older ones do not say everything."""
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

    def asked(self, language: str) -> str | None:
        """The question in a language; None where it was not stored."""
        return dict(self.question).get(language)


@dataclass(frozen=True)
class Question:
    """One question, and why it is asked.

    Attributes
    ----------
    objects
        In the order in which they are shown; for ``closer`` the anchor is first.
    reason
        ``random``, ``adaptive``, ``test``, ``shared``, ``repeat`` or ``practice``.
    place
        Of a random question: its place in the participant's order. Of a shared one: in the
        study's order. Of a test or a practice question: which one. Of a repeat: the number,
        in the same round, of the question that it repeats.
    expected
        The right answer of a test or a practice question; where several are chosen, one of them.
    open
        Whether a model may put another question in its place.
    """

    objects: tuple[int, ...]
    reason: str
    place: int
    expected: int | None = None
    open: bool = False


class Sampler:
    """Draws uniformly without replacement, and adds tests, shared and repeated questions.

    Parameters
    ----------
    design
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        at = {name: i for i, name in enumerate(design.objects)}
        self.size = n_questions(design.kind, len(at), design.shown)
        self.tests = [
            (tuple(at[name] for name in names), at[answer]) for *names, answer in design.tests
        ]
        of_tests = {rank(design.kind, objects) for objects, _ in self.tests}
        #: the study's order without the tests: the first so many of each round are shared
        self.pool: list[tuple[int, int]] = []
        wanted = min(design.shared * design.most, self.size - len(of_tests))
        place = 0
        while len(self.pool) < wanted:
            found = at_place(design.seed, place, self.size)
            if found not in of_tests:
                self.pool.append((place, found))
            place += 1
        #: asked of everybody, and so chosen for nobody
        self.reserved = of_tests | {found for _, found in self.pool}

    @property
    def reserved_questions(self) -> list[tuple[int, ...]]:
        """The objects of the test and shared questions."""
        design = self.design
        return [unrank(design.kind, found, design.shown) for found in sorted(self.reserved)]

    def round(
        self, seed: int, number: int, before: Set[int] = frozenset(), start: int = 0
    ) -> list[Question]:
        """The questions of a participant's next round, in order; none when all were asked.

        Parameters
        ----------
        seed
            The participant's own.
        number
            Of the round, from 1.
        before
            Ranks (see `trilens_survey.shuffle.rank`) of the questions asked before.
        start
            The first place in the participant's order that was not looked at before.
        """
        design = self.design
        shared = self.pool[(number - 1) * design.shared : number * design.shared]
        n_tests = int(bool(self.tests))
        wanted = design.length - n_tests - len(shared) - design.repeated
        drawn = self._draw(seed, wanted, before, start)
        if not drawn and not shared:
            return []
        # a study that is nearly asked through ends with a shorter round
        repeated = min(design.repeated, len(drawn))
        length = n_tests + len(shared) + len(drawn) + repeated
        half = (length + 1) // 2
        plan: dict[int, Question] = {}
        if self.tests:
            which = (random_number(seed, "test") + number - 1) % len(self.tests)
            place = random_number(seed, "test place", number) % min(design.among_first, length)
            objects, expected = self.tests[which]
            plan[place] = Question(objects, "test", which, expected)
        free = [i for i in range(length) if i not in plan]
        late = shuffled(seed, [i for i in free if i >= half], "repeated at", number)
        again = sorted(late[:repeated])
        rest = [i for i in free if i not in again]
        of_shared = sorted(shuffled(seed, rest, "shared at", number)[: len(shared)])
        of_drawn = [i for i in rest if i not in of_shared]
        for i, (place, found) in zip(of_shared, shared, strict=True):
            plan[i] = Question(unrank(design.kind, found, design.shown), "shared", place)
        for i, (place, found) in zip(of_drawn, drawn, strict=True):
            plan[i] = Question(unrank(design.kind, found, design.shown), "random", place)
        # what is asked again was asked in the first half of the round
        early = shuffled(seed, [i for i in of_drawn + of_shared if i < half], "repeated of", number)
        sources = early[: len(again)]
        # what is asked twice stays as it is
        free = [i for i in of_drawn if i not in sources]
        chosen = round(design.chosen * len(of_drawn))
        for i in shuffled(seed, free, "chosen at", number)[:chosen]:
            plan[i] = replace(plan[i], open=True)
        for i, source in zip(again, early, strict=False):
            plan[i] = Question(plan[source].objects, "repeat", source + 1)
        return [
            replace(asked, objects=shuffle_places(design.kind, asked.objects, seed, number, i))
            for i, asked in sorted(plan.items())
        ]

    def _draw(self, seed: int, count: int, before: Set[int], place: int) -> list[tuple[int, int]]:
        """The next places of the participant's order, and the questions that stand there."""
        drawn: list[tuple[int, int]] = []
        while len(drawn) < count and place < self.size:
            found = at_place(seed, place, self.size)
            if found not in self.reserved and found not in before:
                drawn.append((place, found))
            place += 1
        return drawn
