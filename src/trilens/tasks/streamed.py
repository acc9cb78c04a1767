"""Classes and groups of very many objects, from files that are never held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import seed_of, whole_number
from trilens._typing import FloatArray, IntArray
from trilens.errors import LabelError
from trilens.formats.source import PathLike
from trilens.maps.geometry import rescaled
from trilens.maps.streamed import StreamedMap, map_files
from trilens.tasks.classify.map import DIMENSIONS
from trilens.tasks.classify.tuning import chosen_parameters, cross_validated, tuned_classifier

#: Labelled objects that choose the parameters; all of them are learnt from.
_MOST_TUNED = 2000


@dataclass(frozen=True, eq=False)
class StreamedClasses:
    """The class of every object.

    Attributes
    ----------
    labels : (n_objects,) array of str
        As given, or else predicted.
    predicted : dict of str
        The labels of the objects that had none.
    parameters : dict
    map : StreamedMap
    """

    labels: Any
    predicted: dict[str, str]
    parameters: dict[str, Any]
    map: StreamedMap


def classify_files(
    source: PathLike | Sequence[PathLike],
    labels: Mapping[str, str],
    *,
    classifier: str | None = None,
    n_components: int | None = None,
    random_state: Any = 0,
    **reading: Any,
) -> StreamedClasses:
    """The class of every object of files, by a classifier on their streamed lens map.

    Parameters
    ----------
    source
        As in `map_files`, and so are ``reading``.
    labels : dict by name
        The classes of some objects.
    classifier : {"knn", "svm-linear", "svm-gauss"}, optional
    n_components : int, optional
        By default cross-validated: the map is made once, in the most dimensions, and its
        leading ones are tried.
    """
    seed = seed_of(random_state)
    most = max(DIMENSIONS)
    if n_components is not None:
        most = whole_number("n_components", n_components, least=1)
    found = map_files(source, most, random_state=seed, **reading)
    known = np.array([labels.get(name, "") for name in found.names], dtype=object)
    labelled = np.flatnonzero(known != "")
    if len(labelled) == 0:
        raise LabelError("no object of the statements has a label; are the names the same?")
    classes, codes = np.unique(known[labelled].astype(str), return_inverse=True)
    rng = np.random.default_rng(seed)
    some = np.arange(len(labelled))
    if len(some) > _MOST_TUNED:
        some = np.sort(rng.choice(len(labelled), _MOST_TUNED, replace=False))
    name = "knn" if classifier is None else classifier
    candidates = [most] if n_components is not None else [d for d in DIMENSIONS if d <= most]
    best: tuple[float, int, Any, FloatArray] | None = None
    for d in candidates:
        points = rescaled(found.embedding[:, :d])
        model = tuned_classifier(name, points[labelled[some]], codes[some], seed)
        score = 0.0
        if len(candidates) > 1:
            score = cross_validated(model, points[labelled[some]], codes[some], seed)
        if best is None or score > best[0]:
            best = (score, d, model, points)
    assert best is not None
    _, d, model, points = best
    model.fit(points[labelled], codes)
    everywhere: IntArray = np.empty(len(known), dtype=np.int64)
    everywhere[labelled] = codes
    missing = np.flatnonzero(known == "")
    if len(missing):
        everywhere[missing] = model.predict(points[missing])
    named = classes[everywhere]
    parameters = {**chosen_parameters(name, model), "map": "lensmap", "n_components": d}
    predicted = {found.names[i]: str(named[i]) for i in missing}
    return StreamedClasses(named, predicted, parameters, found)
