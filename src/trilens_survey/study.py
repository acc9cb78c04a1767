"""A study: what ``study.yaml`` and the objects say, read and checked."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trilens.errors import StudyError
from trilens_survey.forms import Item
from trilens_survey.goal import Goal, Unfit, read_goal
from trilens_survey.languages import TEXTS, UNREVIEWED, base, questions_in, spoken
from trilens_survey.questions import Design, mixed, n_questions
from trilens_survey.settings import (
    KEYS,
    BlockSettings,
    Explained,
    Grid,
    Kind,
    Known,
    Part,
    StudySettings,
    Tests,
)
from trilens_survey.stimuli import MEDIA, Stimulus, ignored_files, read_stimuli
from trilens_survey.study_file import FILE, Problem, StudyText, Where, label, problems_of, read_text


@dataclass(frozen=True)
class Block(Design):
    """What is asked in one part of a study; most studies have one."""

    #: the test questions
    known: tuple[Known, ...] = ()
    #: asked before the first question of a study that begins with this block
    practice: tuple[Explained, ...] = ()
    #: shown before its first question, where the study's own are not enough
    instructions: dict[str, str] | None = None

    def seed_of(self, seed: int) -> int:
        """A participant's seed in this block, so that no two ask the same in the same order."""
        return mixed(seed, "block", self.block) >> 2 if self.block else seed


def at_round(blocks: tuple[Block, ...], round: int) -> tuple[int, int] | None:
    """The place of the block in which a participant's round is, and its number there, from 1."""
    for i, block in enumerate(blocks):
        if round <= block.most:
            return i, round
        round -= block.most
    return None


@dataclass(frozen=True)
class Study:
    """A study that can be served."""

    #: what ``study.yaml`` says
    settings: StudySettings
    #: the objects
    by_name: dict[str, Stimulus]
    #: what is asked, block by block, in each condition; without a name where there is one
    conditions: dict[str, tuple[Block, ...]]
    #: the texts of the pages in each language
    texts: dict[str, dict[str, str]]
    #: what the answers are to tell, where the study says so
    goal: Goal | None

    @property
    def title(self) -> str:
        """In the first language, for researchers."""
        return self.settings.title[self.languages[0]]

    @property
    def languages(self) -> tuple[str, ...]:
        return self.settings.languages

    @property
    def minimum(self) -> int:
        """Answers that make a round count."""
        return self.settings.rounds.minimum

    @property
    def needed(self) -> int:
        """Rounds after which a participant may finish: one; where there are blocks, all."""
        given = self.settings.rounds.needed
        if given is not None or not self.settings.blocks:
            return given or 1
        return sum(block.most for block in next(iter(self.conditions.values())))

    @property
    def first(self) -> Block:
        """The first block of the first condition: all there is in most studies."""
        return next(iter(self.conditions.values()))[0]

    @property
    def kind(self) -> Kind:
        return self.first.kind

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """What is asked, over all blocks and conditions."""
        return tuple(dict.fromkeys(block.kind for block in self.designs.values()))

    @cached_property
    def most(self) -> int:
        """The rounds that a participant may do, in the longest condition."""
        return max(sum(block.most for block in blocks) for blocks in self.conditions.values())

    def blocks(self, condition: str | None, seed: int) -> tuple[Block, ...]:
        """What a participant is asked, block by block.

        One whose condition is no longer part of the study gets the first.
        """
        blocks = self.conditions.get(condition or "") or next(iter(self.conditions.values()))
        if self.settings.block_order == "fixed" or len(blocks) == 1:
            return blocks
        order = sorted(range(len(blocks)), key=lambda i: mixed(seed, "blocks", i))
        return tuple(blocks[i] for i in order)

    def form(self, name: str) -> tuple[Item, ...]:
        """The questions ``before`` or ``after`` the rounds."""
        return self.settings.before if name == "before" else self.settings.after

    @property
    def stimuli(self) -> Collection[Stimulus]:
        """The objects."""
        return self.by_name.values()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the objects, in their order."""
        return tuple(self.by_name)

    @cached_property
    def media(self) -> dict[str, Stimulus]:
        """Each file by its key, the only way to ask for one."""
        return {stimulus.key: stimulus for stimulus in self.stimuli if stimulus.key}

    def spoken(self, *asked: str | None) -> str:
        """The study's language for those that a participant prefers: en for en-GB."""
        return spoken(self.languages, [code for code in asked if code])

    @cached_property
    def designs(self) -> dict[tuple[str, str], Block]:
        """What is asked, by condition and block."""
        return {block.of: block for blocks in self.conditions.values() for block in blocks}


