"""Outlier identification: Algorithm 2, Crowd-Median, and the local outlier factor on a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import real_number, whole_number, wrong
from trilens._sklearn import BaseEstimator, OutlierMixin
from trilens._tabular import Tabular, facts
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.answers import central_counts
from trilens.ask import Data, Points, Question, ask, objects_of, register
from trilens.counts import CentralCounts
from trilens.errors import ParameterError
from trilens.lens import centrality
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.fitted import Fit
from trilens.maps.geometry import local_outliers
from trilens.maps.likelihood import object_order
from trilens.maps.support import Reason, Support, support_of_answers
from trilens.questions.clouds import LEVEL
from trilens.questions.cluster.suggest import is_ring
from trilens.questions.depth import centrality_of, intervals_of
from trilens.questions.estimators import AsksMap, LabelsObjects
from trilens.questions.outlier_test import (
    LEAST_OBJECTS,
    OutlierShape,
    OutlierTest,
    outlier_factors,
    outliers_by_depth,
    outliers_of_fit,
)
from trilens.shares import counted_intervals, counted_shares
from trilens.statements import Kind, Statements, StatementsLike, as_statements
from trilens.statements.value import refuse_answers, statements_to_fit
from trilens.words import LEAST_OF_ALL, about_outliers, listed, stand_apart

#: Of more tied objects than these only the number is told.
MOST_TIED = 20


@dataclass(frozen=True)
class Outliers(Tabular):
    """The objects that fit the others least, the lowest score first.

    Attributes
    ----------
    indices, names
        The outliers.
    scores : (len(indices),) array
        Their scores, low for an outlier: centrality, or minus the local outlier factor.
    apart : tuple of str
        The objects that stand apart, listed or not: chance alone rarely has any so far out.
    shape : {"outliers", "long tail", "none"}
        What the far objects are. They stand apart if chance alone rarely isolates any so far,
        and are a long tail if only groups with long tails would have them.
    tail : tuple of str or None
        The objects of a long tail, the farthest out first; None where there is none.
    p_value, level : float or None
        How often chance alone has as much that seems to stand apart; up to ``level`` it is
        claimed. None where nothing can be claimed.
    reason : str or None
        The code of why nothing can be claimed; ``caution`` says it.
    tied : tuple of str
        Objects left out whose score equals that of the last outlier: the cut goes through
        them, and the names alone decided.
    depths : (len(indices),) array
        Their centrality.
    method : str
    all_scores : (n,) array
        The score of every object.
    least_central : tuple of str
        The objects of lowest centrality (Algorithm 2), outliers or not, the least central first: a
        quarter of all, at most eight.
    clearly_least : str or None
        The least central object, where the interval of its centrality lies below all others.
    on_ring : bool
        Whether no object stands apart, and they form a ring, on which none is the least central.
    """

    indices: IntArray
    names: tuple[str, ...]
    scores: FloatArray
    depths: FloatArray
    apart: tuple[str, ...]
    shape: OutlierShape
    tail: tuple[str, ...] | None
    p_value: float | None
    reason: Reason | None
    tied: tuple[str, ...]
    method: str
    all_scores: FloatArray = field(repr=False)
    least_central: tuple[str, ...]
    clearly_least: str | None = None
    on_ring: bool = False
    level: float = LEVEL

    def __len__(self) -> int:
        return len(self.names)

    @property
    def suggested(self) -> int:
        """How many objects stand apart."""
        return len(self.apart)

    @property
    def caution(self) -> str | None:
        """Why nothing can be claimed; None where something can."""
        return about_outliers(self.reason)

    def _headline(self) -> str:
        if self.names or self.caution is not None:
            return ", ".join(self.names) or str(self.caution)
        if self.apart:
            return f"none listed; {listed(self.apart)} {stand_apart(len(self.apart))}"
        least = "" if self.clearly_least is None else LEAST_OF_ALL.format(self.clearly_least)
        return "; ".join(filter(None, ["no outlier could be confirmed", least]))

    def columns(self) -> dict[str, Sequence[Any]]:
        """The outliers and their scores."""
        return {"object": self.names, "score": self.scores.tolist()}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens outliers --json`` prints them."""
        rows = zip(self.names, self.depths.tolist(), self.scores.tolist(), strict=True)
        return {
            "outliers": [
                {"object": name, "depth": depth, "score": score} for name, depth, score in rows
            ],
            **facts(self, "suggested", "apart", "shape", "tail"),
            **facts(self, "p_value", "level", "caution"),
            **facts(self, "method", "least_central", "clearly_least"),
            "tied": list(self.tied[:MOST_TIED]),
            "tied_count": len(self.tied),
        }


