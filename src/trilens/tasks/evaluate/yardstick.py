"""The ceiling that models are measured with."""

from __future__ import annotations

from dataclasses import dataclass

from trilens.statements import Statements
from trilens.tasks.evaluate.clusters import each_its_own
from trilens.tasks.method import choose_method
from trilens.tasks.model import answer_model
from trilens.tasks.reliability.agreement import Agreement
from trilens.tasks.reliability.trust import agreement_of, reachable_share


@dataclass(frozen=True)
class Yardstick:
    """What the best model could reach, and how often two raters agree.

    Attributes
    ----------
    ceiling : float or None
    ceiling_interval : (float, float) or None
    agreement : Agreement or None
    why_not : str or None
        Why there is no ceiling.
    """

    ceiling: float | None
    ceiling_interval: tuple[float, float] | None
    agreement: Agreement | None
    why_not: str | None


def yardstick_of(statements: Statements, seed: int = 0) -> Yardstick:
    """The ceiling of statements; a model of the answers is fitted where there are repeats."""
    agreement, _, why_not = agreement_of(_apart(statements))
    if agreement is None:
        return Yardstick(None, None, None, why_not)
    model = None
    if choose_method("embed", statements) == "choice":
        model = answer_model(statements, seed)
    best, ends = reachable_share(agreement, statements, model)
    return Yardstick(best, ends, agreement, None)


def _apart(statements: Statements) -> Statements:
    """The same answers, where those without a rater are not taken for one rater's."""
    if statements.raters is None or "" not in statements.raters:
        return statements
    return Statements(
        statements.triples,
        statements.n_objects,
        statements._names,
        statements.kind,
        raters=each_its_own(statements.raters),
        rounds=statements.rounds,
    )
