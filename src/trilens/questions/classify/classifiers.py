"""The classifiers: they label the objects that they were fitted on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import generator, is_whole, one_of, seed_of, shown, whole_number, wrong
from trilens._typing import AnyArray, FloatArray, IntArray, RandomState
from trilens.answers import Answers
from trilens.counts import (
    ClassCounts,
    LabelledPairCounts,
    PairCounts,
    count_classes,
    count_labelled_pairs,
    count_pairs,
)
from trilens.depth import class_depth
from trilens.errors import KindError, LabelError, ParameterError, option
from trilens.graph import share_threshold
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.estimator import MapEstimator, asked_from_outside, warn_of_unmentioned
from trilens.maps.geometry import rescaled
from trilens.maps.lens_map import LensMap
from trilens.maps.registry import MAPS, make_map
from trilens.maps.streamed import StreamedMap
from trilens.questions.classify.tuning import chosen_parameters, cross_validated, tuned_classifier
from trilens.questions.labels import (
    ClassCodes,
    LabelsLike,
    by_name,
    encode_labels,
    have_names,
    label_of_each,
)
from trilens.questions.method import check_model, choose_method, known_error_rate
from trilens.questions.model import AnswerModel, answer_model
from trilens.statements import Kind, Objects, Statements, StatementsLike, as_statements
from trilens.statements.columns import as_array, is_table
from trilens.statements.names import ids_among
from trilens.statements.value import statements_to_fit

#: What a classifier is asked about: ids, names, or statements whose objects are meant.
ObjectsLike: TypeAlias = ArrayLike | Sequence[str] | Objects | StatementsLike | Answers
#: The rule of Liu (1990): the class in which the object is deepest, without learning.
MAX_DEPTH = "max-depth"
#: How an object came by its label.
GIVEN, NEIGHBOURS, NEAREST, UNKNOWN = "given", "neighbours", "nearest", "unknown"
#: The paper's rule for an object without a neighbour below the threshold.
RANDOM = "random"
#: Cells of a block of objects against the labelled ones; beyond, V is found block by block.
_MOST_CELLS = 1 << 24
#: Of more labelled objects so many are left out, evenly chosen.
_MOST_LEFT_OUT = 2000
#: Dimensions that cross-validation chooses from, as far as there are objects for them.
DIMENSIONS = (2, 5, 10, 20)
#: Labelled objects that choose the parameters on a map; all of them are learnt from.
_MOST_TUNED = 2000


class TransductiveClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier of objects that are all there from the start, some of them labelled.

    Fitting has two parts: `_prepare` looks at the statements alone, `_learn` at the labels too.
    Labels can so be hidden and learnt again without a new map.
    """

    kind: Kind | None
    kind_: Kind
    statements_: Statements
    counts_: Any
    classes_: AnyArray
    transduction_: AnyArray
    chosen_parameters_: dict[str, Any]

    def fit(
        self,
        X: StatementsLike | ClassCounts | LabelledPairCounts | PairCounts | StreamedMap,
        y: LabelsLike,
    ) -> Self:
        """Learn from statements and the labels of some objects.

        Parameters
        ----------
        X : Statements, a table, (m, 3) array, or ``S.objects``
            Statements, or some of their objects: all others are then unlabelled. Or the counts
            that the algorithm is made of, where its notes name them.
        y : dict of labels by name, or (n_objects,) iterable
            Labels of any type; -1, None or NaN for an unlabelled object.
        """
        self.counts_ = None
        if hasattr(X, "appears"):
            self.counts_ = X
            X = _objects_of(X)
        elif isinstance(X, StreamedMap):
            X = _nothing_about(X.names, len(X.names), X.counts.kind)
        statements = statements_to_fit(X, self.kind, self)
        self._check_kind(statements.kind)
        return self._fit(statements, encode_labels(labels_of_all(X, y), statements.names))

    def _fit(self, statements: Statements, labels: ClassCodes) -> Self:
        self.statements_, self.kind_ = statements, statements.kind
        self._labels = labels
        self.classes_ = labels.classes
        self._prepare(statements)
        self.transduction_ = self.classes_[self._learn(labels)]
        return self

    def predict(self, objects: ObjectsLike | None = None) -> AnyArray:
        """The labels of some objects.

        Parameters
        ----------
        objects : Statements, a table, (m, 3) array, ``S.objects``, ids or names, optional
            Of statements all objects are meant, in their order; what the statements say changes
            nothing. By default all objects that were fitted.
        """
        check_is_fitted(self, "transduction_")
        return self.transduction_[self._ids_of(objects)]

    def _ids_of(self, objects: ObjectsLike | None) -> IntArray:
        """The ids that objects had in the fit."""
        fitted, given = self.statements_, cast(Any, objects)
        if given is None:
            return np.arange(fitted.n_objects)
        if isinstance(given, Objects):
            return np.asarray(fitted.object_ids(list(given.names)))
        table = is_table(given) and getattr(given, "ndim", 2) == 2
        if not table and not isinstance(given, Statements | Answers):
            listed = as_array(given, "objects")
            if listed.ndim != 2:
                return np.asarray(fitted.object_ids(listed))
        asked = as_statements(given, self.kind_)
        n, n_fitted = asked.n_objects, fitted.n_objects
        ids = ids_among(asked._names, n, fitted._names, n_fitted, "among those of the fit")
        return np.arange(n) if ids is None else ids

    def score(self, X: StatementsLike, y: LabelsLike) -> float:
        """The share of the labels ``y`` that equal the fitted ones.

        Objects that were labelled when fitting keep their labels, so hide in `fit` what is to
        be scored here.
        """
        check_is_fitted(self, "transduction_")
        given = label_of_each(labels_of_all(X, y), self.statements_.names)
        known = [i for i, label in enumerate(given) if label is not None]
        if known and len({isinstance(x, str) for x in (given[known[0]], self.classes_[0])}) > 1:
            raise LabelError(
                f"a label is {given[known[0]]!r}, but the classes are {shown(self.classes_)}; give "
                f"both as text or both as numbers"
            )
        right = [self.transduction_[i] == given[i] for i in known]
        return float(np.mean(right)) if right else float("nan")

    def _check_kind(self, kind: str) -> None:
        """Refuse the kinds of statements that the method does not serve."""

    def _prepare(self, statements: Statements) -> None:
        """What can be learnt without labels."""

    def _agreeing(self, labels: ClassCodes, objects: IntArray, k: int) -> FloatArray | None:
        """How many of the k nearest labelled others have the label of each object.

        None where the method knows no nearest.
        """
        return None

    def _neighbours(self, labels: ClassCodes, k: int) -> IntArray | None:
        """The k nearest labelled others of each labelled object, as places among these.

        They must not depend on which label is whose. None where the method knows no nearest.
        """
        return None

    @abstractmethod
    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        """The class of every object, those of the labelled ones as given.

        Where some unlabelled objects are ``wanted``, the others may be left at -1.
        """


