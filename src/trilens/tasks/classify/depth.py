"""`LensDepthClassifier`: Algorithm 3."""

from __future__ import annotations

from typing import Any

from trilens._typing import FloatArray, IntArray
from trilens.counts import count_classes
from trilens.depth import class_depth
from trilens.tasks.classify.labels import Labels
from trilens.tasks.classify.transduction import TransductiveClassifier, alike, central_only
from trilens.tasks.classify.tuning import chosen_parameters, tuned_classifier


class LensDepthClassifier(TransductiveClassifier):
    """Classification by lens depth with respect to each class (Algorithm 3).

    Every object is described by its estimated lens depth within each class; an ordinary
    classifier works on these K features.

    Parameters
    ----------
    classifier : str or scikit-learn classifier, optional
        ``"knn"`` (the default), ``"svm-linear"`` or ``"svm-gauss"``, as in the paper, tuned
        over its grids by cross-validation; or any other classifier.
    random_state : int, Generator or None
        Of the folds.

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

    def __init__(self, classifier: Any = None, random_state: Any = None) -> None:
        self.classifier = classifier
        self.random_state = random_state

    def _check_kind(self, kind: str) -> None:
        central_only(kind, "classification by lens depth")

    def _learn(self, labels: Labels) -> IntArray:
        counts = count_classes(self.statements_, labels.codes, len(labels.classes))
        self.features_ = class_depth(counts)
        labelled = labels.labelled
        classifier = "knn" if self.classifier is None else self.classifier
        self.classifier_ = tuned_classifier(
            classifier, self.features_[labelled], labels.codes[labelled], self.random_state
        )
        self.chosen_parameters_ = chosen_parameters(classifier, self.classifier_)
        codes = labels.codes.copy()
        unlabelled = codes < 0
        if unlabelled.any():
            codes[unlabelled] = self.classifier_.predict(self.features_[unlabelled])
        return codes

    def _agreeing(self, labels: Labels, objects: IntArray, k: int) -> FloatArray:
        return alike(self.features_, labels, objects, k).astype(float)
