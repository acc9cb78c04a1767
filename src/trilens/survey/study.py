"""A study: everything that ``study.yaml`` and the objects say, read and checked."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

import yaml

from trilens._parameters import is_whole
from trilens.errors import StudyError
from trilens.statements import KINDS, Kind
from trilens.survey.questions import Design
from trilens.survey.shuffle import n_questions
from trilens.survey.stimuli import MEDIA, Stimulus, ignored_files, read_stimuli
from trilens.survey.yaml_lines import Problem, YamlLines, read_yaml

FILE = "study.yaml"

#: A text in each of the study's languages.
Text: TypeAlias = dict[str, str]

#: The parameter by which each platform hands over its participant.
PLATFORMS = {
    "prolific": "PROLIFIC_PID",
    "connect": "participantId",
    "sona": "survey_code",
    "other": "id",
}
PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"

_BUILT_IN = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "texts").glob("*.yaml"))
}
#: What the participant is asked, by kind and language.
QUESTIONS = {
    kind: {code: texts["question"][kind] for code, texts in _BUILT_IN.items()} for kind in KINDS
}
#: Every other text of the participant's pages, by language.
TEXTS: dict[str, Text] = {code: texts["texts"] for code, texts in _BUILT_IN.items()}


@dataclass(frozen=True)
class Test:
    """A question whose answer is known; names of objects, for ``closer`` the anchor first."""

    objects: tuple[str, str, str]
    answer: str


@dataclass(frozen=True)
class Example:
    """A question shown with the instructions, answered and explained."""

    objects: tuple[str, str, str]
    answer: str
    why: Text


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
    length, minimum, most, needed
        Questions in a round; answers that make a round count; rounds that a participant may
        do; rounds after which a participant may finish.
    tests, among_first
        The test questions, one in each round, at a random place among the first so many.
    shared, repeated
        Questions of a round that everybody gets, and that the same participant gets again.
    seed
        Of the shared questions.
    retention, payment_retention
        Until when answers are kept; until when platform ids and what was paid are.
    """

    title: Text
    kind: Kind
    languages: tuple[str, ...]
    stimuli: tuple[Stimulus, ...]
    question: Text
    instructions: Text
    consent: Text
    consent_version: str
    texts: dict[str, Text]
    thanks: Text
    example: Example | None
    contact: str | None
    length: int
    minimum: int
    most: int
    needed: int
    tests: tuple[Test, ...]
    among_first: int
    shared: int
    repeated: int
    seed: int
    completion: Completion
    retention: datetime.date | None
    quota: Quota
    payment_retention: datetime.date | None

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
        """The study's language for those that a browser prefers: en for en-GB."""
        for language in asked:
            for code in (language, (language or "").split("-")[0]):
                if code in self.languages:
                    return code
        return self.languages[0]

    @cached_property
    def design(self) -> Design:
        """What decides which questions are asked."""
        return Design(
            kind=self.kind,
            objects=self.names,
            length=self.length,
            most=self.most,
            tests=tuple((*test.objects, test.answer) for test in self.tests),
            among_first=self.among_first,
            shared=self.shared,
            repeated=self.repeated,
            seed=self.seed,
            question=tuple(sorted(self.question.items())),
            stimuli=tuple(stimulus.fingerprint for stimulus in self.stimuli),
        )


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
    ignored = ignored_files(study.stimuli)
    if ignored:
        listed = ", ".join(ignored[:5]) + (", ..." if len(ignored) > 5 else "")
        said.append(f"ignored: {listed} ({len(ignored)} files; objects end in {', '.join(MEDIA)})")
    forms = {stimulus.form for stimulus in study.stimuli}
    if len(forms) > 1:
        said.append(f"objects of different types: {', '.join(sorted(forms))}")
    return said


