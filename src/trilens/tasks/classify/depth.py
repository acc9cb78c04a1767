"""`LensDepthClassifier`: Algorithm 3."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trilens.counts import count_classes
from trilens.depth import class_depth
from trilens.statements import StatementsLike, as_statements
from trilens.statements.value import require_kind
from trilens.tasks.classify.labels import encode_labels
from trilens.tasks.classify.transduction import TransductiveClassifier
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

    def fit(self, X: StatementsLike, y: Iterable[Any]) -> LensDepthClassifier:
        """Learn from statements and the labels of some objects.

        Parameters
        ----------
        X : Statements or (m, 3) array
            Of kind ``central``.
        y : (n_objects,) iterable
            Labels; -1 or None for an unlabelled object.
        """
        statements = as_statements(X)
        require_kind(
            statements.kind,
            ["central"],
            "classification by lens depth",
            "the lens map (method='lensmap', LensMapClassifier) serves every kind",
        )
        labels = encode_labels(y, statements.n_objects)
        self.statements_ = statements
        self.classes_ = labels.classes
        self.features_ = class_depth(count_classes(statements, labels.codes, len(labels.classes)))
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
        self.transduction_ = self.classes_[codes]
        return self
