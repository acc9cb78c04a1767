"""The maps by their names, and how many dimensions each of them needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import check_progress, generator, one_of, whole_number
from trilens._tabular import Tabular
from trilens._typing import FloatArray, Progress, RandomState
from trilens.answers import AnswersLike
from trilens.errors import ParameterError
from trilens.statements import as_statements
from trilens.statements.columns import as_list
from trilens.statements.combine import questions

#: The maps by their names on the command line.
MAPS = ("choice", "lensmap", "soe", "ste", "tste", "gnmds")


def make_map(
    method: str, n_components: Any = 2, random_state: RandomState = 0, **parameters: Any
) -> Any:
    """The map estimator of that name, unfitted."""
    from trilens import maps

    estimators = {
        "choice": maps.ChoiceMap,
        "lensmap": maps.LensMap,
        "soe": maps.SOE,
        "ste": maps.STE,
        "tste": maps.TSTE,
        "gnmds": maps.GNMDS,
    }
    one_of("method", method, MAPS)
    return estimators[method](n_components=n_components, random_state=random_state, **parameters)


def dimensions(n_components: int | None, n_objects: int) -> int:
    """Of a map to work on: two unless others were asked for, and no more than objects span."""
    wanted = 2 if n_components is None else whole_number("n_components", n_components, least=1)
    return min(wanted, max(n_objects - 1, 1))


def coordinates(
    statements: AnswersLike,
    method: str = "lensmap",
    n_components: Any = 2,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    **parameters: Any,
) -> FloatArray:
    """Coordinates of every object by one of the maps, for every kind of statement."""
    check_progress(progress)
    model = make_map(method, n_components, random_state, **parameters)
    # The lens map has no steps to tell of.
    steps = {} if method == "lensmap" else {"progress": progress}
    found = model.fit_transform(as_statements(statements), **steps)
    if progress is not None:
        progress(1.0)
    return np.asarray(found)


@dataclass(frozen=True)
class Dimension(Tabular):
    """The number of dimensions, and how it came about.

    Attributes
    ----------
    n_components : int
        The fewest dimensions whose score is within one standard error of the best.
    dimensions : tuple of int
        Those that were tried.
    scores : tuple of float
        The share of the answers to held-out questions that each predicts.
    errors : tuple of float
        The standard error of each, over the folds.
    method : str
        The map.
    """

    n_components: int
    dimensions: tuple[int, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    method: str

    def columns(self) -> dict[str, tuple[Any, ...]]:
        """A row for each number of dimensions."""
        return {"dimensions": self.dimensions, "score": self.scores, "error": self.errors}


def estimate_dimension(
    statements: AnswersLike,
    dimensions: Iterable[int] = (1, 2, 3, 4, 5),
    *,
    method: str = "choice",
    n_folds: int = 5,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    **parameters: Any,
) -> Dimension:
    """The number of dimensions by cross-validation.

    All answers to a question are held out together: else repeats would be known beforehand. The
    penalty and the length of a choice map are chosen once for each number of dimensions.

    Parameters
    ----------
    statements : Statements, a table, (m, 3) array, or Answers
    dimensions : iterable of int
        To choose from.
    method : {"choice", "lensmap", "soe", "ste", "tste", "gnmds"}
        The map. ``ChoiceMap("cv")`` chooses by the evidence, which is
        sharper and quicker; this is for any map, and says what each number gives.
    n_folds : int
    random_state
        For the folds and the maps.
    progress : callable, optional
        Called with the share of the work that is done.
    **parameters
        Of the map.

    Examples
    --------
    >>> from trilens.simulate import gaussian, simulate_statements
    >>> S = simulate_statements(gaussian(20, 2, random_state=0), 1000, random_state=1)
    >>> found = estimate_dimension(S, (1, 2, 3), method="ste", l2=0.01)
    >>> found.n_components
    2
    """
    given = as_statements(statements, parameters.get("kind"))
    one_of("method", method, MAPS)
    whole_number("n_folds", n_folds, least=2)
    check_progress(progress)
    tried = sorted({whole_number("dimensions", d, 1) for d in as_list(dimensions, "dimensions")})
    if not tried:
        raise ParameterError("dimensions is empty; give the numbers to choose from")
    question, _, triple = questions(given)
    if len(triple) < n_folds:
        raise ParameterError(
            f"{len(triple)} different questions cannot be divided into {n_folds} folds"
        )
    rng = generator(random_state)
    fold = rng.permutation(np.arange(len(triple)) % n_folds)[question]
    seed = int(rng.integers(2**31))
    scores = np.empty((len(tried), n_folds))
    for i, d in enumerate(tried):
        known = dict(parameters)
        for k in range(n_folds):
            model = make_map(method, d, seed, **known).fit(given.take(fold != k))
            scores[i, k] = model.score(given.take(fold == k))
            if method == "choice":
                # a penalty that serves one fold serves the others
                known |= {"l2": model.l2_, "length": model.length_}
            if progress is not None:
                progress((i * n_folds + k + 1) / scores.size)
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(n_folds)
    best = int(mean.argmax())
    enough = int(np.flatnonzero(mean >= mean[best] - error[best])[0])
    return Dimension(
        tried[enough], tuple(tried), tuple(mean.tolist()), tuple(error.tolist()), method
    )
