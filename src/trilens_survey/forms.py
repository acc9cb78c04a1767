"""Questions before and after the rounds: about the participant, not about the objects."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from trilens_survey.text import Settings, Text, as_text

#: Columns that a table of answers has already.
TAKEN = ("rater", "condition", "language", "joined", "finished", "left")
LONGEST = 2000

#: Why a value is refused: the key of a text of the page, and what is filled in there.
Refusal: TypeAlias = dict[str, Any]
Checked: TypeAlias = tuple[Any, Refusal | None]


def _not_taken(name: str) -> str:
    if name in TAKEN:
        raise PydanticCustomError("taken", f"is {name!r}, which is a column already")
    return name


class Item(Settings):
    """One question of a form."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$"), AfterValidator(_not_taken)]
    """The column of the export: letters, digits and `_`."""
    ask: Text
    """The question."""
    required: bool = True
    """Whether it must be answered."""
    type: str

    def shown(self, language: str) -> dict[str, Any]:
        """What the page needs to ask it."""
        shown = {"name": self.name, "ask": self.ask[language], "required": self.required}
        return shown | {"type": self.type}

    def check(self, value: Any) -> Checked:
        """The value as it is stored (None for no answer), and what is wrong with it."""
        if value is None or value == [] or (isinstance(value, str) and not value.strip()):
            return None, {"text": "form_needed"} if self.required else None
        return self._checked(value)

    def _checked(self, value: Any) -> Checked:
        raise NotImplementedError


def _options(given: Any, info: ValidationInfo) -> Any:
    """A list of texts, or values with a text each, as values with a text for each language."""
    if isinstance(given, list) and any(isinstance(each, bool) for each in given):
        text = 'must have "yes" and "no" in quotes, otherwise they mean true and false'
        raise PydanticCustomError("options", text)
    if isinstance(given, list) and all(isinstance(each, (str, int)) for each in given):
        pairs = [(str(each), as_text(str(each), info)) for each in given]
    elif isinstance(given, dict):
        pairs = [(str(value), as_text(text, info)) for value, text in given.items()]
    else:
        raise PydanticCustomError("options", "must be a list of texts, or `value: text` lines")
    if len(dict(pairs)) < max(2, len(pairs)):
        raise PydanticCustomError("options", "must be two different texts or more")
    return dict(pairs)


class Choice(Item):
    """One of several answers, or more than one of them."""

    type: Literal["choice"]
    """What kind of question it is."""
    options: Annotated[dict[str, dict[str, str]], BeforeValidator(_options)]
    """A list of texts, or `value: text` lines."""
    several: bool = False
    """Whether more than one may be chosen."""

    def shown(self, language: str) -> dict[str, Any]:
        options = [{"value": value, "text": text[language]} for value, text in self.options.items()]
        return super().shown(language) | {"options": options, "several": self.several}

    def _checked(self, value: Any) -> Checked:
        given = value if isinstance(value, list) else [value]
        right = all(isinstance(each, str) and each in self.options for each in given)
        if not right or len(set(given)) < len(given) or (len(given) > 1 and not self.several):
            return None, {"text": "form_needed"}
        chosen = [option for option in self.options if option in given]
        return (chosen if self.several else chosen[0]), None


Limit: TypeAlias = Annotated[float, Field(ge=-1e15, le=1e15, strict=True)]


class Number(Item):
    """A number."""

    type: Literal["number"]
    """What kind of question it is."""
    least: Limit | None = None
    """The smallest number allowed."""
    most: Limit | None = None
    """The largest number allowed."""
    whole: bool = False
    """Whether it must be a whole number."""

    @model_validator(mode="after")
    def _in_order(self) -> Number:
        if self.least is not None and self.most is not None and self.least > self.most:
            raise PydanticCustomError("range", "has a least that is larger than its most")
        return self

    def _checked(self, value: Any) -> Checked:
        return check_number(value, self.least, self.most, self.whole)


class LongText(Item, title="text"):
    """A text in the participant's own words."""

    type: Literal["text"]
    """What kind of question it is."""
    most: int = Field(default=LONGEST, ge=1, le=LONGEST, strict=True)
    """Characters."""

    def shown(self, language: str) -> dict[str, Any]:
        return super().shown(language) | {"most": self.most}

    def _checked(self, value: Any) -> Checked:
        if not isinstance(value, str) or len(value.strip()) > self.most:
            return None, {"text": "form_long", "most": self.most}
        return value.strip(), None


class Scale(Item):
    """A point between two ends."""

    type: Literal["scale"]
    """What kind of question it is."""
    least: int = Field(default=1, strict=True)
    """The number of the first point."""
    most: int = Field(default=7, strict=True)
    """The number of the last point."""
    ends: tuple[Text, Text] | None = None
    """What the two ends mean."""

    @model_validator(mode="after")
    def _few(self) -> Scale:
        if not 1 <= self.most - self.least <= 20:
            raise PydanticCustomError("scale", "must go from `least` to `most`, at most 20 apart")
        return self

    def shown(self, language: str) -> dict[str, Any]:
        ends = [text[language] for text in self.ends or ()]
        return super().shown(language) | {"least": self.least, "most": self.most, "ends": ends}

    def _checked(self, value: Any) -> Checked:
        return check_number(value, self.least, self.most, whole=True)


AnyItem: TypeAlias = Annotated[Choice | Number | LongText | Scale, Field(discriminator="type")]


def check_number(value: Any, least: float | None, most: float | None, whole: bool) -> Checked:
    """A number in its range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, {"text": "form_number"}
    if not abs(value) <= 1e15:  # nor is NaN; a whole number may be too large for a float
        return None, {"text": "form_number"}
    if whole and value != int(value):
        return None, {"text": "form_whole"}
    if least is not None and value < least:
        return None, {"text": "form_least", "least": _plain(least)}
    if most is not None and value > most:
        return None, {"text": "form_most", "most": _plain(most)}
    return _plain(value), None


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else value


def check_form(items: tuple[Item, ...], given: Any) -> tuple[dict[str, Any], dict[str, Refusal]]:
    """The values to store, and what is wrong, by name; what was not asked is left out."""
    values, wrong = {}, {}
    for item in items:
        value, refusal = item.check(given.get(item.name))
        if refusal is not None:
            wrong[item.name] = refusal
        elif value is not None:
            values[item.name] = value
    return values, wrong
