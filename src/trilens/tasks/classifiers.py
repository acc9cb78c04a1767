"""The classifiers that go on top of features: k-NN and SVMs with the paper's grids."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.errors import ParameterError

#: Section 5.1.3 and 5.2.3 of the paper.
NEIGHBOURS = (1, 3, 5, 7, 11, 15, 23)
REGULARISATION = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1000)
BANDWIDTH = (0.01, 0.05, 0.1, 0.5, 1, 5)

NAMES = ("knn", "svm-linear", "svm-gauss")


def tuned_classifier(classifier: Any, X: FloatArray, y: AnyArray, random_state: Any = None) -> Any:
    """A classifier fitted to ``(X, y)``.

    Parameters
    ----------
    classifier : str or scikit-learn classifier
        ``"knn"``, ``"svm-linear"`` or ``"svm-gauss"`` (one-vs-all for several classes), tuned
        over the paper's grid by 10-fold cross-validation, the middle one of equally good
        parameters taken; any other classifier is cloned and fitted as it is.
    """
    if not isinstance(classifier, str):
        from sklearn.base import clone

        return clone(classifier).fit(X, y)
    if classifier not in NAMES:
        raise ParameterError(
            f"classifier is {classifier!r}; it must be one of {', '.join(NAMES)} "
            f"or a scikit-learn classifier"
        )
    folds = _folds(y, random_state)
    if classifier == "knn":
        from sklearn.neighbors import KNeighborsClassifier

        best: dict[str, Any] = {"n_neighbors": _best_neighbours(X, y, folds)}
        model = KNeighborsClassifier(**best).fit(X, y)
    else:
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.svm import SVC

        best = _best_svm(classifier, X, y, folds)
        model = OneVsRestClassifier(SVC(**best)).fit(X, y)
    model.best_params_ = best
    return model


def chosen_parameters(classifier: Any, fitted: Any) -> dict[str, Any]:
    """The classifier's name and what cross-validation chose, in plain types."""
    if not isinstance(classifier, str):
        return {"classifier": type(classifier).__name__}
    return {"classifier": classifier, **fitted.best_params_}


def _folds(y: AnyArray, random_state: Any) -> list[AnyArray]:
    """Ten folds or fewer, each class spread evenly over them."""
    rng = np.random.default_rng(random_state)
    _, code, size = np.unique(y, return_inverse=True, return_counts=True)
    order = rng.permutation(len(y))
    order = order[np.argsort(code[order], kind="stable")]
    count = max(2, min(10, int(size.max())))
    return [order[start::count] for start in range(count)]


def _best_neighbours(X: FloatArray, y: AnyArray, folds: list[AnyArray]) -> int:
    """k of the k-NN classifier; one sorting of the distances serves every k."""
    from scipy.spatial.distance import cdist

    _, code = np.unique(y, return_inverse=True)
    of_class = np.eye(code.max() + 1, dtype=np.int64)[code]
    smallest = len(y) - max(map(len, folds))
    grid = [k for k in NEIGHBOURS if k <= max(smallest, 1)]
    wrong = np.zeros(len(grid))
    distance = cdist(X, X)
    for held_out in folds:
        train = np.setdiff1d(np.arange(len(y)), held_out)
        nearest = train[distance[np.ix_(held_out, train)].argsort(axis=1, kind="stable")]
        votes = of_class[nearest[:, : grid[-1]]].cumsum(axis=1)
        for i, k in enumerate(grid):
            wrong[i] += (votes[:, k - 1].argmax(axis=1) != code[held_out]).sum()
    return grid[_middle_best(wrong)]


def _best_svm(name: str, X: FloatArray, y: AnyArray, folds: list[AnyArray]) -> dict[str, Any]:
    from sklearn.svm import SVC

    if name == "svm-linear":
        grid: list[dict[str, Any]] = [{"kernel": "linear", "C": C} for C in REGULARISATION]
    else:
        grid = [
            {"kernel": "rbf", "gamma": 1 / (2 * sigma**2), "C": C}
            for sigma, C in product(BANDWIDTH, REGULARISATION)
        ]
    classes, code = np.unique(y, return_inverse=True)
    wrong = np.zeros(len(grid))
    for held_out in folds:
        train = np.setdiff1d(np.arange(len(y)), held_out)
        present = [c for c in range(len(classes)) if (code[train] == c).any()]
        for i, parameters in enumerate(grid):
            if len(present) == 1:
                best = np.zeros(len(held_out), dtype=np.int64)
            else:
                scores = [
                    SVC(**parameters).fit(X[train], code[train] == c).decision_function(X[held_out])
                    for c in present
                ]
                best = np.argmax(scores, axis=0)
            wrong[i] += (np.array(present)[best] != code[held_out]).sum()
    return grid[_middle_best(wrong)]


def _middle_best(wrong: AnyArray) -> int:
    """The middle one of the best: the ends of a grid fit too little or too much."""
    best = np.flatnonzero(wrong == wrong.min())
    return int(best[len(best) // 2])