def outliers(
    answers: Data,
    n: int | None = None,
    *,
    contamination: float | None = None,
    method: str = "auto",
    random_state: RandomState = 0,
) -> Outliers:
    """The objects that fit the others least.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table, (m, 3) array, Counted or CentralCounts
        Counts suffice to rank by ``"depth"``, which is then what ``"auto"`` means; they do not
        tell what stands apart.
    n : int, optional
        How many. Without ``n`` and ``contamination`` those that stand apart, which may
        be none: in at most 5 % of clouds without outliers there are any. A cloud that thins out
        into a long tail has none either; the tail is then named.
    contamination : float, optional
        The share of outliers, at least 0 and at most 0.5; rounded to the nearest number.
    method : str
        ``"auto"``: the map, where answers suffice for one. ``"choice"``: local outlier
        factor on the choice map. ``"depth"``: lowest centrality (Algorithm 2; Crowd-Median for
        ``odd``). Another map (``"lensmap"``, ``"soe"``, ...): local outlier factor on its
        coordinates; it ranks, and claims nothing.
    random_state
        Of the map.

    Notes
    -----
    Equal scores stand in the order of the names. An object that no statement names has
    depth 0 and so counts as an outlier, as in the paper.

    Examples
    --------
    >>> S = Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3], [2, 0, 1]], kind="central")
    >>> outliers(S, n=2).names
    ('1', '3')
    """
    found: Outliers = ask(OUTLIERS, answers, method, random_state, n=n, contamination=contamination)
    return found


def _of_fit(fitted: Fit, n: int | None, contamination: float | None) -> Outliers:
    support, depth = fitted.support, centrality_of(fitted)
    score = np.full(len(depth), -1.0)
    if fitted.n_objects < LEAST_OBJECTS:
        support = Support(support.reason or "few objects")
    else:
        score = -outlier_factors(fitted.map.X)
    apart = outliers_of_fit(fitted)
    count = _how_many(len(depth), n, contamination)
    found = _described(fitted.names, "choice", score, depth, apart, support, count)
    if support and not found.apart:
        found = replace(found, on_ring=is_ring(fitted))
    return _with_least(found, depth, *intervals_of(fitted))


def _with_least(found: Outliers, depth: FloatArray, low: FloatArray, high: FloatArray) -> Outliers:
    """With the least central object, where its interval lies below those of all others."""
    if found.reason not in (None, "only counts") or len(depth) < LEAST_OBJECTS:
        return found
    least = int(depth.argmin())
    if high[least] >= np.delete(low, least).min():
        return found
    return replace(found, clearly_least=found.least_central[0])


def _of_counts(data: Any, n: int | None, contamination: float | None) -> Outliers:
    """Algorithm 2, and Crowd-Median."""
    counts = central_counts(data)
    depth, names = centrality(counts), objects_of(counts).names
    apart, support = _nothing(len(depth)), Support("only counts")
    if isinstance(data, Statements):
        support = support_of_answers(data)
        if support:
            apart = outliers_by_depth(depth, counts.appears, counts.kind)
    count = _how_many(len(depth), n, contamination)
    found = _described(names, "depth", depth, depth, apart, support, count)
    intervals = counted_intervals(data)
    return _with_least(found, depth, intervals.low, intervals.high)


