"""How the evidence is computed: its determinant, by factors and by products, and its maps."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from trilens.maps import laplace
from trilens.maps.descent import fit_choices
from trilens.maps.features import read_features, with_prior
from trilens.maps.laplace import Surface, curvature
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.maps.rater_weights import weighed_likelihood
from trilens.simulate import gaussian, simulate_statements

N, D, L2 = 60, 3, 0.05
SHARE = np.array([0.3])
KINDS = ["central", "odd", "closer"]


def answers(kind="central", m=3000):
    points = gaussian(N, D, random_state=1)
    S = simulate_statements(points, m, kind, error_rate=0.2, sampling="replacement", random_state=2)
    return S, 2 * points.points


def featured():
    F = np.random.default_rng(3).standard_normal((N, 7))
    F[4] = np.nan
    return read_features(F, None, N).prior((0.6,))


@pytest.mark.parametrize("length", ["distance", "student"])
@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_with_the_information(kind, length):
    S, X = answers(kind)
    V = np.random.default_rng(4).standard_normal((N, D, 5))
    with likelihood(collect_choices(S), length, 2.0) as f:
        wanted = f.information(X, SHARE) @ V.reshape(N * D, 5)
        found = f.products(X, SHARE)(V)
    np.testing.assert_allclose(found.reshape(N * D, 5), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("with_features", [False, True])
def test_products_with_the_information_of_raters_who_weigh_differently(with_features):
    S, X = answers(m=900)
    rng = np.random.default_rng(5)
    prior = featured() if with_features else None
    stretch = np.exp(0.3 * rng.standard_normal((7, D)))
    V = rng.standard_normal((N, D, 4))
    with weighed_likelihood(S, None, rng.integers(7, size=len(S)), 6, prior=prior) as seen:
        f = seen.stretched(stretch).of_places()
        wanted = f.information(X, SHARE) @ V.reshape(N * D, 4)
        found = f.products(X, SHARE)(V)
    np.testing.assert_allclose(found.reshape(N * D, 4), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "prior"),
    [("central", None), ("odd", None), ("closer", None), ("central", featured())],
    ids=["central", "odd", "closer", "with features"],
)
def test_the_determinant_by_products_is_that_by_factors(monkeypatch, kind, prior):
    S, X = answers(kind)
    with likelihood(collect_choices(S)) as f:
        whole = curvature(f, prior, X, SHARE, L2)
        monkeypatch.setattr(laplace, "MOST_COORDINATES", 0)
        monkeypatch.setattr(laplace, "_PROBES", 32)
        blocks = curvature(f, prior, X, SHARE, L2)
        g = with_prior(f, prior)
        H = g.information(g.standard(X), SHARE) + 2 * L2 * np.eye(N * D)
    assert (whole.H.shape, blocks.H.shape) == ((N * D, N * D), (N, D, D))
    assert whole.log_det == pytest.approx(np.linalg.slogdet(H)[1])
    assert blocks.log_det == pytest.approx(whole.log_det, abs=1.5 if prior is None else 2)
    assert whole.unknown == pytest.approx(2 * L2 * np.trace(np.linalg.inv(H)), rel=0.2)
    if prior is None:
        assert blocks.unknown == pytest.approx(whole.unknown, rel=0.3)


@pytest.mark.parametrize(("most", "with_features"), [(1000, False), (0, True)])
def test_the_map_of_a_share_is_the_best_one(monkeypatch, most, with_features):
    monkeypatch.setattr(laplace, "MOST_COORDINATES", most)
    S, X = answers()
    with likelihood(collect_choices(S)) as plain:
        f = with_prior(plain, featured() if with_features else None)
        surface = Surface(f, f.standard(X), L2, fixed_l2=True)
        surface.climb(0.3)
        surface.refine()
        told = surface.told()
        best = fit_choices(f, told.X, told.lapse, L2, fixed_lapse=True, tol=1e-12)
        loss = f(told.X, np.array([told.lapse]))[0] + L2 * (told.X**2).sum()
    assert loss == pytest.approx(best.loss, abs=0.05)
    low, high = told.interval
    assert low < told.lapse < high


def test_the_best_penalty_is_found():
    S, X = answers()
    with likelihood(collect_choices(S)) as f:
        found = Surface(f, X, 1.0)
        value, point = found.at(0.3), found.points[0.3]
        for factor, less in ((0.4, 1.0), (1.25, -0.3), (2.5, 1.0)):
            other = Surface(f, point.X, point.l2 * factor, fixed_l2=True)
            assert other.at(0.3) < value - less


def test_careless_answers_that_the_places_take_for_their_own_are_counted():
    X = gaussian(200, 5, random_state=4)
    S = simulate_statements(
        X, 20_000, "closer", error_rate=0.3, sampling="replacement", random_state=3
    )
    low, high = tl.fit(S, n_components=5).error_rate_interval
    assert low <= 0.3 <= high
    assert laplace.careless(0.0, 0.05) < 1e-3
    shares = np.array([laplace.careless(share, 0.05) for share in np.linspace(0, 1, 101)])
    assert (np.diff(shares) >= 0).all()
    assert shares[-1] == 1
