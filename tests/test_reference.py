"""The paper in plain loops equals the fast code, on drawn collections with every corner case.

Collections may be empty or hold one statement, repeat and contradict themselves, and leave objects
out; counts are small, so that depths tie and shares meet their threshold.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import KNeighborsClassifier

import trilens as tl
from trilens import lens, reference
from trilens.counts import count_central, count_labelled_pairs, count_pairs

KS = st.sampled_from([1, 2, 3, 5, 2.5, 40])
ERROR_RATES = st.sampled_from([0.0, 0.1, 0.3, 0.5])
SIGMAS = st.sampled_from([None, 0.3, 2.0])


@st.composite
def collections(draw, kind="central", least=1):
    """Statements about up to eight objects, of which some may be in none."""
    n = draw(st.integers(least, 8))
    triple = st.permutations(range(n)).map(lambda order: order[:3])
    rows = draw(st.lists(triple, max_size=30)) if n >= 3 else []
    return tl.Statements(np.array(rows, dtype=int).reshape(-1, 3), n_objects=n, kind=kind)


@st.composite
def labelled(draw):
    """A collection, and labels of which two classes are there."""
    S = draw(collections(least=3))
    free = draw(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=8, max_size=8))
    return S, draw(st.permutations(["a", "b", *free][: S.n_objects]))


@given(collections(), st.integers(0, 8))
def test_algorithms_1_and_2(S, c):
    LD = reference.lens_depth(S)
    assert tl.lens_depth(S).tolist() == tl.lens_depth(count_central(S)).tolist() == LD
    best = reference.algorithm_1(S)
    assert lens.algorithm_1(S) == best
    found = tl.medoid(S, method="depth")
    assert LD[found.index] == LD[best]
    assert S.names[best] in (found.name, *found.tied)
    least = reference.algorithm_2(S, c)
    assert lens.algorithm_2(S, c).tolist() == least
    assert tl.outliers(S, min(c, S.n_objects), method="depth").indices.tolist() == least


@given(collections("odd"))
def test_crowd_median(S):
    best = reference.crowd_median(S)
    assert tl.centrality(S).argmax() == best
    found = tl.medoid(S, method="depth")
    assert S.names[best] in (found.name, *found.tied)


@settings(max_examples=40)
@given(labelled())
def test_algorithm_3(drawn):
    S, y = drawn
    expected = reference.algorithm_3(S, y, KNeighborsClassifier(1))
    found = tl.LensDepthClassifier(KNeighborsClassifier(1)).fit(S, y).transduction_
    assert {u: found[u] for u in expected} == expected
    assert [found[i] for i in range(len(y)) if y[i]] == [label for label in y if label]


@given(labelled(), KS, ERROR_RATES)
def test_algorithm_4(drawn, k, error_rate):
    S, y = drawn
    winners = reference.algorithm_4(S, y, k, error_rate, choose=list)
    L = [i for i in range(len(y)) if y[i]]
    classes = sorted({y[i] for i in L})
    votes_for = np.array([[y[i] == label for label in classes] for i in L]).astype(int)
    V = lens.labelled_values(count_labelled_pairs(S, L))
    votes, how = lens.algorithm_4(V, votes_for, k, error_rate)
    for u, won in winners.items():
        assert [classes[i] for i in np.flatnonzero(votes[u] == votes[u].max())] == won
        assert (how[u] == "random") == (not votes[u].any())
    if k == int(k):
        model = tl.KRNGClassifier(int(k), error_rate=error_rate, alone="random").fit(S, y)
        assert all(model.transduction_[u] in won for u, won in winners.items())


@given(collections(), KS, ERROR_RATES, SIGMAS)
def test_the_graph_of_algorithm_5(S, k, error_rate, sigma):
    W = reference.k_rng(S, k, error_rate, sigma)
    for given_ in (S, count_pairs(S, layout="dense"), count_pairs(S, layout="sparse")):
        found = tl.k_rng(given_, k, error_rate, sigma).toarray()
        assert np.array_equal(found > 0, np.array(W) > 0)
        np.testing.assert_allclose(found, W, rtol=1e-14)


@settings(max_examples=25)
@given(st.data(), st.lists(st.integers(3, 5), min_size=1, max_size=3), SIGMAS)
def test_algorithm_5_finds_the_parts_of_a_graph_that_falls_apart(data, sizes, sigma):
    rows, start = [], 0
    for size in sizes:
        one = st.permutations(range(start, start + size)).map(lambda order: order[:3])
        rows += data.draw(st.lists(one, min_size=size, max_size=20))
        start += size
    S, k = (
        tl.Statements(rows, n_objects=start, kind="central"),
        data.draw(st.sampled_from([1, 3, start])),
    )
    W = np.array(reference.k_rng(S, k, sigma=sigma))
    assume(W.any(axis=1).all())
    n_clusters, parts = connected_components(W)
    expected = parts.tolist()  # numbered as they appear
    assert reference.algorithm_5(S, k, n_clusters, sigma) == expected
    assert tl.KRNGClustering(n_clusters, k, sigma).fit_predict(S).tolist() == expected


@pytest.mark.parametrize(("error_rate", "sigma"), [(0.0, None), (0.2, 0.5)])
def test_algorithm_5_of_two_groups(error_rate, sigma):
    drawn = tl.simulate.mixture(24, [[0, 0], [7, 0]], random_state=1)
    S = tl.simulate_statements(drawn.points, error_rate=error_rate, random_state=2)
    expected = reference.algorithm_5(S, 6, 2, sigma, error_rate)
    model = tl.KRNGClustering(2, 6, sigma, error_rate, n_init=3)
    assert model.fit_predict(S).tolist() == expected
    assert tl.purity(expected, drawn.labels) == 1


def test_what_the_reference_refuses():
    with pytest.raises(tl.errors.StatementError, match="no objects"):
        reference.algorithm_1([])
    with pytest.raises(tl.errors.StatementError, match="object 3 has no neighbor"):
        reference.algorithm_5([[0, 1, 2]], 40, 2, n=4)
    with pytest.raises(tl.errors.LabelError, match="two classes"):
        reference.algorithm_4([[0, 1, 2]], ["a", "a", None], 1)
    with pytest.raises(tl.errors.KindError, match="kind central, not odd"):
        reference.lens_depth(tl.Statements([[0, 1, 2]], kind="odd"))
    with pytest.raises(tl.errors.ParameterError, match="n is 2"):
        reference.k_rng([[0, 1, 2]], 1, n=2)


def test_the_page_shows_every_function_literally():
    page = (Path(__file__).parents[1] / "docs" / "paper.md").read_text(encoding="utf-8")
    assert set(re.findall(r":pyobject: (\w+)", page)) >= set(reference.__all__)