def load_study(folder: str | Path) -> Study:
    """The study in a folder; a `StudyError` says everything that is wrong."""
    study, problems = read_study(Path(folder))
    if problems or study is None:
        raise StudyError(list(map(str, problems)))
    return study


def check_study(folder: str | Path) -> list[Problem]:
    """Everything that is wrong with a study's folder; nothing for one that can be served.

    Pictures and sounds are decoded.
    """
    return read_study(Path(folder), decode=True)[1]


def read_study(folder: Path, *, decode: bool = False) -> tuple[Study | None, list[Problem]]:
    """The study, if nothing is wrong, and what is wrong.

    With ``decode``, every picture and sound is decoded, which takes a while.
    """
    if not folder.is_dir():
        return None, [Problem(str(folder), None, "no such folder")]
    try:
        text, problems = read_text((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        why = "no such file; create one with trilens survey init"
        return None, [Problem(FILE, None, why)]
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(FILE, None, f"cannot be read as UTF-8 text: {error}")]
    if text is None:
        return None, problems
    reader = _Reader(folder, text)
    study = reader.study(decode)
    problems = sorted(
        dict.fromkeys(reader.problems), key=lambda p: (p.file != FILE, p.file, p.line or 0)
    )
    return (None if problems else study), problems


@dataclass
class _Reader:
    """One pass over a study's folder, which notes what is wrong and goes on."""

    folder: Path
    text: StudyText
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, text: str, *path: str | int) -> None:
        self.problems.append(self.text.wrong(text, *path))

    def study(self, decode: bool) -> Study | None:
        settings, whole = self._settings()
        languages = self._languages() if settings is None else settings.languages
        parts = {} if settings is None else _parts(settings)
        stimuli = self._stimuli(parts, languages)
        if decode:
            from trilens_survey.media import damaged

            files = {one.file: one for some in stimuli.values() for one in some if one.file}
            self.problems += damaged(files.values())
        if settings is None or () not in stimuli:
            return None
        names = {at: tuple(one.name for one in some) for at, some in stimuli.items()}
        blocks = {
            at: _block(settings, part, names.get(at, names[()]), at) for at, part in parts.items()
        }
        self._check_names(settings, blocks)
        if not whole:
            return None
        self._check_across(settings)
        goal = self._goal(settings, list(blocks.values()))
        by_name = {one.name: one for some in stimuli.values() for one in some}
        conditions: dict[str, tuple[Block, ...]] = {}
        for at, block in blocks.items():
            self._check_block(settings, block, at)
            final = _with_goal(block, by_name, goal)
            conditions[block.condition] = (*conditions.get(block.condition, ()), final)
        study = Study(
            settings=settings,
            by_name=by_name,
            conditions=conditions,
            texts=self._texts(settings),
            goal=goal,
        )
        self._check_rounds(study)
        return study

    # --- the file ---------------------------------------------------------------------------

    def _settings(self) -> tuple[StudySettings | None, bool]:
        """What the file says; and whether that is all of it, or what is left without mistakes."""
        values = self.text.values
        context = {"languages": self._languages()}
        try:
            return StudySettings.model_validate(values, context=context), True
        except ValidationError as error:
            self.problems += problems_of(error, self.text, KEYS)
            bad = {one["loc"][0] for one in error.errors() if one["loc"]}
        rest = {key: value for key, value in values.items() if key not in bad}
        try:
            return StudySettings.model_validate(rest, context=context), False
        except ValidationError:
            return None, False

    def _languages(self) -> tuple[str, ...]:
        """The languages, for reading the texts; what is wrong with them the models say."""
        given = self.text.values.get("languages")
        if isinstance(given, list) and given and all(isinstance(code, str) for code in given):
            return tuple(given)
        return ("en",)

    def _texts(self, settings: StudySettings) -> dict[str, dict[str, str]]:
        """The texts of the pages: those that are built in, replaced by the study's own."""
        accepted = settings.not_reviewed or ()
        for code in settings.texts:
            if code not in settings.languages:
                text = f"texts: {code!r} is not one of the study's languages"
                self.wrong(text, "texts", code)
        texts = {}
        for code in settings.languages:
            own = settings.texts.get(code, {})
            for key in own:
                if key not in TEXTS["en"]:
                    self.wrong(f"texts.{code}: unknown key {key!r}", "texts", code, key)
            plain = base(code)
            built_in = TEXTS.get(plain) or UNREVIEWED.get(plain, {})
            lacking = [key for key in TEXTS["en"] if key not in own]
            if lacking and plain in UNREVIEWED and code not in accepted:
                self.wrong(
                    f"no native speaker has reviewed the built-in texts in {code!r}; to use them "
                    f"all the same, write not_reviewed: [{code}], or give all of texts.{code}",
                    "languages",
                )
            elif lacking and not built_in:
                text = f"the pages have no built-in texts in {code!r}; add texts.{code} with "
                where = "texts" if code in settings.texts else "languages"
                self.wrong(text + ", ".join(lacking), where)
            texts[code] = TEXTS["en"] | built_in | own
        return texts

    def _goal(self, settings: StudySettings, blocks: list[Block]) -> Goal | None:
        first = blocks[0]
        try:
            plain = len(blocks) == 1 and first.shown == 3
            return read_goal(settings, first.kind, first.objects, plain)
        except Unfit as unfit:
            self.wrong(str(unfit), *unfit.path)
            return None

    # --- the objects ------------------------------------------------------------------------

    def _stimuli(
        self, parts: dict[Where, Part], languages: tuple[str, ...]
    ) -> dict[Where, list[Stimulus]]:
        """The objects of the study, and of each block and condition that has its own."""
        objects = self.text.values.get("objects")
        if not isinstance(objects, str):
            return {}
        found: dict[Where, list[Stimulus]] = {(): self._read_stimuli(objects, languages, "objects")}
        by_name = {stimulus.name: stimulus for stimulus in found[()]}
        for at, part in parts.items():
            if isinstance(part.objects, tuple):
                unknown = [name for name in part.objects if name not in by_name]
                if unknown and by_name:
                    self.wrong(f"{label(at)}: there is no object {unknown[0]!r}", *at, "objects")
                elif len(set(part.objects)) < max(3, len(part.objects)):
                    text = f"{label(at)}: objects must be at least three different ones"
                    self.wrong(text, *at, "objects")
                else:
                    found[at] = [by_name[name] for name in part.objects if by_name]
            elif part.objects is not None:
                found[at] = self._read_stimuli(part.objects, languages, *at, "objects")
                for one in found[at]:
                    other = by_name.setdefault(one.name, one)
                    if other.fingerprint != one.fingerprint:
                        text = f"{label(at)}: another object is called {one.name!r}; rename one"
                        self.wrong(text, *at, "objects")
        return found

    def _read_stimuli(
        self, where: str, languages: tuple[str, ...], *path: str | int
    ) -> list[Stimulus]:
        line = self.text.wrong("", *path).line
        found, problems = read_stimuli(self.folder, where, languages, line)
        self.problems += problems
        if len(found) < 3 and not problems:
            text = f"{where} has {len(found)} objects; a study needs at least three"
            self.wrong(text, *path)
        return found

    # --- the blocks -------------------------------------------------------------------------

    def _check_names(self, settings: StudySettings, blocks: dict[Where, Block]) -> None:
        """Whether tests, practice and the example are about objects that there are."""
        for at, block in blocks.items():
            for key, some in (("tests", block.known), ("practice", block.practice)):
                own: Where = at if key in self._value(at) else ()
                inner: Where = ("triples",) if key == "tests" else ()
                seen: set[object] = set()
                for i, known in enumerate(some):
                    path = (*own, key, *inner, i)
                    self._check_known(known, block, path)
                    same = (block.kind == "closer" and known.objects[:1], frozenset(known.objects))
                    if same in seen and key == "tests":
                        self.wrong(f"{label(path)} appears twice", *path)
                    seen.add(same)
        first = next(iter(blocks.values()))
        if settings.example is not None:
            self._check_known(settings.example, first, ("example",))
        if settings.practice and not first.practice:
            text = "practice: the first block asks another kind of question; write it there"
            self.wrong(text, "practice")

    def _value(self, at: Where) -> Any:
        value: Any = self.text.values
        for part in at:
            value = value[part]
        return value

    def _check_known(self, known: Known, block: Block, path: Where) -> None:
        counted = "three" if block.shown == 3 else str(block.shown)
        objects, name = known.objects, label(path)
        choices = objects[1:] if block.kind == "closer" else objects
        unknown = [one for one in objects if one not in block.objects]
        if len(objects) != block.shown:
            self.wrong(f"{name}: {counted} objects and an answer are needed", *path)
        elif unknown and block.objects:
            self.wrong(f"{name}: there is no object {unknown[0]!r}", *path, "objects")
        elif len(set(objects)) < block.shown:
            self.wrong(f"{name}: the {counted} objects must be different", *path, "objects")
        elif known.answer not in choices:
            text = f"{name}: the answer must be one of {', '.join(choices)}, not {known.answer!r}"
            self.wrong(text, *path, "answer")

    def _check_block(self, settings: StudySettings, block: Block, at: Where) -> None:
        """Whether there are enough questions."""
        n = len(block.objects)
        where = f"{label(at)}: " if at else ""
        if block.choose > 1 and block.kind != "closer":
            text = f"{where}grid.choose must be 1 for kind {block.kind}; several are for closer"
            self.wrong(text, *at, "grid", "choose")
        elif block.choose >= block.shown - (block.kind == "closer"):
            self.wrong(f"{where}grid.choose must be smaller than grid.of", *at, "grid", "choose")
        if block.kind != "closer" and block.shown < 3:
            self.wrong(f"{where}grid.of must be at least 3", *at, "grid", "of")
        if n < block.shown:
            if n >= 3:
                text = f"{where}each screen shows {block.shown} objects, but there are only {n}"
                self.wrong(text, *at, "grid")
            return
        lacking = [code for code in settings.languages if not block.question.get(code)]
        if lacking:
            self.wrong(f"{where}question is missing in: {', '.join(lacking)}", *at, "question")
        tests = int(bool(block.known))
        special = tests + block.shared + block.repeated
        possible = n_questions(block.kind, n, block.shown) - len(block.known)
        own = at and "length" in self._value(at)
        length_at: Where = (*at, "length") if own else ("rounds", "length")
        length = f"{label(length_at)} is {block.length}, but"
        if special >= block.length:
            text = (
                f"{length} each round has {special} test, shared and repeated questions; "
                f"make rounds longer, or shared and repeated smaller"
            )
            self.wrong(text, *length_at)
        elif block.length - tests - block.repeated > possible:
            text = f"{length} {n} objects make only {possible:,} questions; make rounds shorter"
            self.wrong(text + " or add objects", *length_at)
        elif block.repeated > block.length // 3:
            most = block.length // 3
            text = f"repeated is {block.repeated}, but at most a third of a round ({most}) can be"
            self.wrong(where + text, *at, "repeated")
        if settings.rounds.minimum > block.length:
            text = (
                f"{where}rounds.minimum is {settings.rounds.minimum}, but a round has only "
                f"{block.length} answers"
            )
            self.wrong(text, "rounds", "minimum")

    def _check_across(self, settings: StudySettings) -> None:
        """What no section sees by itself."""
        if settings.blocks and settings.conditions:
            text = "a study has blocks or conditions, not both"
            self.wrong(text, "conditions")
        for key, names in (
            ("after", [item.name for item in (*settings.before, *settings.after)]),
            ("blocks", [block.name for block in settings.blocks]),
        ):
            for name in {name for name in names if names.count(name) > 1}:
                self.wrong(f"{key}: the name {name!r} appears twice", key)
        if settings.questions == "random":
            for key in ("goal", "random_share"):
                if getattr(settings, key) is not None:
                    self.wrong(f"{key} needs questions: adaptive", key)

    def _check_rounds(self, study: Study) -> None:
        for blocks in study.conditions.values():
            rounds = sum(block.most for block in blocks)
            if study.needed > rounds:
                counted = "there are" if study.settings.blocks else "rounds.most is"
                text = f"rounds.needed is {study.needed}, but {counted} {rounds}"
                self.wrong(text, "rounds", "needed")


