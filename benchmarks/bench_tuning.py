"""The choice of an SVM's parameters, beside scikit-learn's grid search in the same run.

    python benchmarks/bench_tuning.py [--quick]

Both search the paper's grids with the same ten folds, one against all; the scores that they find
best are printed too. The objects are points of three Gaussians in three dimensions.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from bench_counts import best
from trilens.questions.classify.tuning import BANDWIDTH, REGULARISATION, _folds, tuned_classifier


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


def rival(name: str, X: np.ndarray, y: np.ndarray) -> float:
    """scikit-learn's grid search over the same grid and the same folds: its best score."""
    grid: dict[str, list[float]] = {"estimator__C": list(REGULARISATION)}
    if name == "svm-gauss":
        grid["estimator__gamma"] = [1 / (2 * sigma**2) for sigma in BANDWIDTH]
    of_fold = np.empty(len(y), dtype=int)
    for number, held_out in enumerate(_folds(y, 0)):
        of_fold[held_out] = number
    machine = SVC(kernel="linear" if name == "svm-linear" else "rbf")
    search = GridSearchCV(OneVsRestClassifier(machine), grid, cv=PredefinedSplit(of_fold))
    return float(search.fit(X, y).best_score_)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="40 objects only")
    sizes = (40,) if options.parse_args().quick else (40, 400)
    for name in ("svm-linear", "svm-gauss"):
        tuned_classifier(name, *draw(40), 0)  # compile
        for n in sizes:
            X, y = draw(n)
            found: dict[str, float] = {}

            def ours(name=name, X=X, y=y, found=found) -> None:
                found["ours"] = tuned_classifier(name, X, y, 0).best_score_

            def theirs(name=name, X=X, y=y, found=found) -> None:
                found["theirs"] = rival(name, X, y)

            mine, other = best(ours, 5), best(theirs, 1)
            print(
                f"{name}, {n} objects: wall {mine[0]:.3f} s, CPU {mine[1]:.3f} s, best score "
                f"{found['ours']:.3f}\n"
                f"  GridSearchCV: wall {other[0]:.2f} s, CPU {other[1]:.2f} s, best score "
                f"{found['theirs']:.3f}; ratio of wall {other[0] / mine[0]:.0f}, of CPU "
                f"{other[1] / mine[1]:.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
