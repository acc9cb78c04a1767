"""Which objects stand apart from the rest by more than chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.kinds import Kind
from trilens.maps.fitted import Fit
from trilens.questions.clouds import CLOUDS, LEVEL, null, p_value
from trilens.questions.tails import Tail

#: What far objects are: apart from the rest, the end of a tail, or nothing special.
OutlierShape: TypeAlias = Literal["outliers", "long tail", "none"]

#: Numbers of clouds after which it is asked whether enough of them have as much: where two do,
#: the claim is not made however many more are drawn.
_STAGES = (9, 19, CLOUDS)
#: So many far objects or more, of which more than this share come together before they come to
#: the rest, are a group and no tail.
_LEAST_TOGETHER, _TOGETHER = 4, 0.8
#: Of more objects it is not asked whether far ones lie together.
_MOST_POINTS = 5000
#: Dimensions of the clouds that depths are compared with.
_DIMENSIONS = (1, 2, 5)


@dataclass(frozen=True)
class OutlierTest:
    """Which objects stand apart from the rest.

    Attributes
    ----------
    objects : (n,) array of bool
        None of them unless ``p_value`` is at most ``level``.
    p_gaussian : float or None
        How often a Gaussian cloud has as much that seems to stand apart; None where it is not
        known.
    p_heavy : float or None
        How often a cloud with a tail as heavy as that of the map has such a gap; None where
        nobody asked.
    tail : (n,) array of bool
        The objects that a Gaussian cloud does not explain and a long tail does.
    level : float
    """

    objects: BoolArray = field(repr=False)
    p_gaussian: float | None
    p_heavy: float | None = None
    tail: BoolArray | None = field(default=None, repr=False)
    level: float = LEVEL

    @property
    def p_value(self) -> float | None:
        """The larger one, which decides."""
        known = [p for p in (self.p_gaussian, self.p_heavy) if p is not None]
        return max(known, default=None)

    @property
    def shape(self) -> OutlierShape:
        """What the far objects are."""
        if self.objects.any():
            return "outliers"
        return "none" if self.tail is None else "long tail"


def neighbours_of(n: int) -> int:
    """How many neighbours the local outlier factor looks at: 20, of few objects two thirds.

    Fewer, and a handful of outliers that lie together pass for a group; nearly all, and every
    object is as far from its neighbours as any other.

    >>> neighbours_of(15), neighbours_of(104)
    (10, 20)
    """
    return max(1, min(20, 2 * n // 3))


def outlier_factors(coordinates: FloatArray) -> FloatArray:
    """The local outlier factor of every object on a map."""
    from trilens.maps.geometry import local_outliers

    return local_outliers(coordinates, neighbours_of(len(coordinates)))


def outliers_on_map(
    factors: FloatArray,
    by_chance: Iterable[FloatArray],
    tail: Tail | None = None,
) -> OutlierTest:
    """Objects outside a gap stand apart; outlier factors beyond those of clouds are a tail.

    Objects stand apart if there is a gap between them and the rest that neither a Gaussian
    cloud nor one with a long tail leaves (`Tail`). Where there is none, the outlier factors are
    compared with those of Gaussian clouds. An object seems to be far out if its factor is beyond
    the median of the largest factors of the clouds. The sum of what lies beyond is compared
    with that of the clouds themselves: if at most 5 % of them have as much, there is a tail,
    unless the far objects `lie_together`.

    Parameters
    ----------
    factors : (n,) array
    by_chance : iterable of arrays
        Factors of clouds; drawn only as far as they are needed.
    tail : Tail, optional
        Of the map. Without it Gaussian clouds alone decide what stands apart.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clouds = list(1 + rng.random((39, 50)))
    >>> outliers_on_map(np.r_[np.ones(48), 4, 5], clouds).objects.nonzero()[0].tolist()
    [48, 49]
    >>> outliers_on_map(clouds[0], clouds[1:]).objects.any()
    np.False_
    """
    if tail is not None and tail.p_value <= LEVEL:
        return OutlierTest(tail.outside, tail.p_gaussian, tail.p_value)
    drawn: list[FloatArray] = []
    remaining = iter(by_chance)
    p = 1.0
    for stage in _STAGES:
        drawn += islice(remaining, stage - len(drawn))
        beyond = float(np.median([one.max() for one in drawn]))
        excess = np.array([np.maximum(one - beyond, 0).sum() for one in drawn])
        own = float(np.maximum(factors - beyond, 0).sum())
        p = p_value(own, excess) if own > 0 else 1.0
        if (excess >= own).sum() > 1:
            break
    far = (factors > beyond) & (p <= LEVEL)
    if tail is None:
        return OutlierTest(far, p)
    is_tail = far.any() and not lie_together(tail.coordinates, far)
    return OutlierTest(np.zeros_like(far), p, tail.p_value, far if is_tail else None)


def lie_together(coordinates: FloatArray, far: BoolArray) -> bool:
    """Whether far objects are a group: nearer to each other than to the rest.

    That is, most of them are in one branch of the single-linkage tree that holds at most a third
    of all objects. The objects of a tail join the rest one by one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cloud, far = rng.standard_normal((30, 2)), np.arange(30) >= 24
    >>> lie_together(cloud + 8 * far[:, None], far), lie_together(np.exp(cloud), far)
    (True, False)
    """
    from scipy.cluster.hierarchy import linkage

    n, among = len(far), int(far.sum())
    if among < _LEAST_TOGETHER or n > _MOST_POINTS:
        return False
    size, inside = np.ones(2 * n - 1, dtype=np.int64), np.zeros(2 * n - 1, dtype=np.int64)
    inside[:n] = far
    for step, (one, other) in enumerate(linkage(coordinates, "single")[:, :2].astype(np.int64)):
        size[n + step] = size[one] + size[other]
        inside[n + step] = inside[one] + inside[other]
    return bool(inside[size <= n // 3].max() > _TOGETHER * among)


def outliers_of_fit(fitted: Fit) -> OutlierTest:
    """What stands apart on the map of a fit, compared with maps of Gaussian clouds."""
    rng = np.random.default_rng([fitted.seed, 23])
    by_chance = null(fitted, "gaussian", outlier_factors, rng=rng)
    X = fitted.map.X
    return outliers_on_map(outlier_factors(X), by_chance, Tail(X, fitted.map.kind))


def outliers_by_depth(depth: FloatArray, asked: IntArray, kind: Kind, seed: int = 0) -> OutlierTest:
    """Counted depths against those of Gaussian clouds of 1, 2 and 5 dimensions.

    The widest gap between neighbouring depths among the lowest fifth, by the depths' standard
    deviation, is compared with that of clouds whose depths have the same spread beyond the
    binomial noise, and are counted as often. The objects below the gap stand apart if at most
    5 % of the clouds of every dimension have such a gap.

    Parameters
    ----------
    depth : (n,) array
    asked : (n,) array of int
        How often each object could be chosen; one of which nothing is known is left out.
    """
    known = np.flatnonzero(asked > 0)
    # in an order that does not depend on that of the objects
    known = known[np.lexsort((depth[known], asked[known]))]
    none = np.zeros(len(depth), dtype=np.bool_)
    if len(known) < 5:
        return OutlierTest(none, 1.0)
    own, times = depth[known], asked[known].astype(np.int64)
    gap, below = _low_gap(own)
    if gap == 0:
        return OutlierTest(none, 1.0)
    rng = np.random.default_rng([seed, 29])
    noise = float((own * (1 - own) / times).mean())
    p = 0.0
    for dimension in _DIMENSIONS:
        radius, share = _depth_profile(kind, dimension)
        by_chance = np.empty(CLOUDS)
        for i in range(CLOUDS):
            drawn = np.linalg.norm(rng.standard_normal((len(own), dimension)), axis=1)
            expected = np.interp(drawn, radius, share)
            spread = float(expected.var())
            blur = min(1.0, np.sqrt(max(own.var() - noise, 0.0) / spread))
            expected = own.mean() + blur * (expected - expected.mean())
            counted = rng.binomial(times, np.clip(expected, 0, 1))
            by_chance[i] = _low_gap(counted / times)[0]
        p = max(p, p_value(gap, by_chance))
    none[known[np.argsort(own, kind="stable")[:below]]] = p <= LEVEL
    return OutlierTest(none, p)


def _low_gap(depth: FloatArray) -> tuple[float, int]:
    """The widest gap among the lowest fifth, in standard deviations, and how many lie below."""
    spread = float(depth.std())
    if spread == 0:
        return 0.0, 0
    most = max(1, len(depth) // 5)
    gaps = np.diff(np.partition(depth, np.arange(most + 1))[: most + 1])
    widest = int(gaps.argmax())
    return float(gaps[widest]) / spread, widest + 1


@cache
def _depth_profile(kind: Kind, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Depth in a standard Gaussian at some distances from its centre."""
    rng = np.random.default_rng(31)
    y, z = rng.standard_normal((2, 5000, dimension))
    base = np.linalg.norm(y - z, axis=1)
    radius = np.linspace(0, 6, 61)
    share = np.empty(len(radius))
    for i, r in enumerate(radius):
        x = np.zeros(dimension)
        x[0] = r
        to_y, to_z = np.linalg.norm(y - x, axis=1), np.linalg.norm(z - x, axis=1)
        if kind == "central":
            share[i] = (base > np.maximum(to_y, to_z)).mean()
        elif kind == "odd":
            share[i] = 1 - (base < np.minimum(to_y, to_z)).mean()
        else:
            share[i] = (to_y < base).mean()
    return radius, share
