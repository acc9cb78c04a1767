"""What is asked in one part of a study: the kind, the objects, the wording, how many questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from trilens.statements import KINDS, Kind
from trilens_survey.goal import Adaptive
from trilens_survey.questions import Design
from trilens_survey.reading import Reading, Text, Where, label
from trilens_survey.shuffle import n_questions, random_number, shuffled
from trilens_survey.stimuli import Stimulus

#: The most objects that a screen has to choose from.
MOST = 24


@dataclass(frozen=True)
class Test:
    """A question whose answer is known; names of objects, for ``closer`` the anchor first."""

    objects: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Example:
    """A question that is explained: shown with the instructions, or asked for practice."""

    objects: tuple[str, ...]
    answer: str
    why: Text


@dataclass(frozen=True)
class Block:
    """One part of a study; most studies have one.

    Attributes
    ----------
    shown, choose
        How many objects a screen shows, an anchor included, and how many of them are chosen.
    names
        Of the objects.
    instructions
        Shown before its first question, where the study's own are not enough.
    length, rounds
        Questions in a round, and rounds.
    practice
        Asked before the first question of a study that begins with this block.
    seed
        Of the shared questions.
    """

    name: str
    condition: str
    kind: Kind
    shown: int
    choose: int
    names: tuple[str, ...]
    question: Text
    instructions: Text | None
    length: int
    rounds: int
    tests: tuple[Test, ...]
    practice: tuple[Example, ...]
    among_first: int
    shared: int
    repeated: int
    seed: int

    def design(self, by_name: dict[str, Stimulus], adaptive: Adaptive | None = None) -> Design:
        """What decides which questions are asked."""
        return Design(
            kind=self.kind,
            objects=self.names,
            length=self.length,
            most=self.rounds,
            tests=tuple((*test.objects, test.answer) for test in self.tests),
            among_first=self.among_first,
            shared=self.shared,
            repeated=self.repeated,
            seed=self.seed,
            question=tuple(sorted(self.question.items())),
            stimuli=tuple(by_name[name].fingerprint for name in self.names),
            shown=self.shown,
            choose=self.choose,
            block=self.name,
            condition=self.condition,
            policy="uniform" if adaptive is None else f"adaptive {adaptive.goal}",
            chosen=0.0 if adaptive is None else 1 - adaptive.random_share,
        )

    def seed_of(self, seed: int) -> int:
        """A participant's seed in this block, so that no two ask the same in the same order."""
        return random_number(seed, "block", self.name) >> 2 if self.name else seed


def in_turn(blocks: tuple[Block, ...], seed: int, at_random: bool) -> tuple[Block, ...]:
    """The blocks in the order in which a participant meets them."""
    if not at_random:
        return blocks
    return tuple(blocks[i] for i in shuffled(seed, list(range(len(blocks))), "blocks"))


def at_round(blocks: tuple[Block, ...], round: int) -> tuple[int, int] | None:
    """The place of the block in which a participant's round is, and its number there, from 1."""
    for i, block in enumerate(blocks):
        if round <= block.rounds:
            return i, round
        round -= block.rounds
    return None


_GRID = ("of", "choose")
_TESTS = ("among_first", "triples")
_BLOCK = (
    "name", "kind", "grid", "objects", "question", "instructions", "rounds", "length", "tests",
    "practice", "shared", "repeated",
)  # fmt: skip
_CONDITION = (*_BLOCK[1:6], *_BLOCK[7:], "blocks")
EXAMPLE = ("objects", "answer", "why")


