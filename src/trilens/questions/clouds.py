"""Simulated maps without groups or without outliers, which a map is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.maps.fitted import Fit
from trilens.maps.fitting import fit_near
from trilens.maps.geometry import some_of
from trilens.maps.laplace import at_most
from trilens.maps.map import Map
from trilens.statements import Statements

#: Gaussian: thin at the rim, so that some points stand alone. Box: uniform, which falls into
#: parts more readily than round ones. Simplex: a uniform triangle, or what that is in other
#: dimensions, whose corners look like groups. Rings and crosses fall into parts still more readily.
Shape: TypeAlias = Literal["gaussian", "simplex", "box"]
FORMS: tuple[Shape, ...] = ("gaussian", "box", "simplex")

#: Clouds of one shape. The largest but one of 39 is passed by chance in 5 % of clouds.
CLOUDS = 39
#: Of up to so many objects answers about clouds are simulated and fitted: as many as there are, but
#: no more than so many, or so many for each object.
_MOST_OBJECTS, _MOST_ANSWERS, _MOST_OF_EACH = 150, 6_000, 80
#: Points of a cloud, and objects of the map that are compared with it: beyond that a mean over
#: more objects is no other mean.
_MOST_POINTS = 200
#: How much of the variance of a map its errors may be.
_MOST_ERROR = 0.8
#: The share of clouds that may be taken for more than a cloud.
LEVEL = 0.05


@dataclass(frozen=True)
class MapAlongAxes:
    """A map along its axes, with the errors of places."""

    #: (s, d'): some of the objects, where there are very many.
    points: FloatArray
    #: (s, d', d'): covariance of the error of each of their places.
    errors: FloatArray
    #: (n, d'): all objects.
    every: FloatArray
    #: (n,): of the errors of all objects, the mean over the axes.
    variances: FloatArray

    @classmethod
    def of(cls, coordinates: FloatArray, errors: FloatArray | None) -> MapAlongAxes:
        n, d = coordinates.shape
        unit = np.abs(coordinates).max()
        centred = coordinates / unit
        centred -= centred.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2]
        some = some_of(n, _MOST_POINTS)
        least = 1e-12 * float(centred.var(axis=0).max()) * np.eye(len(axes))
        given = np.zeros((n, d, d)) if errors is None else errors / unit / unit
        turned = np.einsum("ai,nij,bj->nab", axes, given[some], axes)
        every = centred @ axes.T
        mean = np.einsum("ai,nij,aj->n", axes, given, axes) / len(axes)
        return cls(every[some], turned + least, every, mean)


@lru_cache(maxsize=8)
def compared_map(fit: Fit) -> tuple[Map, Statements | None]:
    """The map that is compared with those of `mapped`, and the answers behind it.

    Of very many answers, a part and its map. Of many objects there are no answers.
    """
    if fit.n_objects > _MOST_OBJECTS:
        return fit.map, None
    most = max(_MOST_ANSWERS, _MOST_OF_EACH * fit.n_objects)
    part, _ = at_most(most, fit.sample, None, np.random.default_rng([fit.seed, 43]))
    if len(part) == fit.n_answers:
        return fit.map, part
    return fit_near(part, fit.map, fit.settings.l2), part


def mapped(
    fit: Fit, drawn: Iterable[FloatArray], rng: np.random.Generator
) -> Iterator[tuple[Map, Statements | None]]:
    """The maps that answers about drawn objects, to the questions of `compared_map`, would have.

    With these answers: those that the fit expects, wrong ones included. Where that would take
    long, every object is moved by an error like that of its place, and there are no answers.
    """
    given = compared_map(fit)[1]
    if given is not None:
        asked = AskedInOrder.of(given)
        for X in drawn:
            model = fit.map.at(X)
            answers = asked.answered_by(model, rng)
            yield fit_near(answers, model, fit.settings.l2), answers
        return
    roots = np.linalg.cholesky(fit.place_cov)
    for X in drawn:
        moved = np.einsum("nij,nj->ni", roots, rng.standard_normal(X.shape))
        yield fit.map.at(X + moved), None


def clouds(
    like: MapAlongAxes, shape: Shape, number: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Clouds that have the spread of some places along their axes.

    Their points are moved by errors like that of the nearest object: what answers draw of a box
    has no sharp rim.
    """
    n, dimension = like.points.shape
    spread = np.linalg.svd(like.points - like.points.mean(axis=0), compute_uv=False)
    spread /= np.sqrt(max(n, 1))
    variance = np.minimum(np.einsum("nii->i", like.errors) / n, _MOST_ERROR * spread**2)
    spread = np.sqrt(spread**2 - variance)
    roots, nearest = np.linalg.cholesky(like.errors), nearest_of(like.points)
    for _ in range(number):
        if shape == "gaussian":
            drawn = rng.standard_normal((n, dimension))
        elif shape == "simplex":
            drawn = _in_simplex((n, dimension), rng)
        else:
            drawn = rng.uniform(-np.sqrt(3), np.sqrt(3), (n, dimension))
        drawn = drawn[:, : len(spread)] * spread
        root = roots[nearest(drawn)]
        drawn += np.einsum("nij,nj->ni", root, rng.standard_normal(drawn.shape))
        yield drawn


