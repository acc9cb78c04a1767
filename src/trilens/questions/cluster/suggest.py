"""The one test of groups: how many the answers suggest, or what shape the map has otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from trilens._tabular import AsDict, facts
from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.calibration import DENSITY_OF_GAP
from trilens.lens import laplacian_eigenvectors
from trilens.maps.fitted import Fit
from trilens.maps.likelihood import object_order
from trilens.maps.support import LEAST_PER_OBJECT, Reason, Support
from trilens.questions.clouds import (
    CLOUDS,
    FORMS,
    LEVEL,
    MapAlongAxes,
    Shape,
    clouds,
    nearest_of,
    p_value,
)
from trilens.questions.cluster.spectral import coordinate_clusters, neighbour_graph
from trilens.questions.labels import UNASSIGNED, in_order_of_appearance
from trilens.questions.outlier_test import outliers_of_fit
from trilens.questions.shapes import (
    Shape as MapShape,
    Shapes,
    fit_shapes,
    is_straight,
    shows_shapes,
)
from trilens.statements import Statements
from trilens.statements.combine import questions
from trilens.words import about_groups

_MOST_CLUSTERS = 8
#: Up to this p-value, and from half the level on, so many clouds more are drawn.
_CLEARLY_NOT, _MORE_CLOUDS = 0.2, 160
#: Lloyd's steps; Ward's clusters, from which they start, are nearly there.
_LLOYD_STEPS = 20
#: Steps of the EM algorithm; twenty-five tell groups from clouds no better (measured).
_EM_STEPS = 10
#: Groups tighter than this share of the whole are as good as points.
_LEAST_WITHIN = 0.003
#: Clouds with which the tightness of groups is compared.
_SHAPES: tuple[Shape, ...] = ("gaussian", "box")


@dataclass(frozen=True)
class Candidate(AsDict):
    """One number of clusters, and what speaks for it.

    Attributes
    ----------
    n_clusters : int
    silhouette : float
        Mean silhouette, in the space that the centres span: near 1 for tight clusters far
        apart, near 0 for none.
    cloud_silhouette : float
        The mean silhouette of as many clusters in clouds without groups.
    within : float
        The share of the variance that lies within the clusters, there, with what the errors of
        places add taken off.
    gap : float
        1 - l(L) / l(L + 1) for the sorted eigenvalues l of the neighbourhood graph's normalised
        Laplacian: near 1 where L parts hang together much more than any L + 1 do.
    """

    n_clusters: int
    silhouette: float
    cloud_silhouette: float
    within: float
    gap: float


@dataclass(frozen=True)
class ClusterSuggestion:
    """A number of clusters, and the evidence for it.

    Attributes
    ----------
    n_clusters : int
        1 where the map looks like a cloud without groups.
    candidates : tuple of Candidate
    best : int
        The best number of two or more clusters, groups or not.
    p_value : float or None
        How often a cloud without groups falls into parts so tight: the larger one of the
        shares of Gaussian and of uniform clouds. Groups are suggested up to 0.05. None where
        that cannot be determined, and where the map is no cloud.
    notes : tuple of str
        Codes of what the answers cannot tell, or of why a map that is no cloud is not divided;
        ``caution`` says them.
    shape : str
        "groups", or what the map is otherwise: "cloud", "line", "ring" or "arms".
    reason : str or None
        The code of why nothing can be claimed.
    """

    n_clusters: int
    candidates: tuple[Candidate, ...]
    best: int
    p_value: float | None
    notes: tuple[str, ...] = ()
    shape: MapShape = "cloud"
    reason: Reason | None = None

    @property
    def nearly(self) -> bool:
        """Whether the best division is clearer than most of clouds, and yet no groups."""
        clear = self.p_value is not None and self.p_value <= _CLEARLY_NOT
        return self.n_clusters == 1 and ("no dip" in self.notes or clear)

    @property
    def caution(self) -> str | None:
        """What the answers cannot tell, or why a map that is no cloud is not divided."""
        return about_groups(self.reason, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """The number and the evidence, in plain types."""
        told = facts(self, "n_clusters", "best", "nearly", "p_value", "caution", "shape")
        return told | facts(self, "candidates")


@dataclass(frozen=True)
class Examined:
    """What is known of the shape of a map."""

    suggestion: ClusterSuggestion
    #: Fitted to the map, which is None where there are too few objects, or too few that differ.
    shapes: Shapes
    map: MapAlongAxes | None
    #: (n,): the group of each object, where there are groups, else 0; -1 for what stands apart.
    labels: IntArray
    #: Whether a line is. Which object is the most central of three depends on their order alone,
    #: so that such answers do not tell.
    bent: bool = False

    @property
    def inside(self) -> IntArray:
        """The objects that do not stand apart."""
        return np.flatnonzero(self.labels >= 0)


@lru_cache(maxsize=8)
def examined(fitted: Fit) -> Examined:
    """What is known of the shape of a fit's map; of a fit in the order of its own.

    Objects that stand apart are set aside first: they are in no group.
    """
    n = fitted.n_objects
    why = why_no_groups(fitted.support, fitted.sample)
    inside = np.flatnonzero(~outliers_of_fit(fitted).objects)
    X, errors = fitted.map.X[inside], fitted.place_cov[inside]
    found = examine(X, errors, fitted.map.kind, fitted.seed, why)
    labels = np.full(n, -1, dtype=np.int64)
    labels[inside] = found.labels
    return replace(found, labels=labels)


def is_ring(fitted: Fit, apart: BoolArray | None = None) -> bool:
    """Whether the objects that do not stand apart form a ring; as `examined` says it.

    That takes no test of groups, since what a ring describes better than groups has none; nor,
    where it is said what stands apart, a test of outliers.
    """
    from threadpoolctl import threadpool_limits

    inside = np.flatnonzero(~(outliers_of_fit(fitted).objects if apart is None else apart))
    X = fitted.map.X[inside]
    numbers = _numbers(X)
    if not numbers or why_no_groups(fitted.support, fitted.sample) is not None:
        return False
    map_ = MapAlongAxes.of(X, fitted.place_cov[inside])
    with threadpool_limits(1):
        divisions = [part.labels for part in divide(map_.points, numbers)]
        curve = fit_shapes(map_.points, map_.errors, divisions).curve
    thin = shows_shapes(map_.points, map_.errors) and not is_straight(map_.points, map_.errors)
    return curve == "ring" and thin


def _numbers(coordinates: FloatArray) -> range:
    """The numbers of groups that are tried; none where too few objects differ."""
    most = min(_MOST_CLUSTERS, len(coordinates) - 2)
    return range(2, most + 1 if len(np.unique(coordinates, axis=0)) >= most else 0)


def why_no_groups(support: Support, statements: Statements) -> Reason | None:
    """Why nothing can be claimed of groups and shapes; None where something can.

    A few questions that everybody answers say as little of the whole as a few answers.
    """
    least = LEAST_PER_OBJECT * statements.n_objects
    if support.reason is not None or 3 * len(questions(statements)[2]) >= least:
        return support.reason
    return "few answers" if 3 * len(statements) < least else "few questions"


def examine(
    coordinates: FloatArray,
    errors: FloatArray | None = None,
    kind: str = "odd",
    random_state: int = 0,
    reason: Reason | None = None,
) -> Examined:
    """Whether a map has groups, and how many, or what shape it has otherwise.

    The score of a number from 2 to 8 is the product of separation (`divide`), by that of as many
    clusters in clouds, and spectral gap. There are groups if the clusters with the largest score
    are tight (`within_shares`): more so, in standard deviations beyond the mean of as many
    clusters in clouds without groups, than those of all but 5 % of the clouds, of Gaussian as
    well as of uniform ones. Then the number is suggested whose score times tightness beyond
    uniform clouds is the largest. There also are groups, though they are of unequal sizes, if a
    mixture of Gaussians describes the map better than every other shape (`fit_shapes`), and
    better than a Gaussian, a box and a simplex by more than in all but 5 % of clouds of each of
    these forms. Else 1 is suggested; and also where a skewed cloud, a long tail, a line, a ring or
    arms describe the map better than groups with a dip between them.

    Parameters
    ----------
    coordinates : (n, d) array
    errors : (n, d, d) array, optional
        How far each place may be off, as covariances; by default not at all.
    kind : str
        Of the statements, for the caution.
    reason : str, optional
        The code of why nothing can be claimed, whatever the map looks like.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> three = np.repeat([[0, 0], [9, 0], [0, 9]], 15, axis=0) + rng.normal(size=(45, 2))
    >>> examine(three).suggestion.n_clusters
    3
    """
    numbers = _numbers(coordinates)
    labels = np.zeros(len(coordinates), dtype=np.int64)
    if not numbers:
        nothing = ClusterSuggestion(1, (), 1, None, reason=reason)
        return Examined(nothing, Shapes({}), None, labels)
    map_ = MapAlongAxes.of(coordinates, errors)
    p, best, candidates, shapes, parted = _tested(map_, numbers, random_state)
    shape: MapShape = "cloud"
    notes: list[str] = []
    bent = False
    if reason is None:
        if p <= LEVEL and parted:
            found = coordinate_clusters(coordinates, best, random_state=random_state)
            if not have_gaps(map_.every, found) and shapes.n_groups == best:
                # spectral clusters cut large groups where others are small
                found = in_order_of_appearance(shapes.members(map_.every, map_.variances))
            if have_gaps(map_.every, found):
                shape, labels = "groups", found
        if shape == "cloud":
            if shows_shapes(map_.points, map_.errors):
                straight = is_straight(map_.points, map_.errors)
                shape = "line" if straight and shapes.fits else shapes.curve or "cloud"
                bent = shape == "line" and not straight and kind != "central"
            if shape != "cloud":
                notes.append(shape)
            elif p <= LEVEL:
                notes.append("no dip")
    said = None if notes or reason else p
    suggested = best if shape == "groups" else 1
    if kind == "central" and suggested <= 2 and reason is None:
        notes.append("central gap")
    told = ClusterSuggestion(suggested, candidates, best, said, tuple(notes), shape, reason)
    return Examined(told, shapes, map_, labels, bent)


def _tested(
    map_: MapAlongAxes, numbers: Sequence[int], seed: int
) -> tuple[float, int, tuple[Candidate, ...], Shapes, bool]:
    """The p-value of groups, their best number, the evidence, and whether they have gaps."""
    from threadpoolctl import threadpool_limits

    rng, d = np.random.default_rng([seed, 19]), map_.points.shape[1]
    with threadpool_limits(1):
        own = _Divisions([map_.points], [map_.errors], numbers)
        shapes = fit_shapes(map_.points, map_.errors, own.labels)
        tight = np.array([own.tightness(i)[0] for i in range(len(numbers))])
        drawn = [_clouds_like(map_, shape, numbers, CLOUDS, rng) for shape in _SHAPES]
        level = np.mean([one.separation for one in drawn], axis=(0, 1))
        at = int(own.best(level)[0])
        tests = [_Test(one, level, at) for one in drawn]
        p = max(test.p_value(tight) for test in tests)
        divisions = list(own.labels)
        if shapes.n_groups:
            divisions.append(shapes.members(map_.points, np.einsum("nii->n", map_.errors) / d))
        parted = shapes.divided and any(have_gaps(map_.points, each) for each in divisions)
        if p <= _CLEARLY_NOT and parted:
            # a claim is near: more clouds, so that chance has less of a say
            for one, test in zip(_SHAPES, tests, strict=True):
                test.compare(_clouds_like(map_, one, numbers, _MORE_CLOUDS, rng))
            p = max(test.p_value(tight) for test in tests)
        # which number, if any: also by how much tighter it is than in uniform clouds
        score = (own.score(level) * np.maximum(tests[-1].beyond(tight), 0))[0]
        at = int(score.argmax()) if score.max() > 0 else at
        if p > LEVEL and parted and shapes.groups > 0:
            often = 0.0
            for each in FORMS:
                if often <= LEVEL:
                    often = max(often, _unequal(map_, each, numbers, shapes.beyond(each), rng))
            if often <= LEVEL:
                p, at = often, shapes.n_groups - 2
    evidence = zip(numbers, own.separation[0], level, np.exp(-tight), own.gap[0], strict=True)
    candidates = tuple(Candidate(number, *map(float, each)) for number, *each in evidence)
    best = numbers[at]
    return p, best, candidates, shapes, parted and (not shapes.fits or best in shapes.numbers)


def have_gaps(points: FloatArray, labels: IntArray) -> bool:
    """Whether the objects of every two groups leave a gap between them.

    Along the line between the centres of two groups, objects are counted in its middle third and
    about the centres, as far as a third to either side. Groups have a gap if objects lie less
    densely in the middle, or if these are too few to tell.

    Examples
    --------
    >>> steps, two = np.linspace(0, 1, 300)[:, None], np.repeat([0, 1], 150)
    >>> have_gaps(steps, two), have_gaps(steps + 0.4 * two[:, None], two)
    (False, True)
    """
    number = int(labels.max(initial=0)) + 1
    centres = np.array([points[labels == group].mean(axis=0) for group in range(number)])
    for one in range(number):
        for other in range(one):
            way = centres[one] - centres[other]
            both = points[(labels == one) | (labels == other)]
            at = (both - centres[other]) @ way / max(float(way @ way), 1e-300)
            middle = int((np.abs(at - 1 / 2) < 1 / 6).sum())
            about = min((np.abs(at) < 1 / 3).sum(), (np.abs(at - 1) < 1 / 3).sum())
            density = 2 * middle / max(int(about), 1)
            if density * (1 - 1 / np.sqrt(middle + 1)) > DENSITY_OF_GAP:
                return False
    return True


def numbered(labels: IntArray, names: tuple[str, ...]) -> IntArray:
    """The same groups, numbered in the order of the names, however the answers are sorted.

    What is in no group has the number -1.
    """
    order = object_order(names, len(names))
    order = order[labels[order] >= 0]
    found = np.full(len(labels), -1, dtype=np.int64)
    found[order] = in_order_of_appearance(labels[order])
    return found


def group_names(labels: IntArray) -> list[str]:
    """What people call the group of each object: groups are counted from 1.

    >>> group_names(np.array([0, 1, -1]))
    ['1', '2', 'unassigned']
    """
    return [UNASSIGNED if label < 0 else str(label + 1) for label in labels.tolist()]


class _Divisions:
    """Maps divided into each number of clusters.

    ``separation`` and ``gap`` are (maps, numbers); ``labels`` those of the first map, by number.
    """

    def __init__(
        self, maps: Sequence[FloatArray], errors: Sequence[FloatArray], numbers: Sequence[int]
    ) -> None:
        self._errors = errors
        self._parts = [divide(points, numbers) for points in maps]
        self.labels = [part.labels for part in self._parts[0]]
        self.separation = np.array([[part.silhouette for part in one] for one in self._parts])
        self.gap = np.array([_spectral_gaps(points, numbers) for points in maps])

    def score(self, level: FloatArray) -> FloatArray:
        """Separation, by that of clouds, times spectral gap."""
        return np.asarray(self.separation / level * self.gap)

    def best(self, level: FloatArray) -> IntArray:
        """For each map the place of the number of clusters with the largest score."""
        return np.asarray(self.score(level).argmax(axis=1))

    def tightness(self, at: int, which: IntArray | None = None) -> FloatArray:
        """Of one number of clusters, of some of the maps: -log of the share within."""
        which = np.arange(len(self._parts)) if which is None else which
        parts = [self._parts[i][at] for i in which]
        inside = [
            np.einsum("ai,nij,bj->nab", part.axes, self._errors[i], part.axes)
            for i, part in zip(which, parts, strict=True)
        ]
        shares = within_shares(
            np.array([part.inside for part in parts]),
            np.array(inside),
            np.array([part.labels for part in parts]),
        )
        return -np.log(shares)


class _Test:
    """How tight the best clusters of clouds of one shape are.

    In standard deviations beyond the mean tightness of as many clusters in the clouds: in the
    first ones, and for the number that is tested in all of them.
    """

    def __init__(self, first: _Divisions, level: FloatArray, at: int) -> None:
        self._level, self._at = level, at
        self._tight = [first.tightness(i) for i in range(len(level))]
        self._best = first.best(level)
        self._of_best = np.array(self._tight)[self._best, np.arange(len(self._best))]

    def compare(self, more: _Divisions) -> None:
        """Take more clouds in."""
        best, tight = more.best(self._level), more.tightness(self._at)
        self._tight[self._at] = np.append(self._tight[self._at], tight)
        for i in np.unique(best[best != self._at]):
            which = np.flatnonzero(best == i)
            tight[which] = more.tightness(int(i), which)
        self._best = np.append(self._best, best)
        self._of_best = np.append(self._of_best, tight)

    def p_value(self, tight: FloatArray) -> float:
        """Of the number of clusters that is tested, on a map with such clusters."""
        mean, spread = self._usual()
        by_chance = (self._of_best - mean[self._best]) / spread[self._best]
        return p_value(float(self.beyond(tight)[self._at]), by_chance)

    def beyond(self, tight: FloatArray) -> FloatArray:
        """How tight each number of clusters of a map is, in standard deviations."""
        mean, spread = self._usual()
        return np.asarray((tight - mean) / spread)

    def _usual(self) -> tuple[FloatArray, FloatArray]:
        mean = np.array([one.mean() for one in self._tight])
        return mean, np.array([one.std() + 1e-12 for one in self._tight])


def _clouds_like(
    map_: MapAlongAxes,
    shape: Shape,
    numbers: Sequence[int],
    how_many: int,
    rng: np.random.Generator,
) -> _Divisions:
    drawn = list(clouds(map_, shape, how_many, rng))
    nearest = nearest_of(map_.points)
    return _Divisions(drawn, [map_.errors[nearest(one)] for one in drawn], numbers)


def _unequal(
    map_: MapAlongAxes,
    shape: Shape,
    numbers: Sequence[int],
    beyond: float,
    rng: np.random.Generator,
) -> float:
    """How often groups describe a cloud of some form so much better than that form does.

    No more clouds are drawn once so many do that nothing can be claimed.
    """
    nearest = nearest_of(map_.points)

    def better(points: FloatArray) -> float:
        parts = [part.labels for part in divide(points, numbers)]
        return fit_shapes(points, map_.errors[nearest(points)], parts, shape).beyond(shape)

    number = CLOUDS + _MORE_CLOUDS
    enough = int(LEVEL * (number + 1))
    return p_value(beyond, map(better, clouds(map_, shape, number, rng)), enough)


def _spectral_gaps(points: FloatArray, numbers: Sequence[int]) -> list[float]:
    values, _ = laplacian_eigenvectors(neighbour_graph(points), max(numbers) + 1)
    values = np.maximum(values, 1e-9)
    return [1 - values[number - 1] / values[number] for number in numbers]


@dataclass(frozen=True)
class Part:
    """A map divided into a number of clusters."""

    #: (n,): by k-means, started from Ward's clusters.
    labels: IntArray
    #: (n, d'): the map in the space that the centres span: a line for two clusters. How wide the
    #: clusters are across it says nothing about the gap between them.
    inside: FloatArray
    #: (d', d): of that space.
    axes: FloatArray
    #: The mean one, there.
    silhouette: float


def divide(coordinates: FloatArray, numbers: Sequence[int]) -> list[Part]:
    """Divide a map into each number of clusters.

    Examples
    --------
    >>> X = np.repeat([[0.0, 0], [9, 0], [0, 9]], 5, axis=0) + np.arange(15)[:, None] / 15
    >>> [round(part.silhouette, 2) for part in divide(X, [2, 3, 4])]
    [0.87, 0.98, 0.81]
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist, squareform

    first = _cut(linkage(coordinates, "ward"), numbers)
    whole = squareform(pdist(coordinates))
    return [_divided(coordinates, whole, first[number], number) for number in numbers]