def _of_points(points: Points, n: int | None, contamination: float | None) -> Outliers:
    score = -local_outliers(points.X)
    support = support_of_answers(points.statements)
    if support:
        support = Support("no test")
    depth, count = counted_shares(points.statements), _how_many(len(score), n, contamination)
    apart = _nothing(len(score))
    return _described(points.names, points.method, score, depth, apart, support, count)


def _nothing(n_objects: int) -> OutlierTest:
    return OutlierTest(np.zeros(n_objects, dtype=np.bool_), None)


def _described(
    names: tuple[str, ...],
    method: str,
    score: FloatArray,
    depth: FloatArray,
    apart: OutlierTest,
    support: Support,
    count: int | None,
) -> Outliers:
    by_name = object_order(names, len(names))
    order = by_name[np.argsort(score[by_name], kind="stable")]
    least = by_name[np.argsort(depth[by_name], kind="stable")]
    if count is None:
        chosen = order[apart.objects[order]]
        tied = order[:0]
    else:
        chosen, rest = order[:count], order[count:]
        tied = rest[score[rest] == score[chosen[-1]]] if count else order[:0]
    return Outliers(
        indices=chosen,
        names=tuple(names[i] for i in chosen),
        scores=score[chosen],
        depths=depth[chosen],
        apart=tuple(names[i] for i in order[apart.objects[order]]),
        shape=apart.shape,
        tail=None if apart.tail is None else tuple(names[i] for i in order[apart.tail[order]]),
        p_value=apart.p_value,
        reason=support.reason,
        tied=tuple(names[i] for i in tied),
        method=method,
        all_scores=score,
        least_central=tuple(names[i] for i in least[: min(8, max(1, len(least) // 4))]),
    )


def _how_many(n_objects: int, n: int | None, contamination: float | None) -> int | None:
    if n is not None and contamination is not None:
        raise ParameterError("give n or contamination, not both")
    if n is not None:
        return whole_number("n", n, 0, n_objects)
    if contamination is not None:
        return round(real_number("contamination", contamination, 0, 0.5) * n_objects)
    return None


def _share(contamination: float | str) -> float | None:
    """The share of outliers; None for ``"auto"``."""
    if not isinstance(contamination, str):
        return real_number("contamination", contamination, 0, 0.5)
    if contamination != "auto":
        raise wrong("contamination", contamination, "'auto' or a share")
    return None


@dataclass(eq=False, repr=False)
class LensDepthOutlierDetector(LabelsObjects, OutlierMixin, BaseEstimator):
    """Outliers by low lens depth (Algorithm 2), or high P(odd) for odd-one-out statements.

    Parameters
    ----------
    contamination : float or "auto"
        The share of outliers, at least 0 and at most 0.5. ``"auto"``: those below the largest
        gap at the low end of the scores, if it is wider than chance makes it; `central` depths,
        which cannot be lower than 0, hardly ever show one.
    kind : {"central", "odd", "closer"}, optional
        What was asked: required for arrays, which do not tell.

    Attributes
    ----------
    score_samples_ : (n_objects,) array
        Centrality: the lower, the more outlying.
    offset_ : float
        The cut: an object is an outlier if its score is below it. It lies half-way between
        the last outlier and the first inlier; objects that tie with the first inlier are
        inliers.
    labels_ : (n_objects,) array of int
        -1 for outliers, +1 for inliers.
    kind_ : {"central", "odd", "closer"}
        What was asked.
    counts_ : CentralCounts
        What `partial_fit` adds to.

    Examples
    --------
    >>> answers = [[0, 1, 2], [0, 1, 3], [2, 0, 3], [2, 0, 1], [1, 2, 3], [1, 0, 3]]
    >>> S = Statements(answers, kind="central")
    >>> LensDepthOutlierDetector(contamination=0.25).fit_predict(S).tolist()
    [1, 1, 1, -1]
    """

    contamination: float | str = 0.1
    _: KW_ONLY
    kind: Kind | None = None

    def fit(self, X: StatementsLike | CentralCounts, y: Any = None) -> LensDepthOutlierDetector:
        """Score every object of statements, or of counts of them, and put the cut."""
        if not isinstance(X, CentralCounts):
            given, X = X, statements_to_fit(X, self.kind, self)
            refuse_answers(y, given, X)
        counts = central_counts(X)
        self.kind_ = counts.kind
        scores = centrality(counts)
        share = _share(self.contamination)
        if share is None:
            apart = outliers_by_depth(scores, counts.appears, counts.kind)
            count = int(apart.objects.sum())
        else:
            count = round(share * len(scores))
        ordered = np.sort(scores)
        self.score_samples_ = scores
        if 0 < count < len(ordered):
            self.offset_ = float((ordered[count - 1] + ordered[count]) / 2)
        else:
            self.offset_ = float(ordered[0]) if len(ordered) else 0.0
        self.n_objects_in_ = len(scores)
        self.labels_ = self.predict()
        self.counts_ = counts
        return self

    def partial_fit(
        self, X: StatementsLike | CentralCounts, y: Any = None
    ) -> LensDepthOutlierDetector:
        """As `fit` to all statements so far: those of `fit`, of earlier calls, and these.

        Objects are the same where their names are; without names by their ids.
        """
        more = central_counts(
            as_statements(X, self.kind) if isinstance(X, np.ndarray | list) else X
        )
        return self.fit(self.counts_ + more if hasattr(self, "counts_") else more)

    def score_samples(self, X: StatementsLike | None = None) -> FloatArray:
        """Centrality of every object, from other statements about the same objects if given."""
        check_is_fitted(self, "score_samples_")
        if X is None:
            return self.score_samples_
        given = as_statements(X, self.kind_)
        if given.n_objects != self.n_objects_in_:
            raise ParameterError(
                f"the statements are about {given.n_objects} objects; "
                f"the detector was fitted on {self.n_objects_in_}"
            )
        return centrality(given)

    def decision_function(self, X: StatementsLike | None = None) -> FloatArray:
        """Score less the cut: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: StatementsLike | None = None) -> IntArray:
        """-1 for outliers, +1 for inliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)


@dataclass(eq=False, repr=False)
class MapOutlierDetector(AsksMap, OutlierMixin, BaseEstimator):
    """What `trilens.outliers` finds, as an estimator: local outlier factors on the choice map.

    Parameters
    ----------
    contamination : "auto" or float
        The share of outliers, at least 0 and at most 0.5. ``"auto"``: those that stand
        apart, which may be none.
    n : int, optional
        How many, instead of a share.
    map : str or ChoiceMap
        The method of `trilens.outliers`, or a map to be fitted (it is cloned).
    random_state : int, Generator or None
    kind : {"central", "odd", "closer"}, optional
        What was asked: required for arrays, which do not tell.

    Attributes
    ----------
    labels_ : (n_objects,) array of int
        -1 for outliers, +1 for inliers.
    score_samples_ : (n_objects,) array
        The lower, the more outlying.
    result_ : Outliers
        What `trilens.outliers` returned: names, the test, its p-values.
    kind_ : {"central", "odd", "closer"}

    Examples
    --------
    >>> from trilens.simulate import study
    >>> S = study().statements
    >>> MapOutlierDetector(n=3).fit_predict(S).tolist().count(-1)
    3
    """

    contamination: float | str = "auto"
    _: KW_ONLY
    n: int | None = None
    map: str | ChoiceMap = "auto"
    random_state: RandomState = 0
    kind: Kind | None = None

    def _ask(self, data: Any, method: str) -> None:
        self.result_ = outliers(
            data,
            self.n,
            contamination=_share(self.contamination),
            method=method,
            random_state=self.random_state,
        )
        self.score_samples_ = self.result_.all_scores
        self.labels_ = np.ones(len(self.score_samples_), dtype=np.int64)
        self.labels_[self.result_.indices] = -1


OUTLIERS = register(
    Question(
        "outliers",
        of_fit=_of_fit,
        of_counts=_of_counts,
        of_points=_of_points,
        by_counting="depth",
        of_few="depth",
        per_object=("all_scores",),
        ids=("indices",),
    )
)
