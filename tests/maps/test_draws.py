"""Maps drawn from the posterior, beside what importance sampling and other seeds say."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from trilens import ChoiceMap, Statements
from trilens.errors import UnmentionedObjectsWarning
from trilens.maps import draws
from trilens.maps.geometry import total_distance
from trilens.simulate import gaussian, simulate_statements


def test_given_time_draws_are_those_of_importance_sampling(monkeypatch):
    monkeypatch.setattr(draws, "_ROUNDS", 50)
    monkeypatch.setattr(draws, "_LAST_ROUNDS", 1000)
    rng = np.random.default_rng(0)
    answers = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3], [0, 1, 2]]
    times = [3, 2, 2, 1, 2]
    S = Statements(np.repeat(answers, times, axis=0), 4, kind="central")
    M = ChoiceMap(1, l2=0.1, length="distance").fit(S)
    careless = replace(M.fit_.map, lapse=0.3)
    F = replace(M.fit_, map=careless, stored={"overdispersion": 1.0})
    drawn = draws.draw_maps(F, 4000, np.random.default_rng(1))
    # the prior: a standard deviation whose logarithm is even between its limits
    spread = np.exp(rng.uniform(np.log(0.1), np.log(1000), 400_000))
    X = spread[:, None] * rng.standard_normal((len(spread), 4))
    chance = np.ones(len(X))
    for (a, b, c), often in zip(answers, times, strict=True):
        sides = [np.abs(X[:, i] - X[:, j]) for i, j in ((b, c), (a, c), (a, b))]
        longest = np.max(sides, axis=0)
        odds = [np.exp(side - longest) for side in sides]
        chance *= (0.7 * odds[0] / np.sum(odds, axis=0) + 0.1) ** often
    chance /= chance.sum()
    assert 1 / (chance**2).sum() > 5000

    def ends(maps):  # which two objects are at the ends
        order = np.argsort(maps, axis=1)
        return np.sort(order[:, [0, 3]], axis=1) @ [4, 1]

    wanted = np.bincount(ends(X), chance, minlength=16)
    found = np.bincount(ends(drawn[:, :, 0]), minlength=16) / len(drawn)
    assert np.abs(wanted - found).sum() / 2 < 0.06
    spread = X.std(axis=1)
    wanted = np.quantile(spread, 0.5, weights=chance, method="inverted_cdf")
    assert abs(np.median(drawn.std(axis=1)) / wanted - 1) < 0.25


def drawn_of(M, n_draws, seed=0):
    """Maps that the answers behind a fitted map allow, by another seed."""
    return replace(M.fit_.canonical[0], n_draws=n_draws, seed=seed, stored={}).draws


def test_two_ways_that_are_as_likely_are_drawn_as_often():
    # nothing says which way round the second half of the line lies
    halves = [[b + at, a + at, c + at] for at in (0, 7) for a, b, c in combinations(range(7), 3)]
    S = Statements(halves, 14, kind="central")
    M = ChoiceMap(1, n_jobs=1, lapses="one").fit(S)
    shares = []
    for seed in range(3):
        X = drawn_of(M, 32, seed)[:, :, 0]
        shares.append(((X[:, 6] > X[:, 0]) == (X[:, 13] > X[:, 7])).mean())
    assert 0.35 < np.mean(shares) < 0.65
    assert not {0, 1} & set(shares)  # of 40 seeds one drew all maps one way


def test_few_draws_are_of_different_maps():
    S = Statements([[1, 0, 2], [2, 1, 3], [1, 0, 3], [2, 0, 3]] * 3, kind="central")
    M = ChoiceMap(1, l2=0.1).fit(S)
    few = [drawn_of(M, 4, seed)[:, 1, 0] > 0 for seed in range(40)]
    assert 0.01 < np.mean([len(set(each.tolist())) == 1 for each in few]) < 0.4
    assert drawn_of(M, 3).shape == (3, 4, 1)
    np.testing.assert_array_equal(drawn_of(M, 40), drawn_of(M, 40))


def test_another_seed_draws_the_same_maps():
    # four chains from afar named from 2 to 8 objects here, by their seed
    points = gaussian(20, 2, np.random.default_rng(5))
    S = simulate_statements(points, 270, "odd", error_rate=0.0, random_state=5)
    M = ChoiceMap(2, n_jobs=1).fit(S)
    shares = []
    for seed in range(3):
        far = np.array([total_distance(X) for X in drawn_of(M, 200, seed)])
        shares.append(np.bincount(far.argmin(axis=1), minlength=20) / len(far))
    apart = [np.abs(one - two).sum() / 2 for one in shares for two in shares]
    assert max(apart) < 0.35
    sizes = [(np.sort(each)[::-1].cumsum() < 0.95).sum() for each in shares]
    assert max(sizes) - min(sizes) <= 2


def test_objects_that_nobody_was_asked_about_may_be_anywhere():
    triples = [[1, 0, 2], [2, 1, 3], [1, 0, 3], [3, 2, 4], [2, 0, 4]] * 6
    with pytest.warns(UnmentionedObjectsWarning):
        M = ChoiceMap(1, l2=0.1).fit(Statements(triples, 300, kind="central"))
    drawn = drawn_of(M, 100)
    drawn /= drawn[:, :5].std(axis=1, keepdims=True)
    among = drawn.std(axis=0)[:, 0]
    assert np.median(among[5:]) > among[:5].max() / 2
    assert np.isfinite(drawn).all()