def _divided(X: FloatArray, distance: FloatArray, labels: IntArray, number: int) -> Part:
    labels, centres = _k_means(X, labels, number)
    inside, axes = X, np.eye(X.shape[1])
    if number - 1 < X.shape[1]:
        axes = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)[2][: number - 1]
        inside = X @ axes.T
        labels, _ = _k_means(inside, labels, number)
        distance = np.sqrt(((inside[:, None] - inside) ** 2).sum(axis=2))
    return Part(labels, inside, axes, float(silhouettes(distance, labels, number).mean()))


def _cut(tree: FloatArray, numbers: Sequence[int]) -> dict[int, IntArray]:
    """The clusters of a tree of merges, for each number of them."""
    n = len(tree) + 1
    label, found = np.arange(n), {}
    for step, (one, other) in enumerate(tree[:, :2].astype(np.int64).tolist()):
        label[(label == one) | (label == other)] = n + step
        if n - step - 1 in numbers:
            found[n - step - 1] = np.unique(label, return_inverse=True)[1]
    return found


def _k_means(X: FloatArray, labels: IntArray, number: int) -> tuple[IntArray, FloatArray]:
    from scipy.spatial.distance import cdist

    for _ in range(_LLOYD_STEPS):
        member = labels[:, None] == np.arange(number)
        centres = (member.T @ X) / member.sum(axis=0)[:, None]
        nearest = cdist(X, centres, "sqeuclidean").argmin(axis=1)
        if (nearest == labels).all() or np.bincount(nearest, minlength=number).min() == 0:
            break
        labels = nearest
    return labels, centres


