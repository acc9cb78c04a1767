"""How central each object is, with an interval: by counting where the design allows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trilens._parameters import one_of, real_number, seed_of, wrong
from trilens._typing import RandomState
from trilens.answers import Answers, read_or_count
from trilens.counts import CentralCounts, Counted, PairCounts
from trilens.errors import ParameterError
from trilens.questions.data import Data
from trilens.questions.design import design
from trilens.questions.method import check_model, choose_method
from trilens.shares import DepthIntervals, counted_intervals
from trilens.statements import as_statements

if TYPE_CHECKING:
    from trilens.maps.choice_map import ChoiceMap
    from trilens.questions.model import AnswerModel


def depth_intervals(
    statements: Data,
    level: float = 0.95,
    *,
    method: str = "auto",
    model: AnswerModel | ChoiceMap | None = None,
    random_state: RandomState = 0,
) -> DepthIntervals:
    """Intervals for centrality, and the objects that could be the medoid.

    What each interval is about is the expected centrality of its object: the share of all
    questions about it, asked or not, in which answers like these single it out. Counts speak for
    all questions if these were drawn at random (`trilens.questions.design`); then the intervals are
    those of `trilens.shares.counted_intervals`. Elsewhere (one list for all raters, blocks,
    landmarks, uneven frequencies, questions that follow from answers) the choice model speaks,
    whose likelihood does not mind which questions were asked: the interval is that of the depth
    on maps drawn from the posterior, lapses included.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, Counted or CentralCounts
        Of any kind. Counts do not know the design and the raters; they are taken at their word.
    level : float
        Between 0 and 1.
    method : {"auto", "counting", "choice"}
        ``"auto"``: counting where the design allows it, else the choice model.
    model : AnswerModel or ChoiceMap, optional
        Where one has been fitted to the statements.
    random_state
        Of the choice model.

    Examples
    --------
    >>> S = [[0, 1, 2]] * 30 + [[1, 0, 2]] * 5
    >>> interval = depth_intervals(S)
    >>> interval.low.round(2).tolist(), interval.high.round(2).tolist()
    ([0.7, 0.05, 0.0], [0.95, 0.3, 0.1])
    >>> interval.medoid_set.tolist(), interval.method
    ([True, False, False], 'counting')
    """
    if not 0 < real_number("level", level) < 1:
        raise wrong("level", level, "between 0 and 1")
    one_of("method", method, ("auto", "counting", "choice"))
    data = statements
    if isinstance(data, Answers):
        data = read_or_count(data, enough=True)
    if isinstance(data, PairCounts):
        raise ParameterError("intervals of depth need the counts per object, not of pairs")
    if isinstance(data, Counted | CentralCounts):
        if method == "choice":
            raise ParameterError(
                "intervals by the model need the statements, not counts of them",
                parameter="method",
            )
        return counted_intervals(data, level)
    given = as_statements(data)
    if method == "counting" or len(given) == 0:
        return counted_intervals(given, level)
    asked = design(given)
    if method == "auto" and (asked.counts_hold or choose_method("medoid", given) != "choice"):
        found = counted_intervals(given, level)
        if asked.counts_hold:
            return found
        return replace(found, about=f"these questions only: {'; '.join(asked.why)}")
    from trilens.questions.model import answer_model

    known = check_model(model, given, random_state) or answer_model(given, seed_of(random_state))
    return _by_model(known, level)


def _by_model(model: AnswerModel, level: float) -> DepthIntervals:
    from trilens.questions.medoid import medoid_set

    inner, rank = model.in_order, model.ordered.rank
    low, high = inner.central_intervals(level)
    about = "all questions, by the choice model"
    if model.design.why:
        about += f", as counts speak for these questions only: {'; '.join(model.design.why)}"
    if model.design.blocks > 1:
        about += "; how the parts lie to each other is hardly known, so they may be too narrow"
    return DepthIntervals(
        inner.centrality[rank],
        low[rank],
        high[rank],
        medoid_set(inner, level)[rank],
        level,
        model.statements._names,
        "choice",
        about,
    )
