from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from trilens.maps import ChoiceMap, descent
from trilens.maps.descent import (
    AnswerPart,
    Preconditioner,
    descend,
    fit_choices,
    part_of_answers,
    preconditioner,
)
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.simulate import gaussian, simulate_statements


def answers(kind, m=700):
    points = gaussian(14, 2, random_state=3)
    S = simulate_statements(points, m, kind, error_rate=0.2, sampling="replacement", random_state=4)
    return collect_choices(S)


@pytest.mark.parametrize("length", ["distance", "student"])
@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_the_information_is_that_of_the_evidence(kind, length):
    choices = answers(kind)
    X = np.random.default_rng(5).standard_normal((14, 3))
    lapse, l2 = np.array([0.3]), 0.2
    with likelihood(choices, length, 2.0, compiled=False) as f:
        wanted = f.information(X, lapse)
    with likelihood(choices, length, 2.0, compiled=True) as f:
        np.testing.assert_allclose(f.information(X, lapse), wanted, atol=1e-10)
        part = AnswerPart(f, np.arange(len(choices)), 2.0)
        whole = preconditioner(part, 10**9, X, lapse, l2)
        blocks = preconditioner(part, 0, X, lapse, l2)
    assert whole.is_whole
    assert not blocks.is_whole
    H = 2 * wanted
    H[np.diag_indices(len(H))] += 2 * l2 + 0.02 * np.median(np.diag(H))
    for v in np.random.default_rng(6).standard_normal((5, 42)):
        # v' H^-1 v, and the same of each object's own block
        assert (whole.slope(v) ** 2).sum() == pytest.approx(v @ np.linalg.solve(H, v))
        by_object = 0.0
        for i in range(14):
            own = slice(3 * i, 3 * i + 3)
            by_object += v[own] @ np.linalg.solve(H[own, own], v[own])
        assert (blocks.slope(v) ** 2).sum() == pytest.approx(by_object)


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


def test_a_part_leaves_out_answers_that_do_not_count(monkeypatch):
    monkeypatch.setattr(descent, "_LEAST_PART", 10)
    choices = answers("central")
    weight = np.where(np.arange(len(choices)) % 2, 3.0, 0.0)
    with likelihood(choices) as f:
        part = part_of_answers(f.weighing(weight), 0.1, each=1)
        assert part_of_answers(f, 0.1, each=10**6) is None
    assert (part.rows % 2 == 1).all()
    assert part.times * part.likelihood.weight.sum() == pytest.approx(weight.sum())


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


def test_where_the_curvature_is_known_few_steps_lead_to_the_same_map():
    asked = []
    with likelihood(answers("odd", m=2000), compiled=False) as f:
        near = fit_choices(f, np.random.default_rng(5).standard_normal((14, 2)), 0.3, 0.1).X
        H = f.information(near, np.array([0.2]))
        H[np.diag_indices(len(H))] += 2 * 0.1
        loss = descent.penalised(f, near.shape, 0.1, np.array([0.2]))

        def counted(x):
            asked.append(x)
            return loss(x)

        found = descend(counted, near, Preconditioner(H, near.shape), 1e-6)
        best = fit_choices(f, near, 0.2, 0.1, fixed_lapse=True, tol=1e-12)
    assert found.converged
    assert len(asked) < 20
    assert found.loss == pytest.approx(best.loss, abs=1e-4)
    assert (np.diff(found.history) < 0).all()


def test_every_blas_is_held_to_one_thread():
    # in a process of its own: here the BLAS of scipy is there already
    code = """
from trilens.maps.descent import one_blas_thread
with one_blas_thread():
    import scipy.linalg
    from threadpoolctl import threadpool_info
    print(sorted(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
"""
    several = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=several, check=True, capture_output=True, text=True
    )
    assert set(json.loads(done.stdout)) == {1}
