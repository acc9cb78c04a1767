from __future__ import annotations

import numpy as np
import pytest

from trilens.maps import ChoiceMap, descent
from trilens.maps.descent import fit_choices, part_of_answers
from trilens.maps.fitting import fit_near
from trilens.maps.likelihood import AnswerLikelihood, collect_choices, likelihood
from trilens.simulate import gaussian, simulate_statements


@pytest.mark.parametrize(
    ("kind", "fixed", "worth"),
    [("central", False, 0), ("odd", True, 15_000), ("closer", False, 15_000)],
)
def test_very_many_answers_lead_to_the_same_map(monkeypatch, kind, fixed, worth):
    points = gaussian(30, 2, random_state=8)
    S = simulate_statements(points, 3500, kind, error_rate=0.2, random_state=9)
    start = points.points * 2
    with likelihood(collect_choices(S)) as f:
        plain = fit_choices(f, start, 0.3, 0.1, fixed_lapse=fixed)
        monkeypatch.setattr(descent, "_LEAST_PART", 300)
        monkeypatch.setattr(descent, "_WORTH", worth)
        assert part_of_answers(f, 0.1) is not None
        found = fit_choices(f, start, 0.3, 0.1, fixed_lapse=fixed)
    assert found.converged
    assert found.loss == pytest.approx(plain.loss, rel=2e-5)
    assert found.lapse[0] == pytest.approx(plain.lapse[0], abs=0.005)


@pytest.mark.parametrize(
    ("l2", "length", "weights"),
    [(0.5, "student", None), (1e-9, "distance", None), (0.5, "distance", "wild")],
)
def test_where_a_part_tells_nothing_all_answers_do(monkeypatch, l2, length, weights):
    points = gaussian(40, 2, random_state=1)
    S = simulate_statements(points, 12_000, error_rate=0.1, sampling="replacement", random_state=1)
    given = None if weights is None else np.random.default_rng(0).pareto(0.5, len(S)) + 1e-3
    losses = []
    for least in (10**9, 500):
        monkeypatch.setattr(descent, "_LEAST_PART", least)
        found = ChoiceMap(2, l2=l2, length=length).fit(S, sample_weight=given)
        losses.append(l2 * (found.embedding_**2).sum() - found.log_likelihood_)
    assert losses[1] <= 1.01 * losses[0]


def test_near_a_known_map_a_fit_takes_few_steps(monkeypatch):
    points, asked = 2 * gaussian(14, 2, random_state=3).points, []
    options = {"kind": "odd", "error_rate": 0.2, "sampling": "replacement"}
    S, again = (simulate_statements(points, 2000, random_state=i, **options) for i in (3, 4))
    M = ChoiceMap(2, l2=0.1, lapses=0.2).fit(S)
    best = M.fit_.refit(again, start=M.embedding_, tol=1e-12)
    real = AnswerLikelihood.__call__
    monkeypatch.setattr(AnswerLikelihood, "__call__", lambda *x: asked.append(1) or real(*x))
    near = fit_near(again, M.fit_.map, 0.1)
    losses = [
        0.1 * (model.X**2).sum() - np.log(model.chosen(again.triples)).sum()
        for model in (near, best)
    ]
    assert len(asked) < 20
    assert losses[0] == pytest.approx(losses[1], abs=0.01)
