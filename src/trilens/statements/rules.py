"""The layouts that files of answers have: one rule for each, matched by the roles of columns.

What a column's name means stands in `trilens.statements.roles`. To read another layout is to add a
rule here; the table of layouts in the documentation is made of these.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal

from trilens.kinds import Kind
from trilens.statements.roles import SHOWN

#: ``statement``: three objects in order; ``shown``: the chosen one and the three shown;
#: ``pair``: the chosen one, the anchor and the two that stood beside it.
Form = Literal["statement", "shown", "pair"]
#: How a row becomes several statements; see `trilens.statements.unfold`.
Unfold = Literal["some", "votes", "count", "questions", "titles", "blocks"]


@dataclass(frozen=True)
class LayoutRule:
    """Columns that make statements."""

    #: What such a file holds, in words.
    holds: str
    #: The roles that must have a column; ``chosen|picks`` is one of them.
    required: tuple[str, ...]
    #: What the columns of objects are, in the order of ``required``.
    form: Form = "statement"
    #: How a row becomes statements, where it does not hold exactly one.
    unfold: Unfold | None = None

    def fits(self, there: Container[str]) -> bool:
        """Whether every required role has a column.

        >>> RULES[0].fits({"central", "other_1", "other_2", "rater"}), RULES[0].fits({"odd"})
        (True, False)
        """
        return all(any(role in there for role in each.split("|")) for each in self.required)

    def kind(self, kinds: Mapping[str, Kind | None]) -> Kind | None:
        """The kind that the columns tell by themselves."""
        return next((kinds[role] for role in self.required if kinds.get(role)), None)

    def serves(self, told: Kind | None, kind: str | None) -> bool:
        """Whether statements of a kind that is asked for can have these columns."""
        of_three = self.form == "shown" or "other_1" in self.required
        return kind in (None, told or kind) and not (of_three and kind == "closer")


_PICKS = "chosen|chosen_1|picks|near|central|odd"

#: The first one that fits is read; those that unfold rows go first.
RULES: tuple[LayoutRule, ...] = (
    LayoutRule("the most central object, and the two others", ("central", "other_1", "other_2")),
    LayoutRule("the odd one out, and the two others", ("odd", "other_1", "other_2")),
    LayoutRule("a similarity triplet", ("anchor", "near", "far")),
    LayoutRule(
        "the three objects shown, and the chosen one: by name, by place (0, 1, 2; 1, 2, 3; A, B, "
        "C; left, middle, right) or by the name of its column",
        ("chosen", *SHOWN),
        "shown",
    ),
    LayoutRule("the same, of kind central", ("central", *SHOWN), "shown"),
    LayoutRule("the same, of kind odd", ("odd", *SHOWN), "shown"),
    LayoutRule("the chosen object, and the two others", ("chosen", "other_1", "other_2")),
    LayoutRule("a triplet whose nearer object was chosen", ("anchor", "chosen", "far")),
    LayoutRule("the same", ("anchor", "chosen", "not_chosen")),
    LayoutRule(
        "an anchor, two objects beside it, and the chosen one, by name or place",
        ("chosen", "anchor", "shown_1", "shown_2"),
        "pair",
    ),
    LayoutRule("the same", ("near", "anchor", "shown_1", "shown_2"), "pair"),
    LayoutRule(
        "one or several chosen of more than three, in columns or in lists",
        (_PICKS, "shown_4|shown"),
        unfold="some",
    ),
    LayoutRule(
        "those chosen and those not chosen, as like the anchor",
        ("anchor", _PICKS, "not_chosen|not_chosen_1"),
        unfold="some",
    ),
    LayoutRule(
        "how many chose each of the objects shown, in columns or in lists",
        (*SHOWN, "votes|votes_1"),
        unfold="votes",
    ),
    LayoutRule(
        "the same, of two beside an anchor",
        ("anchor", "shown_1|near", "shown_2|far", "votes_1"),
        unfold="votes",
    ),
    LayoutRule("the same", ("anchor", "shown_1", "shown_2", "votes"), unfold="votes"),
    LayoutRule("a row for several equal answers", ("count|votes",), unfold="count"),
    LayoutRule(
        "a row for each participant and a column for each question, or the id of the question, "
        "with a table of questions (`--questions`)",
        (),
        unfold="questions",
    ),
    LayoutRule(
        "a row for each participant; the questions, as names of columns, list their objects",
        (),
        unfold="titles",
    ),
    LayoutRule(
        "a row for each participant, with the objects of questions of his own: `{}` stands for "
        "their numbers (`--columns chosen=t{}_resp,shown_1=t{}_a,...`)",
        (),
        unfold="blocks",
    ),
)
#: Those whose rows are statements.
PLAIN = tuple(rule for rule in RULES if rule.unfold is None)


def complete(there: Container[str]) -> list[LayoutRule]:
    """The plain rules of which every role has a column.

    >>> [rule.form for rule in complete({"chosen", "anchor", "shown_1", "shown_2"})]
    ['pair']
    """
    return [rule for rule in PLAIN if rule.fits(there)]


def unfoldings(there: Container[str]) -> list[Unfold]:
    """How rows may be unfolded, told by the names of columns.

    >>> unfoldings({"anchor", "shown_1", "shown_2", "votes_1", "votes_2"})
    ['votes']
    """
    found = {rule.unfold: None for rule in RULES if rule.required and rule.fits(there)}
    if not complete(there):
        found.pop("count", None)
    return [each for each in found if each is not None]