class Blocks:
    """Reads the blocks of every condition.

    What a block does not say is taken from the condition, and then from the study.

    Parameters
    ----------
    objects
        The names of the objects at each path that has objects of its own.
    wording
        The built-in questions: by kind, with ``_grid`` and ``_several`` after it.
    most
        Rounds of a study that has no blocks.
    """

    def __init__(
        self,
        reading: Reading,
        objects: dict[Where, tuple[str, ...]],
        wording: dict[str, Text],
        most: int,
    ) -> None:
        self.reading = reading
        self.objects = objects
        self.wording = wording
        self.most = most

    def read(self) -> dict[str, tuple[Block, ...]]:
        """The blocks by condition; a study without conditions has one, without a name."""
        found = self._conditions()
        firsts = [blocks[0] for blocks in found.values() if blocks]
        if self.reading.has("practice") and not any(first.practice for first in firsts):
            text = "practice: the first block asks another kind of question; write it there"
            self.reading.wrong(text, "practice")
        return found

    def _conditions(self) -> dict[str, tuple[Block, ...]]:
        reading = self.reading
        named = self._named()
        conditions = reading.given.get("conditions")
        if conditions is None:
            return {"": tuple(self._block("", name, at) for name, at in named.items())}
        if not isinstance(conditions, dict) or len(conditions) < 2:
            reading.wrong("conditions must be a section with two names or more", "conditions")
            return {}
        found = {}
        for condition in conditions:
            here: Where = ("conditions", condition)
            if not reading.keys(_CONDITION, *here):
                continue
            chosen = self._chosen(named, *here)
            found[condition] = tuple(
                self._block(condition, name, at, here) for name, at in chosen.items()
            )
        return found

    def _named(self) -> dict[str, Where]:
        """Where each block stands; a study without has one without a name, the study itself."""
        reading = self.reading
        if not reading.has("blocks"):
            return {"": ()}
        found: dict[str, Where] = {}
        for i in range(reading.entries("blocks", "blocks")):
            if not reading.keys(_BLOCK, "blocks", i):
                continue
            name = reading.line("blocks", i, "name", needed=True) or f"{i + 1}"
            if name in found:
                reading.wrong(f"blocks: the name {name!r} appears twice", "blocks", i, "name")
            found[name] = ("blocks", i)
        if not found:
            reading.wrong("blocks must be a list of blocks, each with a name", "blocks")
        return found or {"": ()}

    def _chosen(self, named: dict[str, Where], *here: str | int) -> dict[str, Where]:
        """The blocks of a condition, in its order."""
        reading = self.reading
        if not reading.has(*here, "blocks"):
            return named
        found = {}
        for i in range(reading.entries("names of blocks", *here, "blocks")):
            name = str(reading.given.get(*here, "blocks", i))
            if name not in named or not name:
                reading.wrong(f"{label(here)}: there is no block {name!r}", *here, "blocks", i)
            else:
                found[name] = named[name]
        return found or named

    def _where(self, key: str, layers: list[Where]) -> int | None:
        """Which layer, the strongest first, has a value for this key."""
        return next((i for i, at in enumerate(layers) if self.reading.has(*at, key)), None)

    def _block(self, condition: str, name: str, at: Where, over: Where | None = None) -> Block:
        reading = self.reading
        layers: list[Where] = [path for path in (at, over) if path]
        layers.append(())
        at_kind = self._where("kind", layers)
        kind_at: Where = layers[at_kind] if at_kind is not None else ()
        kind = cast(Kind, reading.choice(*kind_at, "kind", allowed=KINDS, default="central"))
        at_grid = self._where("grid", layers)
        shown, choose = self._grid(kind, None if at_grid is None else (*layers[at_grid], "grid"))
        # what was written for another kind of question says nothing here
        asked = [i for i in (at_kind, at_grid) if i is not None]
        fitting = layers[: 1 + min(asked, default=len(layers))]
        names = self.objects[next(a for a in layers if a in self.objects)]
        rounds = self.most
        if at:
            rounds = reading.whole(*at, "rounds", default=1, least=1, most=1000)
        own = self._where("length", layers[:-1])
        length_at: Where = ("rounds", "length") if own is None else (*layers[own], "length")
        told = self._where("instructions", layers[:-1])
        block = Block(
            name=name,
            condition=condition,
            kind=kind,
            shown=shown,
            choose=choose,
            names=names,
            question=self._question(kind, shown, choose, fitting),
            instructions=None if told is None else reading.text(*layers[told], "instructions"),
            length=reading.whole(*length_at, default=50, least=1, most=1000),
            rounds=rounds,
            tests=self._tests(kind, shown, names, fitting),
            practice=self._practice(kind, shown, names, fitting),
            among_first=self._count("tests", fitting, 10, 1, "among_first"),
            shared=self._count("shared", layers, 2, 0),
            repeated=self._count("repeated", layers, 2, 0),
            seed=reading.whole("seed", default=1, least=0, most=2**62),
        )
        self._check(block, at, length_at)
        return block

    def _count(self, key: str, layers: list[Where], default: int, least: int, *more: str) -> int:
        at = self._where(key, layers)
        where: Where = () if at is None else layers[at]
        return self.reading.whole(*where, key, *more, default=default, least=least)

    def _grid(self, kind: Kind, at: Where | None) -> tuple[int, int]:
        """How many objects are shown, an anchor included, and how many are chosen."""
        anchors = int(kind == "closer")
        if at is None or not self.reading.keys(_GRID, *at):
            return 3, 1
        least = 3 - anchors
        of = self.reading.whole(*at, "of", default=least, least=least, most=MOST)
        choose = self.reading.whole(*at, "choose", default=1, least=1, most=MOST)
        if choose > 1 and kind != "closer":
            text = f"{label(at)}.choose must be 1 for kind {kind}; several are chosen for closer"
            self.reading.wrong(text, *at, "choose")
        elif choose >= of:
            self.reading.wrong(f"{label(at)}.choose must be smaller than {of}", *at, "choose")
        return of + anchors, choose

    def _question(self, kind: Kind, shown: int, choose: int, layers: list[Where]) -> Text:
        plain = shown == 3
        built_in = self.wording[
            kind if plain else f"{kind}_several" if choose > 1 else f"{kind}_grid"
        ]
        built_in = {code: text.replace("{k}", str(choose)) for code, text in built_in.items()}
        at = self._where("question", layers)
        if at is not None:
            return self.reading.text(*layers[at], "question")
        lacking = [code for code in self.reading.languages if code not in built_in]
        if lacking:
            self.reading.wrong(f"question is missing in: {', '.join(lacking)}", "question")
        return {code: built_in.get(code, "") for code in self.reading.languages}

    def _tests(
        self, kind: Kind, shown: int, names: tuple[str, ...], layers: list[Where]
    ) -> tuple[Test, ...]:
        at = self._where("tests", layers)
        if at is None:
            return ()
        where = (*layers[at], "tests")
        if layers[at] and not self.reading.keys(_TESTS, *where):
            return ()
        tests: dict[object, Test] = {}
        for i in range(self.reading.entries("questions with their answers", *where, "triples")):
            path = (*where, "triples", i)
            test = read_test(self.reading, kind, shown, names, *path)
            if test is None:
                continue
            same = (test.objects[0] if kind == "closer" else None, frozenset(test.objects))
            if same in tests:
                self.reading.wrong("tests: this triple appears twice", *path)
            tests[same] = test
        return tuple(tests.values())

    def _practice(
        self, kind: Kind, shown: int, names: tuple[str, ...], layers: list[Where]
    ) -> tuple[Example, ...]:
        at = self._where("practice", layers)
        if at is None:
            return ()
        where = (*layers[at], "practice")
        found = []
        for i in range(self.reading.entries("questions with their answers", *where)):
            one = read_example(self.reading, kind, shown, names, *where, i)
            if one is not None:
                found.append(one)
        return tuple(found)

    def _check(self, block: Block, at: Where, length_at: Where) -> None:
        """Whether there are enough questions."""
        n = len(block.names)
        wrong = self.reading.wrong
        where = f"{label(at)}: " if at else ""
        if n < block.shown:
            if n >= 3:
                text = f"{where}each screen shows {block.shown} objects, but there are only {n}"
                wrong(text, *at, "grid")
            return
        special = bool(block.tests) + block.shared + block.repeated
        possible = n_questions(block.kind, n, block.shown) - len(block.tests)
        length = f"{label(length_at)} is {block.length}, but"
        if special >= block.length:
            text = (
                f"{length} each round has {special} test, shared and repeated questions; "
                f"make rounds longer, or shared and repeated smaller"
            )
            wrong(text, *length_at)
        elif block.length - bool(block.tests) - block.repeated > possible:
            text = f"{length} {n} objects make only {possible:,} questions; make rounds shorter"
            wrong(text + " or add objects", *length_at)
        elif block.repeated > block.length // 3:
            most = block.length // 3
            text = f"repeated is {block.repeated}, but at most a third of a round ({most}) can be"
            wrong(text, "repeated")


