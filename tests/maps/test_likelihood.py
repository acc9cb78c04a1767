"""The likelihood of choices by the definition, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.maps import pairs as module
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.statements import Statements

import reference

pytestmark = pytest.mark.first
KINDS = ["central", "odd", "closer"]
FORMULAS = {
    "distance": lambda d: d,
    "student": lambda d: 2 * np.log1p(d**2 / 3),
    "square": lambda d: d**2,
}


def statements_of(seed, n=9, m=60, kind="central"):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    return Statements(np.concatenate([rows, rows[::3], rows[::5]]), n_objects=n, kind=kind)


@pytest.mark.parametrize("length", FORMULAS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_minus_the_log_likelihood(kind, length):
    S = statements_of(0, kind=kind)
    X = 0.7 * np.random.default_rng(1).standard_normal((9, 3))
    chances = [
        reference.answer_probabilities(X, 0.2, row, kind, FORMULAS[length])[0] for row in S.triples
    ]
    for compiled in (False, True):
        with likelihood(collect_choices(S), length, 3.0, compiled=compiled) as f:
            loss = f(X, np.array([0.2]))[0]
        assert loss == pytest.approx(-np.log(chances).sum(), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", ["distance", "student"])
@pytest.mark.parametrize("scale", [0.3, 3.0, 400.0])
@pytest.mark.parametrize("own", [False, True])
def test_gradients_equal_finite_differences(kind, length, scale, own):
    choices = collect_choices(statements_of(2, kind=kind), keep_repeats=own)
    rng = np.random.default_rng(3)
    X = scale * rng.standard_normal((9, 2))
    lapse = rng.uniform(0.1, 0.6, len(choices) if own else 1)
    with likelihood(choices, length, 2.0, compiled=False) as f:
        loss, gradient, slope = f(X, lapse)
        h = 1e-6 * scale
        for _ in range(4):
            way = rng.standard_normal(X.shape)
            difference = (f(X + h * way, lapse)[0] - f(X - h * way, lapse)[0]) / (2 * h)
            expected = float((gradient * way).sum())
            assert difference == pytest.approx(expected, rel=1e-5, abs=1e-8 * loss / h)
        difference = (f(X, lapse + 1e-6)[0] - f(X, lapse - 1e-6)[0]) / 2e-6
    assert difference == pytest.approx(slope, rel=1e-5, abs=1e-4)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(module, "PART", 1000)
    choices = collect_choices(statements_of(4, n=20, m=2000))
    X = np.random.default_rng(5).standard_normal((20, 2))
    results = []
    for n_threads in (1, 2, 5):
        with likelihood(choices, n_threads=n_threads, compiled=True) as f:
            results.append(f(X, np.array([0.2])))
    for one, two, five in zip(*results, strict=True):
        np.testing.assert_array_equal(two, one)
        np.testing.assert_array_equal(five, one)


@pytest.mark.parametrize("kind", KINDS)
def test_choices_know_neither_order_nor_repeats(kind):
    S = statements_of(6, kind=kind)
    choices = collect_choices(S)
    shuffled = S.triples[np.random.default_rng(7).permutation(len(S))]
    swapped = S.triples if kind == "closer" else S.triples[:, [0, 2, 1]]
    for other in (shuffled, swapped):
        again = collect_choices(Statements(other, n_objects=9, kind=kind))
        np.testing.assert_array_equal(again.triples, choices.triples)
        np.testing.assert_array_equal(again.weight, choices.weight)
    assert choices.weight.sum() == len(S)
    assert len(np.unique(choices.triples, axis=0)) == len(choices) < len(S)
    kept, w = collect_choices(S, keep_rows=True), np.random.default_rng(8).random(len(S))
    row = kept.triples[kept.row]
    np.testing.assert_array_equal(row[:, 0], S.triples[:, 0])
    np.testing.assert_array_equal(np.sort(row, axis=1), np.sort(S.triples, axis=1))
    np.testing.assert_allclose(kept.weights_of(w), collect_choices(S, w).weight)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_wrong_answer_without_lapses_costs_no_more_than_the_least_chance(compiled):
    choices = collect_choices(Statements([[0, 1, 2]], kind="central"))
    X = np.array([[0.0], [1000.0], [1001.0]])
    with likelihood(choices, compiled=compiled) as f:
        loss, gradient, _ = f(X, np.array([0.0]))
    assert loss == pytest.approx(-np.log(1e-300))
    assert gradient[:, 0] == pytest.approx(np.array([-1.0, 1.269, -0.269]), abs=1e-3)
