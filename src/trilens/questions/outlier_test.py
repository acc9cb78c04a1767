"""Which objects stand apart: farther from the others than chance explains."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.answers import central_counts
from trilens.calibration import (
    AS_LIKELY_AS_THE_BEST,
    ISOLATION_DRAWS,
    ISOLATION_TIMES,
    LEVEL_OF_ISOLATION,
)
from trilens.kinds import Kind, n_answers, sides, sign
from trilens.lens import centrality
from trilens.maps.fitted import Fit
from trilens.maps.geometry import local_outliers
from trilens.maps.likelihood import LEAST
from trilens.maps.map import Map
from trilens.maps.pairs import lengths
from trilens.questions.clouds import LEVEL, compared_map, mapped, p_value
from trilens.questions.mixtures import fit_mixtures
from trilens.statements import Statements

#: What far objects are: apart from the rest, the end of a tail, or nothing special.
OutlierShape: TypeAlias = Literal["outliers", "long tail", "none"]

#: Of fewer objects none stands apart from the rest: there is no rest.
LEAST_OBJECTS = 8
#: An object is isolated if the third-nearest one is far: up to three may stand apart together.
_THIRD = 3
#: So many times the root of the number of objects may stand apart: few of many.
_APART = 0.6
#: A gap behind k objects counts for more by this power of k.
_MORE = 0.3
#: Where the most isolated objects are sought: seen from the middle of so many neighbors, so many
#: times as far away as on the map.
_NEIGHBORS, _SO_FAR = 8, np.geomspace(0.5, 12.0, 16)
#: Heavy tails of less weight are not looked at.
_NO_WEIGHT = 0.002
#: So many far objects or more, of which more than this share come together before they come to
#: the rest, are a group and no tail.
_LEAST_TOGETHER, _TOGETHER = 4, 0.8
#: Of more objects it is not asked whether far ones lie together.
_MOST_POINTS = 5000
#: Dimensions of the clouds that depths are compared with.
_DIMENSIONS = (1, 2, 5)


@dataclass(frozen=True)
class OutlierTest:
    """Which objects stand apart, (n,), or are a long tail; the p-value is that of `Outliers`."""

    objects: BoolArray = field(repr=False)
    p_value: float | None
    tail: BoolArray | None = field(default=None, repr=False)

    @property
    def shape(self) -> OutlierShape:
        """What the far objects are."""
        if self.objects.any():
            return "outliers"
        return "none" if self.tail is None else "long tail"


def outlier_factors(coordinates: FloatArray) -> FloatArray:
    """The local outlier factor of every object on a map, by 20 neighbors, of few two thirds.

    Fewer, and a handful of outliers that lie together pass for a group; nearly all, and every
    object is as far from its neighbors as any other.
    """
    return local_outliers(coordinates, max(1, min(20, 2 * len(coordinates) // 3)))


def isolation(points: FloatArray) -> FloatArray:
    """The logarithm of the distance to the third-nearest object: up to three may lie together.

    >>> isolation(np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [99.0]])).argmax()
    np.int64(5)
    """
    from scipy.spatial import KDTree

    nearest = min(_THIRD, len(points) - 1)
    far = np.asarray(KDTree(points).query(points, k=[nearest + 1])[0])[:, 0]
    return np.asarray(np.log(np.maximum(far, 1e-12)))


def isolation_by_answers(model: Map, rest: IntArray, answers: Statements | None) -> FloatArray:
    """The isolation of the rest, the most isolated each where its own answers place it.

    A fit keeps coordinates small, and few answers tell how far out a far object is. So the most
    isolated objects are placed again, each with the others held and without that penalty: on the
    line from the middle of its neighbors through its place, at the nearest point that is about as
    likely as the best. Without answers isolation is that on the map.
    """
    X, found = model.X, isolation(model.X[rest])
    if answers is None:
        return found
    for one in np.argsort(-found, kind="stable")[: most_apart(len(rest)) + 3].tolist():
        others = X[np.delete(rest, one)]
        near = np.argsort(((others - X[rest[one]]) ** 2).sum(axis=1), kind="stable")
        middle = others[near[:_NEIGHBORS]].mean(axis=0)
        steps = (_SO_FAR - 1)[:, None] * (X[rest[one]] - middle)
        likely = _likelihoods(model, answers, int(rest[one]), steps)
        at = X[rest[one]] + steps[(likely >= likely.max() - AS_LIKELY_AS_THE_BEST).argmax()]
        far = np.partition(np.linalg.norm(others - at, axis=1), _THIRD - 1)[_THIRD - 1]
        found[one] = np.log(max(far, 1e-12))
    return found


def _likelihoods(model: Map, answers: Statements, one: int, steps: FloatArray) -> FloatArray:
    """Log-likelihoods of the answers about an object if it lay some steps away."""
    about = answers.triples[(answers.triples == one).any(axis=1)]
    odds = np.empty((n_answers(model.kind), len(steps), len(about)))
    for side, (i, j) in enumerate(sides(model.kind, about)):
        way, by = model.X[i] - model.X[j], (i == one).astype(np.float64) - (j == one)
        squares = (way**2).sum(axis=1) + 2 * by * (steps @ way.T)
        squares += by**2 * (steps**2).sum(axis=1)[:, None]
        odds[side] = sign(model.kind) * lengths(squares, model.length, model.alpha)[0]
    odds -= odds.max(axis=0)
    np.exp(odds, out=odds)
    chances = (1 - model.lapse) * odds[0] / odds.sum(axis=0) + model.lapse / len(odds)
    return np.asarray(np.log(np.maximum(chances, LEAST)).sum(axis=1))


def widest_gap(isolated: FloatArray) -> tuple[float, int]:
    """The widest gap between the k most isolated objects and the next three, and this k."""
    n = len(isolated)
    k = np.arange(1, most_apart(n) + 1)
    ordered = -np.sort(-isolated)
    after = np.array([ordered[one : one + 3].mean() for one in k])
    gaps = (ordered[k - 1] - after) * k**_MORE
    widest = int(gaps.argmax())
    return float(gaps[widest]), widest + 1


def most_apart(n: int) -> int:
    """How many of so many objects may stand apart."""
    return min(max(3, round(_APART * float(np.sqrt(n)))), n - 4)


@lru_cache(maxsize=8)
def outliers_of_fit(fitted: Fit) -> OutlierTest:
    """What stands apart on the map of a fit, or by the counts of its answers.

    Isolation is local (`isolation`): the widest gap between the most isolated objects and the next
    is compared with those of maps of groups that have no such object (`fit_mixtures`). The
    counts see what a map draws in: of ``odd`` and ``closer`` answers the gap in centrality is
    tested as well (`outliers_by_depth`), and the two share the level, in parts of unequal size,
    as Holm (1979) has it.
    """
    X = fitted.map.X
    nothing = np.zeros(len(X), dtype=np.bool_)
    if not fitted.support or len(X) < LEAST_OBJECTS:
        return OutlierTest(nothing, None)
    first, counted = _isolated(fitted, nothing), _counted(fitted)
    tests = (
        [(first, 1.0)]
        if counted is None
        else [(first, LEVEL_OF_ISOLATION), (counted, 1 - LEVEL_OF_ISOLATION)]
    )
    p = min(1.0, min((test.p_value or 1.0) / share for test, share in tests))
    objects = nothing.copy()
    if p <= LEVEL:
        # the level of what is shown passes to the other test
        for test, _ in tests:
            if (test.p_value or 1.0) <= LEVEL:
                objects |= test.objects
        if (first.p_value or 1.0) <= LEVEL:
            objects |= _isolated_too(fitted, objects)
    if lie_together(X, objects):  # four or more in one place are a group
        return OutlierTest(nothing, 1.0)
    return OutlierTest(objects, p, None if objects.any() else first.tail)


def _counted(fitted: Fit) -> OutlierTest | None:
    """What stands apart by the counts; None where they do not tell."""
    if fitted.map.kind == "central" or fitted.n_answers > len(fitted.sample):
        return None
    if not fitted.design.counts_hold:
        return None
    counts = central_counts(fitted.sample)
    found = outliers_by_depth(centrality(counts), counts.appears, counts.kind)
    many = int(found.objects.sum()) > most_apart(fitted.n_objects)
    if many or lie_together(fitted.map.X, found.objects):
        return OutlierTest(np.zeros_like(found.objects), 1.0)
    return found


def _isolated_too(fitted: Fit, apart: BoolArray) -> BoolArray:
    """What is isolated once some objects have been left out, step by step."""
    objects = apart.copy()
    while objects.sum() < most_apart(len(objects)):
        again = _isolated(fitted, objects).objects
        if not again.any():
            break
        objects |= again
    return objects


def _isolated(fitted: Fit, apart: BoolArray) -> OutlierTest:
    """The isolation of the objects of a map, those left out that stand apart already."""
    model, answers = compared_map(fitted)
    X, rest = model.X, np.flatnonzero(~apart)
    isolated = isolation_by_answers(model, rest, answers)
    gap, number = widest_gap(isolated)
    order = np.argsort(-isolated, kind="stable")
    found = np.zeros(len(X), dtype=np.bool_)
    found[rest[order[:number]]] = True
    if lie_together(X[rest], found[rest]):
        return OutlierTest(np.zeros_like(found), 1.0)
    # without all that may stand apart, or the others would hide behind each other
    mixtures = fit_mixtures(X, np.sort(rest[order[most_apart(len(rest)) :]]), fitted.seed)
    rng = np.random.default_rng([fitted.seed, 23, int(apart.sum())])

    def share(heavy: bool, enough: int) -> float:
        """How many of the maps have as wide a gap; no more are drawn once these are enough."""

        def draw() -> FloatArray:
            drawn = mixtures.draw(heavy, rng)
            drawn[apart] = X[apart]
            return drawn

        maps = mapped(fitted, (draw() for _ in range(ISOLATION_DRAWS)), rng)
        placed = (isolation_by_answers(one, rest, answers) for one, answers in maps)
        return p_value(gap, (widest_gap(each)[0] for each in placed), enough)

    enough = int(LEVEL / ISOLATION_TIMES * (ISOLATION_DRAWS + 1)) + 1
    plain = share(False, enough)
    p, heavy = min(1.0, ISOLATION_TIMES * plain), mixtures.heavy
    if p > LEVEL:
        return OutlierTest(np.zeros_like(found), p)
    if heavy > _NO_WEIGHT:
        left = (LEVEL / ISOLATION_TIMES - (1 - heavy) * plain) / heavy
        enough = max(int(left * (ISOLATION_DRAWS + 1)) + 1, 1)
        p = min(1.0, ISOLATION_TIMES * ((1 - heavy) * plain + heavy * share(True, enough)))
    if p <= LEVEL:
        return OutlierTest(found, p)
    return OutlierTest(np.zeros_like(found), p, found)


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


def outliers_by_depth(depth: FloatArray, asked: IntArray, kind: Kind) -> OutlierTest:
    """Counted depths against those of Gaussian clouds of 1, 2 and 5 dimensions.

    The widest gap between neighbouring depths among the lowest fifth, by the depths' standard
    deviation, is compared with that of clouds whose depths have the same spread beyond the
    binomial noise, and are counted as often. The objects below the gap stand apart if at most
    5 % of the clouds of every dimension have such a gap. An object that could never be chosen
    (``asked`` is 0) is left out.
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
    rng = np.random.default_rng([0, 29])
    noise = float((own * (1 - own) / times).mean())
    p = 0.0
    for dimension in _DIMENSIONS:
        radius, share = _depth_profile(kind, dimension)
        by_chance = np.empty(ISOLATION_DRAWS)
        for i in range(ISOLATION_DRAWS):
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