def read_test(
    reading: Reading, kind: Kind, shown: int, names: tuple[str, ...], *path: str | int
) -> Test | None:
    """The objects and the answer of a test, of practice or of the example."""
    given, answer = reading.given.get(*path, "objects"), reading.given.get(*path, "answer")
    where = next(part for part in ("tests", "practice", "example") if part in path)
    counted = "three" if shown == 3 else str(shown)
    if not isinstance(given, list) or len(given) != shown or answer is None:
        reading.wrong(f"{where}: {counted} objects and an answer are needed", *path)
        return None
    objects = tuple(map(str, given))
    unknown = [name for name in objects if name not in names]
    choices = objects[1:] if kind == "closer" else objects
    if unknown and names:
        reading.wrong(f"{where}: there is no object {unknown[0]!r}", *path, "objects")
    elif len(set(objects)) < shown:
        reading.wrong(f"{where}: the {counted} objects must be different", *path, "objects")
    elif str(answer) not in choices:
        text = f"{where}: the answer must be one of {', '.join(choices)}, not {str(answer)!r}"
        reading.wrong(text, *path, "answer")
    else:
        return Test(objects, str(answer))
    return None


def read_example(
    reading: Reading, kind: Kind, shown: int, names: tuple[str, ...], *path: str | int
) -> Example | None:
    """A question that is explained."""
    if not reading.keys(EXAMPLE, *path):
        return None
    test = read_test(reading, kind, shown, names, *path)
    why = reading.text(*path, "why")
    return None if test is None else Example(test.objects, test.answer, why)
