"""Intervals by counting."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import drawn
from trilens.answers import Answers
from trilens.counts import count_central, counted, write_counts
from trilens.errors import ParameterError
from trilens.files import write_statements
from trilens.questions.depth import depth_intervals
from trilens.questions.medoid import medoid
from trilens.shares import counted_intervals, design_effect
from trilens.statements import Statements


@given(drawn.statements())
def test_an_interval_holds_its_estimate_and_the_set_the_best(S):
    interval = counted_intervals(S)
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
    return Statements.from_responses(rows, chosen, "central", n_objects=n)


def expected_depth(weight):
    """The mean over the pairs of other objects."""
    others = [np.delete(weight, x) for x in range(len(weight))]
    return np.array(
        [
            np.mean([own / (own + y + z) for y, z in combinations(rest, 2)])
            for own, rest in zip(weight, others, strict=True)
        ]
    )


@pytest.mark.parametrize("m", [60, 400])
def test_intervals_and_the_medoid_set_hold_their_coverage(m):
    # 200 studies of 10 objects: with coverage of exactly 0.95, fewer than 0.93 of 2000 has
    # probability below 1e-4, and fewer than 0.89 of 200 sets below 1e-3
    rng = np.random.default_rng(m)
    weight = np.linspace(1, 4, 10)
    truth = expected_depth(weight)
    inside, holds = [], []
    for _ in range(200):
        interval = counted_intervals(simulated_answers(rng, weight, m))
        inside.append((interval.low <= truth) & (truth <= interval.high))
        holds.append(interval.medoid_set[truth.argmax()])
    assert np.mean(inside) >= 0.93
    assert np.mean(holds) >= 0.89


def of_raters(rng, differ, n_raters=15, each=40):
    """Answers about six objects; raters differ in what they find central."""
    triples = [
        simulated_answers(rng, np.exp(differ * rng.standard_normal(6)), each).triples
        for _ in range(n_raters)
    ]
    raters = np.repeat(np.arange(n_raters), each)
    return Statements(np.concatenate(triples), 6, kind="central", raters=raters)


def test_raters_who_differ_widen_the_intervals_so_that_they_cover():
    # with such raters all objects have the expected depth 1/3; 60 studies of 6 objects
    rng = np.random.default_rng(1)
    by_rater, plain = [], []
    for _ in range(60):
        S = of_raters(rng, differ=1.0)
        for covered, given_ in ((by_rater, S), (plain, count_central(S))):
            interval = counted_intervals(given_)
            covered.append((interval.low <= 1 / 3) & (interval.high >= 1 / 3))
    assert np.mean(by_rater) >= 0.95
    assert np.mean(plain) < 0.7


def test_few_raters_or_none_leave_the_intervals_as_they_are_and_wrong_levels_are_refused():
    S = of_raters(np.random.default_rng(2), 1.0, n_raters=3)
    assert design_effect(S) is None
    assert np.array_equal(counted_intervals(S).low, counted_intervals(count_central(S)).low)
    alike = of_raters(np.random.default_rng(3), 0.0, n_raters=40)
    effect = design_effect(alike)
    assert effect.freedom == pytest.approx(39)
    assert effect.factor.min() >= 1
    assert np.median(effect.factor) < 1.6
    # a rater with most answers leaves few degrees of freedom
    raters = np.r_[np.zeros(200, int), 1 + np.arange(220) // 20]
    one_leads = Statements([[0, 1, 2], [1, 0, 2]] * 210, raters=raters, kind="central")
    assert design_effect(one_leads).freedom < 3
    for level in (0, 1, -0.1, 2, float("nan")):
        with pytest.raises(ParameterError, match="level"):
            counted_intervals(S, level)


def test_answers_serve_as_statements_do(tmp_path, monkeypatch):
    S = Statements([[0, 1, 2]] * 30 + [[1, 0, 2]] * 5, raters=np.arange(35) % 9, kind="central")
    file = tmp_path / "answers.parquet"
    write_statements(S, file)
    assert np.array_equal(counted_intervals(Answers(file)).low, counted_intervals(S).low)
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)
    assert np.array_equal(
        counted_intervals(Answers(file)).low, counted_intervals(count_central(S)).low
    )


def test_counts_of_raters_whom_they_do_not_know_say_so(tmp_path, monkeypatch):
    S = Statements([[0, 1, 2]] * 30 + [[1, 0, 2]] * 5, kind="central")
    raters = Statements(S.triples, raters=np.arange(35) % 9, kind="central")
    plain, named = tmp_path / "plain.csv", tmp_path / "raters.csv"
    write_statements(S, plain)
    write_statements(raters, named)
    for file in (plain, named):
        write_counts(Answers(file).count(), file.with_suffix(".npz"))

    def doubted(*asked):
        found = [(depth_intervals(one, method="depth"), medoid(one, "depth")) for one in asked]
        assert all("too narrow" in (one.caution or "too narrow") for two in found for one in two)
        return [one.reason is not None for two in found for one in two]

    assert doubted(S, raters, plain, named, counted(S)) == [False] * 10
    assert doubted(count_central(S), counted(raters), tmp_path / "raters.npz") == [True] * 6
    assert doubted(tmp_path / "plain.npz", counted(S) + counted(S)) == [False] * 4
    assert doubted(counted(S) + counted(raters)) == [True] * 2
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)
    assert doubted(plain, named) == [False] * 2 + [True] * 2
