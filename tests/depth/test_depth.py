from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import drawn
from trilens.counts import count_central
from trilens.depth import centrality, depth_intervals, lens_depth
from trilens.errors import KindError, ParameterError
from trilens.statements import Statements

import reference


@given(drawn.statements(kinds=["central", "odd"]))
def test_centrality_equals_the_definition(S):
    expected = reference.centrality(S.triples, S.n_objects, S.kind)
    assert np.array_equal(centrality(S), expected)
    assert np.array_equal(centrality(count_central(S)), expected)
    if S.kind == "central":
        assert np.array_equal(lens_depth(S), expected)


def test_an_object_never_seen_has_depth_zero_for_both_kinds():
    for kind in ("central", "odd"):
        assert centrality(Statements([[0, 1, 2]], n_objects=4, kind=kind))[3] == 0


def test_other_kinds_are_refused_with_the_method_that_serves_them():
    with pytest.raises(KindError, match=r"centrality\(\)"):
        lens_depth(Statements([[0, 1, 2]], kind="odd"))
    with pytest.raises(KindError, match="lensmap"):
        centrality(Statements([[0, 1, 2]], kind="closer"))
    with pytest.raises(KindError, match="lensmap"):
        depth_intervals(Statements([[0, 1, 2]], kind="closer"))


@given(drawn.statements(kinds=["central", "odd"]))
def test_an_interval_holds_its_estimate_and_the_set_the_best(S):
    interval = depth_intervals(S)
    seen = count_central(S).appears > 0
    assert (interval.low <= interval.depth).all()
    assert (interval.depth <= interval.high).all()
    assert (interval.low[~seen] == 0).all()
    assert (interval.high[~seen] == 1).all()
    assert interval.medoid_set[~seen].all()
    assert interval.medoid_set[interval.depth.argmax()]


def simulated_answers(rng, weight, m):
    """Uniform triples with replacement; of each, objects are central by their weight."""
    n = len(weight)
    rows = rng.random((m, n)).argsort(axis=1)[:, :3]
    share = weight[rows] / weight[rows].sum(axis=1, keepdims=True)
    chosen = (share.cumsum(axis=1) > rng.random((m, 1))).argmax(axis=1)
    return Statements.from_choices(rows, chosen, n_objects=n)


def expected_depth(weight):
    n = len(weight)
    depth = np.zeros(n)
    for x in range(n):
        pairs = [
            weight[x] / (weight[x] + weight[y] + weight[z])
            for y in range(n)
            for z in range(y)
            if x not in (y, z)
        ]
        depth[x] = np.mean(pairs)
    return depth


@pytest.mark.parametrize("m", [60, 400])
def test_intervals_and_the_medoid_set_hold_their_coverage(m):
    # 400 studies of 10 objects: with coverage of exactly 0.95, fewer than 0.93 of 4000 has
    # probability below 1e-8 per object count, and fewer than 0.91 of 400 sets below 1e-3
    rng = np.random.default_rng(m)
    weight = np.linspace(1, 4, 10)
    truth = expected_depth(weight)
    inside, holds = [], []
    for _ in range(400):
        interval = depth_intervals(simulated_answers(rng, weight, m))
        inside.append((interval.low <= truth) & (truth <= interval.high))
        holds.append(interval.medoid_set[truth.argmax()])
    assert np.mean(inside) >= 0.93
    assert np.mean(holds) >= 0.91


def test_more_statements_make_the_set_smaller():
    rng = np.random.default_rng(0)
    weight = np.linspace(1, 4, 10)
    few = depth_intervals(simulated_answers(rng, weight, 100)).medoid_set.sum()
    many = depth_intervals(simulated_answers(rng, weight, 20_000)).medoid_set.sum()
    assert many < few


@pytest.mark.parametrize("level", [0, 1, -0.1, 2, float("nan")])
def test_a_wrong_level(level):
    with pytest.raises(ParameterError, match="level"):
        depth_intervals([[0, 1, 2]], level)
