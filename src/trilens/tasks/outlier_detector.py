"""`LensDepthOutlierDetector`: Algorithm 2 with scikit-learn's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from trilens._typing import FloatArray, IntArray
from trilens.depth import centrality
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements
from trilens.tasks.outliers import check_contamination, suggest_count


class LensDepthOutlierDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outliers by low lens depth (Algorithm 2), or high P(odd) for odd-one-out statements.

    Parameters
    ----------
    contamination : float or "auto"
        The share of outliers, at least 0 and at most 0.5. ``"auto"`` cuts at the largest gap
        at the low end of the sorted scores.

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

    Examples
    --------
    >>> S = [[0, 1, 2], [0, 1, 3], [2, 0, 3], [2, 0, 1], [1, 2, 3], [1, 0, 3]]
    >>> LensDepthOutlierDetector(contamination=0.25).fit_predict(S).tolist()
    [1, 1, 1, -1]
    """

    def __init__(self, contamination: float | str = 0.1) -> None:
        self.contamination = contamination

    def fit(self, X: StatementsLike, y: Any = None) -> LensDepthOutlierDetector:
        """Score every object, and put the cut."""
        scores = centrality(X)
        if self.contamination == "auto":
            count = suggest_count(scores)
        elif isinstance(self.contamination, str):
            raise ParameterError(
                f"contamination is {self.contamination!r}; it must be 'auto' or a share"
            )
        else:
            check_contamination(self.contamination)
            count = round(self.contamination * len(scores))
        ordered = np.sort(scores)
        self.score_samples_ = scores
        if 0 < count < len(ordered):
            self.offset_ = float((ordered[count - 1] + ordered[count]) / 2)
        else:
            self.offset_ = float(ordered[0]) if len(ordered) else 0.0
        self.n_objects_in_ = len(scores)
        self.labels_ = self.predict()
        return self

    def score_samples(self, X: StatementsLike | None = None) -> FloatArray:
        """Centrality of every object, from other statements about the same objects if given."""
        check_is_fitted(self, "score_samples_")
        if X is None:
            return self.score_samples_
        given = as_statements(X)
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

    def fit_predict(self, X: StatementsLike, y: Any = None, **kwargs: Any) -> IntArray:
        """Fit, and label every object."""
        return self.fit(X).labels_
