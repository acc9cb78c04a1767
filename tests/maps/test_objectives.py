"""The objectives: values by the papers' formulas, gradients by differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trilens.maps.comparison_loss import Objective, comparison_loss
from trilens.maps.comparisons import as_comparisons
from trilens.statements import Statements
from trilens.statements.comparisons import Comparisons

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


def comparisons_of(seed, n=9, m=60):
    rng = np.random.default_rng(seed)
    triples = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    general = np.array([rng.choice(n, 4, replace=False) for _ in range(m)])
    rows = np.concatenate([as_comparisons(Statements(triples, kind="central")).rows, general])
    return Comparisons(np.concatenate([rows, rows[::3], rows[::5]]), n_objects=n)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_loss_is_the_papers(name, compiled):
    C = comparisons_of(0)
    X = np.random.default_rng(1).standard_normal((9, 3))
    with comparison_loss(OBJECTIVES[name], C, compiled=compiled) as evaluate:
        assert evaluate(X)[0] == pytest.approx(loss_by_formula(name, X, C.rows), rel=1e-10)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("scale", [0.3, 30.0])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_equal_finite_differences(name, scale, compiled):
    C = comparisons_of(2)
    rng = np.random.default_rng(3)
    X = scale * rng.standard_normal((9, 2))
    with comparison_loss(OBJECTIVES[name], C, compiled=compiled) as evaluate:
        loss, gradient = evaluate(X)
        for _ in range(6):
            direction = rng.standard_normal(X.shape)
            h = 1e-6 * scale
            difference = (evaluate(X + h * direction)[0] - evaluate(X - h * direction)[0]) / (2 * h)
            slope = float((gradient * direction).sum())
            assert difference == pytest.approx(slope, rel=1e-5, abs=1e-8 * loss / h)


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