def silhouettes(distance: FloatArray, labels: IntArray, number: int) -> FloatArray:
    """The silhouette of each object by the distances of all; 0 where it is alone in its cluster.

    >>> at = np.array([0.0, 1.0, 5.0, 6.0])
    >>> silhouettes(np.abs(at[:, None] - at), np.array([0, 0, 1, 1]), 2).round(2).tolist()
    [0.82, 0.78, 0.78, 0.82]
    """
    row = np.arange(len(labels))
    member = (labels[:, None] == np.arange(number)).astype(np.float64)
    size = member.sum(axis=0)
    total = distance @ member
    own = total[row, labels] / np.maximum(size[labels] - 1, 1)
    total /= size
    total[row, labels] = np.inf
    other = total.min(axis=1)
    width = (other - own) / np.maximum(np.maximum(own, other), 1e-300)
    return np.where(size[labels] > 1, width, 0.0)


def within_shares(X: FloatArray, errors: FloatArray, labels: IntArray) -> FloatArray:
    """The share of the variance of maps that lies within their groups, errors taken off.

    Places are those of groups, Gaussians of one spread, moved by errors of which each object
    has its own, not the same in every direction. The mixture is fitted by the EM algorithm of
    Bovy, Hogg and Roweis (2011), which takes such errors off, started from a division. All maps
    (maps, n, d) at once, with covariances (maps, n, d, d) and the same number of groups in each:
    one after the other would take most of its time between the steps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 100)[None]
    >>> seen = np.array([[[0.0], [4.0]]]).repeat(100, axis=1) + rng.standard_normal((1, 200, 1))
    >>> errors = np.full((1, 200, 1, 1), 0.5)
    >>> within_shares(seen, errors, labels).round(1)  # 0.5 of 4 + 1
    array([0.1])
    """
    n, d = X.shape[1:]
    values, axes = np.linalg.eigh(errors)
    values = np.maximum(values, 0)
    # products of small matrices, each with BLAS: einsum would take five times as long
    turned, back = (X[:, :, None] @ axes)[:, :, 0], np.ascontiguousarray(axes.swapaxes(2, 3))
    P = (labels[:, :, None] == np.arange(labels.max() + 1)).astype(np.float64)
    size = P.sum(axis=1)
    centres = np.einsum("bnk,bnd->bkd", P, X) / size[:, :, None]
    off = X - np.take_along_axis(centres, labels[:, :, None], axis=1)
    total = X.var(axis=1).mean(axis=1)
    spread = np.maximum((off**2).mean(axis=(1, 2)), 1e-12 * total)
    for _ in range(_EM_STEPS):
        weight = 1 / (spread[:, None, None] + values)
        # from every centre to every object, along the axes of the object's error
        step = turned[:, :, None] - centres[:, None] @ axes
        moved = step * weight[:, :, None]
        log = np.log(size)[:, None] - 0.5 * np.einsum("bnkd,bnkd->bnk", moved, step)
        P = np.exp(log - log.max(axis=-1, keepdims=True))
        P /= P.sum(axis=-1, keepdims=True)
        size = P.sum(axis=1) + 1e-9
        # where the objects are, if they are of a group, less its centre
        place = spread[:, None, None, None] * (moved @ back)
        shift = np.einsum("bnk,bnki->bki", P, place) / size[:, :, None]
        centres = centres + shift
        off = place - shift[:, None]
        about = np.einsum("bnk,bnki,bnki->b", P, off, off) / n
        unsure = d * spread - spread**2 * weight.sum(axis=-1).mean(axis=1)
        spread = np.maximum((about + unsure) / d, 1e-12 * total)
    return np.asarray(np.maximum(spread / total, _LEAST_WITHIN), dtype=np.float64)
