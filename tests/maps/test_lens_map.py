from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist

from trilens.counts import PairCounts, count_pairs
from trilens.errors import ParameterError, StatementError
from trilens.maps import LensMap, scaling
from trilens.maps.scaling import PairDissimilarity, classical_scaling, pair_dissimilarity, smooth
from trilens.simulate import simulate_statements
from trilens.statements import Statements

KINDS = ["central", "odd", "closer"]


@pytest.fixture(scope="module")
def plane():
    return np.random.default_rng(7).uniform(size=(80, 2))


@pytest.fixture(scope="module")
def asked(plane):
    return {kind: simulate_statements(plane, 60_000, kind=kind, random_state=3) for kind in KINDS}


def plain_scaling(Q, d):
    """Classical scaling as in a textbook."""
    n = len(Q)
    J = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-J @ Q @ J / 2)
    order = np.argsort(-values)[:d]
    return vectors[:, order] * np.sqrt(np.maximum(values[order], 0)), values[order]


@pytest.mark.parametrize("kind", KINDS)
def test_recovers_a_layout_in_the_plane(plane, asked, kind):
    model = LensMap(n_components=2).fit(asked[kind])
    *_, disparity = procrustes(plane, model.embedding_)
    assert disparity < {"central": 0.02, "odd": 0.1, "closer": 0.05}[kind]
    assert model.embedding_.shape == (80, 2)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((model.embedding_**2).sum(axis=0), model.eigenvalues_)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_give_the_same_map_sparse_too(asked, kind):
    few = asked[kind].take(np.arange(3000))
    dense, sparse = (count_pairs(few, layout=layout) for layout in ("dense", "sparse"))
    assert sparse.is_sparse
    X = LensMap(3).fit_transform(few)
    np.testing.assert_array_equal(LensMap(3).fit_transform(dense), X)
    np.testing.assert_allclose(LensMap(3).fit_transform(sparse), X, atol=1e-9)
    a, b = (pair_dissimilarity(p, error_rate=0.2, power=0.5) for p in (dense, sparse))
    np.testing.assert_allclose(a.to_dense(), b.to_dense(), atol=1e-12)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_map_of_many_objects_uses_the_operator(asked, monkeypatch, layout):
    pairs = count_pairs(asked["central"], layout=layout)
    Q = pair_dissimilarity(pairs, power=0.5).to_dense()
    expected, values = plain_scaling(Q, 3)
    monkeypatch.setattr(scaling, "SMOOTHED_OBJECTS", 10)
    model = LensMap(3, power=0.5).fit(pairs)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-3)
    np.testing.assert_allclose(
        cdist(model.embedding_, model.embedding_), cdist(expected, expected), atol=2e-3
    )
    trace = np.trace((Q.mean(axis=0) + Q.mean(axis=1)[:, None] - Q.mean() - Q) / 2)
    np.testing.assert_allclose(model.explained_variance_ratio_, values / trace, rtol=1e-3)


