"""`embed`: coordinates of every object, and the maps that the other questions work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import Tabular
from trilens._typing import FloatArray, RandomState
from trilens.answers import Answers
from trilens.ask import Data, Points, Question, ask, is_enough, objects_of, opened, register
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.comparisons import violations
from trilens.maps.fitted import Fit, fit
from trilens.maps.likelihood import in_own_order
from trilens.maps.map import check_components
from trilens.maps.registry import coordinates, dimensions, make_map
from trilens.statements import Statements
from trilens.statements.comparisons import Comparisons

#: Dimensions of a lens map that may stand out.
_MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class Embedding(Tabular):
    """A map of the objects."""

    names: tuple[str, ...] = field(repr=False)
    #: (n, d)
    points: FloatArray = field(repr=False)
    method: str
    #: The share of triplets (or comparisons) that the map violates; None for counts.
    violations: float | None = None
    #: The share of answers that are wrong by the choice map; None for the others.
    error_rate: float | None = None

    def columns(self) -> dict[str, Sequence[Any]]:
        """The coordinates of each object."""
        axes = {f"x{i}": axis for i, axis in enumerate(self.points.T, start=1)}
        return {"object": self.names, **axes}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens embed --json`` prints them."""
        return {
            "method": self.method,
            "dim": self.points.shape[1],
            "violations": self.violations,
            "error_rate": self.error_rate,
        }


def embed(
    answers: Data | Comparisons,
    n_components: int = 2,
    method: str = "auto",
    *,
    random_state: RandomState = 0,
) -> Embedding:
    """Coordinates of every object.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, (m, 3) array, Counted, PairCounts or Comparisons
        Counts of pairs suffice for ``"lensmap"``.
    n_components : int
        Dimensions. A fit with others is made anew in these, its features and raters as they were.
    method : str
        The name of a map; ``"auto"``: the choice map where answers suffice for one, and else the
        lens map; SOE for comparisons.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]], kind="central")
    >>> line = embed(S, 1, "lensmap")
    >>> np.argsort(line.points[:, 0]).tolist() in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """
    if isinstance(answers, Comparisons):
        return _of_comparisons(answers, n_components, method, random_state)
    given, seed = opened(answers), seed_of(random_state)
    n = given.count().n_objects if isinstance(given, Answers) else given.n_objects
    check_components(n_components, n)
    if isinstance(given, Statements) or (isinstance(given, Answers) and not given.in_counts):
        if method == "choice" or (method == "auto" and is_enough(given)):
            given = fit(given, n_components=n_components, random_state=random_state)
        elif method == "lensmap" and isinstance(given, Answers) and not given.held:
            lens_map = make_map("lensmap", n_components, seed).fit(given)
            return Embedding(given.count().with_names().names, lens_map.embedding_, "lensmap")
    found: Embedding = ask(EMBED, given, method, random_state, n_components=n_components, seed=seed)
    return found


def _of_comparisons(
    given: Comparisons, n_components: int, method: str, random_state: RandomState
) -> Embedding:
    chosen = "soe" if method == "auto" else method
    if chosen in ("choice", "lensmap"):
        raise ParameterError(
            f"{chosen} takes statements about three objects, not comparisons; soe takes both"
        )
    points = make_map(chosen, n_components, random_state).fit_transform(given)
    return Embedding(given.names, points, chosen, violations(points, given))


def _of_fit(fitted: Fit, n_components: int, seed: int) -> Embedding:
    if fitted.map.n_components != n_components:
        fitted = fitted.in_dimensions(n_components)
    return Embedding(
        fitted.names, fitted.map.X, "choice", fitted.violations, error_rate=fitted.error_rate
    )


def _of_counts(data: Any, n_components: int, seed: int) -> Embedding:
    if isinstance(data, Statements):
        ordered, rank = in_own_order(data)
        points = coordinates(ordered, "lensmap", n_components, seed)[rank]
        return Embedding(data.names, points, "lensmap", violations(points, data))
    pairs = data if isinstance(data, PairCounts) else data.pairs
    points = map_of_pairs(pairs, n_components, seed)
    return Embedding(objects_of(pairs).names, points, "lensmap")


def _of_points(points: Points, n_components: int, seed: int) -> Embedding:
    X = coordinates(points.statements, points.method, n_components, seed)
    return Embedding(points.names, X, points.method, violations(X, points.statements))


EMBED = register(
    Question(
        "embed",
        of_fit=_of_fit,
        of_counts=_of_counts,
        of_points=_of_points,
        by_counting="lensmap",
        needs_pairs=True,
        per_object=("names",),
        per_row=("points",),
    )
)


def map_of_pairs(
    pairs: PairCounts, n_components: int | None, random_state: Any, error_rate: float = 0.0
) -> FloatArray:
    """The lens map; without ``n_components`` in as many dimensions as stand out."""
    from trilens.maps.lens_map import LensMap

    if n_components is None:
        n_components = map_dimension(pairs) if pairs.n_objects > 1 else 1
    dim = dimensions(n_components, pairs.n_objects)
    return LensMap(dim, error_rate=error_rate, random_state=random_state).fit_transform(pairs)


def map_dimension(pairs: PairCounts) -> int:
    """How many dimensions of the lens map stand out of the noise.

    The number of dimensions before the last marked drop of the eigenvalues of the pair
    dissimilarities sqrt(V), not smoothed: one to less than 1/1.4 of the eigenvalue before. At
    least 2, so that there is a plane to look at, where the objects allow it.
    """
    from trilens.maps.scaling import classical_scaling, pair_dissimilarity

    n = pairs.n_objects
    count = min(_MOST_DIMENSIONS + 1, n - 1)
    start = np.random.default_rng(0).standard_normal(n)
    spread = classical_scaling(pair_dissimilarity(pairs, power=0.5), count, start).eigenvalues
    marked = np.flatnonzero(spread[:-1] >= 1.4 * np.maximum(spread[1:], 1e-6 * spread[0]))
    last = int(marked[-1]) + 1 if len(marked) else 1
    return min(max(last, 2), n - 1)
