"""Designs: numbering, no repeats, and the distribution of what is asked.

Statistical tests have fixed seeds and a false-alarm rate of 1e-4 each: a correct design
fails with that probability over the choice of the seed.
"""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from scipy import stats

from trilens.errors import ParameterError
from trilens.simulate import triples
from trilens.simulate.triples import design, hypergeometric, rank, sample_distinct, unrank

ALPHA = 1e-4


def asked(n, m, sampling="uniform", seed=0, kind="central", **more):
    """All questions of a design, in their order."""
    count, chunks = design(n, kind, m, sampling, np.random.default_rng(seed), **more)
    parts = []
    for size, draw in chunks:
        questions, row = draw()
        ordered = questions.copy()
        if row is not None:
            assert np.array_equal(np.sort(row), np.arange(size))
            ordered[row] = questions
        assert len(questions) == size
        parts.append(ordered)
    drawn = np.concatenate(parts) if parts else np.empty(0, int)
    assert len(drawn) == count
    return drawn


def chi_square(counts, probabilities):
    expected = counts.sum() * np.asarray(probabilities)
    assert expected.min() > 5
    return stats.chisquare(counts, expected).pvalue


@pytest.mark.parametrize("n", [9, 3000, triples.MAX_OBJECTS])
def test_triples_are_numbered_by_the_combinatorial_number_system(n):
    last = comb(n, 3) - 1
    ranks = np.concatenate([np.random.default_rng(0).integers(last, size=200), [0, 1, last]])
    drawn = unrank(ranks, n)
    assert rank(drawn).tolist() == ranks.tolist()
    assert [comb(c, 3) + comb(b, 2) + a for a, b, c in drawn.tolist()] == ranks.tolist()
    assert drawn[-1].tolist() == [n - 3, n - 2, n - 1]
    assert (np.diff(drawn, axis=1) > 0).all()


@pytest.mark.parametrize(
    ("n", "m"), [(150, 0), (150, 1), (150, 300_000), (150, comb(150, 3) - 1), (8638, 600_000)]
)
def test_without_replacement_never_repeats_over_chunks(n, m):
    drawn = asked(n, m)
    assert len(np.unique(drawn)) == m
    assert m == 0 or (drawn.min() >= 0 and drawn.max() < comb(n, 3))
    # evenly spread over all ranks (a Kolmogorov-Smirnov test)
    assert m < 10 or stats.kstest(drawn / comb(n, 3), "uniform").pvalue > ALPHA


def test_in_chunks_every_set_is_equally_likely(monkeypatch):
    monkeypatch.setattr(triples, "CHUNK", 2)
    assert asked(7, None).tolist() == list(range(35))
    assert asked(7, None, kind="closer").tolist() == list(range(105))
    again = np.bincount(asked(5, 2000, "replacement", seed=1), minlength=10)
    subsets = {s: i for i, s in enumerate(itertools.combinations(range(10), 5))}
    counts, first = np.zeros(len(subsets), int), np.zeros(10, int)
    for seed in range(2000):
        drawn = asked(5, 5, seed=seed).tolist()
        counts[subsets[tuple(sorted(drawn))]] += 1
        first[drawn[0]] += 1
    for each in (again, first, counts):
        assert chi_square(each, np.full(len(each), 1 / len(each))) > ALPHA


@pytest.mark.parametrize(("size", "count"), [(5, 3), (12, 3)])
def test_sample_distinct_every_ordered_sample_is_equally_likely(size, count):
    """Both ways: a permutation, and drawing until enough are different."""
    rng = np.random.default_rng(3)
    places = {s: i for i, s in enumerate(itertools.permutations(range(size), count))}
    counts = np.zeros(len(places), int)
    for _ in range(7 * len(places)):
        drawn, row = sample_distinct(size, count, rng)
        assert (np.diff(drawn) > 0).all()
        ordered = np.empty(count, int)
        ordered[row] = drawn
        counts[places[tuple(ordered.tolist())]] += 1
    assert chi_square(counts, np.full(len(places), 1 / len(places))) > ALPHA


