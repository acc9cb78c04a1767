"""How a choice map chooses its dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.maps import ChoiceMap, laplace, selection
from trilens.maps.laplace import Surface
from trilens.simulate import gaussian, simulate_statements
from trilens.statements import Statements


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_a_fold_starts_from_its_own_answers_alone(kind):
    S = simulate_statements(gaussian(20, random_state=1), 600, kind, random_state=2)
    codes = selection.question_codes(S.triples, 20)

    def start_of(statements):
        rng = np.random.default_rng(0)
        with selection._prepare(statements, None, rng, 1, None) as held_out:
            _, test = held_out.folds[0]
            held = selection.question_codes(held_out.choices.triples[test], 20)
            return held_out._fold_start(2, 0), held

    start, held = start_of(S)
    # other answers to the questions of the first fold, by exchanging two objects
    others = S.triples.copy()
    hidden = np.isin(codes, held)
    others[hidden] = others[hidden][:, [1, 0, 2]]
    again, held_again = start_of(Statements(others, 20, kind=kind))
    np.testing.assert_array_equal(np.sort(held), np.sort(held_again))
    # to rounding: the sums run over other pairs, of which some weigh nothing
    np.testing.assert_allclose(start.X, again.X, rtol=1e-5)
    assert start.lapse == pytest.approx(again.lapse)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_guesses_are_not_predicted(kind):
    # one answer in two or three is right by chance
    wrong = 1 / 2 if kind == "closer" else 2 / 3
    gains = []
    for seed in range(6):
        points = gaussian(20, random_state=seed)
        S = simulate_statements(points, 600, kind, error_rate=wrong, random_state=seed + 50)
        found = ChoiceMap(random_state=0).fit(S)
        gains.append(max(found.cv_scores_.values()) + np.log(2 if kind == "closer" else 3))
    assert max(gains) * np.sqrt(600) < 0.5


@pytest.mark.slow
def test_long_strides_find_the_dimensions(monkeypatch):
    monkeypatch.setattr(laplace, "MOST_COORDINATES", 1)
    S = simulate_statements(gaussian(60, 6, random_state=1), 30_000, random_state=2)
    found = ChoiceMap(random_state=0).fit(S)
    assert found.n_components_ in (5, 6, 8)
    assert found.cv_scores_[found.n_components_] >= max(found.cv_scores_.values()) - 0.005
    assert len(found.cv_scores_) < len(selection.LADDER)


def test_nothing_about_the_evidence_is_computed_twice(monkeypatch):
    asked = []
    curvature = Surface._curvature

    def counted(self, X, share, l2):
        asked.append((X.shape[1], float(share[0]), l2))
        return curvature(self, X, share, l2)

    monkeypatch.setattr(Surface, "_curvature", counted)
    S = simulate_statements(gaussian(20, 2, random_state=1), 900, error_rate=0.2, random_state=2)
    found = ChoiceMap().fit(S)
    # at the start in 1, 2 and 3 dimensions, and at each point
    assert len(asked) == 3 + len(set(asked)) < 50
    low, high = found.error_rate_interval_
    assert low < found.error_rate_ < high
    assert len(found._scores.known) == 0  # the evidence decided
    assert found.best_score(-100) == found._scores.known[found.n_components_]
    assert len(found._scores.known) == 1
    assert found.cv_scores_.keys() == {1, 2, 3}
