"""`classify`: the class of every object without a label, and what the answers say of the labels.

How well labels can be learned from the answers is found out by hiding them in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens._parameters import generator, one_of, seed_of
from trilens._tabular import AsDict, Tabular, facts, plain
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from trilens.answers import Answers
from trilens.ask import (
    Data,
    Question,
    ask,
    counts_of,
    fit_of,
    is_enough,
    objects_of,
    opened,
    per_object,
    register,
    statements_of,
)
from trilens.calibration import (
    FEW_NEIGHBORS_AGREE,
    LABELS_SIGNIFICANCE,
    NEAREST_LABELS,
    NEAREST_OF_FEW_LABELS,
)
from trilens.counts import CentralCounts, Counted, PairCounts
from trilens.errors import LabelError, ParameterError, option, parameter_name
from trilens.maps.fitted import Fit
from trilens.maps.likelihood import in_own_order, object_order
from trilens.maps.registry import MAPS
from trilens.questions.classify.map_classifier import MapClassifier
from trilens.questions.classify.paper import KRNGClassifier, LensDepthClassifier
from trilens.questions.classify.transductive import TransductiveClassifier
from trilens.questions.clouds import p_value
from trilens.questions.error_rate import known_error_rate
from trilens.questions.labels import ClassCodes, LabelsLike, encode_labels, label_of_each
from trilens.statements import Statements
from trilens.words import remark_about_objects

#: The methods of the paper, and the maps.
METHODS = ("depth", "krng", *MAPS)
#: Every labeled object is left out by itself up to this many; beyond, in ten groups.
MOST_ROUNDS = 60
_GROUPS = 10
#: How often labels are dealt out anew, and among how many objects at most.
_DEALS, _MOST_DEALT = 999, 2000


@dataclass(frozen=True)
class LabelCheck:
    """What a classifier says of labeled objects whose labels it was not shown."""

    #: (n_labeled,): the class found for each labeled object when its label was hidden.
    codes: IntArray
    #: The share of these that differ from the labels.
    error: float
    #: The error of always naming the most frequent class.
    baseline: float
    #: How often chance would do as well: the larger of two shares. Naming classes without looking
    #: would be right so often (binomial law); labels dealt out anew among the same objects would
    #: agree as often with those of their nearest (on maps only). Errors on neighbors come
    #: together, so that the first alone is too small.
    p_value: float
    #: Whether the answers say something about the labels at all.
    learnable: bool
    #: (n_labeled,): whether the answers contradict the label: the labels can be learned, another
    #: class was found, and of the nearest labeled objects (11, or 7 where fewer than 40 objects
    #: are labeled) at most a quarter have the label; on the choice map, in the mean over maps that
    #: the answers allow. The k-RNG knows no nearest: there another class is enough. An object that
    #: is alone in its class is not contradicted.
    contradicted: BoolArray
    #: How many labels were hidden at a time.
    left_out: int


@dataclass(frozen=True)
class Contradiction(AsDict):
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
        Their labels; None for the unlabeled ones.
    found : (n,) array
        What the answers say: for an unlabeled object its predicted class, for a labeled one
        the class found when its label was hidden.
    method : str
    parameters : dict
        Every parameter that was chosen.
    check : LabelCheck or None
        The error on hidden labels, and whether the labels can be learned at all. None for counts
        of classes, which are counts under all labels: none of them can be hidden.
    contradictions : tuple of Contradiction
        Empty where the labels cannot be learned.
    remarks : tuple of str
        Where the method had to fall back on less.
    probability : (n,) array or None
        How sure the class of each unlabeled object is: by ``knn``, the share of its nearest
        labeled objects that have it. NaN for the labeled ones; None where the classifier has no
        probabilities.
    """

    names: tuple[str, ...] = field(repr=False)
    given: tuple[Any, ...] = field(repr=False)
    found: AnyArray = field(repr=False)
    method: str
    parameters: dict[str, Any]
    check: LabelCheck | None
    contradictions: tuple[Contradiction, ...]
    remarks: tuple[str, ...] = ()
    probability: FloatArray | None = field(default=None, repr=False)

    def among(self, rank: IntArray) -> Classification:
        """The same classes with the objects in another order: that of rank i comes i-th."""
        check = self.check
        if check is not None:
            # the check has entries for the labeled objects alone
            labeled = np.array([label is not None for label in self.given])
            at = (np.cumsum(labeled) - 1)[rank[labeled[rank]]]
            check = replace(check, codes=check.codes[at], contradicted=check.contradicted[at])
        moved = per_object(self, rank, "names", "given", "found", "probability")
        return replace(self, check=check, **moved)

    @property
    def probabilities(self) -> dict[str, float] | None:
        """How sure the class of each unlabeled object is."""
        return None if self.probability is None else self._of_unlabeled(self.probability)

    @property
    def predicted(self) -> dict[str, Any]:
        """The class of each unlabeled object."""
        return self._of_unlabeled(self.found)

    def _of_unlabeled(self, values: AnyArray) -> dict[str, Any]:
        each = zip(self.names, self.given, values.tolist(), strict=True)
        return {name: value for name, given, value in each if given is None}

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
        told = {"labels": self.predicted, **facts(self, "probabilities", "method", "parameters")}
        if self.check is None or self.error_interval is None:
            return told
        known = [label for label in self.given if label is not None]
        return {
            **told,
            "classes": {str(label): known.count(label) for label in sorted(set(known))},
            **facts(self, "error_interval"),
            **facts(self.check, "error", "baseline", "p_value", "learnable", "left_out"),
            "contradicted": plain(self.contradictions),
            "remarks": list(self.remarks),
        }


