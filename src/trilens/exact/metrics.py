"""Metrics by name or as a function: scipy's, scikit-learn's, the caller's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.errors import DissimilarityError, ParameterError, TrilensError

#: A name, or a function of two points.
Metric: TypeAlias = str | Callable[[Any, Any], float]
#: Dissimilarities of the rows of one array to those of another.
Distance: TypeAlias = Callable[[AnyArray, AnyArray], FloatArray]

#: Names that scikit-learn has for metrics of scipy.
ALIASES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean"}
#: Metrics that scikit-learn alone has.
LEARN = ("haversine", "nan_euclidean")
#: Pairs on which a function is tried both ways round.
_TRIED = 50


def open_metric(metric: Metric, points: AnyArray, params: dict[str, Any] | None = None) -> Distance:
    """The metric as a function of two arrays of points; what it learns it learns from ``points``.

    >>> between = open_metric("manhattan", np.zeros((1, 2)))
    >>> between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    """
    options = dict(params or {})
    if callable(metric):
        plain = points.dtype.kind == "O"
        function = partial(_each, metric, options) if plain else partial(_scipy, metric, options)
        try_both_ways(metric, points, options)
        return function
    name = ALIASES.get(metric, metric)
    if name in LEARN:
        return partial(_learn, name, options)
    from scipy.spatial.distance import cdist

    # of all points, not of those that a call happens to name
    if name == "seuclidean" and "V" not in options:
        options["V"] = np.var(points, axis=0, ddof=1)
    if name == "mahalanobis" and "VI" not in options:
        options["VI"] = _inverse_covariance(points)
    try:
        cdist(points[:1], points[:1], name, **options)  # type: ignore[call-overload]
    except (ValueError, TypeError) as error:
        raise _refusal(metric, error) from None
    return partial(_scipy, name, options)


def try_both_ways(
    metric: Callable[[Any, Any], float], points: AnyArray, options: dict[str, Any]
) -> None:
    """Refuse a function that is not symmetric or raises, on some drawn pairs of points."""
    n = len(points)
    if n < 2:
        return
    rng = np.random.default_rng(0)
    for i, j in rng.integers(n, size=(_TRIED, 2)).tolist():
        there, back = (call(metric, options, points[a], points[b]) for a, b in ((i, j), (j, i)))
        # a rounding is not an asymmetry; the one value is then used for both
        if abs(there - back) > 1e-9 * max(abs(there), abs(back)):
            raise DissimilarityError(
                f"the metric gives {there!r} for points {i} and {j} but {back!r} for {j} and {i}; "
                "a dissimilarity is symmetric"
            )


def call(metric: Callable[..., float], options: dict[str, Any], x: Any, y: Any) -> float:
    """One value of a function, or one line that says what it raised or returned."""
    try:
        value = metric(x, y, **options)
    except TrilensError:
        raise
    except Exception as error:
        raise ParameterError(
            f"the metric raised {type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(
            f"the metric returned {type(value).__name__}; it must return a number"
        ) from None


def clean(values: FloatArray) -> FloatArray:
    """Without the negative roundings: the cosine of a point with itself may be -1e-16."""
    np.copyto(values, 0.0, where=(values < 0) & (values > -1e-12))
    return values


def _scipy(metric: Metric, options: dict[str, Any], A: AnyArray, B: AnyArray) -> FloatArray:
    from scipy.spatial.distance import cdist

    if callable(metric):
        function: Any = partial(call, metric, options)
        return clean(cdist(A, B, function))
    return clean(cdist(A, B, metric, **options))  # type: ignore[call-overload]


def _each(
    metric: Callable[..., float], options: dict[str, Any], A: AnyArray, B: AnyArray
) -> FloatArray:
    return clean(np.array([[call(metric, options, x, y) for y in B] for x in A], np.float64))


def _learn(name: str, options: dict[str, Any], A: AnyArray, B: AnyArray) -> FloatArray:
    from sklearn.metrics import pairwise_distances

    try:
        return clean(np.asarray(pairwise_distances(A, B, metric=name, **options), np.float64))
    except ValueError as error:
        raise _refusal(name, error) from None


def _inverse_covariance(points: AnyArray) -> FloatArray:
    try:
        inverse: FloatArray = np.linalg.inv(np.atleast_2d(np.cov(points.T))).T.copy()
    except np.linalg.LinAlgError:
        raise ParameterError(
            "metric='mahalanobis' needs the inverse of the points' covariance, which is singular; "
            "give VI, for example np.linalg.pinv(np.cov(points.T))"
        ) from None
    return inverse


def _refusal(metric: Any, error: Exception) -> ParameterError:
    text = " ".join(str(error).split())
    if "metric" in text.lower() and "unknown" in text.lower():
        return ParameterError(
            f"metric={metric!r} is unknown; give a metric of scipy.spatial.distance.pdist or of "
            "scikit-learn, such as 'euclidean', 'cityblock' or 'cosine', 'fermat', or a function "
            "of two points"
        )
    return ParameterError(f"metric={metric!r} cannot be used: {text}")
