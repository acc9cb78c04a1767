"""A study: everything that ``study.yaml`` and the objects say, read and checked."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from trilens.errors import StudyError
from trilens.statements import Kind
from trilens_survey.blocks import Block, Blocks, Example, Test, in_turn, read_example
from trilens_survey.forms import Item, read_form
from trilens_survey.goal import Adaptive, Stop, read_adaptive, read_stop
from trilens_survey.languages import TEXTS, base, questions_in, spoken
from trilens_survey.questions import Design
from trilens_survey.reading import FILE, Reading, Text, Where, label
from trilens_survey.stimuli import MEDIA, Stimulus, ignored_files, read_stimuli
from trilens_survey.yaml_lines import Problem, read_yaml

#: The parameter by which each platform hands over its participant.
PLATFORMS = {
    "prolific": "PROLIFIC_PID",
    "connect": "participantId",
    "sona": "survey_code",
    "other": "id",
}
PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"

#: In which order a participant meets the blocks.
_ORDERS = ("fixed", "random")


@dataclass(frozen=True)
class Completion:
    """What a participant gets when every answer is stored.

    Attributes
    ----------
    code
        Shown, and put into the address.
    failed
        The code for a participant whose answers could not be stored for good.
    redirect
        The way back; ``{code}`` and ``{platform_id}`` are filled in.
    platform
        One of `PLATFORMS`: which parameter of the first address carries the participant's id.
    """

    code: str | None
    failed: str | None
    redirect: str | None
    platform: str


@dataclass(frozen=True)
class Quota:
    """When the study is full; None for never.

    Attributes
    ----------
    participants
        Who finished, or joined in the last ``hours`` and may still finish.
    answers
        Rounds that were begun before are finished, so that there may be a few more.
    hours
        For how long a participant who does not finish holds a place.
    """

    participants: int | None = None
    answers: int | None = None
    hours: int = 24


@dataclass(frozen=True)
class Study:
    """Everything that ``study.yaml`` and the stimuli say.

    Attributes
    ----------
    conditions
        What is asked, block by block, in each condition; without a name where there is one.
    random_blocks
        Whether each participant meets the blocks in a random order.
    minimum, needed
        Answers that make a round count; rounds after which a participant may finish.
    before, after
        Questions about the participant, before and after the rounds.
    debriefing
        Shown to those who have finished or left.
    retention, payment_retention
        Until when answers are kept; until when platform ids and what was paid are.
    adaptive
        For what questions are chosen; None where all are random.
    stop
        When there are enough answers; None where only people decide.
    """

    title: Text
    languages: tuple[str, ...]
    stimuli: tuple[Stimulus, ...]
    conditions: dict[str, tuple[Block, ...]]
    random_blocks: bool
    instructions: Text
    consent: Text
    consent_version: str
    texts: dict[str, Text]
    thanks: Text
    example: Example | None
    contact: str | None
    minimum: int
    needed: int
    before: tuple[Item, ...]
    after: tuple[Item, ...]
    debriefing: Text | None
    completion: Completion
    retention: datetime.date | None
    quota: Quota
    payment_retention: datetime.date | None
    adaptive: Adaptive | None = None
    stop: Stop | None = None

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
        blocks = (block for blocks in self.conditions.values() for block in blocks)
        return tuple(dict.fromkeys(block.kind for block in blocks))

    @property
    def question(self) -> Text:
        return self.first.question

    @property
    def length(self) -> int:
        return self.first.length

    @property
    def tests(self) -> tuple[Test, ...]:
        return self.first.tests

    @property
    def shared(self) -> int:
        return self.first.shared

    @property
    def repeated(self) -> int:
        return self.first.repeated

    @cached_property
    def most(self) -> int:
        """The rounds that a participant may do, in the longest condition."""
        return max(sum(b.rounds for b in blocks) for blocks in self.conditions.values())

    def blocks(self, condition: str | None, seed: int) -> tuple[Block, ...]:
        """What a participant is asked, block by block.

        One whose condition is no longer part of the study gets the first.
        """
        blocks = self.conditions.get(condition or "") or next(iter(self.conditions.values()))
        return in_turn(blocks, seed, self.random_blocks)

    def form(self, name: str) -> tuple[Item, ...]:
        """The questions ``before`` or ``after`` the rounds."""
        return {"before": self.before, "after": self.after}[name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the objects, in their order."""
        return tuple(stimulus.name for stimulus in self.stimuli)

    @cached_property
    def by_name(self) -> dict[str, Stimulus]:
        """Each object by its name."""
        return {stimulus.name: stimulus for stimulus in self.stimuli}

    @cached_property
    def media(self) -> dict[str, Stimulus]:
        """Each file by its key, the only way to ask for one."""
        return {stimulus.key: stimulus for stimulus in self.stimuli if stimulus.key}

    def spoken(self, *asked: str | None) -> str:
        """The study's language for those that a participant prefers: en for en-GB."""
        return spoken(self.languages, [code for code in asked if code])

    @cached_property
    def designs(self) -> dict[tuple[str, str], Design]:
        """What decides which questions are asked, by condition and block."""
        return {
            (block.condition, block.name): block.design(self.by_name, self.adaptive)
            for blocks in self.conditions.values()
            for block in blocks
        }

    @property
    def design(self) -> Design:
        """That of the first block."""
        return self.designs[self.first.condition, self.first.name]


