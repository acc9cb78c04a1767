"""Classes from counts, without the statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trilens.counts import Counted
from trilens.errors import LabelError, ParameterError
from trilens.tasks.classify.depth import LensDepthClassifier
from trilens.tasks.classify.map import MapClassifier


def classify_counts(
    counts: Counted,
    labels: Mapping[str, str],
    method: str = "auto",
    classifier: str | None = None,
    n_components: int | None = None,
    random_state: Any = 0,
) -> dict[str, Any]:
    """The class of every object without a label.

    Parameters
    ----------
    counts : Counted
        With classes, under these labels, for ``"depth"``; with pairs for ``"lensmap"``, which is
        what ``"auto"`` takes where both are there.
    labels : dict by name

    Returns
    -------
    dict
        ``labels``, ``method`` and ``parameters``, as the command prints them.
    """
    chosen = method
    if method == "auto":
        chosen = "lensmap" if counts.pairs is not None else "depth"
    if chosen not in ("depth", "lensmap"):
        raise ParameterError(f"counts serve depth and lensmap; {method} needs the statements")
    known = [labels.get(name) for name in counts.names]
    fitted: Any
    if chosen == "depth":
        if counts.classes is None:
            raise ParameterError("there are no counts of classes; count with --classes")
        numbers = counts.classes.labels
        codes = [] if numbers is None else numbers.tolist()
        told = [None if code < 0 else counts.class_names[code] for code in codes]
        if told != known:
            raise LabelError("the classes were counted under other labels; count again with these")
        fitted = LensDepthClassifier(classifier, random_state=random_state)
        fitted.fit(counts.classes, known)
    else:
        if counts.pairs is None:
            raise ParameterError("there are no counts of pairs; count with --pairs")
        wanted: Any = "cv" if n_components is None else n_components
        fitted = MapClassifier(classifier, wanted, random_state=random_state)
        fitted.fit(counts.pairs, known)
    found = {
        name: str(label)
        for name, label, given in zip(counts.names, fitted.transduction_, known, strict=True)
        if given is None
    }
    return {"labels": found, "method": chosen, "parameters": dict(fitted.chosen_parameters_)}
