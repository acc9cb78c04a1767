"""The noise ceiling: pairs of answers, between and within raters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from people import chances, draw_questions, survey
from trilens.agreement import agreement_between, agreement_within, reachable
from trilens.questions.reliability import reliability
from trilens.statements import Statements
from trilens.statements.combine import question_keys

POINTS = np.random.default_rng(5).standard_normal((20, 2))


def _plainly(S, *, within):
    """The definition: the mean over questions of the share of equal pairs."""
    key, answer, _ = question_keys(S)
    shares = []
    for question in np.unique(key):
        rows = np.flatnonzero(key == question)
        pairs = [
            answer[i] == answer[j]
            for i, j in combinations(rows, 2)
            if (S.raters[i] == S.raters[j]) == within
        ]
        if pairs:
            shares.append(np.mean(pairs))
    return np.mean(shares), len(shares)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_pairs_of_answers_are_counted_as_the_definition_says(kind):
    S = survey(POINTS, kind, raters=6, per=60, pool=40, again=0.2, seed=1)
    for found, within in (
        (agreement_between(S, S.raters), False),
        (agreement_within(S, S.raters), True),
    ):
        share, questions = _plainly(S, within=within)
        assert found.share == pytest.approx(share)
        assert found.questions == questions
        assert found.low < found.share < found.high


def test_carelessness_is_not_disagreement():
    careless = survey(POINTS, raters=30, per=100, blind=0.5, again=0.3, seed=2)
    own_minded = survey(POINTS, raters=30, per=100, blind=0.0, tastes=1.2, again=0.3, seed=3)
    gap = {}
    for name, S in (("careless", careless), ("own-minded", own_minded)):
        between, within = agreement_between(S, S.raters), agreement_within(S, S.raters)
        gap[name] = within.share - between.share
    assert abs(gap["careless"]) < 0.05
    assert gap["own-minded"] > 0.1


def test_where_all_agree_the_interval_does_not_end_at_one_point():
    found = agreement_between(Statements([[0, 1, 2], [3, 4, 5]] * 10, kind="central"), None)
    assert found.low < 0.95 < found.share == found.high == 1.0


def test_the_ceiling_is_of_several_raters_and_of_the_questions_that_are_listed():
    alone = reliability(Statements([[0, 1, 2]] * 2, raters=["a", "a"], kind="central"))
    assert (alone.ceiling, alone.within.share) == (None, 1.0)
    assert "from one rater" in alone.no_ceiling
    S = Statements([[0, 1, 2], [0, 1, 2], [3, 4, 5], [4, 3, 5]], kind="central")
    listed = Statements([[2, 1, 0]], n_objects=6, kind="central")
    for repeated, ceiling in ((None, 0.5), (listed, 1.0), ([False, False, True, True], 0.0)):
        assert reliability(S, repeated=repeated).ceiling == ceiling


def test_what_can_be_reached_lies_between_agreement_and_one():
    for share in np.linspace(0.34, 1.0, 12):
        best = reachable(float(share), "odd")
        assert share - 1e-9 <= best <= 1.0
    assert reachable(0.2, "central") == pytest.approx(1 / 3)
    # two answers, 80 % of them right
    assert reachable(0.8**2 + 0.2**2, "closer") == pytest.approx(0.8)


def test_a_model_tells_how_much_can_be_reached():
    found = reliability(survey(POINTS, "closer", raters=16, per=80, pool=100, seed=4))
    low, high = found.reachable_interval
    P = chances(POINTS, draw_questions(np.random.default_rng(1), 20, 1000), "closer")
    best = (0.9 * P + 0.1 / P.shape[1]).max(axis=1).mean()
    assert low <= best <= high
    assert found.reachable == pytest.approx(best, abs=0.04)
    assert found.ceiling < found.reachable


@pytest.mark.parametrize("amounts", [[60] * 15, [660] + [60] * 11])
def test_the_interval_is_for_other_raters_however_much_each_gave(amounts):
    # raters guess in 0 to 60 % of the cases, and are right otherwise: two agree in 2/3 of cases
    # or so, by the mean of the square of one share
    held = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rater = np.repeat(np.arange(len(amounts)), amounts)
        asked = np.sort(rng.permuted(np.tile(np.arange(9), (len(rater), 1)), axis=1)[:, :3], axis=1)
        guess = rng.random(len(rater)) < rng.uniform(0, 0.6, len(amounts))[rater]
        first = np.where(guess, rng.integers(3, size=len(rater)), 0)
        triples = np.take_along_axis(asked, (first[:, None] + np.arange(3)) % 3, axis=1)
        found = agreement_between(Statements(triples, raters=rater, kind="central"), rater)
        right, wrong = 0.7 + 0.1, 0.1
        held.append(found.low <= right**2 + 2 * wrong**2 <= found.high)
    assert sum(held) >= 2
