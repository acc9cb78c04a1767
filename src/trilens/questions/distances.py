"""`distances`: how far apart the objects lie on the map, pair by pair, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import FloatArray, RandomState
from trilens.answers import Answers
from trilens.ask import Data, Opened, Points, Question, ask, opened, register
from trilens.errors import ParameterError
from trilens.files.results import write_matrix
from trilens.maps.fitted import Fit
from trilens.maps.support import support_of_answers
from trilens.statements import Statements
from trilens.words import reason

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
        The standard error of each; None where the map has no model of the answers.
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
        >>> S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]], kind="central")
        >>> found = distances(S)
        >>> [Path(each).name for each in found.write(Path(tempfile.mkdtemp()) / "d.csv")]
        ['d.csv']
        """
        return write_matrix(self.names, self.matrix, self.errors, path)


def distances(answers: Data, method: str = "auto", *, random_state: RandomState = 0) -> Distances:
    """The dissimilarity of every pair of objects, with its standard error.

    These are distances on a map of the answers: by default the choice map, in as many dimensions
    as the answers support. The standard errors are those of maps drawn from its posterior, each
    with a mean distance of 1; what another number of dimensions would make of the answers is not
    in them. How often the true distance is within two of them is measured in ``docs/claims.md``.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        About at most 5,000 objects. For a number of dimensions, or features, of your own, give
        ``tl.fit(answers, n_components=2)``.
    method : str
        The name of a map, as for `embed`; there are no standard errors with any but the choice
        map.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> from trilens.simulate import study
    >>> found = distances(study(n_statements=2000).statements)
    >>> found.matrix.shape, found.errors.shape, round(float(found.matrix.mean()), 1)
    ((60, 60), (60, 60), 1.0)
    """
    given = opened(answers)
    check_size(given, "distances")
    found: Distances = ask(DISTANCES, given, method, random_state)
    return found


def check_size(given: Opened, question: str) -> None:
    """Refuse data without answers, and about too many objects for a table of pairs, or a tree."""
    if isinstance(given, Statements) and len(given) == 0:
        raise ParameterError(f"{question} needs answers, and there are none", parameter="answers")
    n = given.count().n_objects if isinstance(given, Answers) else given.n_objects
    if n > MOST_OBJECTS:
        pairs = n * (n - 1) // 2
        raise ParameterError(
            f"{question} of {n:,} objects would have {pairs:,} pairs ({8 * pairs / 1e9:.1f} GB); "
            f"at most {MOST_OBJECTS:,} objects are taken: choose some of them with subset()",
            parameter="answers",
        )


def _of_fit(fitted: Fit) -> Distances:
    from scipy.spatial.distance import squareform

    pairs = fitted.n_objects * (fitted.n_objects - 1) // 2
    mean, squares = np.zeros((2, pairs))
    for X in fitted.draws:
        own = relative_distances(X)
        mean, squares = mean + own, squares + own**2
    k = len(fitted.draws)
    errors = squareform(np.sqrt(np.maximum(squares / k - (mean / k) ** 2, 0.0)))
    matrix, support = squareform(relative_distances(fitted.map.X)), reason(fitted.support.reason)
    return Distances(fitted.names, matrix, errors, "choice", fitted.map.n_components, support)


def _of_points(points: Points) -> Distances:
    from scipy.spatial.distance import squareform

    matrix = squareform(relative_distances(points.X))
    support = reason(support_of_answers(points.statements).reason)
    return Distances(points.names, matrix, None, points.method, points.X.shape[1], support)


def relative_distances(points: FloatArray) -> FloatArray:
    """The distances of all pairs, as scipy has them; their mean is 1.

    >>> relative_distances(np.array([[0.0], [1.0], [3.0]])).tolist()
    [0.5, 1.5, 1.0]
    """
    from scipy.spatial.distance import pdist

    found = pdist(points)
    mean = found.mean() if len(found) else 0.0
    return np.asarray(found / mean if mean > 0 else found)


DISTANCES = register(
    Question(
        "distances",
        of_fit=_of_fit,
        of_points=_of_points,
        per_object=("names",),
        per_pair=("matrix", "errors"),
    )
)