def classify(
    answers: Data,
    y: LabelsLike,
    method: str = "auto",
    *,
    classifier: Any = None,
    k: int | None = None,
    error_rate: Any = 0.0,
    alone: str | None = None,
    random_state: RandomState = 0,
) -> Classification:
    """The class of every unlabeled object, and how far the labels fit the answers.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table, (m, 3) array, Counted or PairCounts
        Counts suffice for ``"lensmap"`` where they have pairs, and for ``"depth"`` where they
        have classes, counted under the same labels.
    y : dict of labels by name, or (n_objects,) iterable
        -1, None or NaN for an unlabeled object.
    method : str
        ``"depth"`` (Algorithm 3), ``"krng"`` (Algorithm 4), or a map; ``"auto"``: the choice map
        where answers suffice for one, and else the lens map.
    classifier
        On top of depths or a map; see `MapClassifier`.
    k : int, optional
        Of the k-RNG; by default by leave-one-out.
    error_rate : float or "estimate"
        Of the k-RNG; see `KRNGClassifier`.
    alone : {"nearest", "random"}, optional
        Of the k-RNG: what becomes of an object without a labeled neighbor. By default those of
        least V vote; ``"random"`` draws a class, as the paper's empty vote has it.
    random_state : int, Generator, RandomState or None

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
    one_of("method", method, ("auto", *METHODS))
    given, seed = opened(answers), seed_of(random_state)
    if isinstance(given, Answers) and (given.in_counts or (method == "lensmap" and not given.held)):
        given = counts_of(given, pairs=method in ("auto", "lensmap"))
    if isinstance(given, Counted | CentralCounts | PairCounts):
        return _of_counts(given, y, method, classifier, random_state)
    if method == "auto":
        method = "choice" if isinstance(given, Fit) or is_enough(given) else "lensmap"
    rate = known_error_rate(error_rate, given, seed)
    learner = make_classifier(
        method, classifier, k=k, error_rate=rate, alone=alone, random_state=random_state
    )
    if method == "choice":
        fitted = fit_of(given, "classify", random_state)
        y = label_of_each(y, fitted.names)
        found: Classification = ask(
            CLASSIFY, fitted, "choice", labels=y, learner=learner, seed=seed
        )
        return found
    held = statements_of(given, "classify")
    y = label_of_each(y, held.names)
    ordered, rank = in_own_order(held)
    labels = encode_labels([y[i] for i in np.argsort(rank)], ordered.names)
    found = _learned(learner, ordered, ordered.names, labels, method, random_state, ordered)
    return found.among(rank)


def _of_fit(fitted: Fit, labels: list[Any], learner: MapClassifier, seed: int) -> Classification:
    known = encode_labels(labels, fitted.names)
    return _learned(learner, fitted, fitted.names, known, "choice", seed, fitted.statements)


def _of_counts(
    counts: Counted | CentralCounts | PairCounts,
    y: LabelsLike,
    method: str,
    classifier: Any,
    random_state: RandomState,
) -> Classification:
    """Classes by Algorithm 3 from counts of classes, by the lens map from counts of pairs."""
    pairs = counts if isinstance(counts, PairCounts) else getattr(counts, "pairs", None)
    if method == "auto":
        method = "depth" if pairs is None else "lensmap"
    if method not in ("depth", "lensmap"):
        raise ParameterError(f"counts suffice for depth and lensmap; {method} needs the statements")
    names = objects_of(counts).names
    labels = encode_labels(y, names)
    learner = make_classifier(method, classifier, random_state=random_state)
    if method == "lensmap":
        if pairs is None:
            raise ParameterError(f"pairs were not counted; use {option('pairs', True)}")
        return _learned(learner, pairs, names, labels, method, random_state)
    classes = counts.classes if isinstance(counts, Counted) else None
    if not isinstance(counts, Counted) or classes is None:
        raise ParameterError("the classes were not counted; count the answers under these labels")
    under = [] if classes.labels is None else classes.labels.tolist()
    if [None if code < 0 else counts.class_names[code] for code in under] != labels.given:
        raise LabelError("the classes were counted under other labels; count again with these")
    return _learned(learner, classes, names, labels, method, random_state, checked=False)


def _learned(
    learner: Any,
    data: Any,
    names: tuple[str, ...],
    labels: ClassCodes,
    method: str,
    random_state: RandomState,
    statements: Statements | None = None,
    *,
    checked: bool = True,
) -> Classification:
    """What a classifier finds, and what hidden labels say."""
    learner.fit(data, labels.given)
    found = learner.transduction_.copy()
    check, against = None, labels.labelled[:0]
    if checked:
        check = check_labels(learner, labels, random_state)
        found[labels.labelled] = labels.classes[check.codes]
        against = labels.labelled[check.contradicted]
        against = against[object_order([names[i] for i in against], len(against))]
    probability = None
    if hasattr(learner, "predict_proba"):
        probability = learner.predict_proba().max(axis=1)
        probability[labels.labelled] = np.nan
    given, classes = labels.given, found.tolist()
    return Classification(
        names=names,
        given=tuple(given),
        found=found,
        method=method,
        parameters=learner.chosen_parameters_,
        check=check,
        contradictions=tuple(Contradiction(names[i], given[i], classes[i]) for i in against),
        remarks=_remarks(learner, names, labels, statements),
        probability=probability,
    )


def make_classifier(
    method: str,
    classifier: Any = None,
    *,
    k: int | None = None,
    error_rate: Any = 0.0,
    alone: str | None = None,
    random_state: RandomState = 0,
) -> Any:
    """An unfitted classifier: ``"depth"``, ``"krng"``, or the name of a map.

    Fitted, each has ``transduction_`` and ``chosen_parameters_``.

    >>> make_classifier("krng", k=5)
    KRNGClassifier(k=5)
    """
    if method == "krng":
        return KRNGClassifier(
            "loo" if k is None else k,
            error_rate=error_rate,
            alone="nearest" if alone is None else alone,
            random_state=random_state,
        )
    given = {"k": k is not None, "error_rate": error_rate != 0, "alone": alone is not None}
    for name, is_given in given.items():
        if is_given:
            raise ParameterError(
                f"{parameter_name(name)} is for the method krng, not for {method}", parameter=name
            )
    if method == "depth":
        return LensDepthClassifier(classifier, random_state=random_state)
    return MapClassifier(classifier, map=method, random_state=random_state)


def _remarks(
    learner: Any, names: tuple[str, ...], labels: ClassCodes, statements: Statements | None
) -> tuple[str, ...]:
    """Where the method had to fall back on less, in words."""
    size = np.bincount(labels.codes[labels.labelled], minlength=len(labels.classes))
    about = {"alone": [str(label) for label in labels.classes[size == 1]]}
    order = object_order(list(names), len(names))
    how = getattr(learner, "how_", np.full(len(names), ""))
    for code in ("nearest", "unknown", "random"):
        about[code] = [names[i] for i in order if how[i] == code]
    if statements is not None and len(statements):
        part = statements.connected_parts
        linked = np.isin(part, part[labels.labelled])
        about["unreached"] = [names[i] for i in order if not linked[i]]
    return tuple(remark_about_objects(code, those) for code, those in about.items() if those)


def check_labels(
    model: TransductiveClassifier, labels: ClassCodes, random_state: Any = 0
) -> LabelCheck:
    """Hide the labels in turn, and learn and choose everything from the others alone.

    The model is fitted to the statements and these labels; it learns again without a new map.
    """
    from scipy.special import bdtrc

    labeled = labels.labelled
    truth = labels.codes[labeled]
    found = np.empty(len(labeled), dtype=np.int64)
    groups = _groups(len(labeled), random_state)
    learner = copy(model)  # what it learns on the way is not the model's
    for group in groups:
        codes = labels.codes.copy()
        codes[labeled[group]] = -1
        if len(np.unique(codes[codes >= 0])) < 2:
            found[group] = np.bincount(codes[codes >= 0], minlength=len(labels.classes)).argmax()
        else:
            hidden = labeled[group]
            found[group] = learner._learn(ClassCodes(codes, labels.classes), hidden)[hidden]
    right = int((found == truth).sum())
    most = np.bincount(truth).max() / len(truth)
    p_value = float(bdtrc(right - 1, len(truth), most)) if right else 1.0
    p_value = max(p_value, _dealt_anew(model, labels, random_state))
    learnable = p_value < LABELS_SIGNIFICANCE
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
    """How often labels dealt out at random agree as well with those of their neighbors."""
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

    return p_value(agreement(own), (agreement(rng.permutation(own)) for _ in range(_DEALS)))


def _nearest_of(n_labeled: int) -> int:
    return NEAREST_LABELS if n_labeled >= 40 else NEAREST_OF_FEW_LABELS


def _clearly_other(model: TransductiveClassifier, labels: ClassCodes, found: IntArray) -> BoolArray:
    """Where another class was found, and hardly any neighbor speaks for the label."""
    labeled = labels.labelled
    own = labels.codes[labeled]
    size = np.bincount(own, minlength=len(labels.classes))
    other: BoolArray = (found != own) & (size[own] > 1)
    nearest = _nearest_of(len(labeled))
    if other.any():
        agreeing = model._agreeing(labels, labeled[other], nearest)
        if agreeing is not None:
            # a small class cannot have half of so many neighbors
            could = np.minimum(nearest, 2 * (size - 1))[own[other]]
            other[other] = agreeing <= FEW_NEIGHBORS_AGREE * could
    return other


def _groups(n: int, random_state: Any) -> list[IntArray]:
    """Which of n labeled objects are left out together."""
    positions = np.arange(n)
    if n <= MOST_ROUNDS:
        return list(positions[:, None])
    shuffled = generator(random_state).permutation(positions)
    return [np.sort(group) for group in np.array_split(shuffled, _GROUPS)]


CLASSIFY = register(
    Question(
        "classify",
        of_fit=_of_fit,
        per_object=("names", "given", "found", "probability"),
        labels=("labels",),
    )
)
