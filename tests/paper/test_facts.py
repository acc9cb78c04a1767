"""What the paper proves, or what has no chance in it: held here, and no claim of the page."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens.exact import lens_depth
from trilens.maps.registry import make_map
from trilens.statements import Statements
from trilens_paper.ingredients.methods import medoid_error, ten_fold_knn


def test_on_the_line_lens_depth_is_simplicial_depth():
    rng = np.random.default_rng(0)
    x = rng.exponential(size=60)
    # the share of intervals (simplices of the line) between two others that hold a point
    rank = x.argsort().argsort()
    simplicial = rank * (len(x) - 1 - rank)
    depth = lens_depth(np.abs(x[:, None] - x), normalise=False, n_threads=1)
    assert depth.tolist() == simplicial.tolist()
    # in the plane it is not: an obtuse triangle holds no lens of its own
    X = rng.normal(size=(30, 2))
    assert (
        lens_depth(cdist(X, X), normalise=False, n_threads=1).tolist() != simplicial[:30].tolist()
    )


def test_the_directed_neighbour_graph_is_an_input():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 2))
    D, k = cdist(X, X), 6
    order = D.argsort(axis=1)[:, 1:]
    triplets = np.array([(v, n, o) for v in range(30) for n in order[v, :k] for o in order[v, k:]])
    assert (D[triplets[:, 0], triplets[:, 1]] < D[triplets[:, 0], triplets[:, 2]]).all()
    S = Statements(triplets, kind="closer", n_objects=30)
    assert len(S) == 30 * k * (29 - k)
    Y = make_map("ste", 2, 0, n_jobs=1).fit_transform(S)
    again = cdist(Y, Y).argsort(axis=1)[:, 1 : k + 1]
    shared = np.mean([len(np.intersect1d(a, b[:k])) / k for a, b in zip(again, order, strict=True)])
    assert shared > 0.8


def test_ties_for_the_medoid_are_averaged():
    totals = np.array([10.0, 11.0, 12.0, 20.0])
    assert medoid_error(np.array([0.0, 0.7, 0.7, 0.1]), totals) == pytest.approx(0.15)
    assert medoid_error(np.array([0.0, 0.7, 0.6, 0.1]), totals) == pytest.approx(0.1)


def test_k_is_chosen_by_ten_folds():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 1)) + 4 * y[:, None]
    wrong = rng.random(80) < 0.2  # labels that one neighbour believes, and fifteen do not
    model = ten_fold_knn((1, 15), 0).fit(X, np.where(wrong, 1 - y, y))
    assert model.n_splits_ == 10
    assert model.best_params_ == {"n_neighbors": 15}
