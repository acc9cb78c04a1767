"""From ``study.yaml`` to a `Study`, with a list of everything that is wrong."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from trilens._parameters import is_whole
from trilens.statements import KINDS, Kind
from trilens.survey.draw import n_questions
from trilens.survey.marked import Marked, Problem, read_marked
from trilens.survey.stimuli import Stimulus, read_stimuli
from trilens.survey.study import FILE, PLATFORMS, PROLIFIC, Completion, Example, Study, Test, Text
from trilens.survey.words import QUESTIONS, WORDS

_KEYS = {
    (): (
        "title", "kind", "languages", "objects", "question", "instructions", "example",
        "consent", "contact", "thanks", "rounds", "tests", "shared", "repeated", "seed",
        "completion", "retention", "texts",
    ),
    ("consent",): ("version", "text"),
    ("rounds",): ("length", "minimum", "most", "needed"),
    ("tests",): ("among_first", "triples"),
    ("completion",): ("code", "failed", "redirect", "platform"),
    ("example",): ("objects", "answer", "why"),
}  # fmt: skip


def read_study(folder: Path) -> tuple[Study | None, list[Problem]]:
    """The study, if nothing is wrong, and what is wrong."""
    file = folder / FILE
    if not folder.is_dir():
        return None, [Problem(str(folder), None, "there is no such folder")]
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        why = "there is no such file; trilens survey init makes one"
        return None, [Problem(FILE, None, why)]
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(FILE, None, f"cannot be read as UTF-8 text: {error}")]
    marked = read_marked(text, FILE)
    if not isinstance(marked.value, dict):
        problems = list(marked.problems)
        if not problems:
            problems = [Problem(FILE, 1, "empty, or not a list of `key: value` lines")]
        return None, problems
    return _Reading(folder, marked).study()


class _Reading:
    """One pass over the values, which notes what is wrong and goes on."""

    def __init__(self, folder: Path, marked: Marked) -> None:
        self.folder = folder
        self.marked = marked
        self.problems = list(marked.problems)
        self.languages: tuple[str, ...] = ("en",)

    def study(self) -> tuple[Study | None, list[Problem]]:
        for path, known in _KEYS.items():
            value = self._get(*path)
            for key in value if isinstance(value, dict) else ():
                if key not in known:
                    self._wrong(f"{key!r} is not known here; {', '.join(known)} are", *path, key)
        self.languages = self._languages()
        kind = cast(Kind, self._choice("kind", KINDS, "central"))
        stimuli = self._stimuli()
        names = {stimulus.name for stimulus in stimuli}
        found = Study(
            folder=self.folder,
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
        )
        self._rounds(found)
        problems = sorted(self.problems, key=lambda p: (p.file != FILE, p.file, p.line or 0))
        return (None if problems else found), problems

    def _get(self, *path: str | int) -> Any:
        value = self.marked.value
        for key in path:
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def _wrong(self, text: str, *path: str | int) -> None:
        self.problems.append(Problem(FILE, self.marked.line(*path), text))

    def _languages(self) -> tuple[str, ...]:
        value = self._get("languages")
        if value is None:
            return ("en",)
        good = isinstance(value, list) and value and len(set(map(str, value))) == len(value)
        if not good or not all(
            isinstance(code, str) and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?", code)
            for code in value
        ):
            # an unquoted `no` is the truth value of YAML 1.1, not Norwegian
            text = f"languages is {value!r}; it must be a list of codes such as [en, de]"
            self._wrong(text + ', with "no" in quotes', "languages")
            return ("en",)
        return tuple(value)

    def _choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        value = self._get(key)
        if value is None:
            return default
        if value not in allowed:
            self._wrong(f"{key} is {value!r}; it must be one of {', '.join(allowed)}", key)
            return default
        return str(value)

    def _whole(self, *path: str, default: int, least: int, most: int | None = None) -> int:
        value = self._get(*path)
        if value is None:
            return default
        if not is_whole(value) or value < least or (most is not None and value > most):
            upto = f"from {least} to {most}" if most is not None else f"{least} or more"
            name = " ".join(path)
            self._wrong(f"{name} is {value!r}; it must be a whole number, {upto}", *path)
            return default
        return int(value)

    def _line(self, *path: str, needed: bool = False) -> str | None:
        value = self._get(*path)
        name = " ".join(path)
        if value is None:
            if needed:
                self._wrong(f"no {name}", *path)
            return None
        if isinstance(value, (dict, list)) or not str(value).strip():
            self._wrong(f"{name} must be a line of text", *path)
            return None
        return str(value).strip()

    def _date(self, key: str) -> datetime.date | None:
        value = self._get(key)
        if value is None or (
            isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
        ):
            return value
        self._wrong(f"{key} is {value!r}; it must be a date such as 2027-12-31", key)
        return None

    def _text(self, *path: str | int, default: Text | None = None) -> Text:
        """A text in every language; a plain one serves them all."""
        value = self._get(*path)
        name = " ".join(map(str, path))
        blank = dict.fromkeys(self.languages, "")
        if value is None:
            if default is None:
                self._wrong(f"no {name}", *path)
                return blank
            lacking = [code for code in self.languages if code not in default]
            if lacking:
                self._wrong(f"no {name} in the languages: {', '.join(lacking)}", *path)
            return blank | {code: default.get(code, "") for code in self.languages}
        if isinstance(value, dict):
            for code in value:
                if code not in self.languages:
                    self._wrong(f"{name}: {code!r} is not among the languages", *path, code)
            lacking = [c for c in self.languages if not str(value.get(c) or "").strip()]
            if lacking:
                self._wrong(f"no {name} in the languages: {', '.join(lacking)}", *path)
            return {code: str(value.get(code) or "").strip() for code in self.languages}
        if isinstance(value, list) or not str(value).strip():
            self._wrong(f"{name} must be text, or a text for each language", *path)
            return blank
        return dict.fromkeys(self.languages, str(value).strip())

    def _texts(self) -> dict[str, dict[str, str]]:
        given = self._get("texts")
        if given is not None and not isinstance(given, dict):
            self._wrong("texts must have a part for each language", "texts")
            given = {}
        given = given or {}
        for code in given:
            if code not in self.languages:
                self._wrong(f"texts: {code!r} is not among the languages", "texts", code)
        texts = {}
        for code in self.languages:
            own = given.get(code) or {}
            if not isinstance(own, dict):
                self._wrong(f"texts {code} must be a list of `key: text` lines", "texts", code)
                own = {}
            for key, value in own.items():
                if key not in WORDS["en"]:
                    self._wrong(f"texts {code}: {key!r} is not a text of the pages",
                                "texts", code, key)  # fmt: skip
                elif isinstance(value, (dict, list)) or not str(value).strip():
                    self._wrong(f"texts {code} {key} must be text", "texts", code, key)
            words = {key: str(value) for key, value in own.items()}
            lacking = [key for key in WORDS["en"] if key not in WORDS.get(code, {}) | words]
            if lacking:
                text = f"the pages are not in {code!r} yet; texts {code} lacks {', '.join(lacking)}"
                self._wrong(text, *(("texts",) if code in given else ("languages",)))
            texts[code] = WORDS["en"] | WORDS.get(code, {}) | words
        return texts

    def _stimuli(self) -> list[Stimulus]:
        where = self._line("objects", needed=True)
        if where is None:
            return []
        line = self.marked.line("objects")
        found, problems = read_stimuli(self.folder, where, self.languages, line)
        self.problems += problems
        if len(found) < 3 and not problems:
            self._wrong(f"{where}: {len(found)} objects; a question needs three", "objects")
        return found

    def _three(self, names: set[str], kind: Kind, *path: str | int) -> tuple[Any, str] | None:
        """The objects and the answer of a test or of the example."""
        objects, answer = self._get(*path, "objects"), self._get(*path, "answer")
        where = f"{path[0]}"
        if not isinstance(objects, list) or len(objects) != 3 or answer is None:
            self._wrong(f"{where}: it must have three objects and their answer", *path)
            return None
        three = tuple(map(str, objects))
        unknown = [name for name in three if name not in names]
        if unknown and names:
            self._wrong(f"{where}: there is no object {unknown[0]!r}", *path, "objects")
            return None
        if len(set(three)) < 3:
            self._wrong(f"{where}: the three objects must differ", *path, "objects")
            return None
        choices = three[1:] if kind == "closer" else three
        if str(answer) not in choices:
            text = f"{where}: the answer {str(answer)!r} must be one of {', '.join(choices)}"
            self._wrong(text, *path, "answer")
            return None
        return three, str(answer)

    def _tests(self, names: set[str], kind: Kind) -> tuple[Test, ...]:
        triples = self._get("tests", "triples")
        if triples is None:
            if self._get("tests") is not None and not isinstance(self._get("tests"), dict):
                self._wrong("tests must have triples, and may have among_first", "tests")
            return ()
        if not isinstance(triples, list):
            self._wrong("tests triples must be a list", "tests", "triples")
            return ()
        tests = []
        seen = set()
        for i in range(len(triples)):
            good = self._three(names, kind, "tests", "triples", i)
            if good is None:
                continue
            same = (good[0][0] if kind == "closer" else None, frozenset(good[0]))
            if same in seen:
                self._wrong("tests: this triple stands here twice", "tests", "triples", i)
            seen.add(same)
            tests.append(Test(*good))
        return tuple(tests)

    def _example(self, names: set[str], kind: Kind) -> Example | None:
        if self._get("example") is None:
            return None
        good = self._three(names, kind, "example")
        why = self._text("example", "why")
        return None if good is None else Example(*good, why)

    def _completion(self) -> Completion:
        given = self._get("completion")
        if given is not None and not isinstance(given, dict):
            self._wrong("completion must have code, redirect or platform", "completion")
        platform = self._line("completion", "platform") or "other"
        if platform not in PLATFORMS:
            text = f"completion platform is {platform!r}; it must be one of {', '.join(PLATFORMS)}"
            self._wrong(text, "completion", "platform")
        code = self._line("completion", "code")
        redirect = self._line("completion", "redirect")
        if redirect is None and platform == "prolific" and code is not None:
            redirect = PROLIFIC
        if redirect is not None:
            left = redirect.replace("{code}", "").replace("{platform_id}", "")
            where = ("completion", "redirect")
            if urlsplit(left).scheme != "https" or not urlsplit(left).netloc:
                self._wrong("completion redirect must be an https:// address", *where)
            elif "{" in left or "}" in left:
                text = "completion redirect: only {code} and {platform_id} are filled in"
                self._wrong(text, *where)
            elif "{code}" in redirect and code is None:
                self._wrong("completion redirect has {code}, but there is no code", *where)
        failed = self._line("completion", "failed")
        return Completion(code, failed, redirect, platform)

    def _rounds(self, study: Study) -> None:
        n = len(study.stimuli)
        if n < 3:
            return
        length = ("rounds", "length")
        special = bool(study.tests) + study.shared + study.repeated
        possible = n_questions(study.kind, n) - len(study.tests)
        if special >= study.length:
            text = (
                f"rounds length is {study.length}, but each round has {special} test, shared and "
                f"repeated questions; make it longer, or shared and repeated less"
            )
            self._wrong(text, *length)
        elif study.length - bool(study.tests) - study.repeated > possible:
            text = (
                f"rounds length is {study.length}, but {n} objects make only {possible:,} "
                f"questions; make it shorter or add objects"
            )
            self._wrong(text, *length)
        elif study.repeated > study.length // 3:
            text = (
                f"repeated is {study.repeated}; at most a third of a round "
                f"({study.length // 3}) can be asked again"
            )
            self._wrong(text, "repeated")
        if study.minimum > study.length:
            text = f"rounds minimum is {study.minimum}; no round of {study.length} reaches it"
            self._wrong(text, "rounds", "minimum")
        if study.needed > study.most:
            self._wrong(f"rounds needed is {study.needed}; at most {study.most} are asked",
                        "rounds", "needed")  # fmt: skip
