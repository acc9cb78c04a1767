"""What the classifiers share: they label the objects that they were fitted on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.counts import ClassCounts, LabelledPairCounts, PairCounts
from trilens.errors import KindError, LabelError, ParameterError
from trilens.statements import Objects, Statements, StatementsLike, as_statements
from trilens.tasks.classify.labels import Labels, LabelsLike, encode_labels


class TransductiveClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier of objects that are all there from the start, some of them labelled.

    Fitting has two parts: `_prepare` looks at the statements alone, `_learn` at the labels too.
    Labels can so be hidden and learnt again without a new map.
    """

    statements_: Statements
    counts_: Any
    classes_: AnyArray
    transduction_: AnyArray
    chosen_parameters_: dict[str, Any]

    def fit(
        self, X: StatementsLike | ClassCounts | LabelledPairCounts | PairCounts, y: LabelsLike
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
        statements = as_statements(X)
        self._check_kind(statements.kind)
        return self._fit(statements, encode_labels(labels_of_all(X, y), statements))

    def _fit(self, statements: Statements, labels: Labels) -> Self:
        self.statements_ = statements
        self._labels = labels
        self.classes_ = labels.classes
        self._prepare(statements)
        self.transduction_ = self.classes_[self._learn(labels)]
        return self

    def predict(self, objects: ArrayLike | Sequence[str] | Objects | None = None) -> AnyArray:
        """The labels of ``objects`` (ids, names or ``S.objects``), or of all of them."""
        check_is_fitted(self, "transduction_")
        if objects is None:
            return self.transduction_
        if isinstance(objects, Objects):
            return self.transduction_[self.statements_.object_ids(list(objects.names))]
        return self.transduction_[self.statements_.object_ids(objects)]

    def score(self, X: StatementsLike, y: LabelsLike) -> float:
        """The share of the labels ``y`` that equal the fitted ones.

        Objects that were labelled when fitting keep their labels, so hide in `fit` what is to
        be scored here.
        """
        from trilens.tasks.classify.labels import label_of_each

        check_is_fitted(self, "transduction_")
        given = label_of_each(labels_of_all(X, y), self.statements_)
        known = [i for i, label in enumerate(given) if label is not None]
        right = [self.transduction_[i] == given[i] for i in known]
        return float(np.mean(right)) if right else float("nan")

    def _check_kind(self, kind: str) -> None:
        """Refuse the kinds of statements that the method does not serve."""

    def _prepare(self, statements: Statements) -> None:
        """What can be learnt without labels."""

    def _agreeing(self, labels: Labels, objects: IntArray, k: int) -> FloatArray | None:
        """How many of the k nearest labelled others have the label of each object.

        None where the method knows no nearest.
        """
        return None

    def _neighbours(self, labels: Labels, k: int) -> IntArray | None:
        """The k nearest labelled others of each labelled object, as places among these.

        They must not depend on which label is whose. None where the method knows no nearest.
        """
        return None

    @abstractmethod
    def _learn(self, labels: Labels) -> IntArray:
        """The class of every object, those of the labelled ones as given."""


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
        given = _objects_of(X) if counted else as_statements(X)  # type: ignore[arg-type]
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
            if y is not None and encode_labels(labels_of_all(X, y), objects).given != labels.given:
                raise LabelError("y has other labels than before; fit to all statements anew")
            before = self._counted(labels)
        elif y is None:
            raise LabelError("y is missing; the first partial_fit needs the labels")
        else:
            labels = encode_labels(labels_of_all(X, y), given)
        if classes is not None and not set(labels.classes.tolist()) <= set(np.ravel(classes)):
            raise LabelError("y has labels that are not among classes; leave classes out")
        more = self._checked(X, labels) if counted else self._count(given, labels)
        self.counts_ = more if before is None else before + more
        return self._fit(objects.take(np.zeros(0, dtype=np.intp)), labels)

    def _counted(self, labels: Labels) -> Any:
        """The counts of what the classifier was fitted to."""
        if self.counts_ is None:
            return self._count(self.statements_, labels)
        return self._checked(self.counts_, labels)

    def _refuse_unknown(self) -> None:
        """Refuse parameters that counts cannot serve."""

    @abstractmethod
    def _count(self, statements: Statements, labels: Labels) -> Any:
        """The counts that the algorithm is made of."""

    @abstractmethod
    def _checked(self, counts: Any, labels: Labels) -> Any:
        """Counts that a caller made, if they are of this kind and under these labels."""


def _objects_of(counts: Any) -> Statements:
    """The objects of counts, numbered, with no statement about them."""
    if not isinstance(counts, ClassCounts | LabelledPairCounts | PairCounts):
        raise ParameterError(
            f"a classifier needs statements, ClassCounts (Algorithm 3), LabelledPairCounts "
            f"(Algorithm 4) or PairCounts (the lens map), not {type(counts).__name__}"
        )
    kind = counts.kind if isinstance(counts, PairCounts) else "central"
    names = counts.names if isinstance(counts, PairCounts) else None
    none = np.empty((0, 3), dtype=np.int32)
    return Statements(none, int(counts.appears.shape[0]), names, kind)


def labels_of_all(X: Any, y: LabelsLike) -> LabelsLike:
    """A label for each object: where ``X`` is a part of the objects, None for the others."""
    if not isinstance(X, Objects) or isinstance(y, Mapping):
        return y
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
            f"{what} needs statements of kind central, not {kind}; a map (method='auto', "
            f"MapClassifier) serves every kind"
        )


def alike(points: FloatArray, labels: Labels, objects: IntArray, k: int) -> IntArray:
    """How many of the k nearest labelled others have the label of each object."""
    nearest = labels.labelled[nearest_labelled(points, labels, objects, k)]
    return np.asarray((labels.codes[nearest] == labels.codes[objects][:, None]).sum(axis=1))


def nearest_labelled(points: FloatArray, labels: Labels, objects: IntArray, k: int) -> IntArray:
    """The k nearest labelled others of each object, as places among the labelled ones."""
    from scipy.spatial.distance import cdist

    labelled = labels.labelled
    distance = cdist(points[objects], points[labelled])
    distance[objects[:, None] == labelled] = np.inf
    return distance.argsort(axis=1, kind="stable")[:, :k]
