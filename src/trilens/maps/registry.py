"""The maps by their names, and how many dimensions each of them needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._parameters import check_progress, one_of, whole_number
from trilens._typing import FloatArray, Progress, RandomState
from trilens.answers import AnswersLike
from trilens.statements import as_statements

#: The maps by their names on the command line.
_CLASSES = {
    "choice": "ChoiceMap",
    "lensmap": "LensMap",
    "soe": "SOE",
    "ste": "STE",
    "tste": "TSTE",
    "gnmds": "GNMDS",
}
MAPS = tuple(_CLASSES)


def make_map(
    method: str, n_components: Any = 2, random_state: RandomState = 0, **parameters: Any
) -> Any:
    """The map estimator of that name, unfitted."""
    from trilens import maps

    one_of("method", method, MAPS)
    estimator = getattr(maps, _CLASSES[method])
    return estimator(n_components=n_components, random_state=random_state, **parameters)


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
