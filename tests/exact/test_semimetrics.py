from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DissimilarityError, ParameterError, TrilensError
from trilens.exact.samples import Sample

FUNCTIONS = [
    exact.lens_counts,
    exact.lens_depth,
    exact.medoid,
    lambda D: exact.k_rng(D, 1),
    lambda D: exact.lens_depth(D, np.zeros((1, len(D))), normalise=False),
]


def broken(i, j, value, mirror=True):
    D = cdist(*2 * [np.arange(5.0)[:, None]])
    D[i, j] = value
    if mirror:
        D[j, i] = value
    return D


BAD = {
    r"^D has shape \(2, 3\); .*square": np.zeros((2, 3)),
    r"^D has shape \(4,\); .*square": np.zeros(4),
    r"^D has shape \(2, 2, 2\); .*square": np.zeros((2, 2, 2)),
    r"^D\[1, 3\] is 7.0 but D\[3, 1\] is 2.0; .*symmetric": broken(1, 3, 7, mirror=False),
    r"^D\[0, 2\] is nan; ": broken(0, 2, np.nan),
    r"^D\[4, 2\] is nan; ": broken(4, 2, np.nan, mirror=False),
    r"^D\[1, 2\] is inf; ": broken(1, 2, np.inf),
    r"^D\[1, 2\] is -1.0; ": broken(1, 2, -1),
    r"^D\[2, 2\] is 1.0; the diagonal must be 0": broken(2, 2, 1),
    r"^D has dtype <U1; ": np.array([["a", "b"], ["c", "d"]]),
    r"^D has dtype complex128; ": np.zeros((2, 2), complex),
    r"^D has dtype object; ": np.array([[0, None], [None, 0]]),
    r"^D holds booleans; .*graph_dissimilarities": np.zeros((2, 2), bool),
    r"^D has rows of different lengths; ": [[0, 1], [1]],
}


@pytest.mark.parametrize("message", BAD)
def test_bad_matrices(message):
    for function in FUNCTIONS:
        with pytest.raises(DissimilarityError, match=message) as error:
            function(BAD[message])
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(("i", "j"), [(3, 1500), (1500, 3), (1400, 1500)])
def test_bad_entry_in_a_later_piece(i, j):
    D = np.zeros((1600, 1600), np.float32)
    # a good matrix is not copied
    assert exact.check_dissimilarities(D) is D
    D[i, j] = np.nan
    with pytest.raises(DissimilarityError, match=rf"^D\[{i}, {j}\] is nan; "):
        exact.check_dissimilarities(D)
    D[i, j] = 2
    i, j = sorted((i, j))
    with pytest.raises(DissimilarityError, match=rf"^D\[{i}, {j}\] is .* but D\[{j}, {i}\] is"):
        exact.check_dissimilarities(D)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "chebyshev"])
def test_points(metric):
    X = np.random.default_rng(0).normal(size=(40, 3))
    D = exact.dissimilarities(X, metric)
    assert D.dtype == np.float64
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0)
    np.testing.assert_allclose(D, cdist(X, X, metric), atol=1e-12)
    # equal directions, say
    assert exact.dissimilarities(np.r_[X, 3 * X], metric).min() >= 0


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (exact.dissimilarities, [[[0]]], r"^points have shape \(1, 1, 1\)"),
        (exact.dissimilarities, ["a", "b"], r"dtype <U1; expected"),
        (partial(exact.dissimilarities, metric="cosine"), [[0, 0], [1, 0]], r"^D\[0, 1\] is nan"),
        (partial(exact.dissimilarities, metric=lambda x, y: -3), [0, 1], r"^D\[0, 1\] is -3.0"),
        (
            exact.graph_dissimilarities,
            np.eye(5, k=1) * [1, 1, 1, 0, 1],
            r"^the graph has 2 components, the largest with 3 of 5 vertices.*take the largest",
        ),
        (exact.graph_dissimilarities, np.zeros((2, 3)), r"^adjacency has shape"),
        (exact.graph_dissimilarities, np.zeros(3), r"^adjacency has shape"),
        (exact.graph_dissimilarities, np.array([["a"]]), r"^adjacency has shape"),
    ],
)
def test_bad_points_and_graphs(make, given, message):
    with pytest.raises(TrilensError, match=message):
        make(given)


@st.composite
def connected_graphs(draw):
    """A random tree and some more edges."""
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    A = np.zeros((n, n))
    for child in range(1, n):
        A[child, rng.integers(max(0, child - 3), child)] = rng.integers(1, 9)
    A[rng.integers(n, size=3), rng.integers(n, size=3)] = 1
    return A