@pytest.mark.parametrize(("good", "total", "draws"), [(5, 12, 6), (60, 100, 50)])
def test_hypergeometric_has_its_distribution(good, total, draws):
    rng = np.random.default_rng(4)
    drawn = np.array([hypergeometric(good, total, draws, rng) for _ in range(4000)])
    p = stats.hypergeom.pmf(np.arange(draws + 1), total, good, draws)
    counts = np.bincount(drawn, minlength=draws + 1)
    assert counts[p == 0].sum() == 0
    # the thin tails together with the nearest number that is likely enough to be tested
    first, last = np.flatnonzero(4000 * p > 6)[[0, -1]]
    bins = np.clip(np.arange(draws + 1), first, last)
    pooled, share = (np.bincount(bins, weights=x)[first:] for x in (counts, p))
    assert chi_square(pooled, share) > ALPHA
    # numpy's own stops at populations of 10^9
    good, total, draws = 10**9, 4 * 10**11, 10**8
    drawn = np.array([hypergeometric(good, total, draws, rng) for _ in range(500)])
    mean = draws * good / total
    z = (drawn - mean) / np.sqrt(mean * (1 - good / total))
    assert stats.kstest(z, "norm").pvalue > ALPHA
    assert hypergeometric(7, 10, 10, rng) == 7
    assert hypergeometric(0, 10, 5, rng) == 0


def sampling2_probabilities(groups, n):
    """Section 6.1: set i with probability i^2 / sum j^2, then one of its statements."""
    n_groups = max(groups) + 1
    weight = sum(i * i for i in range(1, n_groups + 1))
    every = sorted(itertools.combinations(range(n), 3), key=lambda t: t[::-1])
    p = np.zeros(len(every))
    for group in range(n_groups):
        inside = [r for r, t in enumerate(every) if any(groups[x] == group for x in t)]
        p[inside] += (group + 1) ** 2 / weight / len(inside)
    return p


@pytest.mark.parametrize(
    ("kind", "groups", "m"),
    [("central", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9], 40_000), ("closer", [0, 1, 1, 2, 0], 6000)],
)
def test_sampling2_has_the_papers_distribution(monkeypatch, kind, groups, m):
    monkeypatch.setattr(triples, "CHUNK", 15_000)
    n, anchors = len(groups), 3 if kind == "closer" else 1
    drawn = asked(n, m, "sampling2", seed=6, kind=kind, groups=np.array(groups))
    p = np.repeat(sampling2_probabilities(groups, n) / anchors, anchors)
    assert chi_square(np.bincount(drawn, minlength=len(p)), p) > ALPHA


@pytest.mark.parametrize(
    ("n", "m", "sampling", "more", "text"),
    [
        (2, 1, "uniform", {}, "2 objects"),
        (5, 11, "uniform", {}, "11 statements were requested, but 5 objects have only 10"),
        (5, -1, "uniform", {}, "n_statements is -1"),
        (5, 2.5, "uniform", {}, "n_statements is 2.5"),
        (5, 5, "sometimes", {}, "sampling is 'sometimes'"),
        (5, None, "replacement", {}, "needs a number of statements"),
        (9, 5, "sampling2", {}, "at least ten objects, got 9"),
        (5, 5, "sampling2", {"groups": np.array([0, 0, 2, 2, 2])}, "group 1 of Sampling II"),
        (5, 5, "sampling2", {"groups": np.array([0, 1])}, "5 whole numbers"),
        (5, 5, "uniform", {"groups": np.zeros(5, int)}, "groups need sampling='sampling2'"),
        (triples.MAX_OBJECTS + 1, 5, "uniform", {}, "can be simulated"),
    ],
)
def test_bad_designs_are_refused_in_one_line(n, m, sampling, more, text):
    with pytest.raises(ParameterError, match=text) as caught:
        asked(n, m, sampling, **more)
    assert "\n" not in str(caught.value)
