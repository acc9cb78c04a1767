"""The classifiers by their names on the command line."""

from __future__ import annotations

from typing import Any

from trilens.errors import ParameterError


def make_classifier(
    method: str,
    classifier: Any = None,
    *,
    k: int | None = None,
    n_components: Any = None,
    random_state: Any = None,
) -> Any:
    """An unfitted classifier: ``"depth"``, ``"krng"``, or the name of a map.

    Fitted, each has ``transduction_`` and ``chosen_parameters_``.

    >>> make_classifier("krng", k=5)
    KRNGClassifier(k=5)
    """
    if method == "krng":
        from trilens.tasks.classify.graph import KRNGClassifier

        return KRNGClassifier("loo" if k is None else k, random_state=random_state)
    if k is not None:
        raise ParameterError(f"k belongs to the method krng, not to {method}")
    if method == "depth":
        from trilens.tasks.classify.depth import LensDepthClassifier

        return LensDepthClassifier(classifier, random_state=random_state)
    from trilens.tasks.classify.map import LensMapClassifier

    return LensMapClassifier(
        classifier,
        n_components="cv" if n_components is None else n_components,
        map=method,
        random_state=random_state,
    )