@pytest.mark.parametrize("small", [0, 10**6])
@given(A=connected_graphs())
@settings(max_examples=60, deadline=None)
def test_shortest_paths(small, A):
    expected = shortest_path(csr_array(A), directed=False, unweighted=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trilens.exact.semimetrics.SMALL_GRAPH", small)
        for adjacency in (A, A.T, csr_array(A), A != 0):
            D = exact.graph_dissimilarities(adjacency)
            np.testing.assert_array_equal(D, expected)
            assert D.dtype == np.uint8


@pytest.mark.parametrize(("n", "dtype"), [(256, np.uint8), (257, np.uint16), (2100, np.uint16)])
def test_a_long_path_takes_a_wider_type(n, dtype):
    A = csr_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    D = exact.graph_dissimilarities(A)
    assert D.dtype == dtype
    np.testing.assert_array_equal(D, np.abs(np.subtract.outer(np.arange(n), np.arange(n))))


def test_medoid():
    assert exact.check_dissimilarities([]).shape == (0, 0)
    assert exact.medoid([0, 5, 5, 9], metric="euclidean") == 1
    assert exact.medoid(np.zeros((1, 1))) == 0
    assert exact.medoid(np.array([[0, 2**62, 2**62], [2**62, 0, 1], [2**62, 1, 0]])) == 1
    with pytest.raises(DissimilarityError, match=r"^D has no objects"):
        exact.medoid(np.zeros((0, 0)))


@given(n=st.integers(1, 30), seed=st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_medoid_of_equal_sums_is_the_first(n, seed):
    """The same distances in another order add up to the same sum, rounding or not."""
    rng = np.random.default_rng(seed)
    steps = rng.random(n)
    # circulant: every row is a rotation of the first
    offset = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    D = np.r_[0, steps][np.minimum(offset, n - offset)]
    assert exact.medoid(D) == 0
    assert exact.medoid(D * 1e307) == 0


@pytest.mark.parametrize("alpha", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_fermat_distances_are_shortest_paths(alpha, n_neighbors):
    X = np.random.default_rng(0).normal(size=(40, 2))
    steps = cdist(X, X) ** alpha
    if n_neighbors is not None:
        near = np.argsort(steps, axis=1)[:, : n_neighbors + 1]
        allowed = np.zeros_like(steps, bool)
        np.put_along_axis(allowed, near, True, axis=1)
        steps = np.where(allowed | allowed.T, steps, np.inf)
    expected = shortest_path(np.where(np.isinf(steps), 0, steps), method="FW", directed=False)
    D = exact.fermat_dissimilarities(X, alpha=alpha, n_neighbors=n_neighbors)
    np.testing.assert_allclose(D, expected, rtol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(D, exact.check_dissimilarities(D))


@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_new_points_step_into_the_sample(n_neighbors):
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(150, 2)), rng.normal(size=(6, 2))
    params = {"alpha": 2.5, "n_neighbors": n_neighbors}
    sample = Sample(X, "fermat", params)
    steps, D = cdist(new, X) ** 2.5, exact.fermat_dissimilarities(X, **params)
    expected = np.empty_like(steps)
    for x, row in enumerate(steps):
        first = np.argsort(row)[: n_neighbors or 150]
        expected[x] = (row[first, None] + D[first]).min(axis=0)
    np.testing.assert_allclose(sample.to(new), expected, rtol=1e-12)
    # a point of the sample is where it is
    np.testing.assert_allclose(sample.to(X), D, rtol=1e-12)


def test_depth_by_the_fermat_distance_follows_the_sample():
    """A ring: its empty middle is deep by the plain distance, and not by this one."""
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    X = np.c_[np.cos(angles), np.sin(angles)]
    middle = [[0.0, 0.0]]
    plain = exact.lens_depth(X, middle, metric="euclidean", normalise=True)[0]
    params = {"alpha": 3.0}
    fermat = exact.lens_depth(X, middle, metric="fermat", metric_params=params, normalise=True)[0]
    assert plain > 0.5
    assert fermat == 0
    detector = exact.LensDepth("fermat", metric_params=params).fit(X)
    assert detector.score_samples(middle).tolist() == [0]


def test_duplicates_and_bad_values():
    X = np.r_[np.zeros((5, 2)), np.ones((5, 2))]
    D = exact.fermat_dissimilarities(X, n_neighbors=6)
    np.testing.assert_allclose(D, np.where(X[:, :1] == X[:, 0], 0, 2), atol=1e-12)
    for points, parameters, message in (
        (X, {"n_neighbors": 2}, r"n_neighbors=2 .* 2 unconnected pieces"),
        (X, {"alpha": 0.5}, r"^alpha is 0.5; "),
        (X, {"n_neighbors": 0}, r"^n_neighbors is 0; "),
        (1e120 * X, {"alpha": 3}, r"not finite; scale"),
    ):
        with pytest.raises((DissimilarityError, ParameterError), match=message):
            exact.fermat_dissimilarities(points, **parameters)
    # points at one place are one step of length 0 apart
    near = 1e-6 * np.random.default_rng(2).normal(size=(20, 2))
    near[5] = near[6] = near[7]
    for n_neighbors in (None, 4):
        D = exact.fermat_dissimilarities(near, alpha=1, n_neighbors=n_neighbors)
        assert (D[np.ix_([5, 6, 7], [5, 6, 7])] == 0).all()
        assert (D[5] == D[6]).all()
    np.testing.assert_allclose(
        exact.fermat_dissimilarities(near, alpha=1), cdist(near, near), rtol=1e-12, atol=0
    )
