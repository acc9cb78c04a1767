from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact import _vectors, graphs, sweep

import reference

pytestmark = pytest.mark.first
ENGINES = {"plain": 10**12, "compiled": 0}
DTYPES = [np.uint8, np.int16, np.int64, np.float16, np.float32, np.float64]


@st.composite
def semimetrics(draw, max_n=9):
    """Symmetric matrices of few different values, zeros off the diagonal among them."""
    n = draw(st.integers(0, max_n))
    top = draw(st.sampled_from([1, 2, 5, 100]))
    pairs = n * (n - 1) // 2
    values = draw(st.lists(st.integers(0, top), min_size=pairs, max_size=pairs))
    D = np.zeros((n, n), draw(st.sampled_from(DTYPES)))
    D[np.triu_indices(n, 1)] = values
    return D + D.T


def tied_points(n, seed, side=6):
    """Points of a lattice, some twice: many equal distances, some zero."""
    X = np.random.default_rng(seed).integers(0, side, size=(n, 2))
    return cdist(X, X)


def by_definition(D):
    """Counts and depth of larger matrices: lenses[j, k] says whether k is in Lens(i, j)."""
    n = len(D)
    counts, depth = np.zeros((n, n), int), np.zeros(n, int)
    for i in range(n):
        lenses = (D[i][None, :] < D[i][:, None]) & (D[i][:, None] > D)
        counts[i] = lenses.sum(axis=1)
        depth += lenses[:i].sum(axis=0)
    return counts, depth


def assert_exact(D, **options):
    counts, depth = by_definition(D)
    np.testing.assert_array_equal(exact.lens_counts(D, **options), counts)
    np.testing.assert_array_equal(exact.lens_depth(D, **options, normalise=False), depth)


@pytest.mark.parametrize("name", ENGINES)
@given(D=semimetrics())
@settings(max_examples=60, deadline=None)
def test_equals_the_reference(name, D):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "SMALL", ENGINES[name])
        counts, depth = (
            exact.lens_counts(D, n_threads=1),
            exact.lens_depth(D, n_threads=1, normalise=False),
        )
    np.testing.assert_array_equal(counts, reference.lens_counts(D))
    np.testing.assert_array_equal(depth, reference.exact_lens_depth(D))
    assert counts.dtype == np.int32
    assert depth.dtype == np.int64
    n = len(D)
    share = depth / max(1, (n - 1) * (n - 2) / 2)
    np.testing.assert_allclose(exact.lens_depth(D, normalise=True), share, rtol=1e-14)


#: Sizes below, at and above a chunk of 512 columns, and of several tiles; then what is hard.
HARD = {
    "63": lambda rng: cdist(*2 * [rng.normal(size=(63, 3))]),
    "65 tied": lambda rng: tied_points(65, 65),
    "512": lambda rng: cdist(*2 * [rng.normal(size=(512, 3))]),
    "513 tied": lambda rng: tied_points(513, 513),
    "2**60 and 2**60 + 1, the same float64": lambda rng: both_ways(
        2**60 + rng.integers(0, 3, size=(70, 70))
    ),
    "some slabs tied": lambda rng: tied_at_the_end(cdist(*2 * [rng.normal(size=(600, 2))])),
    "far out": lambda rng: far_out(cdist(*2 * [rng.normal(size=(120, 2))])),
    "smallest and largest floats": lambda rng: np.where(
        (D := far_out(cdist(*2 * [rng.normal(size=(120, 2))]))) > 1e8, 1.7e308, D * 1e-320
    ),
}


def both_ways(D):
    return np.triu(D, 1) + np.triu(D, 1).T


def tied_at_the_end(D):
    D[-1, -3] = D[-3, -1] = D[-1, -2]
    return D


def far_out(D):
    D[0, 1:] = D[1:, 0] = 1e9 + D[0, 1:]
    return D


@pytest.mark.parametrize("name", HARD)
def test_what_is_hard(name, monkeypatch):
    D = HARD[name](np.random.default_rng(0))
    if len(D) < 100:
        assert_exact(D)
    monkeypatch.setattr(sweep, "SMALL", 0)
    assert_exact(D, n_threads=2)
    # in slabs
    monkeypatch.setattr(sweep, "HELD", (1, 1))
    assert_exact(D, n_threads=1)