def _parts(settings: StudySettings) -> dict[Where, Part]:
    """The conditions and blocks by where they stand in the file; the study itself has no path."""
    parts: dict[Where, Part] = {
        **{("conditions", name): part for name, part in (settings.conditions or {}).items()},
        **{("blocks", i): part for i, part in enumerate(settings.blocks)},
    }
    return parts or {(): Part()}


def _block(settings: StudySettings, part: Part, names: tuple[str, ...], at: Where) -> Block:
    """A part with what it does not say taken from the study."""
    kind = part.kind or settings.kind
    grid = part.grid or settings.grid or Grid(of=2 if kind == "closer" else 3)
    shown = grid.of + (kind == "closer")
    # what was written for other questions says nothing here
    of_study = part.kind is None and part.grid is None
    question = part.question or (settings.question if of_study else None)
    tests = part.tests or (settings.tests if of_study else None) or Tests()
    practice = part.practice if part.practice is not None else settings.practice * of_study
    plain = "closer_several" if grid.choose > 1 and kind == "closer" else f"{kind}_grid"
    wording = questions_in(settings.languages)[kind if shown == 3 else plain]
    default = {code: text.replace("{k}", str(grid.choose)) for code, text in wording.items()}
    return Block(
        kind=kind,
        objects=names,
        length=part.length or settings.rounds.length,
        most=part.rounds if isinstance(part, BlockSettings) else settings.rounds.most,
        tests=tuple((*test.objects, test.answer) for test in tests.triples),
        among_first=tests.among_first,
        shared=settings.shared if part.shared is None else part.shared,
        repeated=settings.repeated if part.repeated is None else part.repeated,
        seed=settings.seed,
        question=question or default,
        shown=shown,
        choose=grid.choose,
        block=part.name if isinstance(part, BlockSettings) else "",
        condition=str(at[1]) if at[:1] == ("conditions",) else "",
        known=tests.triples,
        practice=practice,
        instructions=part.instructions,
    )


