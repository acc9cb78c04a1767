"""How a choice map chooses its dimensions, its penalty and its lapse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from trilens.maps import ChoiceMap, laplace, selection
from trilens.maps.held_out import folds_by_question, folds_by_rater, held_out
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.simulate import gaussian, simulate_statements, study
from trilens.statements import Statements
from trilens.statements.combine import triple_codes


def asked(n, d, m, kind="central", error_rate=0.2, seed=1):
    points = gaussian(n, d, random_state=seed)
    return simulate_statements(
        points, m, kind, error_rate=error_rate, sampling="replacement", random_state=seed + 1
    )


@pytest.mark.parametrize("by", ["question", "rater"])
def test_what_is_held_out_is_not_seen(by):
    S = study(n_statements=2000).statements
    S = S.take(np.r_[np.arange(2000), np.arange(0, 300)])
    rng, codes, seen = np.random.default_rng(0), triple_codes(S.triples, S.n_objects), []
    folds = folds_by_rater(S, rng)
    if by == "question":
        folds = folds_by_question(S.triples, S.n_objects, rng)

    def make(train):
        seen.append(train)
        return lambda others: np.full((len(others), 1), len(seen) / 10)

    values = held_out(S, folds, make)
    held = np.zeros(len(S), int)
    for k, (train, test) in enumerate(folds):
        assert by == "question" or not set(S.raters[train]) & set(S.raters[test])
        assert not set(codes[train]) & set(codes[test])
        np.testing.assert_array_equal(seen[k], train)
        np.testing.assert_allclose(values[test], (k + 1) / 10)
        held += test
    assert (held == 1).all()
    same = np.tile(S.triples[:50], (12, 1))
    few = Statements(same, raters=np.repeat(np.arange(12), 50), kind="central")
    assert folds_by_rater(few, rng) is None


def test_other_answers_to_held_out_questions_change_nothing_but_their_own_scores():
    S = asked(20, 2, 600, "odd")
    (candidate,) = ChoiceMap(2).fit(S).fit_.settings.scores.later

    def predicted(statements):
        """How likely the first fold's questions are by the rest; which they are."""
        train, test = folds_by_question(statements.triples, 20, np.random.default_rng(0))[0]
        choices = collect_choices(statements, keep_rows=True)
        with likelihood(choices) as f:
            seen = f.weighing(choices.weights_of(train.astype(float)))
            rng = np.random.default_rng(0)
            chances = selection._fit(statements.take(train), seen, candidate, None, rng)
        return chances(S.take(test)), test

    before, test = predicted(S)
    # other answers to the questions of the first fold, by exchanging two objects
    others = S.triples.copy()
    others[test] = others[test][:, [1, 0, 2]]
    after, again = predicted(Statements(others, 20, kind="odd"))
    np.testing.assert_array_equal(test, again)
    # to rounding: the sums run over other pairs, of which some weigh nothing
    np.testing.assert_allclose(after, before, rtol=1e-3)


def test_both_sides_of_the_limit_say_the_same(monkeypatch):
    S = asked(60, 2, 4000, "odd", error_rate=0.3)
    one = ChoiceMap().fit(S)
    monkeypatch.setattr(laplace, "MOST_COORDINATES", 10)
    monkeypatch.setattr(laplace, "_PROBES", 32)  # with more coordinates fewer serve
    two = ChoiceMap().fit(S)
    assert one.n_components_ == two.n_components_ == 2
    assert one.error_rate_ == pytest.approx(two.error_rate_, abs=0.005)
    np.testing.assert_allclose(one.error_rate_interval_, two.error_rate_interval_, atol=0.005)
    assert np.log(one.l2_ / two.l2_) == pytest.approx(0, abs=0.3)
    assert one.cv_scores_[2] == pytest.approx(two.cv_scores_[2], abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_guesses_are_not_predicted(kind):
    # one answer in two or three is right by chance
    wrong = 1 / 2 if kind == "closer" else 2 / 3
    for seed in range(3):
        points = gaussian(20, random_state=seed)
        S = simulate_statements(points, 600, kind, error_rate=wrong, random_state=seed + 50)
        best = max(ChoiceMap(random_state=0).fit(S).cv_scores_.values())
        assert (best + np.log(2 if kind == "closer" else 3)) * np.sqrt(600) < 0.5


def test_each_number_of_dimensions_is_checked_with_its_own_penalty():
    S = asked(40, 3, 6000, error_rate=0.1)
    found = ChoiceMap().fit(S)
    assert found.n_components_ == 3
    penalties = {each.n_components: each.l2 for each in found.fit_.settings.scores.later}
    assert penalties[2] > 5 * penalties[3]
    scores = found.cv_scores_
    assert scores[3] == max(scores.values())
    assert scores[2] < scores[3] - 0.02


def test_a_given_penalty_leaves_the_dimensions_to_the_evidence():
    S = asked(30, 2, 3000)
    found = ChoiceMap(l2=0.05).fit(S)
    assert (found.n_components_, found.l2_) == (2, 0.05)
    with pytest.warns(ConvergenceWarning, match="l2=0"):
        assert ChoiceMap(l2=0).fit(S).n_components_ == 2