@given(D=semimetrics(), k=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_k_rng(D, k):
    graph = exact.k_rng(D, k)
    np.testing.assert_array_equal(graph.toarray(), 1.0 * reference.exact_k_rng(D, k))
    weighted = exact.k_rng(D, k, sigma=0.4).toarray()
    share = reference.lens_counts(D).reshape(D.shape) / max(len(D) - 2, 1)
    np.testing.assert_allclose(weighted, np.exp(-(share**2) / 0.4**2) * graph.toarray(), rtol=1e-14)


NONE = np.zeros((2, 2))
REFUSED = [
    *[(lambda k=k: exact.k_rng(NONE, k), r"^k is .*1 or more$") for k in (0, 1.5, True, "two")],
    *[(lambda s=s: exact.k_rng(NONE, 1, s), r"^sigma is .*positive") for s in (0, -1.0, np.nan)],
    (lambda: exact.local_lens_depth(NONE), "^give either tau"),
    (lambda: exact.local_lens_depth(NONE, 1, share=0.1), "^give either tau"),
    (lambda: exact.local_lens_depth(NONE, share=1.5), "^share is"),
    (lambda: exact.local_lens_depth(NONE, -1), "^tau is"),
    (lambda: exact.lens_counts(NONE, n_threads=0), r"^n_threads is 0; "),
    (lambda: sweep.check_size(65_535), r"^D has 65,535 objects; .*precision="),
    (
        lambda: exact.lens_depth(NONE, np.zeros((2, 3))),
        r"shape \(2, 3\) .*expected numbers of shape \(q, 2\)",
    ),
    (lambda: exact.lens_depth(NONE, [[0, np.nan]]), r"^new\[0, 1\] is nan; "),
    (
        lambda: exact.lens_depth(np.zeros((4, 2)), np.zeros((2, 3)), metric="euclidean"),
        r"expected numbers of shape \(q, 2\)",
    ),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_what_is_refused(call, text):
    with pytest.raises((DissimilarityError, ParameterError), match=text):
        call()


def test_small_inputs_do_not_load_the_compiler():
    code = (
        "import sys, numpy as np; from trilens import exact; "
        "exact.lens_depth(np.arange(60.), metric='euclidean'); exact.lens_counts(np.zeros((9, 9)));"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_progress_and_an_interrupt_that_leaves_no_thread_behind(monkeypatch):
    monkeypatch.setattr(sweep, "SMALL", 0)
    D = cdist(*2 * [np.random.default_rng(0).normal(size=(900, 2))])

    def stop(share):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        exact.lens_depth(D, n_threads=2, progress=stop, normalise=False)
    assert threading.active_count() == before
    # and the next call is as good as the first, in three slabs too
    seen = []
    found = exact.lens_depth(D, n_threads=2, progress=seen.append, normalise=False)
    assert len(set(seen)) > 1
    assert seen == sorted(seen)
    assert seen[-1] == 1
    monkeypatch.setattr(sweep, "HELD", (1, 1))
    np.testing.assert_array_equal(found, exact.lens_depth(D, normalise=False))


@pytest.mark.parametrize("fault", ["raises", "wrong"])
def test_vectors_that_fail_are_found_by_trying(fault, monkeypatch):
    """The definition serves in their place."""

    def fail(*arguments):
        if fault == "raises":
            raise RuntimeError("no such instruction")

    assert _vectors.work()
    monkeypatch.setattr(_vectors, "lens_sizes", fail)
    assert not _vectors.work()
    monkeypatch.setattr(sweep, "_vectors_work", _vectors.work)
    monkeypatch.setattr(sweep, "SMALL", 0)
    D = cdist(*2 * [np.random.default_rng(0).integers(0, 9, size=(50, 2))]).astype(int)
    counts, depth = exact.lens_counts(D), exact.lens_depth(D, normalise=False)
    lens = (D[:, None, :] < D[:, :, None]) & (D[None, :, :] < D[:, :, None])
    assert (counts == lens.sum(axis=2)).all()
    assert (2 * depth == lens.sum(axis=(0, 1))).all()


@given(st.integers(0, 2**32 - 1), st.integers(0, 14), st.integers(1, 5), st.integers(0, 6))
def test_the_definition_with_ties(seed, n, levels, tau):
    rng = np.random.default_rng(seed)
    D = np.triu(rng.integers(0, levels + 1, (n, n)), 1)
    D = (D + D.T).astype(float)
    expected = reference.exact_local_lens_depth(D, tau)
    assert exact.local_lens_depth(D, tau, normalise=False).tolist() == expected.tolist()


def test_all_pairs_give_lens_depth_and_none_give_nothing():
    X = np.random.default_rng(0).normal(size=(300, 2))
    whole = exact.lens_depth(X, metric="euclidean", normalise=False)
    found = exact.local_lens_depth(cdist(X, X), 100, n_threads=2, normalise=False)
    np.testing.assert_array_equal(found, whole)
    assert not exact.local_lens_depth(X, share=0, metric="euclidean", normalise=False).any()
    shares = exact.local_lens_depth(X, share=1, metric="euclidean", normalise=True)
    np.testing.assert_allclose(shares, exact.lens_depth(X, metric="euclidean", normalise=True))


POINTS = {
    "plane": lambda rng: rng.normal(size=(50, 2)),
    "line": lambda rng: rng.normal(size=(30, 1)),
    "five dimensions": lambda rng: rng.normal(size=(45, 5)),
    "lattice": lambda rng: rng.integers(0, 6, size=(45, 2)).astype(float),
    "duplicates": lambda rng: rng.normal(size=(20, 2))[rng.integers(0, 20, 40)],
    "one place": lambda rng: np.zeros((30, 2)),
    "far out": lambda rng: np.r_[rng.normal(size=(30, 2)), [[1e6, 1e6], [1e6, -1e6]]],
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("k", [1, 3])
def test_every_search_finds_the_graph(name, k, monkeypatch):
    X = POINTS[name](np.random.default_rng(0))
    D = cdist(X, X)
    counts = reference.lens_counts(D)
    expected = 1.0 * (counts < k) - np.eye(len(X))
    share = counts / (len(X) - 2)
    np.testing.assert_array_equal(exact.k_rng(D, k).toarray(), expected)
    monkeypatch.setattr(graphs, "SWEPT", 0)
    monkeypatch.setattr(graphs, "SWEPT_PAIRS", 0)
    for few in (8, 0):
        monkeypatch.setattr(graphs, "FEW", few)
        graph = exact.k_rng(X, k, sigma=0.5, metric="euclidean", n_threads=2)
        weights = np.exp(-((share / 0.5) ** 2)) * expected
        np.testing.assert_allclose(graph.toarray(), weights, rtol=1e-14)
    monkeypatch.setattr(sweep, "SMALL", 0)
    np.testing.assert_array_equal(exact.k_rng(D, k).toarray(), expected)


def test_searches_by_boxes(monkeypatch):
    """Another metric, more edges than are set aside room for at first, progress, a tiny sigma."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    D = cdist(X, X, "chebyshev")
    monkeypatch.setattr(graphs, "SWEPT", 0)
    monkeypatch.setattr(graphs, "SWEPT_PAIRS", 0)
    found = exact.k_rng(X, 2, metric="chebyshev").toarray()
    np.testing.assert_array_equal(found, exact.k_rng(D, 2).toarray())
    assert exact.k_rng(0 * X, 1, metric="euclidean").nnz == 200 * 199
    weighted = exact.k_rng(X, 20, sigma=1e-200, metric="euclidean")
    assert weighted.nnz == exact.k_rng(X, 20, metric="euclidean").nnz
    assert weighted.data.min() > 0
    for few in (8, 0):
        monkeypatch.setattr(graphs, "FEW", few)
        seen: list[float] = []
        exact.k_rng(rng.normal(size=(600, 2)), 1, metric="euclidean", progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1
        assert len(seen) > 2