def load_study(folder: str | Path) -> Study:
    """The study in a folder.

    Raises
    ------
    StudyError
        With everything that is wrong.
    """
    study, problems = read_study(Path(folder))
    if problems or study is None:
        raise StudyError(list(map(str, problems)))
    return study


def check_study(folder: str | Path) -> list[Problem]:
    """Everything that is wrong with a study's folder; nothing for one that can be served."""
    return read_study(Path(folder))[1]


def remarks(study: Study) -> list[str]:
    """What is not wrong with a study, but worth knowing before it is served."""
    said = []
    if study.retention is None:
        said.append("no retention date: set one in study.yaml to say when answers will be erased")
    elif study.retention < datetime.date.today():
        said.append(f"the retention date {study.retention} has passed: erase the answers")
    if not study.tests:
        said.append("no test triples: every round counts as passed")
    if not study.shared and not study.repeated:
        said.append("no shared or repeated questions: the noise ceiling cannot be estimated")
    if study.adaptive is not None and not study.adaptive.random_share:
        said.append(
            "random_share is 0: what is counted (depths, agreement, noise ceilings) needs random "
            "questions"
        )
    by_groups = study.stop is not None and study.stop.rule == "groups"
    by_groups = by_groups or (study.adaptive is not None and study.adaptive.goal == "groups")
    if study.kind == "central" and by_groups:
        said.append(
            "groups are sought by central questions, which cannot tell how wide the gap between "
            "two groups is: two groups are often not found"
        )
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


_KEYS = {
    (): (
        "title", "kind", "languages", "objects", "question", "instructions", "example",
        "consent", "contact", "thanks", "rounds", "tests", "shared", "repeated", "seed",
        "completion", "retention", "texts", "grid", "blocks", "block_order", "conditions",
        "practice", "before", "after", "debriefing", "quota", "payment", "questions", "goal",
        "random_share", "stop",
    ),
    ("consent",): ("version", "text"),
    ("rounds",): ("length", "minimum", "most", "needed"),
    ("tests",): ("among_first", "triples"),
    ("quota",): ("participants", "answers", "hours"),
    ("payment",): ("retention",),
    ("completion",): ("code", "failed", "redirect", "platform"),
    ("grid",): ("of", "choose"),
}  # fmt: skip


def read_study(folder: Path) -> tuple[Study | None, list[Problem]]:
    """The study, if nothing is wrong, and what is wrong."""
    file = folder / FILE
    if not folder.is_dir():
        return None, [Problem(str(folder), None, "no such folder")]
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        why = "no such file; create one with trilens survey init"
        return None, [Problem(FILE, None, why)]
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(FILE, None, f"cannot be read as UTF-8 text: {error}")]
    found = read_yaml(text, FILE)
    if not isinstance(found.value, dict):
        expected = Problem(FILE, 1, "expected `key: value` lines")
        return None, list(found.problems) or [expected]
    return _Reader(folder, found).study()


