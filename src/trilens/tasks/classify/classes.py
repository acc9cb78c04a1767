"""`classify`: the class of every object without a label, and what the answers say of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import Tabular
from trilens._typing import AnyArray
from trilens.errors import ParameterError
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.tasks.classify.check import LabelCheck, check_labels
from trilens.tasks.classify.labels import Labels, LabelsLike, encode_labels
from trilens.tasks.error_rate import known_error_rate
from trilens.tasks.method import check_model, choose_method
from trilens.tasks.model import AnswerModel


@dataclass(frozen=True)
class Contradiction:
    """A label that the answers contradict, and the class that they say instead."""

    object: str
    label: Any
    answers_say: Any


@dataclass(frozen=True)
class Classification(Tabular):
    """Classes of all objects.

    Attributes
    ----------
    names : tuple of str
        The objects.
    given : tuple
        Their labels; None for the unlabelled ones.
    found : (n,) array
        What the answers say: for an unlabelled object its predicted class, for a labelled one
        the class found when its label was hidden.
    method : str
    parameters : dict
        Every parameter that was chosen.
    check : LabelCheck
        The error on hidden labels, and whether the labels can be learnt at all.
    contradictions : tuple of Contradiction
        Empty where the labels cannot be learnt.
    remarks : tuple of str
        Where the method had to fall back on less.
    """

    names: tuple[str, ...] = field(repr=False)
    given: tuple[Any, ...] = field(repr=False)
    found: AnyArray = field(repr=False)
    method: str
    parameters: dict[str, Any]
    check: LabelCheck
    contradictions: tuple[Contradiction, ...]
    remarks: tuple[str, ...] = ()

    @property
    def predicted(self) -> dict[str, Any]:
        """The class of each unlabelled object."""
        return {
            name: label
            for name, given, label in zip(self.names, self.given, self.found.tolist(), strict=True)
            if given is None
        }

    @property
    def error_interval(self) -> tuple[float, float]:
        """The 95 % interval of the error on hidden labels, taken for independent.

        Clopper and Pearson's (1934).
        """
        from scipy.special import betaincinv

        n = len(self.check.codes)
        wrong = round(self.check.error * n)
        low = 0.0 if wrong == 0 else float(betaincinv(wrong, n - wrong + 1, 0.025))
        high = 1.0 if wrong == n else float(betaincinv(wrong + 1, n - wrong, 0.975))
        return low, high

    def columns(self) -> dict[str, Sequence[Any]]:
        """Each object with its label and what the answers say."""
        return {"object": self.names, "label": self.given, "answers_say": self.found.tolist()}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens classify --json`` prints them."""
        known = [label for label in self.given if label is not None]
        return {
            "labels": self.predicted,
            "method": self.method,
            "parameters": self.parameters,
            "classes": {str(label): known.count(label) for label in sorted(set(known))},
            "error": self.check.error,
            "error_interval": list(self.error_interval),
            "baseline": self.check.baseline,
            "p_value": self.check.p_value,
            "learnable": self.check.learnable,
            "left_out": self.check.left_out,
            "contradicted": [
                {"object": c.object, "label": c.label, "answers_say": c.answers_say}
                for c in self.contradictions
            ],
            "remarks": list(self.remarks),
        }


