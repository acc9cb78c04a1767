"""`distances`: how far apart the objects lie on the map, pair by pair, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trilens._parameters import check_progress, seed_of, whole_number
from trilens._tabular import Tabular
from trilens._typing import FloatArray, Progress, RandomState
from trilens.errors import ParameterError
from trilens.files.matrices import write_matrix
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.features import FeaturesLike
from trilens.maps.registry import coordinates, dimensions
from trilens.maps.streamed import StreamedMap
from trilens.questions.data import (
    Data,
    in_order,
    is_streamed,
    model_of_many,
    statements_of,
)
from trilens.questions.method import check_method, check_model, choose_method
from trilens.questions.model import AnswerModel, answer_model, featured_model
from trilens.questions.preconditions import why_nothing_can_be_claimed, why_nothing_on_map

#: Of more objects there are too many pairs for a table, or a tree, that anybody could read.
MOST_OBJECTS = 5000


@dataclass(frozen=True, eq=False)
class Distances(Tabular):
    """The distances of all pairs of objects.

    Attributes
    ----------
    names : tuple of str
    matrix : (n, n) array
        By the mean distance of two objects, which is 1: answers tell no other unit.
    errors : (n, n) array or None
        The standard error of each; None where the map has no model of the answers, or of too
        many objects.
    method : str
        The map.
    n_components : int
        Its number of dimensions.
    caution : str or None
        What the answers cannot tell.
    """

    names: tuple[str, ...] = field(repr=False)
    matrix: FloatArray = field(repr=False)
    errors: FloatArray | None = field(repr=False)
    method: str
    n_components: int
    caution: str | None = None

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each pair."""
        i, j = np.triu_indices(len(self.names), 1)
        found: dict[str, Sequence[Any]] = {
            "object_1": [self.names[k] for k in i],
            "object_2": [self.names[k] for k in j],
            "distance": self.matrix[i, j].tolist(),
        }
        if self.errors is not None:
            found["standard_error"] = self.errors[i, j].tolist()
        return found

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens embed --distances OUT --json`` prints them."""
        return {
            "objects": list(self.names),
            "distances": self.matrix.tolist(),
            "standard_errors": None if self.errors is None else self.errors.tolist(),
            "method": self.method,
            "dim": self.n_components,
            "caution": self.caution,
        }

    def write(self, path: str | Path) -> list[str]:
        """Write the distances to a file, by its ending; returns the files that were written.

        ``.csv`` and ``.tsv``: the matrix, with the names in the first row and column; the
        standard errors stand in a file beside it, as ``distances.errors.csv``.
        ``.json`` and ``.parquet``: a row for each pair, with its standard error. ``.h5`` and
        ``.hdf5``: for ``rsatoolbox.rdm.load_rdm``.

        Examples
        --------
        >>> import tempfile
        >>> found = distances([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]])
        >>> [Path(each).name for each in found.write(Path(tempfile.mkdtemp()) / "d.csv")]
        ['d.csv']
        """
        return write_matrix(self.names, self.matrix, self.errors, path)


def distances(
    statements: Data,
    n_components: int | None = None,
    method: str = "auto",
    *,
    random_state: RandomState = 0,
    model: AnswerModel | ChoiceMap | StreamedMap | None = None,
    features: FeaturesLike | None = None,
    progress: Progress | None = None,
) -> Distances:
    """The dissimilarity of every pair of objects, with its standard error.

    These are distances on a map of the answers: by default the choice map, in as many dimensions
    as the answers support. The standard errors are those of maps drawn from its posterior, each
    with a mean distance of 1; what another number of dimensions would make of the answers is not
    in them. How often the true distance is within two of them is measured in ``docs/claims.md``.

    Parameters
    ----------
    statements : Answers, Statements or (m, 3) array
        About at most 5,000 objects.
    n_components : int, optional
        Of the map; there are no standard errors then, nor with another map.
    method : str
        The name of a map, as for `embed`.
    random_state : int, Generator, RandomState or None
    model : AnswerModel or ChoiceMap, optional
        The map of the statements, where it has been made already.
    features : array, table or dict, optional
        Vectors of the objects, for the map: see `ChoiceMap.fit`.
    progress : callable, optional
        Called with the share of the work that is done.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> found = distances(study(n_statements=2000).statements)
    >>> found.matrix.shape, found.errors.shape, round(float(found.matrix.mean()), 1)
    ((60, 60), (60, 60), 1.0)
    """
    from scipy.spatial.distance import squareform

    placed = placed_objects(
        statements, "distances", n_components, method, random_state, model, features, progress
    )
    errors = None
    if placed.draws is not None:
        pairs = len(placed.names) * (len(placed.names) - 1) // 2
        mean, squares = np.zeros((2, pairs))
        for X in placed.draws:
            own = relative_distances(X)
            mean, squares = mean + own, squares + own**2
        k = len(placed.draws)
        errors = squareform(np.sqrt(np.maximum(squares / k - (mean / k) ** 2, 0.0)))
    return Distances(
        placed.names,
        squareform(relative_distances(placed.points)),
        errors,
        placed.method,
        placed.points.shape[1],
        placed.caution,
    )


def relative_distances(points: FloatArray) -> FloatArray:
    """The distances of all pairs, as scipy has them; their mean is 1.

    >>> relative_distances(np.array([[0.0], [1.0], [3.0]])).tolist()
    [0.5, 1.5, 1.0]
    """
    from scipy.spatial.distance import pdist

    found = pdist(points)
    mean = found.mean() if len(found) else 0.0
    return np.asarray(found / mean if mean > 0 else found)


@dataclass(frozen=True, eq=False)
class Placed:
    """A map of all objects, and other maps that the answers allow.

    Attributes
    ----------
    names : tuple of str
    points : (n, d) array
    draws : (k, n, d) array or None
    method : str
    caution : str or None
        Why nothing can be claimed of all objects.
    model : AnswerModel or None
    """

    names: tuple[str, ...]
    points: FloatArray
    draws: FloatArray | None
    method: str
    caution: str | None
    model: AnswerModel | None


def placed_objects(
    statements: Data,
    question: str,
    n_components: int | None = None,
    method: str = "auto",
    random_state: RandomState = 0,
    model: AnswerModel | ChoiceMap | StreamedMap | None = None,
    features: FeaturesLike | None = None,
    progress: Progress | None = None,
) -> Placed:
    """The map behind `distances` and `hierarchy`, of not too many objects."""
    check_progress(progress)
    check_method("embed", method)
    seed = seed_of(random_state)
    if n_components is not None:
        whole_number("n_components", n_components, least=1)
    by_model = method in ("auto", "choice") and n_components is None
    if is_streamed(statements):
        _check_number(statements.count(progress=progress).n_objects, question)
    elif not isinstance(model, StreamedMap):
        _check_number(statements_of(statements, question).n_objects, question)
    if features is not None:
        model = featured_model(
            statements, question, features, method, model, n_components, seed, progress
        )
        by_model = True
    many = model_of_many(statements, "embed", model, seed, progress) if by_model else None
    if many is not None:
        errors, X = many.errors, many.embedding
        draws = None if errors is None else X + errors.copies.astype(np.float64)
        return Placed(many.names, X, draws, many.method, why_nothing_on_map(many), None)
    assert not isinstance(model, StreamedMap)
    given = statements_of(statements, question)
    known = check_model(model, given, seed)
    if len(given) == 0:
        raise ParameterError(
            f"{question} needs answers, and there are none", parameter="statements"
        )
    chosen = "choice" if known is not None else choose_method("embed", given, method)
    if chosen != "choice" or not by_model:
        found = in_order(given)
        d = dimensions(n_components, given.n_objects)
        points = coordinates(found.statements, chosen, d, seed, progress)[found.rank]
        reason = why_nothing_can_be_claimed(given, None)
        return Placed(given.names, points, None, chosen, reason, None)
    fitted = answer_model(given, seed, progress) if known is None else known
    return Placed(
        given.names,
        np.asarray(fitted.map.embedding_),
        fitted.in_order.posterior[:, fitted.ordered.rank],
        chosen,
        why_nothing_can_be_claimed(given, fitted.map),
        fitted,
    )


def _check_number(n: int, question: str) -> None:
    if n > MOST_OBJECTS:
        pairs = n * (n - 1) // 2
        raise ParameterError(
            f"{question} of {n:,} objects would have {pairs:,} pairs ({8 * pairs / 1e9:.1f} GB); "
            f"at most {MOST_OBJECTS:,} objects are taken: choose some of them with subset()",
            parameter="statements",
        )
