"""Every setting of ``study.yaml``: models that check themselves, and from which the page
``docs/survey-settings.md`` is made.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from trilens_survey.forms import AnyItem
from trilens_survey.text import Line, Settings, Text

Kind: TypeAlias = Literal["central", "odd", "closer"]

#: The most objects that a screen has to choose from.
MOST = 24
#: The parameter by which each platform hands over its participant.
PLATFORMS = {
    "prolific": "PROLIFIC_PID",
    "connect": "participantId",
    "sona": "survey_code",
    "other": "id",
}
PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"

Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
Length: TypeAlias = Annotated[int, Field(ge=1, le=1000, strict=True)]
#: An object's name as it is written: numbers are names too.
Name: TypeAlias = Annotated[str, BeforeValidator(str)]


class Known(Settings, title="test question"):
    """A question whose answer is known."""

    objects: tuple[Name, ...]
    """Names of objects; for `closer` the one to compare with first."""
    answer: Name
    """The right one."""


class Explained(Known, title="explained question"):
    """A question that is explained."""

    why: Text
    """Why this is the answer."""


class Tests(Settings):
    """Test questions: each round contains one of them, which marks it as passed or failed."""

    among_first: Count = 10
    """Its position is random among so many questions."""
    triples: tuple[Known, ...] = ()
    """The questions, with their answers."""


class Grid(Settings):
    """More than three objects on a screen."""

    of: int = Field(default=3, ge=2, le=MOST, strict=True)
    """How many there are to choose from."""
    choose: int = Field(default=1, ge=1, le=MOST, strict=True)
    """How many are chosen; more than 1 for `closer`."""


class Consent(Settings):
    """What participants agree to before anything is stored."""

    version: Line
    """Stored with every participant; change it with the text."""
    text: Text
    """The text, in Markdown."""


class Rounds(Settings):
    """How long a participant's work is."""

    length: Length = 50
    """Questions per round."""
    minimum: int = Field(default=30, ge=0, strict=True)
    """Answers that a round needs to count in exports."""
    most: Length = 3
    """Rounds that a participant may do."""
    needed: Count | None = None
    """Rounds that a participant must do: 1, or all of a study's blocks."""


class Completion(Settings):
    """What participants get at the end, when every answer is stored."""

    code: Line | None = None
    """The code that is shown."""
    failed: Line | None = None
    """The code for participants whose answers could not be saved; sent to those who have answered
    half of a round."""
    redirect: Line | None = None
    """Where participants go back to, with `{code}` and `{platform_id}` filled in; for Prolific it
    is known."""
    platform: Literal["prolific", "connect", "sona", "other"] = "other"
    """Where participants come from."""
    share: float = Field(default=0.75, ge=0, le=1)
    """The share of the questions that must be answered to get the code: a question is only skipped
    when a picture or sound does not load."""

    @field_validator("redirect")
    @classmethod
    def _leads_back(cls, redirect: str | None, info: ValidationInfo) -> str | None:
        if redirect is None:
            return None
        left = redirect.replace("{code}", "").replace("{platform_id}", "")
        if urlsplit(left).scheme != "https" or not urlsplit(left).netloc:
            wrong = "must be an https:// address"
        elif "{" in left or "}" in left:
            wrong = "may contain {code} and {platform_id}, and no other braces"
        elif "{code}" in redirect and info.data.get("code") is None:
            wrong = "contains {code}, but completion.code is missing"
        else:
            return redirect
        raise PydanticCustomError("redirect", wrong)

    @property
    def way_back(self) -> str | None:
        """The redirect, or that of the platform."""
        if self.redirect is None and self.platform == "prolific" and self.code is not None:
            return PROLIFIC
        return self.redirect


class Links(Settings):
    """Who may join: only those whose link has the secret, or is signed."""

    secret: Annotated[Line, Field(min_length=16)] | None = None
    """At least 16 characters. Put `key=SECRET` into the link, or sign it."""
    signed: bool = False
    """Whether links carry `signature=`, the HMAC-SHA256 of the participant's id with the secret in
    hexadecimal digits, instead of the secret itself."""
    prolific: bool = False
    """Whether Prolific signs the links; then no secret is needed."""

    @model_validator(mode="after")
    def _one_way(self) -> Links:
        if (self.secret is None) != self.prolific or (self.prolific and self.signed):
            raise PydanticCustomError("links", "must have either a secret or prolific: true")
        return self


class Quota(Settings):
    """When the study is full."""

    participants: Count | None = None
    """Places. A participant holds one when they finish, and for some `hours` after they join; the
    last place is given once."""
    answers: Count | None = None
    """When so many are stored, nobody can join or begin a round; rounds that were begun are
    finished, so there may be a few more."""
    hours: Count = 24
    """How long somebody who does not finish holds a place."""


class Payment(Settings):
    """What is kept to pay participants."""

    retention: datetime.date | None = None
    """The date after which the server erases platform ids and codes."""


class Stop(Settings):
    """When there are enough answers: see `trilens.stopping`."""

    rule: Literal["medoid", "map", "groups"]
    """What must be known well enough."""
    at_most: Count | None = None
    """medoid: so many objects may be left that could be the most central."""
    gain: float | None = None
    """map: 1,000 more answers would raise the share of predicted answers by less."""
    level: float | None = None
    """medoid and map: the confidence level."""
    then: Literal["close", "warn"] = "close"
    """Close the study, or only say so on the dashboard."""


