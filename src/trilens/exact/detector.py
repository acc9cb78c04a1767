"""Lens depth as an estimator: what is typical of a sample, and what is not."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from trilens._parameters import real_number, threads_of
from trilens._sklearn import BaseEstimator, OutlierMixin
from trilens._typing import AnyArray, FloatArray, IntArray, RandomState
from trilens.errors import DissimilarityError, LabelError, ParameterError, TrilensError
from trilens.exact.depth import count_lenses, share_of_pairs
from trilens.exact.queries import DepthIndex
from trilens.exact.samples import Sample
from trilens.exact.sampling import PairSample
from trilens.exact.semimetrics import Metric


class _NotNumbers(DissimilarityError, TypeError):
    """Points that are not numbers, as scikit-learn raises it."""


@dataclass(eq=False, repr=False)
class LensDepth(OutlierMixin, BaseEstimator):
    """Outliers and what is out of distribution, by low lens depth.

    The score of a point is the share of pairs of the fitted sample whose lens holds it: 0
    outside, a half or more in the middle. With classes it is the highest of its depths within
    each class, so that a point is in distribution where it is typical of one of them.

    Parameters
    ----------
    metric : str or callable
        As in :func:`trilens.exact.dissimilarities`: scipy's and scikit-learn's by name, a function
        of two points, ``"precomputed"``, ``"fermat"``.
    metric_params : dict, optional
        Parameters of the metric, such as ``{"alpha": 3, "n_neighbors": 20}`` of ``"fermat"``.
    contamination : float
        The share of the fitted points that fall below ``offset_``, above 0 and at most 0.5.
    precision : float, optional
        For samples too large to be exact: scores are estimated from pairs drawn once, at ``fit``,
        each within ``precision`` of the exact one with probability ``confidence``.
    confidence : float
    device : str
        Where ``fit`` counts: ``"auto"``, ``"cpu"``, ``"cuda"``.
    random_state
        Of the drawn pairs.
    n_jobs : int, optional
        Threads; by default, and with -1, one per core.

    Attributes
    ----------
    offset_ : float
        The cut: a point whose score is below it is an outlier.
    scores_ : (n,) array
        Scores of the fitted points. A point that was left out has NaN.
    classes_ : array
        The classes, where ``y`` was given.
    n_features_in_ : int

    Notes
    -----
    For quick queries ``fit`` keeps 2 n^2 bytes of the sample's dissimilarities, up to 1 GiB (23,000
    points); a larger sample is read again for every call, so ask for many points at once.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> detector = LensDepth(contamination=0.05).fit(X)
    >>> detector.predict([[0, 0], [5, 5]]).tolist()
    [1, -1]
    """

    metric: Metric = "euclidean"
    _: KW_ONLY
    metric_params: dict[str, Any] | None = None
    contamination: float = 0.1
    precision: float | None = None
    confidence: float = 0.95
    device: str = "auto"
    random_state: RandomState = 0
    n_jobs: int | None = None
    n_features_in_: int = field(init=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags

    def fit(self, X: npt.ArrayLike, y: Any = None) -> LensDepth:
        """Keep the sample, and put the cut.

        Parameters
        ----------
        X : (n, d) array, or (n, n) dissimilarities where the metric is ``"precomputed"``
        y : (n,) array, optional
            Classes: depth is then measured within each. -1 (or None) is no class: the point is
            not part of the sample, so that known outliers may be marked 1 and -1.
        """
        share = real_number("contamination", self.contamination, 0, 0.5)
        if share == 0:
            raise ParameterError(
                "contamination is 0; it must be above 0 and at most 0.5", parameter="contamination"
            )
        data = self._validated(X, reset=True)
        members = self._members(data, y)
        self._parts = [_Part(self, data, rows) for rows in members]
        self.scores_ = np.full(len(data), np.nan)
        for part in self._parts:
            self.scores_[part.objects] = part.own_scores
        if len(self._parts) > 1:
            # a point may be deeper in another class than in its own
            for part in self._parts:
                others = np.setdiff1d(np.concatenate(members), part.objects)
                found = part.scores(data[others])
                self.scores_[others] = np.maximum(self.scores_[others], found)
        known = self.scores_[np.concatenate(members)]
        self.offset_ = float(np.percentile(known, 100 * share))
        return self

    def _members(self, data: AnyArray, y: Any) -> list[IntArray]:
        """The objects of each class, or all."""
        self.__dict__.pop("classes_", None)
        n = len(data)
        if n == 0:
            raise DissimilarityError("there are no points; give at least one")
        if y is None:
            return [np.arange(n)]
        # in a list, -1 beside text is to stay a number
        given = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
        if given.shape != (n,):
            raise LabelError(
                f"y has shape {given.shape}; it must be ({n},), a class for every point",
                parameter="y",
            )
        labels = given.tolist()
        named = np.array([not _is_none(label) for label in labels])
        if not named.any():
            raise LabelError("y names no class (-1 and None mean no class)", parameter="y")
        kept = np.asarray([label for label in labels if not _is_none(label)])
        self.classes_, which = np.unique(kept, return_inverse=True)
        objects = np.flatnonzero(named)
        return [objects[which == c] for c in range(len(self.classes_))]

    def score_samples(self, X: npt.ArrayLike) -> FloatArray:
        """Lens depth of new points, the highest of the classes: the lower, the more outlying."""
        return np.asarray(self.class_depth(X).max(axis=1))

    def class_depth(self, X: npt.ArrayLike) -> FloatArray:
        """Lens depth of new points within each class, (q, n_classes); without classes, (q, 1)."""
        check_is_fitted(self, "offset_")
        data = self._validated(X, reset=False)
        return np.stack([part.scores(data) for part in self._parts], axis=1)

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """Score less the cut: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: npt.ArrayLike) -> IntArray:
        """-1 for outliers, +1 for inliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: npt.ArrayLike, y: Any = None, **kwargs: Any) -> IntArray:
        """Fit, and label the fitted points; those left out are labeled too."""
        scores = self.fit(X, y, **kwargs).scores_.copy()
        left_out = np.isnan(scores)
        if left_out.any():
            scores[left_out] = self.score_samples(np.asarray(X)[left_out])
        return np.where(scores < self.offset_, -1, 1)

    def _validated(self, X: npt.ArrayLike, reset: bool) -> AnyArray:
        """Points as an array: by scikit-learn's checks, except for things of one's own."""
        if callable(self.metric) and _things(X):
            things: list[Any] = list(X)  # type: ignore[arg-type]
            data = np.empty(len(things), object)
            data[:] = things
            return data
        nan = "allow-nan" if self.metric == "nan_euclidean" else True
        try:
            data = validate_data(
                self, X, reset=reset, ensure_all_finite=nan, ensure_min_samples=1, dtype="numeric"
            )
        except TrilensError:
            raise
        except TypeError as error:
            raise _NotNumbers(" ".join(str(error).split())) from None
        except ValueError as error:
            raise DissimilarityError(" ".join(str(error).split())) from None
        if self.metric == "precomputed" and not reset:
            n = self.n_features_in_
            if data.shape[1] != n:
                raise DissimilarityError(
                    f"X has {data.shape[1]} columns; it must have {n}, one per object",
                    parameter="X",
                )
        return np.asarray(data)


class _Part:
    """The sample of one class, prepared for queries."""

    def __init__(self, owner: LensDepth, data: AnyArray, objects: IntArray) -> None:
        self.objects, self.precomputed = objects, owner.metric == "precomputed"
        self.n_threads = threads_of(owner.n_jobs)
        own = data[np.ix_(objects, objects)] if self.precomputed else data[objects]
        self.sample = Sample(own, owner.metric, owner.metric_params)
        self.pairs: PairSample | None = None
        if owner.precision is not None:
            self.pairs = PairSample(self.sample, owner.random_state)
            self.precision, self.confidence = owner.precision, owner.confidence
            self.own_scores = self.scores(data[objects])
            return
        depth = count_lenses(self.sample, owner.device, depth=True, n_threads=self.n_threads)[1]
        self.own_scores = share_of_pairs(depth, self.sample.n)
        self.index = DepthIndex(self.sample.rows, self.n_threads)

    def scores(self, data: AnyArray) -> FloatArray:
        """Depth of new points as a share of the pairs."""
        new = data[:, self.objects] if self.precomputed else data
        if self.pairs is not None:
            return self.pairs.estimate(
                new,
                precision=self.precision,
                confidence=self.confidence,
                n_threads=self.n_threads,
            ).depth
        return np.asarray(share_of_pairs(self.index.depths(self.sample.to(new)), self.sample.n))


def _things(X: Any) -> bool:
    """Whether X is a list of things that are not points: texts, curves of different lengths."""
    try:
        array = np.asarray(X)
    except ValueError:
        return True
    return array.dtype.kind not in "biufc" or array.ndim != 2


def _is_none(label: Any) -> bool:
    return label is None or label == -1 or label != label
