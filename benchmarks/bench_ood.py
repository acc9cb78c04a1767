"""Digits as in-distribution, other images as out: lens depth beside the usual detectors.

    python benchmarks/bench_ood.py [--quick]

Fitted on the training digits of USPS. In distribution: its test digits. Out: 16 x 16 patches of
the photographs that scikit-learn ships; its own digits, scaled to 16 x 16; the test digits upside
down and light for dark; and, fitted without them, each digit in turn. AUROC: the probability that
a digit scores higher than an image that is out. Once on the pixels, once on the last hidden layer
of a small network that was trained to tell the digits apart. Nothing is tuned on any of them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_digits, load_sample_images
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.neural_network import MLPClassifier

import trilens as tl
from trilens.datasets import load_usps

Score = Callable[[np.ndarray], np.ndarray]


def lens(metric: str = "euclidean", classes: bool = False, **params: Any) -> Any:
    def fit(X: np.ndarray, y: np.ndarray) -> Score:
        detector = tl.LensDepth(metric, metric_params=params or None, device="cpu")
        return detector.fit(X, y if classes else None).score_samples

    return fit


def nearest(X: np.ndarray, y: np.ndarray) -> Score:
    near = NearestNeighbors(n_neighbors=10).fit(X)
    return lambda Z: -near.kneighbors(Z)[0][:, -1]


def mahalanobis(X: np.ndarray, y: np.ndarray) -> Score:
    """The least distance to a class's mean, by the covariance within classes."""
    means = np.stack([X[y == c].mean(axis=0) for c in np.unique(y)])
    within = LedoitWolf().fit(X - means[np.searchsorted(np.unique(y), y)])
    root = np.linalg.cholesky(within.precision_)

    def score(Z: np.ndarray) -> np.ndarray:
        gaps = (Z[:, None] - means[None]) @ root
        return -np.sqrt((gaps**2).sum(axis=2)).min(axis=1)

    return score


def forest(X: np.ndarray, y: np.ndarray) -> Score:
    return IsolationForest(n_estimators=300, random_state=0).fit(X).score_samples


def factor(X: np.ndarray, y: np.ndarray) -> Score:
    return LocalOutlierFactor(n_neighbors=20, novelty=True).fit(X).score_samples


METHODS: dict[str, Any] = {
    "lens depth": lens(),
    "lens depth by class": lens(classes=True),
    "lens depth by class, Fermat, alpha 3": lens("fermat", classes=True, alpha=3.0),
    "lens depth by class, Fermat, alpha 7": lens("fermat", classes=True, alpha=7.0),
    "distance to the 10th nearest": nearest,
    "Mahalanobis distance by class": mahalanobis,
    "isolation forest": forest,
    "local outlier factor": factor,
}


def patches(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    grey = [image.mean(axis=2) / 255 for image in load_sample_images().images]
    found = []
    for _ in range(n):
        image = grey[rng.integers(len(grey))]
        top, left = rng.integers(image.shape[0] - 16), rng.integers(image.shape[1] - 16)
        found.append(image[top : top + 16, left : left + 16].ravel())
    return np.array(found)


def other_digits() -> np.ndarray:
    small = load_digits().images / 16
    return np.repeat(np.repeat(small, 2, axis=1), 2, axis=2).reshape(len(small), -1)


def pixels(X: np.ndarray, y: np.ndarray) -> Score:
    return lambda Z: Z


def network(X: np.ndarray, y: np.ndarray) -> Score:
    """The last hidden layer of a network of two."""
    model = MLPClassifier((128, 32), random_state=0, early_stopping=True).fit(X, y)

    def features(Z: np.ndarray) -> np.ndarray:
        for weights, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
            Z = np.maximum(Z @ weights + bias, 0)
        return Z

    return features


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the digits")
    quick = parser.parse_args().quick
    data = load_usps()
    step = 5 if quick else 1
    # every fourth training digit and every second test digit, so that the whole takes minutes
    X, y = (x[data.is_train][:: 4 * step] for x in (data.images, data.labels))
    test, labels = (x[~data.is_train][:: 2 * step] for x in (data.images, data.labels))
    outs = {
        "photographs": patches(1000 // step),
        "scikit-learn's digits": other_digits()[:: 2 * step],
        "upside down": test[:, ::-1][np.isin(labels, (2, 3, 4, 5, 7))],
        "light for dark": 1 - test,
    }
    print(f"fitted on {len(X)} digits; {len(test)} in distribution; AUROC")
    head = [*outs, "a digit left out", "mean", "CPU s"]
    for space in (pixels, network):
        to = space(X, y)
        without = [space(X[y != digit], y[y != digit]) for digit in range(10)]
        print(f"\n| {space.__name__} | " + " | ".join(head) + " |")
        print("|---|" + "---|" * len(head))
        for name, fit in METHODS.items():
            start = time.process_time()
            score = fit(to(X), y)
            inside = score(to(test))
            aurocs = [auroc(inside, score(to(out))) for out in outs.values()]
            left_out = []
            for digit, feature in enumerate(without):
                score = fit(feature(X[y != digit]), y[y != digit])
                known, unknown = feature(test[labels != digit]), feature(test[labels == digit])
                left_out.append(auroc(score(known), score(unknown)))
            aurocs.append(float(np.mean(left_out)))
            seconds = time.process_time() - start
            cells = [f"{value:.3f}" for value in (*aurocs, np.mean(aurocs))]
            print(f"| {name} | " + " | ".join(cells) + f" | {seconds:.0f} |", flush=True)


def auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    truth = np.r_[np.ones(len(inside)), np.zeros(len(outside))]
    return float(roc_auc_score(truth, np.r_[inside, outside]))


if __name__ == "__main__":
    main()