class Part(Settings, title="condition"):
    """What is asked in one block or condition; what it does not say is as in the study.

    A part with a `kind` or a `grid` of its own does not take over the study's `question`,
    `tests` and `practice`, which were written for other questions.
    """

    kind: Kind | None = None
    """As in the study."""
    grid: Grid | None = None
    """As in the study."""
    objects: Line | tuple[Name, ...] | None = None
    """Names of the study's objects, or a CSV file or folder of others."""
    question: Text | None = None
    """As in the study."""
    instructions: Text | None = None
    """Shown before its first question."""
    length: Length | None = None
    """Questions per round."""
    tests: Tests | None = None
    """As in the study."""
    practice: tuple[Explained, ...] | None = None
    """As in the study."""
    shared: Annotated[int, Field(ge=0, strict=True)] | None = None
    """As in the study."""
    repeated: Annotated[int, Field(ge=0, strict=True)] | None = None
    """As in the study."""


class BlockSettings(Part, title="block"):
    """One of several parts, which every participant does one after the other."""

    name: Line
    """Appears in the export."""
    rounds: Length = 1
    """Rounds of this block."""


def _codes(given: Any) -> Any:
    """Language codes; an unquoted `no` is the truth value of YAML 1.1, not Norwegian."""
    good = isinstance(given, (list, tuple)) and given and len(set(map(str, given))) == len(given)
    if not good or not all(
        isinstance(code, str) and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?", code)
        for code in given
    ):
        text = 'must be a list of codes such as [en, de]; put "no" in quotes'
        raise PydanticCustomError("languages", text)
    return given


Codes: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_codes)]


def _two_or_more(given: dict[str, Part]) -> dict[str, Part]:
    if len(given) < 2:
        raise PydanticCustomError("conditions", "must be a section with two names or more")
    return given


class StudySettings(Settings, title="The study"):
    """Everything that `study.yaml` says."""

    title: Text
    """The name of the study."""
    kind: Kind = "central"
    """What is asked about the objects."""
    languages: Codes = ("en",)
    """Codes such as `[en, de]`; the first is the default."""
    not_reviewed: Codes | None = None
    """Those of the languages whose built-in texts no native speaker has reviewed, to use them all
    the same."""
    objects: Line
    """A CSV file or a folder of pictures or sounds, in the study's folder."""
    question: Text | None = None
    """The question, where the built-in wording does not fit."""
    instructions: Text
    """Shown before the first question, in Markdown."""
    example: Explained | None = None
    """Shown with the instructions."""
    consent: Consent
    """What participants agree to."""
    contact: Line | None = None
    """Whom participants can write to."""
    thanks: Text | None = None
    """Shown at the end, in Markdown."""
    debriefing: Text | None = None
    """For those who have finished or left, in Markdown; not sent before."""
    rounds: Rounds = Field(default_factory=Rounds)
    """How much is asked."""
    tests: Tests | None = None
    """Test questions."""
    practice: tuple[Explained, ...] = ()
    """Questions asked first, with feedback; never part of the findings."""
    shared: int = Field(default=2, ge=0, strict=True)
    """Questions per round that every participant gets."""
    repeated: int = Field(default=2, ge=0, strict=True)
    """Questions asked again in the second half of a round."""
    seed: int = Field(default=1, ge=0, le=2**62, strict=True)
    """Decides which questions are shared."""
    questions: Literal["random", "adaptive"] = "random"
    """How questions are chosen."""
    goal: Line | None = None
    """Of adaptive questions: `medoid` (if you say nothing), `rank`, `map`, `outliers` or
    `groups`."""
    random_share: float | None = Field(default=None, ge=0, le=1)
    """The share of adaptive questions that stays random: 0.2."""
    stop: Stop | None = None
    """When the study closes by itself."""
    grid: Grid | None = None
    """More than three objects on a screen."""
    blocks: tuple[BlockSettings, ...] = ()
    """Parts of the study, one after the other."""
    block_order: Literal["fixed", "random"] = "fixed"
    """In which order a participant meets the blocks."""
    conditions: Annotated[dict[str, Part], AfterValidator(_two_or_more)] | None = None
    """Names, with what differs there; each participant gets one at random."""
    before: tuple[AnyItem, ...] = ()
    """Questions about the participant, before the rounds."""
    after: tuple[AnyItem, ...] = ()
    """The same, after the rounds."""
    completion: Completion = Field(default_factory=Completion)
    """The code, and the way back."""
    links: Links | None = None
    """Links that only a platform can give."""
    quota: Quota = Field(default_factory=Quota)
    """When the study is full."""
    retention: datetime.date | None = None
    """The date until which answers are kept."""
    payment: Payment = Field(default_factory=Payment)
    """What is kept to pay participants."""
    texts: dict[str, dict[str, Line]] = Field(default_factory=dict)
    """Texts of the pages to replace, for each language."""


def sections(model: Any = StudySettings) -> Iterator[type[BaseModel]]:
    """The models of all sections, the study's first."""
    seen: dict[type[BaseModel], None] = {}

    def walk(one: Any) -> None:
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one in seen:
                return
            seen[one] = None
            for field in one.model_fields.values():
                walk(field.annotation)
        for inner in getattr(one, "__args__", ()):
            walk(inner)

    walk(model)
    yield from seen


#: Every key that there is, with the sections in which it stands.
KEYS: dict[str, list[str]] = {
    name: [
        section
        for section, field in StudySettings.model_fields.items()
        if any(name in model.model_fields for model in sections(field.annotation))
    ]
    for name in sorted({name for model in sections() for name in model.model_fields})
}
