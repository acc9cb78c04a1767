"""A study, read from its folder and checked."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trilens.errors import StudyError
from trilens.statements import Kind
from trilens.survey.marked import Problem
from trilens.survey.stimuli import Stimulus

FILE = "study.yaml"

#: A text in each of the study's languages.
Text = dict[str, str]

#: The parameter by which each platform hands over its participant.
PLATFORMS = {
    "prolific": "PROLIFIC_PID",
    "connect": "participantId",
    "sona": "survey_code",
    "other": "id",
}
PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


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

    code: str | None = None
    failed: str | None = None
    redirect: str | None = None
    platform: str = "other"


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
    """

    folder: Path
    title: Text
    kind: Kind
    languages: tuple[str, ...]
    stimuli: tuple[Stimulus, ...]
    question: Text
    instructions: Text
    consent: Text
    consent_version: str
    texts: dict[str, dict[str, str]]
    thanks: Text
    example: Example | None = None
    contact: str | None = None
    length: int = 50
    minimum: int = 30
    most: int = 3
    needed: int = 1
    tests: tuple[Test, ...] = ()
    among_first: int = 10
    shared: int = 2
    repeated: int = 2
    seed: int = 1
    completion: Completion = Completion()
    retention: datetime.date | None = None

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

    def spoken(self, language: str | None) -> str:
        """The study's language that is nearest to what a browser asks for: en for en-GB."""
        for code in (language or "", (language or "").split("-")[0]):
            if code in self.languages:
                return code
        return self.languages[0]

    def design(self) -> dict[str, Any]:
        """What decides which questions are asked: kept with the answers."""
        return {
            "policy": "uniform",
            "kind": self.kind,
            "objects": list(self.names),
            "length": self.length,
            "most": self.most,
            "tests": [[*test.objects, test.answer] for test in self.tests],
            "among_first": self.among_first,
            "shared": self.shared,
            "repeated": self.repeated,
            "seed": self.seed,
        }


def load_study(folder: str | Path) -> Study:
    """The study in a folder.

    Raises
    ------
    StudyError
        With everything that is wrong.
    """
    from trilens.survey.reading import read_study

    study, problems = read_study(Path(folder))
    if problems or study is None:
        raise StudyError(list(map(str, problems)))
    return study


def check_study(folder: str | Path) -> list[Problem]:
    """Everything that is wrong with a study's folder; nothing for one that can be served."""
    from trilens.survey.reading import read_study

    return read_study(Path(folder))[1]