@pytest.mark.filterwarnings("ignore::trilens.errors.UnmentionedObjectsWarning")
def test_twenty_thousand_objects():
    n, rng = 20_000, np.random.default_rng(0)
    side = rng.integers(2, size=n)
    triples = rng.integers(n, size=(80_000, 3))
    triples = triples[(np.diff(np.sort(triples, axis=1), axis=1) > 0).all(axis=1)]
    # the odd one is the one on its own side, of those that have one
    lonely = side[triples].sum(axis=1)
    split = (lonely == 1) | (lonely == 2)
    triples, lonely = triples[split], lonely[split]
    odd = (side[triples] == (lonely == 1)[:, None]).argmax(axis=1)
    S = Statements.from_responses(triples, odd, "odd", n_objects=n)
    right = ((LensMap(1).fit_transform(S)[:, 0] > 0) == side).mean()
    assert max(right, 1 - right) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_values_follow_their_formula(kind):
    pairs = PairCounts(np.array([[0, 3], [3, 0]]), np.array([[0, 9], [9, 0]]), kind)
    guess = 1 / 2 if kind == "closer" else 1 / 3
    share = (3 + 2 * guess) / 11
    expected = share if kind == "central" else 1 - share
    assert pair_dissimilarity(pairs, shrinkage=2).to_dense()[0, 1] == pytest.approx(expected)
    never = PairCounts(np.zeros((2, 2), int), np.zeros((2, 2), int), kind)
    prior = guess if kind == "central" else 1 - guess
    for error_rate in (0.0, 0.4):
        dissimilarity = pair_dissimilarity(never, error_rate=error_rate, power=0.5)
        np.testing.assert_allclose(dissimilarity.to_dense(), [[0, prior**0.5], [prior**0.5, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_error_rate_undoes_noise(plane, kind):
    # the corrected values of a quarter wrong answers estimate those of right ones
    clean, wrong = (
        count_pairs(simulate_statements(plane, 80_000, kind=kind, error_rate=e, random_state=5))
        for e in (0.0, 0.25)
    )
    truth, raw = (pair_dissimilarity(pairs).to_dense() for pairs in (clean, wrong))
    corrected = pair_dissimilarity(wrong, error_rate=0.25).to_dense()
    far = np.triu(truth > np.quantile(truth, 0.9), 1)
    assert abs((corrected - truth)[far].mean()) < 0.03
    assert (raw - truth)[far].mean() < -0.08


def test_smoothing_keeps_squared_distances_and_removes_noise(plane):
    Q, start = cdist(plane, plane, "sqeuclidean") / 2, np.random.default_rng(0).standard_normal(80)
    kept = smooth(PairDissimilarity(Q, 0.0), 4, start)
    np.testing.assert_allclose(kept, Q, atol=1e-9)
    noise = np.triu(np.random.default_rng(1).normal(0, 0.1, Q.shape), 1)
    noise += noise.T
    noisy = smooth(PairDissimilarity(Q + noise, 0.0), 4, start)
    off = ~np.eye(80, dtype=bool)
    assert np.abs(noisy - Q)[off].mean() < 0.4 * np.abs(noise)[off].mean()


def test_scaling_equals_the_textbook(plane, monkeypatch):
    Q, start = cdist(plane, plane), np.random.default_rng(0).standard_normal(80)
    found = classical_scaling(PairDissimilarity(Q, 0.0), 5, start)
    expected, values = plain_scaling(Q, 5)
    np.testing.assert_allclose(found.eigenvalues, values)
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(expected), atol=1e-9)
    largest = np.abs(found.coordinates).argmax(axis=0)
    assert (found.coordinates[largest, np.arange(5)] > 0).all()
    squares = PairDissimilarity(cdist(plane, plane, "sqeuclidean"), 0.0)
    dense = classical_scaling(squares, 2, start)
    monkeypatch.setattr(scaling, "_LAPACK_OBJECTS", 10)
    lanczos = classical_scaling(squares, 2, start)
    np.testing.assert_allclose(lanczos.coordinates, dense.coordinates, atol=1e-3)


@pytest.mark.filterwarnings("ignore::trilens.errors.UnmentionedObjectsWarning")
def test_few_answers_or_none():
    rows = [[0, 1, 2], [3, 4, 5], [6, 7, 0]]
    assert LensMap(6, kind="central").fit(rows).power_ == 0.5
    assert LensMap(2, kind="central").fit(rows[:1]).power_ == 1.0
    model = LensMap(7, power=1, kind="central").fit(rows)
    assert (np.diff(model.eigenvalues_) <= 1e-12).all()
    assert np.isfinite(model.embedding_).all()
    assert (model.embedding_[:, model.eigenvalues_ <= 0] == 0).all()
    assert (model.explained_variance_ratio_ >= 0).all()
    X = LensMap(3).fit_transform(Statements(np.empty((0, 3), int), n_objects=4))
    apart = cdist(X, X)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(apart, apart[0])


@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"n_components": 5}, "central", "n_components is 5, but 5 objects span at most 4"),
        ({"n_components": 0}, "central", "n_components is 0; it must be a whole number"),
        ({"n_components": "cv"}, "central", "n_components is 'cv'"),
        ({"error_rate": 2 / 3}, "central", "below 2/3"),
        ({"error_rate": 0.5}, "closer", "below 1/2"),
        ({"error_rate": -0.1}, "central", "error_rate is -0.1"),
        ({"error_rate": float("nan")}, "central", "error_rate is nan"),
        ({"shrinkage": 0}, "central", "shrinkage is 0"),
        ({"power": 0}, "central", "power is 0"),
        ({"power": "high"}, "central", "power is 'high'"),
    ],
)
def test_bad_parameters_in_one_line(parameters, kind, message):
    S = Statements([[0, 1, 2], [2, 3, 4]], kind=kind)
    with pytest.raises(ParameterError, match=message) as caught:
        LensMap(**parameters).fit(S)
    assert "\n" not in str(caught.value)
    with pytest.raises(StatementError, match="a map of 1 object has no distances"):
        LensMap(1).fit(Statements(np.empty((0, 3), int), n_objects=1))