class CountedClassifier(TransductiveClassifier):
    """A classifier that learns from counts, which can grow."""

    def partial_fit(
        self,
        X: StatementsLike | ClassCounts | LabelledPairCounts,
        y: LabelsLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """As `fit` to all statements so far: those of `fit`, of earlier calls, and these.

        Parameters
        ----------
        X : as in `fit`
            About the same objects each time.
        y : as in `fit`
            Of the first call; later it may be left out, and must not change.
        classes : array, optional
            As scikit-learn passes it. The labels of the first call tell the classes: theirs
            must be among these.
        """
        self._refuse_unknown()
        counted = hasattr(X, "appears")
        given = _objects_of(X) if counted else statements_to_fit(X, self.kind, self)  # type: ignore[arg-type]
        self._check_kind(given.kind)
        objects, before = given, None
        if hasattr(self, "transduction_"):
            objects, labels = self.statements_, self._labels
            if objects.n_objects != given.n_objects or (
                not counted and objects.names != given.names
            ):
                raise ParameterError(
                    "these statements are about other objects than those before; give all the "
                    "same names, in the same order"
                )
            again = labels if y is None else encode_labels(labels_of_all(X, y), objects.names)
            if again.given != labels.given:
                raise LabelError("y has other labels than before; fit to all statements anew")
            before = self._counted(labels)
        elif y is None:
            raise LabelError("y is missing; the first partial_fit needs the labels")
        else:
            labels = encode_labels(labels_of_all(X, y), given.names)
        if classes is not None and not set(labels.classes.tolist()) <= set(np.ravel(classes)):
            raise LabelError("y has labels that are not among classes; leave classes out")
        more = self._checked(X, labels) if counted else self._count(given, labels)
        self.counts_ = more if before is None else before + more
        return self._fit(objects.take(np.zeros(0, dtype=np.intp)), labels)

    def _counted(self, labels: ClassCodes) -> Any:
        """The counts of what the classifier was fitted to."""
        if self.counts_ is None:
            return self._count(self.statements_, labels)
        return self._checked(self.counts_, labels)

    def _refuse_unknown(self) -> None:
        """Refuse parameters that counts cannot serve."""

    @abstractmethod
    def _count(self, statements: Statements, labels: ClassCodes) -> Any:
        """The counts that the algorithm is made of."""

    @abstractmethod
    def _checked(self, counts: Any, labels: ClassCodes) -> Any:
        """Counts that a caller made, if they are of this kind and under these labels."""


def _objects_of(counts: Any) -> Statements:
    """The objects of counts, numbered, with no statement about them."""
    if not isinstance(counts, ClassCounts | LabelledPairCounts | PairCounts):
        raise ParameterError(
            f"a classifier needs statements, ClassCounts (Algorithm 3), LabelledPairCounts "
            f"(Algorithm 4) or PairCounts (the lens map), not {type(counts).__name__}"
        )
    kind: Kind = counts.kind if isinstance(counts, PairCounts) else "central"
    names = counts.names if isinstance(counts, PairCounts) else None
    return _nothing_about(names, int(counts.appears.shape[0]), kind)


def _nothing_about(names: Sequence[str] | None, n_objects: int, kind: Kind) -> Statements:
    """No statements about objects of which only counts, or a map, are there."""
    return Statements(np.empty((0, 3), dtype=np.int32), n_objects, names, kind)


def labels_of_all(X: Any, y: LabelsLike) -> LabelsLike:
    """A label for each object: where ``X`` is a part of the objects, None for the others."""
    if not isinstance(X, Objects):
        return y
    told, part_of = by_name(y), set(X.names)
    # numbers may count the rows of a table from which scikit-learn took some
    if told is not None and (have_names(y) or part_of <= told.keys()):
        others = X.statements.ids.keys() - part_of
        return {name: label for name, label in told.items() if name not in others}
    part = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if len(part) != len(X):
        raise LabelError(f"there are {len(part)} labels for {len(X)} objects; give one for each")
    every: list[Any] = [None] * X.statements.n_objects
    for i, label in zip(X.ids.tolist(), part, strict=True):
        every[i] = label
    return every


def central_only(kind: str, what: str) -> None:
    """Refuse kinds other than ``central``, and say what serves them."""
    if kind != "central":
        raise KindError(
            f"{what} needs statements of kind central, not {kind}; maps serve every kind: use "
            f"{option('method', 'auto')}, or MapClassifier"
        )


def alike(points: FloatArray, labels: ClassCodes, objects: IntArray, k: int) -> IntArray:
    """How many of the k nearest labelled others have the label of each object."""
    nearest = labels.labelled[nearest_labelled(points, labels, objects, k)]
    return np.asarray((labels.codes[nearest] == labels.codes[objects][:, None]).sum(axis=1))


def nearest_labelled(points: FloatArray, labels: ClassCodes, objects: IntArray, k: int) -> IntArray:
    """The k nearest labelled others of each object, as places among the labelled ones."""
    from scipy.spatial.distance import cdist

    labelled = labels.labelled
    distance = cdist(points[objects], points[labelled])
    distance[objects[:, None] == labelled] = np.inf
    return distance.argsort(axis=1, kind="stable")[:, :k]


@dataclass(eq=False, repr=False)
class LensDepthClassifier(CountedClassifier):
    """Classification by lens depth with respect to each class (Algorithm 3).

    Every object is described by its estimated lens depth within each class; an ordinary
    classifier works on these K features.

    Parameters
    ----------
    classifier : str or scikit-learn classifier, optional
        ``"knn"`` (the default), ``"svm-linear"`` or ``"svm-gauss"``, as in the paper, tuned
        over its grids by cross-validation; any other classifier; or ``"max-depth"``, the rule
        of the paper's Section 3.1 without learning: the class in which the object is deepest.
    semi_supervised : bool
        Give the classifier the features of all objects, with the class -1 for an unlabelled
        one, as the classifiers of ``sklearn.semi_supervised`` take them; without it only the
        rows of labelled objects.
    random_state : int, Generator or None
        Of the folds, and of the ties of ``"max-depth"``.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell; by default ``"central"``, which the
        algorithm needs.

    Notes
    -----
    `fit` takes statements of kind ``central``, or their `ClassCounts` under these labels. A
    class with one labelled object has no pair of labelled objects: every depth in it is 0.

    Attributes
    ----------
    classes_ : (K,) array
    features_ : (n_objects, K) array
        LD of every object with respect to every class.
    classifier_ : the fitted classifier
    chosen_parameters_ : dict
        The classifier and what cross-validation chose.
    transduction_ : (n_objects,) array
        The label of every object: as given, or else predicted.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(40, [[0, 0], [9, 0]], random_state=1)
    >>> S = simulate_statements(drawn.points, random_state=2)
    >>> y = ["left" if x < 4.5 else "right" for x in drawn.points[:, 0]]
    >>> model = LensDepthClassifier().fit(S, [*y[:30], *[None] * 10])
    >>> int((model.predict(range(30, 40)) == y[30:]).sum())
    10
    """

    classifier: Any = None
    _: KW_ONLY
    semi_supervised: bool = False
    random_state: RandomState = 0
    kind: Kind | None = None

    def _check_kind(self, kind: str) -> None:
        central_only(kind, "classification by lens depth")

    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        if not isinstance(self.semi_supervised, (bool, np.bool_)):
            raise wrong("semi_supervised", self.semi_supervised, "True or False")
        self.features_ = class_depth(self._counted(labels))
        codes = labels.codes.copy()
        unlabelled = codes < 0
        classifier = "knn" if self.classifier is None else self.classifier
        if isinstance(classifier, str) and classifier == MAX_DEPTH:
            self.classifier_ = None
            self.chosen_parameters_ = {"classifier": MAX_DEPTH}
            codes[unlabelled] = _deepest(self.features_[unlabelled], self.random_state)
            return codes
        seen = ~unlabelled
        if self.semi_supervised:
            if isinstance(classifier, str):
                raise ParameterError(
                    f"{classifier} learns from labelled objects alone; semi_supervised needs a "
                    f"classifier that takes the class -1, such as "
                    f"sklearn.semi_supervised.LabelSpreading()"
                )
            seen[:] = True
        self.classifier_ = tuned_classifier(
            classifier, self.features_[seen], codes[seen], self.random_state
        )
        self.chosen_parameters_ = chosen_parameters(classifier, self.classifier_)
        asked = np.flatnonzero(unlabelled) if wanted is None else wanted
        if len(asked):
            codes[asked] = self.classifier_.predict(self.features_[asked])
        return codes

    def _count(self, statements: Statements, labels: ClassCodes) -> ClassCounts:
        return count_classes(statements, labels.codes, len(labels.classes))

    def _checked(self, counts: Any, labels: ClassCodes) -> ClassCounts:
        n_classes = len(labels.classes)
        if not isinstance(counts, ClassCounts):
            raise ParameterError(
                f"Algorithm 3 needs ClassCounts, not {type(counts).__name__}; count_classes() "
                f"makes them"
            )
        same = counts.labels is None or np.array_equal(counts.labels, labels.codes)
        if not same or counts.appears.shape[1] != n_classes:
            raise LabelError(
                "the counts are under other labels than y; count again, with classes numbered "
                "from 0 on in the order of the sorted labels"
            )
        return counts

    def _agreeing(self, labels: ClassCodes, objects: IntArray, k: int) -> FloatArray:
        return alike(self.features_, labels, objects, k).astype(float)


def _deepest(features: FloatArray, random_state: Any) -> IntArray:
    """The class of highest depth; of several, one at random."""
    rng = generator(random_state)
    highest = features == features.max(axis=1, keepdims=True)
    return np.asarray((highest * (1 + rng.random(features.shape))).argmax(axis=1), dtype=np.int64)


@dataclass(eq=False, repr=False)
class KRNGClassifier(CountedClassifier):
    """Classification by a vote of the neighbours in the estimated k-RNG (Algorithm 4).

    Parameters
    ----------
    k : int, "loo" or sequence of int
        ``"loo"`` takes the k of least leave-one-out error among 1, ..., |L| - 1; a sequence
        names the candidates instead. Every labelled object is left out once, of more than 2000
        so many, where the paper samples twenty: its threshold is then k / (|L| - 2).
    error_rate : float or "estimate"
        The share of wrong answers (Noise model I), for which V is corrected as in eq. (16);
        ``"estimate"`` takes what `trilens.reliability` finds. Where k is chosen by
        leave-one-out it changes which k are tried rather than what comes out.
    alone : {"nearest", "random"}
        What becomes of an object without a labelled object below the threshold: those of least
        V vote, or, as the paper's empty vote has it, a class is drawn at random.
    random_state : int, Generator or None
        Ties of the vote are broken at random.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell; by default ``"central"``, which the
        algorithm needs.

    Notes
    -----
    `fit` takes statements of kind ``central``, or the `LabelledPairCounts` of these labelled
    objects in the order of their ids.

    Attributes
    ----------
    k_ : int
    loo_error_ : float
        The leave-one-out error at ``k_`` (a tie of m classes counts as 1 - 1/m when it holds
        the true one); the average is over all labelled objects.
    loo_errors_ : dict of int to float
        The same for every candidate k.
    error_rate_ : float
    chosen_parameters_ : dict
        ``k``, ``loo_error`` and ``error_rate``.
    classes_, transduction_
        As in `LensDepthClassifier`.
    how_ : (n_objects,) array of str
        ``"given"``; ``"neighbours"``: by the vote; ``"nearest"``: no neighbour in the graph,
        so the labelled objects of least V voted; ``"unknown"``: no statement compares the
        object with two labelled ones, so it gets the most frequent class; ``"random"``: no
        neighbour and ``alone="random"``.

    Examples
    --------
    >>> S = [
    ...     [0, 1, 4],
    ...     [1, 0, 4],
    ...     [2, 3, 5],
    ...     [3, 2, 5],
    ...     [0, 4, 2],
    ...     [2, 5, 1],
    ...     [4, 0, 3],
    ...     [0, 1, 2],
    ...     [1, 0, 3],
    ...     [2, 3, 0],
    ...     [3, 2, 1],
    ... ]
    >>> model = KRNGClassifier(k=1, random_state=0).fit(S, ["a", "a", "b", "b", None, None])
    >>> model.predict([4, 5]).tolist(), model.how_[[0, 4]].tolist()
    (['a', 'b'], ['given', 'neighbours'])
    """

    k: Any = "loo"
    _: KW_ONLY
    error_rate: Any = 0.0
    alone: str = NEAREST
    random_state: RandomState = 0
    kind: Kind | None = None

    def _check_kind(self, kind: str) -> None:
        central_only(kind, "classification by the k-RNG")

    def _prepare(self, statements: Statements) -> None:
        # once: labels that are hidden in turn change nothing about it
        self.error_rate_ = known_error_rate(self.error_rate, statements, self.random_state)

    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        one_of("alone", self.alone, (NEAREST, RANDOM))
        labelled = labels.labelled
        n_labelled = len(labelled)
        candidates = self._candidates(n_labelled)
        values = self._values(labels)
        of_class = np.eye(len(labels.classes), dtype=np.int64)[labels.codes[labelled]]
        # rounded once, and so are the shares: equal fractions are equal floats
        thresholds = [
            float(share_threshold(k, self.error_rate_, max(n_labelled - 2, 1))) for k in candidates
        ]
        errors = _leave_one_out(values, labelled, of_class, thresholds, self.alone)
        self.loo_errors_ = dict(zip(candidates, errors, strict=True))
        self.k_ = min(self.loo_errors_, key=lambda k: (self.loo_errors_[k], k))
        self.loo_error_ = self.loo_errors_[self.k_]
        self.chosen_parameters_ = {"k": self.k_, "loo_error": self.loo_error_}
        if self.error_rate_:
            self.chosen_parameters_["error_rate"] = self.error_rate_

        unlabelled = np.flatnonzero(labels.codes < 0)
        codes = labels.codes.copy()
        how = np.full(len(codes), GIVEN, dtype="<U10")
        threshold = float(share_threshold(self.k_, self.error_rate_, n_labelled - 1))
        asked = unlabelled if wanted is None else wanted
        votes = np.empty((len(asked), len(labels.classes)), dtype=np.int64)
        for part in _blocks(len(asked), n_labelled):
            rows = asked[part]
            votes[part], how[rows] = _votes(values(rows), of_class, threshold, self.alone)
        rng = generator(self.random_state)
        # below one vote: decides between equal votes and nothing else
        less = rng.random((len(unlabelled), votes.shape[1]))[np.searchsorted(unlabelled, asked)] / 2
        codes[asked] = (votes + less).argmax(axis=1)
        self.how_ = how
        return codes

    def _values(self, labels: ClassCodes) -> Callable[[IntArray], FloatArray]:
        """V of some objects against all labelled ones, infinite where nothing is known."""
        labelled = labels.labelled
        if self.counts_ is not None or len(labels.codes) * len(labelled) <= _MOST_CELLS:
            every = _shares(self._counted(labels))
            return lambda objects: every[objects]
        # other statements have no part in any V, and each block of rows looks at all of these
        known = labels.codes >= 0
        both = known[self.statements_.triples].sum(axis=1) >= 2
        some = self.statements_.take(np.flatnonzero(both))
        return lambda objects: _shares(count_labelled_pairs(some, labelled, objects=objects))

    def _refuse_unknown(self) -> None:
        if isinstance(self.error_rate, str):
            raise ParameterError("counts do not tell the error rate; give partial_fit a number")

    def _count(self, statements: Statements, labels: ClassCodes) -> LabelledPairCounts:
        return count_labelled_pairs(statements, labels.labelled)

    def _checked(self, counts: Any, labels: ClassCodes) -> LabelledPairCounts:
        if not isinstance(counts, LabelledPairCounts):
            raise ParameterError(
                f"Algorithm 4 needs LabelledPairCounts, not {type(counts).__name__}; "
                f"count_labelled_pairs() makes them"
            )
        if not np.array_equal(counts.labelled, labels.labelled):
            raise LabelError(
                "the counts are against other labelled objects than those of y; count again, "
                "with the labelled ids in increasing order"
            )
        return counts

    def _candidates(self, n_labelled: int) -> list[int]:
        if isinstance(self.k, str):
            if self.k != "loo":
                raise wrong("k", self.k, "'loo' or whole numbers from 1 on")
            return list(range(1, n_labelled))
        several = isinstance(self.k, Sequence) or getattr(self.k, "ndim", 0) == 1
        listed = self.k if several else [self.k]
        if not len(listed):
            raise ParameterError("k names no candidates; give at least one")
        return [whole_number("k", k, least=1) for k in listed]


def _shares(counts: LabelledPairCounts) -> FloatArray:
    value = np.full(counts.third.shape, np.inf)
    np.divide(counts.third, counts.appears, out=value, where=counts.appears > 0)
    return value


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Rows that are looked at together."""
    size = max(1, _MOST_CELLS // max(n_columns, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _leave_one_out(
    values: Callable[[IntArray], FloatArray],
    labelled: IntArray,
    of_class: IntArray,
    thresholds: Sequence[float],
    alone: str,
) -> list[float]:
    """The leave-one-out error of every threshold, from V of the labelled objects.

    One sorting of an object's values serves every k: the votes below a threshold are those of
    a first part of the sorted voters.
    """
    n, n_classes = of_class.shape
    right = np.zeros(len(thresholds))
    left_out = np.arange(n)
    if n > _MOST_LEFT_OUT:
        left_out = np.linspace(0, n - 1, _MOST_LEFT_OUT).astype(np.int64)
    for part in _blocks(len(left_out), n):
        for i, own in zip(left_out[part], values(labelled[left_out[part]]), strict=True):
            # the object that is left out has no voice in its own vote
            others = np.delete(np.arange(n), i)
            order = others[np.argsort(own[others], kind="stable")]
            ranked = own[order]
            voices = np.zeros((n, n_classes), dtype=np.int64)
            np.cumsum(of_class[order], axis=0, out=voices[1:])
            # without a neighbour below the threshold those of least V vote, or nobody
            least = np.searchsorted(ranked, ranked[0], side="right") if alone == NEAREST else 0
            votes = voices[np.maximum(np.searchsorted(ranked, thresholds, side="left"), least)]
            winners = votes == votes.max(axis=1, keepdims=True)
            right += winners[:, of_class[i].argmax()] / winners.sum(axis=1)
    errors: list[float] = (1 - right / len(left_out)).tolist()
    return errors


def _votes(
    value: FloatArray, of_class: IntArray, threshold: float, alone: str
) -> tuple[IntArray, AnyArray]:
    """Votes of the labelled objects with V < threshold; where there are none, as ``alone`` says."""
    near = value < threshold
    how = np.full(len(value), NEIGHBOURS, dtype="<U10")
    empty = ~near.any(axis=1)
    if alone == RANDOM:
        how[empty] = RANDOM
    elif empty.any():
        least = np.nanmin(value[empty], axis=1, keepdims=True)
        how[empty] = np.where(np.isfinite(least[:, 0]), NEAREST, UNKNOWN)
        # where even the least is infinite, all labelled objects vote: the most frequent class
        near[empty] = value[empty] == least
    return near.astype(np.int64) @ of_class, how


def _gives_probabilities(classifier: MapClassifier) -> bool:
    """Whether the classifier on the map has probabilities; the error says which have."""
    chosen = getattr(classifier, "classifier_", classifier.classifier)
    if chosen is None or chosen == "knn" or hasattr(chosen, "predict_proba"):
        return True
    raise AttributeError(
        f"the classifier {shown(classifier.classifier)} gives no probabilities; take 'knn', or a "
        f"scikit-learn classifier that has predict_proba"
    )


@dataclass(eq=False, repr=False)
class MapClassifier(TransductiveClassifier):
    """Classification on the coordinates of a map, for statements of any kind.

    The map uses every statement, also those about unlabelled objects; the classifier then
    learns from the coordinates of the labelled ones, rescaled to diameter 2.

    Parameters
    ----------
    classifier : None, str or scikit-learn classifier
        ``"knn"`` (the default), ``"svm-linear"`` or ``"svm-gauss"``, tuned over the paper's grid
        by up to 10-fold cross-validation; any other classifier is fitted as it is.
    n_components : "cv", "gap", int or sequence of int
        The dimensions of the map. For the choice map ``"cv"`` leaves them to the map, which
        looks at answers alone and at no label; for the others it takes the one of 2, 5, 10 and
        20 with the best cross-validated accuracy (of equals the smallest). A sequence names
        the candidates; ``"gap"`` as in `LensMap`.
    map : {"auto", "choice", "lensmap", "soe", "ste", "tste", "gnmds"} or map estimator
        Where the coordinates come from. ``"auto"``: as `trilens.classify` has it, the choice map
        where there are enough answers, and else the lens map. An estimator, such as
        ``SOE(3)``, is cloned; its dimensions are its own.
    model : AnswerModel, ChoiceMap or StreamedMap, optional
        The map of the same statements, where it has been made already.
    shrinkage, error_rate, power
        Of `LensMap`, which is what ``"auto"`` takes where one of them is given; the other maps do
        not use them. ``error_rate="estimate"`` takes what `trilens.reliability` finds.
    random_state : int, Generator or None
        For the folds of the cross-validation, and the start of the other maps.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell; by default ``"central"``.

    Attributes
    ----------
    transduction_ : (n_objects,) array
        A label for every object; that of a labelled one is as given.
    classes_ : (K,) array
    kind_ : {"central", "odd", "closer"}
    map_ : str
        The map that was taken.
    embedding_ : (n_objects, n_components_) float64
    n_components_ : int
    cv_scores_ : dict of int to float
        The cross-validated accuracy of each candidate; empty where there was no choice.
    chosen_parameters_ : dict
        The classifier, what its cross-validation chose, and ``n_components``.
    classifier_
        The fitted classifier.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> points = mixture(40, means=[[0, 0], [9, 0]], random_state=0)
    >>> S = simulate_statements(points, 2000, random_state=1)
    >>> y = points.labels.copy()
    >>> y[::2] = -1
    >>> model = MapClassifier(random_state=0).fit(S, y)
    >>> bool((model.transduction_ == points.labels).mean() > 0.9)
    True
    """

    classifier: Any = None
    n_components: Any = "cv"
    _: KW_ONLY
    map: str | MapEstimator = "auto"
    model: AnswerModel | ChoiceMap | StreamedMap | None = None
    shrinkage: float = 1.0
    error_rate: Any = 0.0
    power: Any = "auto"
    random_state: RandomState = 0
    kind: Kind | None = None

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, objects: ObjectsLike | None = None) -> FloatArray:
        """The probability of each class for some objects, (len(objects), K).

        That of ``classifier_`` at the object's place; 1 for the label of a labelled object.

        Parameters
        ----------
        objects
            As in `predict`.
        """
        check_is_fitted(self, "transduction_")
        ids = self._ids_of(objects)
        codes = self._labels.codes[ids]
        found = np.zeros((len(ids), len(self.classes_)))
        found[np.flatnonzero(codes >= 0), codes[codes >= 0]] = 1.0
        if (codes < 0).any():
            places = self.embedding_[ids[codes < 0]]
            found[np.ix_(codes < 0, self.classifier_.classes_)] = self.classifier_.predict_proba(
                places
            )
        return found

    def _prepare(self, statements: Statements) -> None:
        self._answers: AnswerModel | None = None
        rng = generator(self.random_state)
        self._seed, map_seed = (int(part) for part in rng.integers(2**31, size=2))
        self.map_ = self._name_of_map(statements)
        if asked_from_outside(self) and not isinstance(self.map, MapEstimator):
            warn_of_unmentioned(statements, "their labels mean nothing")
        if isinstance(self.map, MapEstimator):
            self._maps = [rescaled(self._fitted(self.map, statements, map_seed))]
            return
        if self.map_ == "choice" and is_whole(self.random_state):
            map_seed = seed_of(self.random_state)  # as `classify` has it
        if isinstance(self.model, StreamedMap):
            self._maps = self._of_files(self.model)
            return
        model = check_model(self.model, statements, map_seed)
        self.error_rate_ = known_error_rate(self.error_rate, statements, map_seed, model)
        if self.map_ == "choice" and isinstance(self.n_components, str):
            if self.n_components != "cv":
                raise ParameterError(
                    f"n_components is {shown(self.n_components)}; of the choice map it must be "
                    f"'cv' or whole numbers from 1 on"
                )
            self._answers = model or answer_model(statements, map_seed)
            self._maps = [rescaled(self._answers.map.embedding_)]
            return
        given: Any = statements
        if isinstance(self.counts_, PairCounts):
            if self.map_ != "lensmap":
                raise ParameterError(
                    f"{self.map_} needs the statements; counts suffice for lensmap"
                )
            given = self.counts_
        elif self.map_ == "lensmap":
            given = count_pairs(statements)
        self._maps = [
            rescaled(self._map(d, map_seed).fit(given).embedding_)
            for d in self._candidates(statements.n_objects)
        ]

    def _name_of_map(self, statements: Statements) -> str:
        if isinstance(self.map, MapEstimator):
            if not (isinstance(self.n_components, str) and self.n_components == "cv"):
                raise ParameterError(
                    f"n_components is {shown(self.n_components)}, but the map has its own; leave "
                    f"it out, or give {type(self.map).__name__}({self.n_components!r})",
                    parameter="n_components",
                )
            return type(self.map).__name__
        one_of("map", self.map, ("auto", *MAPS))
        if self.map != "auto":
            return self.map
        if isinstance(self.model, StreamedMap):
            return self.model.method
        if self.model is not None:
            return "choice"
        of_lens_map = (self.shrinkage, self.error_rate, self.power) != (1.0, 0.0, "auto")
        gap = isinstance(self.n_components, str) and self.n_components == "gap"
        if of_lens_map or gap or isinstance(self.counts_, PairCounts):
            return "lensmap"
        return choose_method("classify", statements)

    def _fitted(self, wanted: MapEstimator, statements: Statements, seed: int) -> FloatArray:
        """The coordinates of a map that was given, not fitted."""
        given: Any = statements
        if isinstance(self.counts_, PairCounts):
            if not isinstance(wanted, LensMap):
                raise ParameterError(
                    f"{self.map_} needs the statements; counts suffice for lensmap"
                )
            given = self.counts_
        fitted: Any = clone(wanted)
        fitted.fit(given)
        fitted.tell_doubts()
        if isinstance(fitted, ChoiceMap):
            self._answers = AnswerModel(statements, fitted, seed)
        return np.asarray(fitted.embedding_)

    def _of_files(self, placed: StreamedMap) -> list[FloatArray]:
        """The map of files, and of a lens map its leading dimensions."""
        widths = [placed.embedding.shape[1]]
        if self.map_ == "lensmap" and isinstance(self.n_components, str):
            widths = [d for d in DIMENSIONS if d < widths[0]] + widths
        return [rescaled(placed.embedding[:, :width]) for width in widths]

    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        labelled = labels.labelled
        codes = labels.codes[labelled]
        classifier = "knn" if self.classifier is None else self.classifier
        some = self._tuned_by(codes)
        found = []
        self.cv_scores_ = {}
        for points in self._maps:
            X, y = points[labelled[some]], codes[some]
            model = tuned_classifier(classifier, X, y, self._seed)
            score = 0.0
            if len(self._maps) > 1:
                score = cross_validated(model, X, y, self._seed)
                self.cv_scores_[points.shape[1]] = score
            found.append((score, points, model))
        # of equally good ones the first, in the fewest dimensions
        _, self.embedding_, self.classifier_ = max(found, key=lambda each: each[0])
        if len(some) < len(labelled):
            self.classifier_.fit(self.embedding_[labelled], codes)
        self.n_components_ = int(self.embedding_.shape[1])
        self.chosen_parameters_ = {
            **chosen_parameters(classifier, self.classifier_),
            "map": self.map_,
            "n_components": self.n_components_,
        }
        everywhere = labels.codes.copy()
        asked = np.flatnonzero(everywhere < 0) if wanted is None else wanted
        if len(asked):
            everywhere[asked] = self.classifier_.predict(self.embedding_[asked])
        return everywhere

    def _tuned_by(self, codes: IntArray) -> IntArray:
        """The labelled objects that choose the parameters: all, or of very many some."""
        some = np.arange(len(codes))
        if len(codes) > _MOST_TUNED:
            rng = np.random.default_rng(self._seed)
            drawn = np.sort(rng.choice(len(codes), _MOST_TUNED, replace=False))
            if len(np.unique(codes[drawn])) > 1:
                return drawn
        return some

    def _agreeing(self, labels: ClassCodes, objects: IntArray, k: int) -> FloatArray:
        maps = [self.embedding_]
        if self._answers is not None:
            # a place on the map that other answers would not confirm contradicts nothing
            maps = self._answers.resampled_maps
        found = [alike(points, labels, objects, k) for points in maps]
        return np.asarray(np.mean(found, axis=0))

    def _neighbours(self, labels: ClassCodes, k: int) -> IntArray:
        # on all maps: the one that was taken may have been chosen by the labels
        found = [nearest_labelled(points, labels, labels.labelled, k) for points in self._maps]
        return np.hstack(found)

    def _candidates(self, n_objects: int) -> list[Any]:
        if isinstance(self.n_components, str):
            if self.n_components == "cv":
                return [d for d in DIMENSIONS if d < n_objects] or [max(n_objects - 1, 1)]
            if self.n_components == "gap" and self.map_ == "lensmap":
                return ["gap"]
            raise wrong(
                "n_components",
                self.n_components,
                "'cv', whole numbers from 1 on, or 'gap' for the lens map",
            )
        several = (
            isinstance(self.n_components, Sequence) or getattr(self.n_components, "ndim", 0) == 1
        )
        listed = self.n_components if several else [self.n_components]
        if not len(listed):
            raise ParameterError("n_components names no candidates; give at least one")
        return sorted(whole_number("n_components", d, least=1) for d in listed)

    def _map(self, n_components: Any, seed: int) -> Any:
        of_lens_map = {
            "shrinkage": self.shrinkage,
            "error_rate": self.error_rate_,
            "power": self.power,
        }
        parameters = of_lens_map if self.map_ == "lensmap" else {}
        return make_map(self.map_, n_components, seed, **parameters)


@dataclass(eq=False, repr=False, kw_only=True)
class LensMapClassifier(MapClassifier):
    """`MapClassifier` on the lens map; parameters and attributes as there."""

    map: str | MapEstimator = "lensmap"