def classify(
    statements: StatementsLike,
    y: LabelsLike,
    method: str = "auto",
    *,
    classifier: Any = None,
    k: int | None = None,
    error_rate: Any = 0.0,
    n_components: Any = None,
    model: AnswerModel | None = None,
    random_state: Any = 0,
) -> Classification:
    """The class of every unlabelled object, and how far the labels fit the answers.

    Parameters
    ----------
    statements : Statements or (m, 3) array
    y : dict of labels by name, or (n_objects,) iterable
        -1, None or NaN for an unlabelled object.
    method : str
        ``"depth"`` (Algorithm 3), ``"krng"`` (Algorithm 4), or a map; ``"auto"``: what
        `trilens.tasks.method` measured as best.
    classifier
        On top of depths or a map; see `MapClassifier`.
    k : int, optional
        Of the k-RNG; by default by leave-one-out.
    error_rate : float or "estimate"
        Of the k-RNG; see `KRNGClassifier`.
    n_components : optional
        Of the map; by default cross-validated.
    model : AnswerModel, optional
        The choice map of the statements, where it has been fitted already.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(30, [[0, 0], [9, 0]], random_state=1)
    >>> S = simulate_statements(drawn.points, random_state=2)
    >>> y = drawn.labels.tolist()
    >>> y[0], y[1] = 1 - y[0], None
    >>> found = classify(S, y)
    >>> found.check.learnable, "0" in [c.object for c in found.contradictions]
    (True, True)
    >>> found.predicted == {"1": drawn.labels[1]}
    True
    """
    given = as_statements(statements)
    check_model(model, given)
    chosen = choose_method("classify", given, method)
    labels = encode_labels(y, given)
    if chosen == "choice" and n_components is None and model is None:
        from trilens.tasks.model import answer_model

        model = answer_model(given, seed_of(random_state))
    learner = make_classifier(
        chosen,
        classifier,
        k=k,
        error_rate=known_error_rate(error_rate, given, random_state, model),
        n_components=n_components,
        model=model,
        random_state=random_state,
    )
    label_of = labels.given
    learner.fit(given, label_of)
    check = check_labels(learner, labels, random_state)
    found = learner.transduction_.copy()
    found[labels.labelled] = labels.classes[check.codes]
    return Classification(
        names=given.names,
        given=tuple(label_of),
        found=found,
        method=chosen,
        parameters=learner.chosen_parameters_,
        check=check,
        contradictions=tuple(
            Contradiction(given.names[i], label_of[i], found[i : i + 1].tolist()[0])
            for i in labels.labelled[check.contradicted]
        ),
        remarks=(
            *_about_classes(labels),
            *_remarks(learner, given.names),
            *_out_of_reach(given, labels),
        ),
    )


def make_classifier(
    method: str,
    classifier: Any = None,
    *,
    k: int | None = None,
    error_rate: Any = 0.0,
    n_components: Any = None,
    model: AnswerModel | None = None,
    random_state: Any = None,
) -> Any:
    """An unfitted classifier: ``"depth"``, ``"krng"``, or the name of a map.

    Fitted, each has ``transduction_`` and ``chosen_parameters_``.

    >>> make_classifier("krng", k=5)
    KRNGClassifier(k=5)
    """
    if method == "krng":
        from trilens.tasks.classify.graph import KRNGClassifier

        given = "loo" if k is None else k
        return KRNGClassifier(given, error_rate=error_rate, random_state=random_state)
    if k is not None:
        raise ParameterError(f"k belongs to the method krng, not to {method}")
    if error_rate != 0:
        raise ParameterError(f"error_rate belongs to the method krng, not to {method}")
    if method == "depth":
        from trilens.tasks.classify.depth import LensDepthClassifier

        return LensDepthClassifier(classifier, random_state=random_state)
    from trilens.tasks.classify.map import MapClassifier

    return MapClassifier(
        classifier,
        n_components="cv" if n_components is None else n_components,
        map=method,
        model=model,
        random_state=random_state,
    )


def _about_classes(labels: Labels) -> tuple[str, ...]:
    size = np.bincount(labels.codes[labels.labelled], minlength=len(labels.classes))
    alone = [str(label) for label in labels.classes[size == 1]]
    if not alone:
        return ()
    return (
        f"one labelled object, so nothing to check it by, and few will be taken for its like: "
        f"{', '.join(alone)}",
    )


def _out_of_reach(statements: Statements, labels: Labels) -> tuple[str, ...]:
    """Objects of which no answer says anything beside a labelled one."""
    from trilens.tasks.reliability.cautions import connected_parts

    if len(statements) == 0 or len(labels.labelled) == statements.n_objects:
        return ()
    part = connected_parts(statements)
    reached = np.isin(part, part[labels.labelled])
    those = [statements.names[i] for i in np.flatnonzero(~reached).tolist()]
    if not those:
        return ()
    more = f" and {len(those) - 5:,} more" if len(those) > 5 else ""
    return (
        f"never compared with labelled objects, not even by way of third ones, so their classes "
        f"are guesses: {', '.join(those[:5])}{more}",
    )


def _remarks(model: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    how = getattr(model, "how_", None)
    if how is None:
        return ()
    said = []
    for code, text in (
        ("nearest", "no neighbour in the graph, so by the nearest"),
        ("unknown", "never compared with two labelled objects, so the most frequent class"),
    ):
        those = [name for name, h in zip(names, how, strict=True) if h == code]
        if those:
            said.append(f"{text}: {', '.join(those)}")
    return tuple(said)
