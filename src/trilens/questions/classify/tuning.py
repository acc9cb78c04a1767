"""The classifiers that go on top of features: k-NN and SVMs with the paper's grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from trilens._parameters import generator, whole_number, wrong
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.errors import ParameterError

#: Sections 6.1.3 and 6.2.3 of the paper.
NEIGHBOURS = (1, 3, 5, 7, 11, 15, 23)
REGULARISATION = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1000)
BANDWIDTH = (0.01, 0.05, 0.1, 0.5, 1, 5)

NAMES = ("knn", "svm-linear", "svm-gauss")


def tuned_classifier(classifier: Any, X: FloatArray, y: AnyArray, random_state: Any = 0) -> Any:
    """A classifier fitted to ``(X, y)``.

    ``"knn"``, ``"svm-linear"`` and ``"svm-gauss"`` (one-vs-all for several classes) are tuned over
    the paper's grid, the middle one of equally good parameters taken: SVMs by 10-fold
    cross-validation as in the paper, k-NN by leave-one-out, which costs one sorting of the
    distances and has no random folds; any other classifier is cloned and fitted as it is. A tuned
    one has ``best_params_`` and ``best_score_``, its cross-validated accuracy.
    """
    methods = ("get_params", "fit", "predict")
    if not isinstance(classifier, type) and all(hasattr(classifier, name) for name in methods):
        from sklearn.base import clone, is_classifier

        if hasattr(classifier, "__sklearn_tags__") and not is_classifier(classifier):
            raise wrong("classifier", classifier, "a classifier, such as KNeighborsClassifier()")
        return clone(classifier).fit(X, y)
    if not isinstance(classifier, str) or classifier not in NAMES:
        raise wrong(
            "classifier", classifier, f"one of {', '.join(NAMES)} or a scikit-learn classifier"
        )
    if classifier == "knn":
        from sklearn.neighbors import KNeighborsClassifier

        best, score = _best_neighbours(X, y)
        model = KNeighborsClassifier(**best).fit(X, y)
    else:
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.svm import SVC

        best, score = _best_svm(classifier, X, y, _folds(y, random_state))
        model = OneVsRestClassifier(SVC(**best)).fit(X, y)
    model.best_params_, model.best_score_ = best, score
    return model


def cross_validated(model: Any, X: FloatArray, y: AnyArray, random_state: Any = 0) -> float:
    """The cross-validated accuracy of a fitted classifier's parameters."""
    if hasattr(model, "best_score_"):
        return float(model.best_score_)
    from sklearn.base import clone

    right = 0
    for held_out in _folds(y, random_state):
        train = np.setdiff1d(np.arange(len(y)), held_out)
        if len(np.unique(y[train])) < 2:  # most classifiers refuse to learn from one class
            right += int((y[held_out] == y[train[0]]).sum()) if len(train) else 0
            continue
        fitted = clone(model).fit(X[train], y[train])
        right += int((fitted.predict(X[held_out]) == y[held_out]).sum())
    return right / len(y)


def chosen_parameters(classifier: Any, fitted: Any) -> dict[str, Any]:
    """The classifier's name and what cross-validation chose, in plain types."""
    if not isinstance(classifier, str):
        return {"classifier": type(classifier).__name__}
    return {"classifier": classifier, **fitted.best_params_}


def candidates(name: str, value: Any) -> list[int]:
    """The whole numbers that a parameter names: one, or several to choose from.

    >>> candidates("k", 3), candidates("k", (1, 5))
    ([3], [1, 5])
    """
    several = isinstance(value, Sequence) or getattr(value, "ndim", 0) == 1
    listed = value if several else [value]
    if not len(listed):
        raise ParameterError(f"{name} names no candidates; give at least one")
    return [whole_number(name, each, least=1) for each in listed]


def _folds(y: AnyArray, random_state: Any) -> list[AnyArray]:
    """Ten folds or fewer, each class spread evenly over them."""
    rng = generator(random_state)
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    order = rng.permutation(len(y))
    order = order[np.argsort(code[order], kind="stable")]
    count = max(2, min(10, int(size.max())))
    return [order[start::count] for start in range(count)]


def _best_neighbours(X: FloatArray, y: AnyArray) -> tuple[dict[str, Any], float]:
    """k of the k-NN classifier by leave-one-out; one sorting of the distances serves every k."""
    from scipy.spatial.distance import cdist

    _, code = np.unique(y, return_inverse=True)
    of_class = np.eye(code.max() + 1, dtype=np.int64)[code]
    grid = [k for k in NEIGHBOURS if k < len(y)]
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    nearest = distance.argsort(axis=1, kind="stable")[:, : grid[-1]]
    votes = of_class[nearest].cumsum(axis=1)
    wrong = np.array([(votes[:, k - 1].argmax(axis=1) != code).sum() for k in grid])
    best = _middle_best(wrong)
    return {"n_neighbors": grid[best]}, 1 - wrong[best] / len(y)


def _best_svm(
    name: str, X: FloatArray, y: AnyArray, folds: list[AnyArray]
) -> tuple[dict[str, Any], float]:
    """Kernel and C by cross-validation; each kernel is computed once, between all objects."""
    from scipy.spatial.distance import cdist

    if name == "svm-linear":
        parameters: list[dict[str, Any]] = [{"kernel": "linear"}]
        kernels = iter([X @ X.T])
    else:
        squares = cdist(X, X, "sqeuclidean")
        parameters = [{"kernel": "rbf", "gamma": 1 / (2 * sigma**2)} for sigma in BANDWIDTH]
        kernels = (np.exp(-found["gamma"] * squares) for found in parameters)
    _, code = np.unique(y, return_inverse=True)
    wrong = np.array([_held_out_errors(kernel, code, folds) for kernel in kernels]).ravel()
    best = _middle_best(wrong)
    chosen, C = list(product(parameters, REGULARISATION))[best]
    return {**chosen, "C": C}, 1 - wrong[best] / len(y)


def _held_out_errors(kernel: FloatArray, code: IntArray, folds: list[AnyArray]) -> IntArray:
    """For each C, how many objects an SVM gets wrong that learns from the other folds."""
    from trilens.questions.classify.svm import decision_path

    grid = np.array(REGULARISATION, dtype=np.float64)
    wrong = np.zeros(len(grid), dtype=np.int64)
    for held_out in folds:
        train = np.setdiff1d(np.arange(len(code)), held_out)
        present = np.unique(code[train])
        if len(present) == 1:
            wrong += (code[held_out] != present[0]).sum()
            continue
        learnt, asked = kernel[np.ix_(train, train)], kernel[np.ix_(held_out, train)]
        scores = [
            decision_path(learnt, np.where(code[train] == c, 1.0, -1.0), asked, grid)
            for c in (present[1:] if len(present) == 2 else present)
        ]
        if len(scores) == 1:  # of two classes, one against all is the other's opposite
            scores.insert(0, -scores[0])
        voted = present[np.argmax(scores, axis=0)]
        wrong += (voted != code[held_out]).sum(axis=1)
    return wrong


def _middle_best(wrong: AnyArray) -> int:
    """The middle one of the best: the ends of a grid fit too little or too much."""
    best = np.flatnonzero(wrong == wrong.min())
    return int(best[len(best) // 2])
