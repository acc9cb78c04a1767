"""Streams, seeds, Noise model II and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from trilens.errors import DissimilarityError, ParameterError
from trilens.simulate import (
    Points,
    answers,
    distort,
    gaussian,
    simulate_statements,
    stream,
    stream_statements,
    triples,
)
from trilens.statements import KINDS, concatenate

ALPHA = 1e-4


@pytest.fixture
def many_chunks(monkeypatch):
    """Chunks of about a hundred, through the kernels and threads."""
    monkeypatch.setattr(triples, "CHUNK", 100)
    monkeypatch.setattr(stream, "COMPILED_FROM", 1)


def matrix(n=20, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return cdist(X, X)


def changed(i, j, value):
    D = matrix()
    D[i, j] = value
    return D


@pytest.mark.parametrize("sampling", ["uniform", "replacement", "sampling2"])
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_together_are_the_whole(sampling, kind, many_chunks):
    options = {"kind": kind, "sampling": sampling, "error_rate": 0.2}
    rng = np.random.default_rng(3)
    whole = simulate_statements(matrix(), 750, n_threads=1, random_state=rng, **options)
    assert len(whole) == 750
    for rows in (7, 100, 250, 10_000):
        options |= {"chunk_rows": rows, "n_threads": 4, "random_state": np.random.default_rng(3)}
        parts = []
        for part in stream_statements(matrix(), 750, **options):
            options["random_state"].random()  # which disturbs no stream
            parts.append(part)
        assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
        assert np.array_equal(concatenate(parts).triples, whole.triples)


def test_threads_and_dropped_ties_do_not_change_the_statements(many_chunks):
    D, shares = np.round(2 * matrix()), []
    one, four = (
        simulate_statements(D, ties="drop", random_state=1, n_threads=k, progress=shares.append)
        for k in (1, 4)
    )
    parts = list(stream_statements(D, ties="drop", random_state=1, chunk_rows=37))
    assert 0 < len(one) < 1140
    assert np.array_equal(one.triples, four.triples)
    assert np.array_equal(one.triples, concatenate(parts).triples)
    assert shares[:12] == shares[12:] == sorted(shares[:12])
    assert shares[-1] == 1


def test_the_seed_decides():
    names, rng = [f"car {i}" for i in range(20)], np.random.default_rng(1)
    one, same, other, first, second = (
        simulate_statements(matrix(), 200, error_rate=0.3, random_state=seed, names=names)
        for seed in (1, 1, 2, rng, rng)
    )
    assert one.names == tuple(names)
    assert np.array_equal(one.triples, same.triples)
    assert not np.array_equal(one.triples, other.triples)
    assert not np.array_equal(first.triples, second.triples)


def test_points_and_their_dissimilarities_give_the_same_statements(monkeypatch):
    drawn = gaussian(30, 3, random_state=0)
    D = cdist(drawn.points, drawn.points)
    by_matrix = simulate_statements(D, random_state=1)
    assert len(simulate_statements(Points(drawn.points[:3], drawn.labels[:3]))) == 1  # no matrix
    for most in (30, 29):  # of more points no matrix is made
        monkeypatch.setattr(answers, "_MOST_IN_MATRIX", most)
        for objects in (drawn, drawn.points):
            S = simulate_statements(objects, random_state=1)
            assert np.array_equal(S.triples, by_matrix.triples)


def test_noise_model_2_adds_gaussian_noise_to_every_pair_once():
    D = matrix(60)
    pairs = np.triu_indices(60, 1)
    noisy = distort(D, 1.5, random_state=0)
    assert np.array_equal(noisy, noisy.T)
    assert not np.diagonal(noisy).any()
    z = (noisy - D)[pairs] / (1.5 * np.std(D[pairs]))
    assert stats.kstest(z, "norm").pvalue > ALPHA
    assert (noisy[pairs] < 0).any()
    assert np.array_equal(distort(D, 0.0), D)


def test_statements_follow_the_distorted_values():
    """Every statement agrees with one and the same distorted matrix: no two contradict."""
    D = matrix()
    closer, central, odd = (
        simulate_statements(D, kind=kind, noise_param=1.0, random_state=2).triples.tolist()
        for kind in ("closer", "central", "odd")
    )
    wrong = sum(D[a, near] > D[a, far] for a, near, far in closer) / len(closer)
    assert 0.05 < wrong < 0.45
    smaller = set(map(tuple, closer))
    assert {(b, a, c) for a, b, c in central} | {(c, a, b) for a, b, c in central} <= smaller
    assert {(b, c, a) for a, b, c in odd} | {(c, b, a) for a, b, c in odd} <= smaller


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"error_rate": 1.1}, "error_rate is 1.1; it must be a number from 0 to 1"),
        ({"error_rate": -0.1}, "error_rate is -0.1"),
        ({"error_rate": float("nan")}, "error_rate is nan"),
        ({"noise_param": -1.0}, "noise_param is -1.0"),
        ({"noise_param": float("inf")}, "noise_param is inf"),
        ({"kind": "middle"}, "kind is 'middle'"),
        ({"ties": "keep"}, "ties is 'keep'"),
        ({"n_statements": 1141}, "only 1,140 questions"),
        ({"names": ["a", "b"]}, "20 objects, but 2 names"),
        ({"n_threads": 0}, "n_threads is 0"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(options, text):
    with pytest.raises(ParameterError, match="chunk_rows is 0"):
        stream_statements(matrix(), chunk_rows=0)
    for function in (simulate_statements, stream_statements):
        with pytest.raises(ParameterError, match=text) as caught:
            function(matrix(), **options)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("D", "error", "text"),
    [
        (matrix()[:2, :2], ParameterError, "2 objects"),
        (np.zeros((2, 5)), ParameterError, "2 objects"),
        (np.zeros(5), ParameterError, "shape"),
        (np.array([["a"] * 3] * 3), ParameterError, "type"),
        (np.arange(20_000.0)[:, None], ParameterError, "use stream_statements"),
        (changed(3, 4, 9.0), DissimilarityError, r"D\[3, 4\] is 9.0 but"),
        (changed(3, 4, np.nan), DissimilarityError, r"D\[3, 4\] is nan"),
        (changed(3, 4, -1.0), DissimilarityError, r"D\[3, 4\] is -1.0"),
        (changed(4, 4, 1.0), DissimilarityError, r"D\[4, 4\] is 1.0"),
        (np.full((5, 2), np.inf), ParameterError, "point 0"),
    ],
)
def test_bad_objects_are_refused_in_one_line(D, error, text):
    with pytest.raises(error, match=text) as caught:
        simulate_statements(D)
    assert "\n" not in str(caught.value)
    with pytest.raises(DissimilarityError, match="must be square"):
        simulate_statements(np.zeros((5, 2)), metric="precomputed")
