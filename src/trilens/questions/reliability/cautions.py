"""What the answers cannot support: codes with numbers, which `trilens.words` puts into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trilens import words
from trilens._typing import AnyArray, IntArray
from trilens.agreement import Agreement, Rate, Repeats, gave_much
from trilens.kinds import chance
from trilens.maps.fitted import Fit
from trilens.questions.reliability.raters import RaterCheck
from trilens.statements import Statements
from trilens.statements.reading import Reading, about_copies
from trilens.study_design import Design

#: Below this many statements an object's 95 % interval is wider than +-0.2.
FEW_APPEARANCES = 25
#: How often guesses may predict as well as the map before the answers count as more than that.
_LEVEL = 0.001
#: From this error rate on it is said.
_MANY_WRONG = 0.25
#: Cautions that name raters.
OF_RATERS = {"guessing", "differs", "inverted", "unclear", "same-place", "one-rater"}
#: With fewer repeated questions their agreement is not judged.
_FEW_REPEATS = 50


@dataclass(frozen=True)
class Caution:
    """One thing that the answers cannot support.

    Attributes
    ----------
    code : str
        ``no-statements``, ``kind``, ``header``, ``unseen``, ``rare``, ``apart``, ``noise``,
        ``wrong``, ``guessing``, ``differs``, ``inverted``, ``unclear``, ``most-guess``,
        ``same-place``, ``one-rater``, ``views``, ``pooled``, ``contradictions``, ``design`` or
        ``counted``; or that of a `trilens.statements.reading.Concern`.
    facts : dict
        The numbers that the sentences are made of.
    names : tuple of str
        The objects or raters it is about.
    said : (str, str, str) or None
        The sentences, where reading the file has made them.
    """

    code: str
    facts: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    said: tuple[str, str, str] | None = None

    @property
    def sentences(self) -> tuple[str, str, str]:
        """What was seen, what cannot be concluded, and what to do."""
        return words.caution(self.code, self.facts) if self.said is None else self.said

    @property
    def what(self) -> str:
        """What was seen."""
        return self.sentences[0]

    @property
    def therefore(self) -> str:
        """What cannot be concluded."""
        return self.sentences[1]

    @property
    def remedy(self) -> str:
        """What to do."""
        return self.sentences[2]

    def to_dict(self) -> dict[str, Any]:
        """The code and the sentences."""
        said = dict(zip(("what", "therefore", "remedy"), self.sentences, strict=True))
        return {"code": self.code, **said, "names": list(self.names)}


def about_reading(reading: Reading | None, statements: Statements) -> list[Caution]:
    """What only those can decide who know the study, and that conditions are taken together."""
    concerns = about_copies(statements) if reading is None else reading.concerns
    found = [Caution(each.code, said=(each.what, each.therefore, each.remedy)) for each in concerns]
    return [*found, *about_conditions(() if reading is None else reading.conditions)]


def about_kind(reading: Reading | None) -> list[Caution]:
    """That the kind of question was assumed, or that the answers fit another than the columns."""
    if reading is None or (reading.kind_told and reading.fits is None):
        return []
    facts = {"kind": reading.kind, "fits": reading.fits, "doubt": reading.doubt}
    if not reading.kind_told:
        return [Caution("kind", facts)]
    return [Caution("header", {**facts, "column": reading.columns.get(reading.kind)})]


def about_conditions(pooled: Sequence[str]) -> list[Caution]:
    """That a survey's conditions are taken together."""
    return [Caution("pooled", {"conditions": tuple(pooled)})] if len(pooled) > 1 else []


def about_appearances(of: Sequence[str], appears: IntArray) -> list[Caution]:
    """Objects that appear in few answers, or in none."""
    names = np.array(of, dtype=object)
    unseen = names[appears == 0].tolist()
    rare = names[(appears > 0) & (appears < FEW_APPEARANCES)].tolist()
    found = []
    if unseen:
        found.append(Caution("unseen", {"objects": len(unseen)}, tuple(unseen)))
    if rare:
        facts = {"objects": len(rare), "fewer_than": FEW_APPEARANCES}
        found.append(Caution("rare", facts, tuple(rare)))
    return found


