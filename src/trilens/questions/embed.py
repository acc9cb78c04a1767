"""`embed`: coordinates of every object, and the maps that the other questions work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import Tabular
from trilens._typing import FloatArray, Progress, RandomState
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.features import FeaturesLike
from trilens.maps.registry import coordinates, dimensions, make_map
from trilens.questions.data import (
    MAPS_OF_FILES,
    PAIRED_OBJECTS,
    Data,
    in_order,
    is_streamed,
    model_of_many,
    objects_of,
    pair_counts,
    statements_of,
    streamed_map,
)
from trilens.questions.method import check_method, choose_method, method_of_pairs
from trilens.statements import Statements
from trilens.statements.comparisons import Comparisons

if TYPE_CHECKING:
    from trilens.maps.streamed import StreamedMap
    from trilens.questions.model import AnswerModel


@dataclass(frozen=True)
class Embedding(Tabular):
    """A map of the objects.

    Attributes
    ----------
    names : tuple of str
    points : (n, d) array
    method : str
    violations : float or None
        The share of triplets (or comparisons) that the map violates; None where the statements
        were not held.
    predicted, error_rate : float or None
        Of a choice map by passes over files: the share of the answers kept aside that it
        predicts, and the share of answers that are wrong by the model.
    aside : int
        How many answers were kept aside.
    """

    names: tuple[str, ...] = field(repr=False)
    points: FloatArray = field(repr=False)
    method: str
    violations: float | None = None
    predicted: float | None = None
    error_rate: float | None = None
    aside: int = 0

    def columns(self) -> dict[str, Sequence[Any]]:
        """The coordinates of each object."""
        axes = {f"x{i}": axis for i, axis in enumerate(self.points.T, start=1)}
        return {"object": self.names, **axes}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens embed --json`` prints them."""
        facts: dict[str, Any] = {
            "method": self.method,
            "dim": self.points.shape[1],
            "violations": self.violations,
        }
        if self.predicted is not None:
            facts |= {"predicted": self.predicted, "error_rate": self.error_rate}
        return facts


def embed(
    statements: Data | Comparisons,
    n_components: int = 2,
    method: str = "auto",
    *,
    random_state: RandomState = 0,
    features: FeaturesLike | None = None,
    progress: Progress | None = None,
) -> Embedding:
    """Coordinates of every object.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, Counted, PairCounts or Comparisons
        Counts of pairs suffice for ``"lensmap"``. Files too large to hold are mapped by passes
        over them.
    method : str
        The name of a map; ``"auto"``: what `trilens.questions.method` measured as best, SOE for
        comparisons.
    features : array, table or dict, optional
        Vectors of the objects, for ``"choice"``: see `ChoiceMap.fit`.
    progress : callable, optional
        Called with the share of the work that is done.

    Examples
    --------
    >>> line = embed([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]], 1, "lensmap")
    >>> np.argsort(line.points[:, 0]).tolist() in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """
    from trilens.maps import violations

    if isinstance(statements, Comparisons):
        chosen = "soe" if method == "auto" else method
        if chosen in ("choice", "lensmap"):
            raise ParameterError(
                f"{chosen} takes statements about three objects, not comparisons; soe takes both"
            )
        found = make_map(chosen, n_components, random_state)
        points = found.fit_transform(statements, progress=progress)
        return Embedding(statements.names, points, chosen, violations(points, statements))
    check_method("embed", method)
    if features is not None:
        from trilens.questions.model import featured_model

        model = featured_model(
            statements,
            "embed",
            features,
            method=method,
            n_components=n_components,
            random_state=random_state,
            progress=progress,
        )
        points = np.asarray(model.map.embedding_)
        return Embedding(
            model.statements.names, points, "choice", violations(points, model.statements)
        )
    few, seed = PAIRED_OBJECTS if method == "lensmap" else 0, seed_of(random_state)
    placed: StreamedMap | None = None
    if method in MAPS_OF_FILES and is_streamed(statements, most_objects=few):
        chosen = "choice" if method == "auto" else method
        placed = streamed_map(statements, n_components, chosen, seed, progress)
    elif method == "auto":
        placed = model_of_many(statements, "embed", None, seed, progress, n_components=n_components)
    if placed is not None:
        return Embedding(
            placed.names,
            placed.embedding,
            placed.method,
            predicted=placed.predicted,
            error_rate=placed.error_rate,
            aside=placed.aside,
        )
    pairs = pair_counts(statements, method == "lensmap", progress)
    if pairs is not None:
        chosen = method_of_pairs(method, pairs, "lensmap")
        points = map_of_pairs(pairs, n_components, random_state)
        return Embedding(objects_of(pairs).names, points, chosen)
    given = statements_of(statements, "embed")
    chosen = choose_method("embed", given, method)
    points = coordinates(given, chosen, n_components, random_state, progress)
    return Embedding(given.names, points, chosen, violations(points, given))


def points_of(
    statements: Statements,
    method: str,
    n_components: int | None,
    random_state: RandomState,
    model: AnswerModel | None = None,
) -> FloatArray:
    """The map that a question works on: the model's own, or one that is made for it."""
    if method == "choice" and n_components is None:
        from trilens.questions.model import answer_model

        model = model or answer_model(statements, seed_of(random_state))
        return np.asarray(model.map.embedding_)
    dim, found = dimensions(n_components, statements.n_objects), in_order(statements)
    return coordinates(found.statements, method, dim, random_state)[found.rank]


def map_of_pairs(
    pairs: PairCounts, n_components: int | None, random_state: Any, error_rate: float = 0.0
) -> FloatArray:
    """The lens map; without ``n_components`` in as many dimensions as stand out."""
    from trilens.maps.lens_map import LensMap

    if n_components is None:
        n_components = map_dimension(pairs) if pairs.n_objects > 1 else 1
    dim = dimensions(n_components, pairs.n_objects)
    return LensMap(dim, error_rate=error_rate, random_state=random_state).fit_transform(pairs)


def map_dimension(pairs: PairCounts, most: int = 8) -> int:
    """How many dimensions of the lens map stand out of the noise.

    The number of dimensions before the last marked drop of the eigenvalues of the pair
    dissimilarities sqrt(V), not smoothed: one to less than 1/1.4 of the eigenvalue before. At
    least 2, so that there is a plane to look at, where the objects allow it.
    """
    from trilens.maps.lens_map import classical_scaling, pair_dissimilarity

    n = pairs.n_objects
    count = min(most + 1, n - 1)
    start = np.random.default_rng(0).standard_normal(n)
    spread = classical_scaling(pair_dissimilarity(pairs, power=0.5), count, start).eigenvalues
    marked = np.flatnonzero(spread[:-1] >= 1.4 * np.maximum(spread[1:], 1e-6 * spread[0]))
    last = int(marked[-1]) + 1 if len(marked) else 1
    return min(max(last, 2), n - 1)
