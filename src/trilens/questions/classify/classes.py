"""`classify`: the class of every object without a label, and what the answers say of the labels.

How well labels can be learnt from the answers is found out by hiding them in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens._parameters import generator, one_of, seed_of, whole_number
from trilens._tabular import Tabular
from trilens._typing import AnyArray, BoolArray, IntArray, Progress, RandomState
from trilens.answers import Answers
from trilens.counts import Counted
from trilens.errors import LabelError, ParameterError, option, parameter_name
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.features import FeaturesLike
from trilens.maps.streamed import StreamedMap
from trilens.questions.classify.map_classifier import DIMENSIONS, MapClassifier
from trilens.questions.classify.paper import KRNGClassifier, LensDepthClassifier
from trilens.questions.classify.transductive import TransductiveClassifier
from trilens.questions.data import (
    MAPS_OF_FILES,
    Data,
    Ordered,
    counts_of,
    in_order,
    is_streamed,
    model_of_many,
    statements_of,
    streamed_map,
)
from trilens.questions.labels import ClassCodes, LabelsLike, encode_labels, label_of_each
from trilens.questions.method import (
    METHODS,
    check_method,
    check_model,
    choose_method,
    known_error_rate,
)
from trilens.questions.model import AnswerModel, answer_model, featured_model
from trilens.statements import Statements

#: Every labelled object is left out by itself up to this many; beyond, in ten groups.
MOST_ROUNDS = 60
_GROUPS = 10
#: Labels count as learnable when chance would do as well less often than this.
SIGNIFICANCE = 0.02
#: How often labels are dealt out anew, and among how many objects at most.
_DEALS, _MOST_DEALT = 999, 2000
#: A label is contradicted when at most this share of so many neighbours have it.
FEW_AGREE = 0.25
NEAREST, NEAREST_OF_FEW = 11, 7


@dataclass(frozen=True)
class LabelCheck:
    """What a classifier says of labelled objects whose labels it was not shown.

    Attributes
    ----------
    codes : (n_labelled,) array of int
        The class found for each labelled object when its label was hidden.
    error : float
        The share of these that differ from the labels.
    baseline : float
        The error of always naming the most frequent class.
    p_value : float
        How often chance would do as well: the larger of two shares. Naming classes without
        looking would be right so often (binomial law); labels dealt out anew among the same
        objects would agree as often with those of their nearest (on maps only). Errors on
        neighbours come together, so that the first alone is too small.
    learnable : bool
        Whether the answers say something about the labels at all.
    contradicted : (n_labelled,) array of bool
        Whether the answers contradict the label: the labels can be learnt, another class was
        found, and of the nearest labelled objects (11, or 7 where fewer than 40 objects are
        labelled) at most a quarter have the label; on the choice map, in the mean over maps
        of answers drawn anew. The k-RNG knows no nearest: there another class is enough. An
        object that is alone in its class is not contradicted.
    left_out : int
        How many labels were hidden at a time.
    """

    codes: IntArray
    error: float
    baseline: float
    p_value: float
    learnable: bool
    contradicted: BoolArray
    left_out: int


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
    check : LabelCheck or None
        The error on hidden labels, and whether the labels can be learnt at all. None for counts
        of classes, which are counts under all labels: none of them can be hidden.
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
    check: LabelCheck | None
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
    def labels(self) -> AnyArray:
        """The class of each object, as given or else predicted."""
        pairs = zip(self.given, self.found.tolist(), strict=True)
        return np.array([found if given is None else given for given, found in pairs])

    @property
    def error_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the error on hidden labels, taken for independent.

        Clopper and Pearson's (1934).
        """
        from scipy.special import betaincinv

        if self.check is None:
            return None
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
        facts: dict[str, Any] = {
            "labels": self.predicted,
            "method": self.method,
            "parameters": self.parameters,
        }
        if self.check is None or self.error_interval is None:
            return facts
        return facts | {
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
    statements: Data,
    y: LabelsLike,
    method: str = "auto",
    *,
    classifier: Any = None,
    k: int | None = None,
    error_rate: Any = 0.0,
    n_components: Any = None,
    model: AnswerModel | ChoiceMap | StreamedMap | None = None,
    features: FeaturesLike | None = None,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Classification:
    """The class of every unlabelled object, and how far the labels fit the answers.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, or Counted
        Of files too large to hold, the classes are found on their streamed map. Counts suffice
        for ``"lensmap"`` where they have pairs, and for ``"depth"`` where they have classes,
        counted under the same labels.
    y : dict of labels by name, or (n_objects,) iterable
        -1, None or NaN for an unlabelled object.
    method : str
        ``"depth"`` (Algorithm 3), ``"krng"`` (Algorithm 4), or a map; ``"auto"``: what
        `trilens.questions.method` measured as best.
    classifier
        On top of depths or a map; see `MapClassifier`.
    k : int, optional
        Of the k-RNG; by default by leave-one-out.
    error_rate : float or "estimate"
        Of the k-RNG; see `KRNGClassifier`.
    n_components : optional
        Of the map; by default cross-validated.
    model : AnswerModel, ChoiceMap or StreamedMap, optional
        The map of the statements, where it has been made already.
    features : array, table or dict, optional
        Vectors of the objects, for ``"choice"``: see `ChoiceMap.fit`.
    progress : callable, optional
        Called with the share of the map of large files that is done.

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
    parameters = {"k": k, "error_rate": error_rate, "random_state": random_state}
    check_method("classify", method)
    if features is not None:
        model = featured_model(
            statements, "classify", features, method, model, n_components, random_state, progress
        )
        statements, method, n_components = statements_of(statements, "classify"), "choice", None
    if model is None and method in MAPS_OF_FILES and is_streamed(statements):
        model = _map_of_files(statements, method, n_components, random_state, progress)
    elif method in ("auto", "choice") and n_components is None:
        seed = seed_of(random_state)
        model = model_of_many(statements, "classify", model, seed, progress) or model
    if isinstance(model, StreamedMap):
        labels = encode_labels(y, model.names)
        learner = make_classifier(
            model.method, classifier, n_components=n_components, model=model, **parameters
        )
        learner.fit(model, labels.given)
        return _described(learner, model.names, labels, model.method, random_state)
    counts = counts_of(statements, False)
    if counts is not None:
        return _of_counts(counts, y, method, classifier, n_components, parameters)
    given = statements_of(statements, "classify")
    model = check_model(model, given, random_state)
    chosen = choose_method("classify", given, method)
    ordered, label_of = in_order(given), label_of_each(y, given.names)
    inner = ordered.statements
    labels = encode_labels([label_of[i] for i in ordered.order], inner.names)
    if chosen == "choice" and n_components is None and model is None:
        model = answer_model(given, seed_of(random_state))
    parameters["error_rate"] = known_error_rate(error_rate, given, random_state, model)
    learner = make_classifier(
        chosen,
        classifier,
        n_components=n_components,
        model=None if model is None else model.in_order,
        **parameters,
    )
    learner.fit(inner, labels.given)
    found = _described(learner, inner.names, labels, chosen, random_state)
    remarks = (*found.remarks, *_out_of_reach(inner, labels))
    return replace(_in_given_order(found, labels, ordered), remarks=remarks)


def _in_given_order(found: Classification, labels: ClassCodes, ordered: Ordered) -> Classification:
    """The same classes, with the objects in the order in which they were given."""
    check, rank = found.check, ordered.rank
    if check is not None:
        at = np.argsort(ordered.order[labels.labelled])
        check = replace(check, codes=check.codes[at], contradicted=check.contradicted[at])
    return replace(
        found,
        names=tuple(found.names[i] for i in rank),
        given=tuple(found.given[i] for i in rank),
        found=found.found[rank],
        check=check,
    )


def _map_of_files(
    answers: Answers, method: str, n_components: Any, random_state: Any, progress: Progress | None
) -> StreamedMap:
    """The map by passes; a lens map as wide as cross-validation may want it."""
    width = n_components
    if width is not None:
        width = whole_number("n_components", width, least=1)
    elif method == "lensmap":
        width = min(max(DIMENSIONS), max(answers.count().n_objects - 1, 1))
    chosen = "choice" if method == "auto" else method
    return streamed_map(answers, width, chosen, seed_of(random_state), progress)


def _of_counts(
    counts: Counted,
    y: LabelsLike,
    method: str,
    classifier: Any,
    n_components: Any,
    parameters: dict[str, Any],
) -> Classification:
    """Classes by Algorithm 3 from counts of classes, by the lens map from counts of pairs."""
    one_of("method", method, ("auto", *METHODS["classify"]))
    if method == "auto":
        method = "lensmap" if counts.pairs is not None else "depth"
    if method not in ("depth", "lensmap"):
        raise ParameterError(f"counts suffice for depth and lensmap; {method} needs the statements")
    labels = encode_labels(y, counts.names)
    learner = make_classifier(method, classifier, n_components=n_components, **parameters)
    if method == "lensmap":
        if counts.pairs is None:
            raise ParameterError(f"pairs were not counted; use {option('pairs', True)}")
        learner.fit(counts.pairs, labels.given)
        return _described(learner, counts.names, labels, method, parameters["random_state"])
    if counts.classes is None:
        raise ParameterError("the classes were not counted; count the answers under these labels")
    codes = counts.classes.labels
    under = [] if codes is None else codes.tolist()
    if [None if code < 0 else counts.class_names[code] for code in under] != labels.given:
        raise LabelError("the classes were counted under other labels; count again with these")
    learner.fit(counts.classes, labels.given)
    return _described(learner, counts.names, labels, method, None, checked=False)


def _described(
    learner: Any,
    names: tuple[str, ...],
    labels: ClassCodes,
    method: str,
    random_state: Any,
    *,
    checked: bool = True,
) -> Classification:
    """What a fitted classifier found, and what hidden labels say."""
    found, given = learner.transduction_.copy(), labels.given
    check: LabelCheck | None = None
    contradictions: tuple[Contradiction, ...] = ()
    if checked:
        check = check_labels(learner, labels, random_state)
        found[labels.labelled] = labels.classes[check.codes]
        contradictions = tuple(
            Contradiction(names[i], given[i], found[i : i + 1].tolist()[0])
            for i in labels.labelled[check.contradicted]
        )
    return Classification(
        names=names,
        given=tuple(given),
        found=found,
        method=method,
        parameters=learner.chosen_parameters_,
        check=check,
        contradictions=contradictions,
        remarks=(*_about_classes(labels), *_remarks(learner, names)),
    )


def make_classifier(
    method: str,
    classifier: Any = None,
    *,
    k: int | None = None,
    error_rate: Any = 0.0,
    n_components: Any = None,
    model: AnswerModel | StreamedMap | None = None,
    random_state: RandomState = 0,
) -> Any:
    """An unfitted classifier: ``"depth"``, ``"krng"``, or the name of a map.

    Fitted, each has ``transduction_`` and ``chosen_parameters_``.

    >>> make_classifier("krng", k=5)
    KRNGClassifier(k=5)
    """
    if method == "krng":
        given = "loo" if k is None else k
        return KRNGClassifier(given, error_rate=error_rate, random_state=random_state)
    for name, given in (("k", k is not None), ("error_rate", error_rate != 0)):
        if given:
            raise ParameterError(
                f"{parameter_name(name)} is for the method krng, not for {method}", parameter=name
            )
    if method == "depth":
        return LensDepthClassifier(classifier, random_state=random_state)
    return MapClassifier(
        classifier,
        n_components="cv" if n_components is None else n_components,
        map=method,
        model=model,
        random_state=random_state,
    )


def _about_classes(labels: ClassCodes) -> tuple[str, ...]:
    size = np.bincount(labels.codes[labels.labelled], minlength=len(labels.classes))
    alone = [str(label) for label in labels.classes[size == 1]]
    if not alone:
        return ()
    return (
        f"one labelled object only, so its label cannot be checked and few objects will join "
        f"its class: {', '.join(alone)}",
    )


def _out_of_reach(statements: Statements, labels: ClassCodes) -> tuple[str, ...]:
    """Objects of which no answer says anything beside a labelled one."""
    if len(statements) == 0 or len(labels.labelled) == statements.n_objects:
        return ()
    part = statements.connected_parts
    reached = np.isin(part, part[labels.labelled])
    those = [statements.names[i] for i in np.flatnonzero(~reached).tolist()]
    if not those:
        return ()
    more = f" and {len(those) - 5:,} more" if len(those) > 5 else ""
    return (
        f"never compared with labelled objects, not even indirectly, so their classes are "
        f"guesses: {', '.join(those[:5])}{more}",
    )


def _remarks(model: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    how = getattr(model, "how_", None)
    if how is None:
        return ()
    said = []
    for code, text in (
        ("nearest", "no neighbour in the graph, so the class of the nearest object"),
        ("unknown", "never compared with two labelled objects, so the most frequent class"),
    ):
        those = [name for name, h in zip(names, how, strict=True) if h == code]
        if those:
            said.append(f"{text}: {', '.join(those)}")
    return tuple(said)


def check_labels(
    model: TransductiveClassifier, labels: ClassCodes, random_state: Any = 0
) -> LabelCheck:
    """Hide the labels in turn, and learn and choose everything from the others alone.

    Parameters
    ----------
    model : TransductiveClassifier
        Fitted to the statements and these labels; it is fitted again without the map.
    """
    from scipy.special import bdtrc

    labelled = labels.labelled
    truth = labels.codes[labelled]
    found = np.empty(len(labelled), dtype=np.int64)
    groups = _groups(len(labelled), random_state)
    learner = copy(model)  # what it learns on the way is not the model's
    for group in groups:
        codes = labels.codes.copy()
        codes[labelled[group]] = -1
        if len(np.unique(codes[codes >= 0])) < 2:
            found[group] = np.bincount(codes[codes >= 0], minlength=len(labels.classes)).argmax()
        else:
            hidden = labelled[group]
            found[group] = learner._learn(ClassCodes(codes, labels.classes), hidden)[hidden]
    right = int((found == truth).sum())
    most = np.bincount(truth).max() / len(truth)
    p_value = float(bdtrc(right - 1, len(truth), most)) if right else 1.0
    p_value = max(p_value, _dealt_anew(model, labels, random_state))
    learnable = p_value < SIGNIFICANCE
    return LabelCheck(
        codes=found,
        error=1 - right / len(truth),
        baseline=float(1 - most),
        p_value=p_value,
        learnable=learnable,
        contradicted=_clearly_other(model, labels, found) if learnable else found != found,
        left_out=len(groups[0]),
    )


def _dealt_anew(model: TransductiveClassifier, labels: ClassCodes, random_state: Any) -> float:
    """How often labels dealt out at random agree as well with those of their neighbours."""
    rng = generator(random_state)
    if len(labels.labelled) > _MOST_DEALT:
        some = rng.choice(labels.labelled, _MOST_DEALT, replace=False)
        hidden = np.full_like(labels.codes, -1)
        hidden[some] = labels.codes[some]
        labels = ClassCodes(hidden, labels.classes)
    own = labels.codes[labels.labelled]
    nearest = model._neighbours(labels, _nearest_of(len(own)))
    if nearest is None:
        return 0.0

    def agreement(codes: IntArray) -> int:
        return int((codes[nearest] == codes[:, None]).sum())

    seen = agreement(own)
    as_well = sum(agreement(rng.permutation(own)) >= seen for _ in range(_DEALS))
    return (1 + as_well) / (1 + _DEALS)


def _nearest_of(n_labelled: int) -> int:
    return NEAREST if n_labelled >= 40 else NEAREST_OF_FEW


def _clearly_other(model: TransductiveClassifier, labels: ClassCodes, found: IntArray) -> BoolArray:
    """Where another class was found, and hardly any neighbour speaks for the label."""
    labelled = labels.labelled
    own = labels.codes[labelled]
    size = np.bincount(own, minlength=len(labels.classes))
    other: BoolArray = (found != own) & (size[own] > 1)
    nearest = _nearest_of(len(labelled))
    if other.any():
        agreeing = model._agreeing(labels, labelled[other], nearest)
        if agreeing is not None:
            # a small class cannot have half of so many neighbours
            could = np.minimum(nearest, 2 * (size - 1))[own[other]]
            other[other] = agreeing <= FEW_AGREE * could
    return other


def _groups(n: int, random_state: Any) -> list[IntArray]:
    """Which of n labelled objects are left out together."""
    positions = np.arange(n)
    if n <= MOST_ROUNDS:
        return list(positions[:, None])
    shuffled = generator(random_state).permutation(positions)
    return [np.sort(group) for group in np.array_split(shuffled, _GROUPS)]
