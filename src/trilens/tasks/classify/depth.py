"""`LensDepthClassifier`: Algorithm 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._parameters import generator, shown
from trilens._typing import FloatArray, IntArray
from trilens.counts import ClassCounts, count_classes
from trilens.depth import class_depth
from trilens.errors import LabelError, ParameterError
from trilens.statements import Statements
from trilens.tasks.classify.labels import Labels
from trilens.tasks.classify.transduction import CountedClassifier, alike, central_only
from trilens.tasks.classify.tuning import chosen_parameters, tuned_classifier

#: The rule of Liu (1990): the class in which the object is deepest, without learning.
MAX_DEPTH = "max-depth"


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

    def __init__(
        self, classifier: Any = None, *, semi_supervised: bool = False, random_state: Any = None
    ) -> None:
        self.classifier = classifier
        self.semi_supervised = semi_supervised
        self.random_state = random_state

    def _check_kind(self, kind: str) -> None:
        central_only(kind, "classification by lens depth")

    def _learn(self, labels: Labels) -> IntArray:
        if not isinstance(self.semi_supervised, (bool, np.bool_)):
            raise ParameterError(
                f"semi_supervised is {shown(self.semi_supervised)}; it must be True or False"
            )
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
        if unlabelled.any():
            codes[unlabelled] = self.classifier_.predict(self.features_[unlabelled])
        return codes

    def _count(self, statements: Statements, labels: Labels) -> ClassCounts:
        return count_classes(statements, labels.codes, len(labels.classes))

    def _checked(self, counts: Any, labels: Labels) -> ClassCounts:
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

    def _agreeing(self, labels: Labels, objects: IntArray, k: int) -> FloatArray:
        return alike(self.features_, labels, objects, k).astype(float)


def _deepest(features: FloatArray, random_state: Any) -> IntArray:
    """The class of highest depth; of several, one at random."""
    rng = generator(random_state)
    highest = features == features.max(axis=1, keepdims=True)
    return np.asarray((highest * (1 + rng.random(features.shape))).argmax(axis=1), dtype=np.int64)