def about_parts(statements: Statements, parts: IntArray) -> list[Caution]:
    """Objects that cannot be compared, not even through others."""
    seen = statements.appearances > 0
    different = np.unique(parts[seen])
    if len(different) < 2:
        return []
    outside = np.flatnonzero(seen & (parts != different[0]))
    names = tuple(statements.names[i] for i in outside)
    return [Caution("apart", {"parts": len(different)}, names)]


def about_noise(fitted: Fit, m: int, hits: int) -> list[Caution]:
    """Whether the answers as a whole say anything, when so many of m were predicted.

    Where a fit was asked whether they do, that is what it says to every question.
    """
    from scipy.special import bdtrc

    by_chance = chance(fitted.map.kind)
    if fitted.support.reason != "guesses":
        asked = fitted.support and fitted.how.n_components is None
        if asked or bdtrc(hits - 1, m, by_chance) <= _LEVEL:
            return []
    return [Caution("noise", {"predicted": hits / m, "chance": by_chance, "answers": m})]


def about_design(asked: Design) -> list[Caution]:
    """Questions that were not drawn at random."""
    return [] if asked.counts_hold else [Caution("design", {"design": asked})]


def about_errors(error_rate: Rate) -> list[Caution]:
    """Whether many answers are wrong."""
    if error_rate.estimate < _MANY_WRONG:
        return []
    facts = {"rate": error_rate.estimate, "low": error_rate.low, "high": error_rate.high}
    return [Caution("wrong", facts)]


def about_raters(checks: Sequence[RaterCheck], share: float | None, unit: str) -> list[Caution]:
    """Who is careless, who sees it differently, and whether most raters are careless.

    ``share`` is that of careless raters, including those who cannot be named; None where nobody
    can be told from them.
    """
    careless = tuple(check.rater for check in checks if check.guessing)
    one_place = tuple(check.rater for check in checks if check.one_place)
    found = []
    if share is not None and (share >= 0.5 or 2 * len(careless) >= len(checks)):
        most = max(share, len(careless) / len(checks))
        found.append(Caution("most-guess", {"share": most, "unit": unit}))
    listed = [("guessing", careless)]
    for verdict in ("differs", "inverted", "unclear"):
        listed.append((verdict, tuple(each.rater for each in checks if each.verdict == verdict)))
    listed.append(("same-place", one_place))
    found += [
        Caution(code, {"raters": len(names), "unit": unit}, names)
        for code, names in listed
        if names
    ]
    return found


def about_views(
    between: Agreement | None,
    within: Agreement | None,
    checks: Sequence[RaterCheck],
    unit: str,
) -> list[Caution]:
    """Whether raters agree with themselves more often than with each other.

    Careless raters, beside careful ones, would do that too.
    """
    if between is None or within is None or within.low <= between.high:
        return []
    if any(check.verdict in ("careless", "inverted") for check in checks):
        return []
    facts = {"between": between.share, "within": within.share, "unit": unit}
    return [Caution("views", facts)]


def about_amounts(who: AnyArray | None, unit: str) -> list[Caution]:
    """Whether one rater gave much of all answers."""
    if who is None:
        return []
    names, answers = np.unique(who, return_counts=True)
    most = int(answers.argmax())
    share = float(answers[most]) / len(who)
    if not gave_much(share, len(names)) or str(names[most]) == "":
        return []
    return [Caution("one-rater", {"share": share, "unit": unit}, (str(names[most]),))]


def about_contradictions(repeats: Repeats | None, chance: float) -> list[Caution]:
    """Whether two answers to the same question agree more often than not."""
    # two answers that agree no more often than half-way between guessing and always
    if repeats is None or repeats.questions < _FEW_REPEATS or repeats.agreement >= (chance + 1) / 2:
        return []
    facts = {"agreement": repeats.agreement, "questions": repeats.questions, "chance": chance}
    return [Caution("contradictions", facts)]