@dataclass(frozen=True)
class AskedInOrder:
    """Questions, whatever was answered and in which order they came."""

    questions: Statements
    #: (m,): what sorts them.
    order: IntArray

    @classmethod
    def of(cls, statements: Statements) -> AskedInOrder:
        """The questions of statements."""
        triples = np.array(statements.triples)
        first = 1 if statements.kind == "closer" else 0
        triples[:, first:] = np.sort(triples[:, first:], axis=1)
        asked = Statements(triples, n_objects=statements.n_objects, kind=statements.kind)
        return cls(asked, np.lexsort(triples.T))

    def answered_by(self, model: Map, rng: np.random.Generator) -> Statements:
        """Answers that are drawn from a model."""
        triples = np.array(self.questions.triples)
        at = np.empty((len(triples), 1))
        at[self.order] = rng.random((len(triples), 1))
        chance = model.probabilities(self.questions).cumsum(axis=1)
        answer = (at > chance[:, :-1]).sum(axis=1)
        if model.kind == "closer":
            triples[answer == 1] = triples[answer == 1][:, [0, 2, 1]]
        else:
            triples[answer == 1] = triples[answer == 1][:, [1, 0, 2]]
            triples[answer == 2] = triples[answer == 2][:, [2, 1, 0]]
        return Statements(triples, n_objects=self.questions.n_objects, kind=model.kind)


def _in_simplex(size: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Points of a uniform simplex that is turned at random; the variance of each axis is 1."""
    n, dimension = size
    shares = rng.dirichlet(np.ones(dimension + 1), n) - 1 / (dimension + 1)
    # the shares add up to one: they lie in a space of one dimension less
    axes = np.linalg.qr(np.c_[np.ones(dimension + 1), np.eye(dimension + 1)[:, :-1]])[0][:, 1:]
    turn = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    found: FloatArray = shares @ axes @ turn * np.sqrt((dimension + 1) * (dimension + 2))
    return found


def nearest_of(coordinates: FloatArray) -> Callable[[FloatArray], IntArray]:
    """Tells which object of a map each point is nearest to."""
    from scipy.spatial import KDTree

    tree = KDTree(coordinates)
    return lambda points: np.asarray(tree.query(points)[1], dtype=np.int64)


def p_value(value: float, by_chance: Iterable[float], enough: int | None = None) -> float:
    """The share of values at least as large, the observed one counted among them.

    No more are drawn once ``enough`` of them are at least as large: their share says it then.

    >>> round(p_value(0.9, np.linspace(0, 1, 19)), 2)
    0.15
    >>> p_value(2.0, [1.0, 3.0, 1.0], enough=2), p_value(2.0, [3.0, 1.0], enough=1)
    (0.5, 1.0)
    """
    above = drawn = 0
    for one in by_chance:
        drawn += 1
        above += bool(one >= value)
        if above == enough:
            return above / drawn
    return (above + 1) / (drawn + 1)