class _Reader(Reading):
    """Reads the whole file."""

    def study(self) -> tuple[Study | None, list[Problem]]:
        for path, known in _KEYS.items():
            self.keys(known, *path)
        self.languages = self._languages()
        found = self._stimuli()
        objects = {at: tuple(one.name for one in some) for at, some in found.items()}
        stimuli = {one.name: one for some in found.values() for one in some}
        most = self.whole("rounds", "most", default=3, least=1, most=1000)
        conditions = (
            Blocks(self, objects, questions_in(self.languages), most).read()
            if () in objects
            else {}
        )
        taken: set[str] = set()
        study = None
        if conditions and all(conditions.values()):
            first = next(iter(conditions.values()))[0]
            every = [block for blocks in conditions.values() for block in blocks]
            study = Study(
                title=self.text("title"),
                languages=self.languages,
                stimuli=tuple(stimuli.values()),
                conditions=conditions,
                random_blocks=self.choice("block_order", allowed=_ORDERS, default="fixed")
                == "random",
                instructions=self.text("instructions"),
                consent=self.text("consent", "text"),
                consent_version=self.line("consent", "version", needed=True) or "",
                texts=self._texts(),
                thanks=self.text("thanks", default=dict.fromkeys(self.languages, "")),
                example=self._example(first),
                contact=self.line("contact"),
                minimum=self.whole("rounds", "minimum", default=30, least=0),
                needed=self._needed(conditions),
                before=read_form(self, "before", taken),
                after=read_form(self, "after", taken),
                debriefing=self.text("debriefing") if self.has("debriefing") else None,
                completion=self._completion(),
                retention=self.date("retention"),
                quota=Quota(
                    self.whole("quota", "participants", default=0, least=1) or None,
                    self.whole("quota", "answers", default=0, least=1) or None,
                    self.whole("quota", "hours", default=24, least=1),
                ),
                payment_retention=self.date("payment", "retention"),
                adaptive=read_adaptive(self, every),
                stop=read_stop(self, every),
            )
            self._rounds(study)
        problems = list(dict.fromkeys(self.problems))
        problems.sort(key=lambda p: (p.file != FILE, p.file, p.line or 0))
        return (None if problems else study), problems

    def _needed(self, conditions: dict[str, tuple[Block, ...]]) -> int:
        """One round; where there are blocks, all of them."""
        all_rounds = min(sum(b.rounds for b in blocks) for blocks in conditions.values())
        default = all_rounds if self.has("blocks") else 1
        return self.whole("rounds", "needed", default=default, least=1)

    def _languages(self) -> tuple[str, ...]:
        value = self.given.get("languages")
        if value is None:
            return ("en",)
        good = isinstance(value, list) and value and len(set(map(str, value))) == len(value)
        if not good or not all(
            isinstance(code, str) and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?", code)
            for code in value
        ):
            # an unquoted `no` is the truth value of YAML 1.1, not Norwegian
            text = f"languages must be a list of codes such as [en, de], not {value!r}"
            self.wrong(text + '; put "no" in quotes', "languages")
            return ("en",)
        return tuple(value)

    def _texts(self) -> dict[str, Text]:
        """The texts of the pages: those that are built in, replaced by the study's own."""
        given = self.given.get("texts") or {}
        if not isinstance(given, dict):
            self.wrong("texts must have a section for each language", "texts")
            given = {}
        self.known_languages(given, "texts")
        texts = {}
        for code in self.languages:
            own = self._own_texts(given.get(code) or {}, code)
            known = TEXTS.get(base(code), {}) | own
            lacking = [key for key in TEXTS["en"] if key not in known]
            if lacking:
                text = f"the pages have no built-in texts in {code!r}; add texts.{code} with "
                where = "texts" if code in given else "languages"
                self.wrong(text + ", ".join(lacking), where)
            texts[code] = TEXTS["en"] | known
        return texts

    def _own_texts(self, given: Any, code: str) -> Text:
        if not isinstance(given, dict):
            self.wrong(f"texts.{code} must consist of `key: text` lines", "texts", code)
            return {}
        for key, value in given.items():
            if key not in TEXTS["en"]:
                self.wrong(f"texts.{code}: unknown key {key!r}", "texts", code, key)
            elif isinstance(value, (dict, list)) or not str(value).strip():
                self.wrong(f"texts.{code}.{key} must be text", "texts", code, key)
        return {key: str(value) for key, value in given.items()}

    def _stimuli(self) -> dict[Where, list[Stimulus]]:
        """The objects of the study, and of each block and condition that has its own."""
        where = self.line("objects", needed=True)
        if where is None:
            return {}
        found: dict[Where, list[Stimulus]] = {(): self._read_stimuli(where, "objects")}
        by_name = {stimulus.name: stimulus for stimulus in found[()]}
        blocks, conditions = self.given.get("blocks"), self.given.get("conditions")
        places: list[Where] = [
            *(("blocks", i) for i in range(len(blocks) if isinstance(blocks, list) else 0)),
            *(
                ("conditions", name)
                for name in (conditions if isinstance(conditions, dict) else ())
            ),
        ]
        for at in places:
            given = self.given.get(*at, "objects")
            if isinstance(given, list):
                unknown = [str(name) for name in given if str(name) not in by_name]
                if unknown and by_name:
                    self.wrong(f"{label(at)}: there is no object {unknown[0]!r}", *at, "objects")
                elif len(set(map(str, given))) < max(3, len(given)):
                    text = f"{label(at)}.objects must be at least three different objects"
                    self.wrong(text, *at, "objects")
                else:
                    found[at] = [by_name[str(name)] for name in given if by_name]
            elif given is not None:
                found[at] = self._read_stimuli(str(given), *at, "objects")
                for one in found[at]:
                    other = by_name.setdefault(one.name, one)
                    if other.fingerprint != one.fingerprint:
                        text = f"{label(at)}: another object is called {one.name!r}; rename one"
                        self.wrong(text, *at, "objects")
        return found

    def _read_stimuli(self, where: str, *path: str | int) -> list[Stimulus]:
        line = self.given.line(*path)
        found, problems = read_stimuli(self.folder, where, self.languages, line)
        self.problems += problems
        if len(found) < 3 and not problems:
            text = f"{where} has {len(found)} objects; a study needs at least three"
            self.wrong(text, *path)
        return found

    def _example(self, first: Block) -> Example | None:
        if not self.has("example"):
            return None
        return read_example(self, first.kind, first.shown, first.names, "example")

    def _completion(self) -> Completion:
        platform = self.choice("completion", "platform", allowed=PLATFORMS, default="other")
        code = self.line("completion", "code")
        redirect = self.line("completion", "redirect")
        if redirect is None and platform == "prolific" and code is not None:
            redirect = PROLIFIC
        if redirect is not None:
            self._redirect(redirect, code)
        return Completion(code, self.line("completion", "failed"), redirect, platform)

    def _redirect(self, redirect: str, code: str | None) -> None:
        left = redirect.replace("{code}", "").replace("{platform_id}", "")
        if urlsplit(left).scheme != "https" or not urlsplit(left).netloc:
            wrong = "must be an https:// address"
        elif "{" in left or "}" in left:
            wrong = "may contain {code} and {platform_id}, and no other braces"
        elif "{code}" in redirect and code is None:
            wrong = "contains {code}, but completion.code is missing"
        else:
            return
        self.wrong(f"completion.redirect {wrong}", "completion", "redirect")

    def _rounds(self, study: Study) -> None:
        for blocks in study.conditions.values():
            for block in blocks:
                if study.minimum > block.length:
                    text = (
                        f"rounds.minimum is {study.minimum}, but a round has only "
                        f"{block.length} answers"
                    )
                    self.wrong(text, "rounds", "minimum")
            rounds = sum(block.rounds for block in blocks)
            if study.needed > rounds:
                most = f"there are {rounds}" if self.has("blocks") else f"rounds.most is {rounds}"
                text = f"rounds.needed is {study.needed}, but {most}"
                self.wrong(text, "rounds", "needed")