_KEYS = {
    (): (
        "title", "kind", "languages", "objects", "question", "instructions", "example",
        "consent", "contact", "thanks", "rounds", "tests", "shared", "repeated", "seed",
        "completion", "retention", "texts", "quota", "payment",
    ),
    ("consent",): ("version", "text"),
    ("rounds",): ("length", "minimum", "most", "needed"),
    ("tests",): ("among_first", "triples"),
    ("quota",): ("participants", "answers", "hours"),
    ("payment",): ("retention",),
    ("completion",): ("code", "failed", "redirect", "platform"),
    ("example",): ("objects", "answer", "why"),
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


class _Reader:
    """One pass over the values, which notes what is wrong and goes on."""

    def __init__(self, folder: Path, given: YamlLines) -> None:
        self.folder = folder
        self.given = given
        self.problems = list(given.problems)
        self.languages: tuple[str, ...] = ("en",)

    def study(self) -> tuple[Study | None, list[Problem]]:
        for path, known in _KEYS.items():
            section = self.given.get(*path)
            if section is not None and not isinstance(section, dict):
                self._wrong(f"{path[0]} must be a section with {', '.join(known)}", *path)
                continue
            for key in section or ():
                if key not in known:
                    text = f"unknown key {key!r}; use one of {', '.join(known)}"
                    self._wrong(text, *path, key)
        self.languages = self._languages()
        kind = cast(Kind, self._choice("kind", allowed=KINDS, default="central"))
        stimuli = self._stimuli()
        names = {stimulus.name for stimulus in stimuli}
        found = Study(
            title=self._text("title"),
            kind=kind,
            languages=self.languages,
            stimuli=tuple(stimuli),
            question=self._text("question", default=QUESTIONS[kind]),
            instructions=self._text("instructions"),
            consent=self._text("consent", "text"),
            consent_version=self._line("consent", "version", needed=True) or "",
            texts=self._texts(),
            thanks=self._text("thanks", default={"en": "", "de": ""}),
            example=self._example(names, kind),
            contact=self._line("contact"),
            length=self._whole("rounds", "length", default=50, least=1, most=1000),
            minimum=self._whole("rounds", "minimum", default=30, least=0),
            most=self._whole("rounds", "most", default=3, least=1, most=1000),
            needed=self._whole("rounds", "needed", default=1, least=1),
            tests=self._tests(names, kind),
            among_first=self._whole("tests", "among_first", default=10, least=1),
            shared=self._whole("shared", default=2, least=0),
            repeated=self._whole("repeated", default=2, least=0),
            seed=self._whole("seed", default=1, least=0, most=2**62),
            completion=self._completion(),
            retention=self._date("retention"),
            quota=Quota(
                self._whole("quota", "participants", default=0, least=1) or None,
                self._whole("quota", "answers", default=0, least=1) or None,
                self._whole("quota", "hours", default=24, least=1),
            ),
            payment_retention=self._date("payment", "retention"),
        )
        self._rounds(found)
        problems = sorted(self.problems, key=lambda p: (p.file != FILE, p.file, p.line or 0))
        return (None if problems else found), problems

    def _wrong(self, text: str, *path: str | int) -> None:
        self.problems.append(Problem(FILE, self.given.line(*path), text))

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
            self._wrong(text + '; put "no" in quotes', "languages")
            return ("en",)
        return tuple(value)

    def _choice(self, *path: str, allowed: Collection[str], default: str) -> str:
        value = self.given.get(*path)
        if value is None:
            return default
        if not isinstance(value, str) or value not in allowed:
            text = f"{'.'.join(path)} must be one of {', '.join(allowed)}, not {value!r}"
            self._wrong(text, *path)
            return default
        return value

    def _whole(self, *path: str, default: int, least: int, most: int | None = None) -> int:
        value = self.given.get(*path)
        if value is None:
            return default
        if not is_whole(value) or value < least or (most is not None and value > most):
            range = f"from {least} to {most}" if most is not None else f"of at least {least}"
            text = f"{'.'.join(path)} must be a whole number {range}, not {value!r}"
            self._wrong(text, *path)
            return default
        return int(value)

    def _line(self, *path: str, needed: bool = False) -> str | None:
        value = self.given.get(*path)
        name = ".".join(path)
        if value is None:
            if needed:
                self._wrong(f"{name} is missing", *path)
            return None
        if isinstance(value, (dict, list)) or not str(value).strip():
            self._wrong(f"{name} must be a line of text", *path)
            return None
        return str(value).strip()

    def _date(self, *path: str) -> datetime.date | None:
        value = self.given.get(*path)
        if value is None or (
            isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
        ):
            return value
        name = ".".join(path)
        self._wrong(f"{name} must be a date such as 2027-12-31, not {value!r}", *path)
        return None

    def _text(self, *path: str, default: Text | None = None) -> Text:
        """A text in every language; a plain one serves them all."""
        value, name = self.given.get(*path), ".".join(path)
        if value is None:
            value = default
        if value is None:
            self._wrong(f"{name} is missing", *path)
            return dict.fromkeys(self.languages, "")
        if isinstance(value, list) or not str(value).strip():
            self._wrong(f"{name} must be text, or a text for each language", *path)
            return dict.fromkeys(self.languages, "")
        if not isinstance(value, dict):
            return dict.fromkeys(self.languages, str(value).strip())
        if value is not default:
            self._known_languages(value, *path)
        texts = {code: str(value.get(code) or "").strip() for code in self.languages}
        # a built-in text may be empty
        known = value if value is default else {code for code in texts if texts[code]}
        lacking = [code for code in texts if code not in known]
        if lacking:
            self._wrong(f"{name} is missing in: {', '.join(lacking)}", *path)
        return texts

    def _known_languages(self, given: dict[str, Any], *path: str) -> None:
        for code in given:
            if code not in self.languages:
                text = f"{'.'.join(path)}: {code!r} is not one of the study's languages"
                self._wrong(text, *path, code)

    def _texts(self) -> dict[str, Text]:
        """The texts of the pages: those that are built in, replaced by the study's own."""
        given = self.given.get("texts") or {}
        if not isinstance(given, dict):
            self._wrong("texts must have a section for each language", "texts")
            given = {}
        self._known_languages(given, "texts")
        texts = {}
        for code in self.languages:
            own = self._own_texts(given.get(code) or {}, code)
            known = TEXTS.get(code, {}) | own
            lacking = [key for key in TEXTS["en"] if key not in known]
            if lacking:
                text = f"the pages have no built-in texts in {code!r}; add texts.{code} with "
                where = "texts" if code in given else "languages"
                self._wrong(text + ", ".join(lacking), where)
            texts[code] = TEXTS["en"] | known
        return texts

    def _own_texts(self, given: Any, code: str) -> Text:
        if not isinstance(given, dict):
            self._wrong(f"texts.{code} must consist of `key: text` lines", "texts", code)
            return {}
        for key, value in given.items():
            if key not in TEXTS["en"]:
                self._wrong(f"texts.{code}: unknown key {key!r}", "texts", code, key)
            elif isinstance(value, (dict, list)) or not str(value).strip():
                self._wrong(f"texts.{code}.{key} must be text", "texts", code, key)
        return {key: str(value) for key, value in given.items()}

    def _stimuli(self) -> list[Stimulus]:
        where = self._line("objects", needed=True)
        if where is None:
            return []
        line = self.given.line("objects")
        found, problems = read_stimuli(self.folder, where, self.languages, line)
        self.problems += problems
        if len(found) < 3 and not problems:
            text = f"{where} has {len(found)} objects; a study needs at least three"
            self._wrong(text, "objects")
        return found

    def _test(self, names: set[str], kind: Kind, *path: str | int) -> Test | None:
        """The objects and the answer of a test, or of the example."""
        given, answer = self.given.get(*path, "objects"), self.given.get(*path, "answer")
        where = path[0]
        if not isinstance(given, list) or len(given) != 3 or answer is None:
            self._wrong(f"{where}: three objects and an answer are needed", *path)
            return None
        a, b, c = map(str, given)
        unknown = [name for name in (a, b, c) if name not in names]
        choices = (b, c) if kind == "closer" else (a, b, c)
        if unknown and names:
            self._wrong(f"{where}: there is no object {unknown[0]!r}", *path, "objects")
        elif len({a, b, c}) < 3:
            self._wrong(f"{where}: the three objects must be different", *path, "objects")
        elif str(answer) not in choices:
            text = f"{where}: the answer must be one of {', '.join(choices)}, not {str(answer)!r}"
            self._wrong(text, *path, "answer")
        else:
            return Test((a, b, c), str(answer))
        return None

    def _tests(self, names: set[str], kind: Kind) -> tuple[Test, ...]:
        triples = self.given.get("tests", "triples") or []
        if not isinstance(triples, list):
            self._wrong("tests.triples must be a list", "tests", "triples")
            return ()
        tests: dict[object, Test] = {}
        for i in range(len(triples)):
            test = self._test(names, kind, "tests", "triples", i)
            if test is None:
                continue
            same = (test.objects[0] if kind == "closer" else None, frozenset(test.objects))
            if same in tests:
                self._wrong("tests: this triple appears twice", "tests", "triples", i)
            tests[same] = test
        return tuple(tests.values())

    def _example(self, names: set[str], kind: Kind) -> Example | None:
        if self.given.get("example") is None:
            return None
        test = self._test(names, kind, "example")
        why = self._text("example", "why")
        return None if test is None else Example(test.objects, test.answer, why)

    def _completion(self) -> Completion:
        platform = self._choice("completion", "platform", allowed=PLATFORMS, default="other")
        code = self._line("completion", "code")
        redirect = self._line("completion", "redirect")
        if redirect is None and platform == "prolific" and code is not None:
            redirect = PROLIFIC
        if redirect is not None:
            self._redirect(redirect, code)
        return Completion(code, self._line("completion", "failed"), redirect, platform)

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
        self._wrong(f"completion.redirect {wrong}", "completion", "redirect")

    def _rounds(self, study: Study) -> None:
        n = len(study.stimuli)
        if n < 3:
            return
        special = bool(study.tests) + study.shared + study.repeated
        possible = n_questions(study.kind, n) - len(study.tests)
        length = f"rounds.length is {study.length}, but"
        if special >= study.length:
            text = (
                f"{length} each round has {special} test, shared and repeated questions; "
                f"make rounds longer, or shared and repeated smaller"
            )
            self._wrong(text, "rounds", "length")
        elif study.length - bool(study.tests) - study.repeated > possible:
            text = f"{length} {n} objects make only {possible:,} questions; make rounds shorter"
            self._wrong(text + " or add objects", "rounds", "length")
        elif study.repeated > study.length // 3:
            most = study.length // 3
            text = f"repeated is {study.repeated}, but at most a third of a round ({most}) can be"
            self._wrong(text, "repeated")
        if study.minimum > study.length:
            text = f"rounds.minimum is {study.minimum}, but a round has only {study.length} answers"
            self._wrong(text, "rounds", "minimum")
        if study.needed > study.most:
            text = f"rounds.needed is {study.needed}, but rounds.most is {study.most}"
            self._wrong(text, "rounds", "needed")
