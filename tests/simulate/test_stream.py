"""Streams, seeds, Noise model II and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import trilens.simulate.stream as stream_module
from trilens.errors import DissimilarityError, ParameterError
from trilens.simulate import (
    Points,
    distort,
    gaussian,
    simulate_statements,
    stream_statements,
    triples,
)
from trilens.statements import KINDS, concatenate

ALPHA = 1e-4


@pytest.fixture
def many_chunks(monkeypatch):
    """Chunks of about a hundred, through the kernels and threads."""
    monkeypatch.setattr(triples, "CHUNK", 100)
    monkeypatch.setattr(stream_module, "COMPILED_FROM", 1)


def matrix(n=20, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    return (D + D.T) / 2


@pytest.mark.parametrize("sampling", ["uniform", "replacement", "sampling2"])
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_together_are_the_whole(sampling, kind, many_chunks):
    options = {"kind": kind, "sampling": sampling, "error_rate": 0.2, "random_state": 3}
    whole = simulate_statements(matrix(), 750, n_threads=1, **options)
    assert len(whole) == 750
    for rows in (7, 100, 250, 10_000):
        parts = list(stream_statements(matrix(), 750, chunk_rows=rows, n_threads=4, **options))
        assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
        assert np.array_equal(concatenate(parts).triples, whole.triples)


def test_threads_and_dropped_ties_do_not_change_the_statements(many_chunks):
    D = (matrix() * 2).astype(np.uint8)
    np.fill_diagonal(D, 0)
    one, four = (
        simulate_statements(D, ties="drop", random_state=1, n_threads=threads) for threads in (1, 4)
    )
    parts = list(stream_statements(D, ties="drop", random_state=1, chunk_rows=37))
    assert 0 < len(one) < 1140
    assert np.array_equal(one.triples, four.triples)
    assert np.array_equal(one.triples, concatenate(parts).triples)


def test_the_seed_decides():
    D = matrix()
    one, same, other = (
        simulate_statements(D, 200, error_rate=0.3, random_state=seed).triples for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    rng = np.random.default_rng(1)
    first, second = (simulate_statements(D, 200, random_state=rng).triples for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_stream_is_not_disturbed_by_its_parent_generator(many_chunks):
    rng = np.random.default_rng(4)
    parts = []
    for part in stream_statements(matrix(), 500, random_state=rng, chunk_rows=50):
        rng.random(3)
        parts.append(part)
    whole = simulate_statements(matrix(), 500, random_state=np.random.default_rng(4))
    assert np.array_equal(concatenate(parts).triples, whole.triples)


def test_progress_goes_from_nothing_to_one(many_chunks):
    shares = []
    simulate_statements(matrix(), 750, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) == 8
    assert shares[-1] == 1


def test_names_are_kept():
    names = [f"car {i}" for i in range(20)]
    S = simulate_statements(matrix(), 10, names=names)
    assert S.names == tuple(names)
    assert next(stream_statements(matrix(), 10, names=names)).names == tuple(names)


def test_points_and_their_dissimilarities_give_the_same_statements():
    drawn = gaussian(30, 3, random_state=0)
    D = np.sqrt(((drawn.points[:, None] - drawn.points) ** 2).sum(axis=2))
    D = (D + D.T) / 2
    for objects in (drawn, drawn.points):
        S = simulate_statements(objects, random_state=1)
        assert np.array_equal(S.triples, simulate_statements(D, random_state=1).triples)
    square = Points(drawn.points[:3], drawn.labels[:3])
    assert len(simulate_statements(square)) == 1


def test_many_points_need_no_matrix(monkeypatch):
    from trilens.simulate import answers as truth

    drawn = gaussian(300, 2, random_state=0)
    by_matrix = simulate_statements(drawn, 5000, random_state=1)
    monkeypatch.setattr(truth, "_MOST_IN_MATRIX", 100)
    monkeypatch.setattr(truth, "_dissimilarities", None)
    assert np.array_equal(
        simulate_statements(drawn, 5000, random_state=1).triples, by_matrix.triples
    )


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


@pytest.mark.parametrize("kind", KINDS)
def test_statements_follow_the_distorted_values(kind):
    """Every statement agrees with one and the same distorted matrix: no two contradict."""
    D = matrix()
    S = simulate_statements(D, kind="closer", noise_param=1.0, random_state=2)
    smaller = {(a, near, far) for a, near, far in S.triples.tolist()}
    wrong = sum(D[a, near] > D[a, far] for a, near, far in smaller) / len(S)
    assert 0.05 < wrong < 0.45
    other = simulate_statements(D, kind=kind, noise_param=1.0, random_state=2)
    for first, second, third in other.triples.tolist():
        if kind == "central":
            assert (second, first, third) in smaller
            assert (third, first, second) in smaller
        elif kind == "odd":
            assert (second, third, first) in smaller
            assert (third, second, first) in smaller


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


def changed(i, j, value):
    D = matrix()
    D[i, j] = value
    return D


@pytest.mark.parametrize(
    ("D", "error", "text"),
    [
        (matrix()[:2, :2], ParameterError, "2 objects"),
        (np.zeros((2, 5)), ParameterError, "2 objects"),
        (np.zeros(5), ParameterError, "shape"),
        (np.array([["a"] * 3] * 3), ParameterError, "type"),
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


def test_too_many_statements_for_memory_point_to_the_stream():
    D = np.zeros((20_000, 1)) + np.arange(20_000)[:, None]
    with pytest.raises(ParameterError, match="use stream_statements"):
        simulate_statements(D)
    assert len(next(stream_statements(D, chunk_rows=1000))) == 1000