def _with_goal(block: Block, by_name: dict[str, Stimulus], goal: Goal | None) -> Block:
    """The block with what is shown for its objects, and how its questions are drawn."""
    shown = replace(block, stimuli=tuple(by_name[name].fingerprint for name in block.objects))
    if goal is None or goal.adaptive is None:
        return shown
    return replace(shown, policy=f"adaptive {goal.adaptive}", chosen=1 - goal.random_share)


def remarks(study: Study) -> list[str]:
    """What is not wrong with a study, but worth knowing before it is served."""
    from trilens_survey.media import too_large

    settings = study.settings
    said = []
    if settings.retention is None:
        said.append("no retention date: set one in study.yaml to say when answers will be erased")
    elif settings.retention < datetime.date.today():
        said.append(f"the retention date {settings.retention} has passed: erase the answers")
    blocks = study.designs.values()
    if not any(block.known for block in blocks):
        said.append("no test triples: every round counts as passed")
    if not any(block.shared or block.repeated for block in blocks):
        said.append("no shared or repeated questions: the noise ceiling cannot be estimated")
    goal = study.goal
    if goal is not None and goal.adaptive is not None and not goal.random_share:
        said.append(
            "random_share is 0: what is counted (depths, agreement, noise ceilings) needs random "
            "questions"
        )
    if goal is not None and study.kind == "central" and "groups" in (goal.rule, goal.adaptive):
        said.append(
            "groups are sought by central questions, which cannot tell how wide the gap between "
            "two groups is: two groups are often not found"
        )
    if settings.completion.platform in ("prolific", "connect") and settings.links is None:
        said.append(
            "anybody can join with an id that they make up: set links in study.yaml, and give the "
            "platform an address that fits"
        )
    said += filter(None, map(too_large, study.stimuli))
    ignored = ignored_files(study.stimuli)
    if ignored:
        listed = ", ".join(ignored[:5]) + (", ..." if len(ignored) > 5 else "")
        said.append(f"ignored: {listed} ({len(ignored)} files; objects end in {', '.join(MEDIA)})")
    media = [stimulus for stimulus in study.stimuli if stimulus.file is not None]
    silent = sum(not all(one.alt.get(code) for code in study.languages) for one in media)
    if silent:
        said.append(
            f"{silent:,} of {len(media):,} pictures and sounds have no alternative text: a screen "
            f"reader says only their number; list them in a CSV file with the columns name,file,alt"
        )
    forms = {stimulus.form for stimulus in study.stimuli}
    if len(forms) > 1:
        said.append(f"objects of different types: {', '.join(sorted(forms))}")
    return said
