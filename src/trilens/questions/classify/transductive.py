"""A classifier of objects that are all there from the start, some of them labeled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import shown
from trilens._sklearn import BaseEstimator, ClassifierMixin
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.answers import Answers
from trilens.counts import ClassCounts, LabelledPairCounts, PairCounts
from trilens.errors import LabelError, ParameterError
from trilens.maps.estimator import of_statements
from trilens.questions.labels import (
    ClassCodes,
    LabelsLike,
    by_name,
    encode_labels,
    have_names,
    label_of_each,
)
from trilens.statements import Kind, Objects, Statements, StatementsLike, as_statements
from trilens.statements.columns import as_array, is_table
from trilens.statements.names import ids_among
from trilens.statements.value import statements_to_fit

#: What a classifier is asked about: ids, names, or statements whose objects are meant.
ObjectsLike: TypeAlias = ArrayLike | Sequence[str] | Objects | StatementsLike | Answers

#: Labeled objects whose distances to others are sorted; among more a tree finds the nearest.
_MANY = 2000


class TransductiveClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of objects that are all there from the start, some of them labeled.

    Fitting has two parts: `_prepare` looks at the statements alone, `_learn` at the labels too.
    Labels can so be hidden and learned again without a new map.
    """

    #: The only kind that is taken; None where every kind is.
    _only: ClassVar[Kind | None] = None
    kind: Kind | None
    kind_: Kind
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
            Statements, or some of their objects: all others are then unlabeled. Or the counts
            that the algorithm is made of, where its notes name them.
        y : dict of labels by name, or (n_objects,) iterable
            Labels of any type; -1, None or NaN for an unlabeled object.
        """
        self.counts_ = None
        if hasattr(X, "appears"):
            self.counts_ = X
            X = objects_of(X)
        statements = statements_to_fit(X, self.kind, self, self._only)
        self._check_kind(statements.kind)
        return self._fit(statements, encode_labels(labels_of_all(X, y), statements.names))

    def _fit(self, statements: Statements, labels: ClassCodes) -> Self:
        self.statements_, self.kind_ = statements, statements.kind
        self._labels = labels
        self.classes_ = labels.classes
        self._prepare(statements)
        self.transduction_ = self.classes_[self._learn(labels)]
        return self

    def __sklearn_tags__(self) -> Tags:
        return of_statements(super().__sklearn_tags__())

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

        Objects that were labeled when fitting keep their labels, so hide in `fit` what is to
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
        """What can be learned without labels."""

    def _agreeing(self, labels: ClassCodes, objects: IntArray, k: int) -> FloatArray | None:
        """How many of the k nearest labeled others have the label of each object.

        None where the method knows no nearest.
        """
        return None

    def _neighbours(self, labels: ClassCodes, k: int) -> IntArray | None:
        """The k nearest labeled others of each labeled object, as places among these.

        They must not depend on which label is whose. None where the method knows no nearest.
        """
        return None

    @abstractmethod
    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        """The class of every object, those of the labeled ones as given.

        Where some unlabeled objects are ``wanted``, the others may be left at -1.
        """


def objects_of(counts: Any) -> Statements:
    """The objects of counts, numbered, with no statement about them."""
    if not isinstance(counts, ClassCounts | LabelledPairCounts | PairCounts):
        raise ParameterError(
            f"a classifier needs statements, ClassCounts (Algorithm 3), LabelledPairCounts "
            f"(Algorithm 4) or PairCounts (the lens map), not {type(counts).__name__}"
        )
    kind: Kind = counts.kind if isinstance(counts, PairCounts) else "central"
    names = counts.names if isinstance(counts, PairCounts) else None
    return nothing_about(names, int(counts.appears.shape[0]), kind)


def nothing_about(names: Sequence[str] | None, n_objects: int, kind: Kind) -> Statements:
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


def alike(points: FloatArray, labels: ClassCodes, objects: IntArray, k: int) -> IntArray:
    """How many of the k nearest labeled others have the label of each object."""
    nearest = labels.labelled[nearest_labelled(points, labels, objects, k)]
    return np.asarray((labels.codes[nearest] == labels.codes[objects][:, None]).sum(axis=1))


def nearest_labelled(points: FloatArray, labels: ClassCodes, objects: IntArray, k: int) -> IntArray:
    """The k nearest labeled others of each object, as places among the labeled ones."""
    from scipy.spatial import KDTree
    from scipy.spatial.distance import cdist

    labelled = labels.labelled
    if len(labelled) > _MANY:
        near = np.asarray(KDTree(points[labelled]).query(points[objects], k + 1)[1])
        others = labelled[near] != objects[:, None]
        others[others.all(axis=1), -1] = False
        return np.asarray(near[others].reshape(len(objects), k))
    distance = cdist(points[objects], points[labelled])
    distance[objects[:, None] == labelled] = np.inf
    return distance.argsort(axis=1, kind="stable")[:, :k]
