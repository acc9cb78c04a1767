"""The objectives: values by the papers' formulas, gradients by differences, both ways equal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from trilens.maps import pairs as module
from trilens.maps.comparison_loss import Objective, comparison_loss
from trilens.maps.comparisons import Comparisons, as_comparisons
from trilens.statements import Statements

OBJECTIVES = {
    "soe": Objective("distance", "squared hinge", margin=0.1),
    "ste": Objective("square", "logistic", l2=0.03),
    "tste": Objective("student", "logistic", alpha=3.0),
    "gnmds": Objective("square", "hinge", margin=1.0, l2=0.2),
}


def loss_by_formula(name, X, rows):
    """Each loss as its paper writes it, comparison by comparison."""
    total = 0.0
    for a, b, c, e in rows:
        near, far = np.linalg.norm(X[a] - X[b]), np.linalg.norm(X[c] - X[e])
        if name == "soe":
            total += max(0.0, near + 0.1 - far) ** 2
        elif name == "gnmds":
            total += max(0.0, near**2 + 1.0 - far**2)
        else:
            kernel = [
                math.exp(-(d**2)) if name == "ste" else (1 + d**2 / 3.0) ** (-(3.0 + 1) / 2)
                for d in (near, far)
            ]
            total -= math.log(kernel[0] / (kernel[0] + kernel[1]))
    return total + OBJECTIVES[name].l2 * float((X**2).sum())


def comparisons_of(seed, n=9, m=60, repeat=True):
    rng = np.random.default_rng(seed)
    triples = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    general = np.array([rng.choice(n, 4, replace=False) for _ in range(m)])
    rows = np.concatenate([as_comparisons(Statements(triples, kind="central")).rows, general])
    if repeat:
        rows = np.concatenate([rows, rows[::3], rows[::5]])
    return Comparisons(rows, n_objects=n)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_loss_is_the_papers(name, compiled):
    C = comparisons_of(0)
    X = np.random.default_rng(1).standard_normal((9, 3))
    with comparison_loss(OBJECTIVES[name], C, compiled=compiled) as evaluate:
        assert evaluate(X)[0] == pytest.approx(loss_by_formula(name, X, C.rows), rel=1e-10)


@pytest.mark.parametrize("scale", [0.3, 30.0])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_equal_finite_differences(name, scale):
    C = comparisons_of(2)
    rng = np.random.default_rng(3)
    X = scale * rng.standard_normal((9, 2))
    with comparison_loss(OBJECTIVES[name], C) as evaluate:
        loss, gradient = evaluate(X)
        for _ in range(6):
            direction = rng.standard_normal(X.shape)
            h = 1e-6 * scale
            difference = (evaluate(X + h * direction)[0] - evaluate(X - h * direction)[0]) / (2 * h)
            slope = float((gradient * direction).sum())
            assert difference == pytest.approx(slope, rel=1e-5, abs=1e-8 * loss / h)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 12),
    d=st.integers(1, 4),
    scale=st.sampled_from([1e-3, 1.0, 40.0]),
    name=st.sampled_from(sorted(OBJECTIVES)),
)
@settings(max_examples=60, deadline=None)
def test_both_ways_agree(seed, n, d, scale, name):
    C = comparisons_of(seed, n=n, m=25)
    X = scale * np.random.default_rng(seed).standard_normal((n, d))
    X[1] = X[0]  # coinciding points must not break anything
    results = []
    for compiled in (False, True):
        with comparison_loss(OBJECTIVES[name], C, compiled=compiled) as evaluate:
            results.append(evaluate(X))
    for loss, gradient in results[1:]:
        assert loss == pytest.approx(results[0][0], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(
            gradient, results[0][1], rtol=1e-8, atol=1e-10 * (1 + np.abs(gradient).max())
        )


@pytest.mark.parametrize("name", ["soe", "ste"])
def test_threads_change_nothing(name, monkeypatch):
    monkeypatch.setattr(module, "PART", 1000)
    C = comparisons_of(4, n=20, m=2000)
    X = np.random.default_rng(5).standard_normal((20, 2))
    results = []
    for n_threads in (1, 2, 5):
        with comparison_loss(OBJECTIVES[name], C, n_threads, True) as evaluate:
            results.append(evaluate(X))
    for loss, gradient in results[1:]:
        assert loss == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])
    monkeypatch.setattr(module, "PART", 10**9)
    with comparison_loss(OBJECTIVES[name], C, 1, True) as evaluate:
        whole = evaluate(X)
    assert whole[0] == pytest.approx(results[0][0], rel=1e-10)
    np.testing.assert_allclose(whole[1], results[0][1], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["ste", "tste"])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_likelihood_neither_overflows_nor_vanishes(name, compiled):
    C = Comparisons([[0, 1, 2, 3], [2, 3, 0, 1], [0, 1, 2, 3]])
    X = np.array([[0.0], [1e4], [0.0], [1.0]])
    with comparison_loss(OBJECTIVES[name], C, compiled=compiled) as evaluate:
        loss, gradient = evaluate(X)
    expected = 2 * (1e8 - 1) if name == "ste" else 2 * 2 * math.log((1 + 1e8 / 3) / (1 + 1 / 3))
    assert loss - OBJECTIVES[name].l2 * (X**2).sum() == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(gradient).all()
