"""The ordinal embeddings as a user meets them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn.base import clone

from trilens.errors import ParameterError, StatementError
from trilens.maps import GNMDS, SOE, STE, TSTE, Comparisons, violations
from trilens.maps.comparison_loss import Objective, comparison_loss
from trilens.maps.comparisons import as_comparisons
from trilens.simulate import simulate_statements
from trilens.statements import Statements

ALL = [SOE, STE, TSTE, GNMDS]
FEW = np.random.default_rng(12).standard_normal((15, 2))
ONE = [[0, 1, 2]]


@pytest.mark.parametrize(
    ("estimator", "apart", "violated"),
    [
        (SOE(), 1e-4, 1e-4),
        (SOE(init="random"), 1e-4, 1e-4),
        (STE(), 1e-3, 0.0),
        (GNMDS(), 1e-3, 1e-5),
        (TSTE(), 0.1, 0.04),
    ],
    ids=["SOE", "SOE from anywhere", "STE", "GNMDS", "TSTE"],
)
def test_points_of_the_plane_are_recovered_from_all_statements(estimator, apart, violated):
    # a hundred points and all their statements: the paper's last figure
    points = np.random.default_rng(11).standard_normal((100, 2))
    found = clone(estimator).set_params(random_state=1).fit(simulate_statements(points))
    assert procrustes(points, found.embedding_)[2] < apart
    assert found.violations_ <= violated
    assert found.converged_


@pytest.mark.parametrize("Estimator", ALL)
@pytest.mark.parametrize("init", ["lensmap", "random"])
def test_fitted_attributes_agree_with_each_other(Estimator, init):
    S = simulate_statements(FEW, error_rate=0.2, random_state=3)
    found = Estimator(init=init, random_state=4).fit(S)
    assert found.embedding_.shape == (15, 2)
    np.testing.assert_allclose(found.embedding_.mean(axis=0), 0, atol=1e-9)
    assert len(found.loss_history_) == found.n_iter_ + 1
    assert found.loss_history_[-1] == pytest.approx(found.loss_)
    assert (np.diff(found.loss_history_) <= 1e-9 * found.loss_history_[0]).all()
    assert found.loss_ < found.loss_history_[0]
    assert found.violations_ == violations(found.embedding_, S)
    assert 0 < found.violations_ < 0.35
    for d in (1, 2):  # the smallest input
        least = Estimator(d, init=init, kind="central").fit([[0, 1, 2]])
        assert least.embedding_.shape == (3, d)
        assert least.violations_ == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_starts_and_penalties():
    S = simulate_statements(FEW)
    several = [
        TSTE(init="random", n_init=k, random_state=2, max_iter=8).fit(S).loss_ for k in (1, 2, 6)
    ]
    assert several == sorted(several, reverse=True)
    assert several[0] > several[2]
    given, near = (SOE(init=scale * FEW).fit(S) for scale in (100, 1))
    assert given.loss_history_[0] < near.loss_history_[0]
    assert given.violations_ == 0
    free, held = (STE(random_state=0, l2=l2).fit(S).embedding_.std() for l2 in (0.0, 1.0))
    assert held < 0.5 * free


@pytest.mark.parametrize("kind", ["odd", "closer"])
@pytest.mark.parametrize("Estimator", ALL)
def test_other_kinds_of_statements(Estimator, kind):
    S = simulate_statements(FEW, kind=kind)
    found = Estimator(random_state=0).fit(S)
    assert found.violations_ == violations(found.embedding_, S.to_triplets(), "closer")
    # The t-kernel's likelihood is largest at coordinates that violate some: its tail forgives.
    assert found.violations_ <= (0.1 if Estimator is TSTE else 0.0)


@pytest.mark.parametrize("Estimator", [SOE, GNMDS])
def test_general_comparisons_recover_the_plane(Estimator):
    points = np.random.default_rng(6).standard_normal((18, 2))
    D = np.linalg.norm(points[:, None] - points[None], axis=2)
    pairs = list(itertools.combinations(range(18), 2))
    rows = [(*p, *q) if D[p] < D[q] else (*q, *p) for p, q in itertools.combinations(pairs, 2)]
    found = Estimator(random_state=0, n_init=3).fit(Comparisons(rows))
    assert found.violations_ == violations(found.embedding_, rows)
    assert found.violations_ < 1e-3
    assert procrustes(points, found.embedding_)[2] < 1e-3


@pytest.mark.parametrize(
    ("estimator", "S", "says"),
    [
        (SOE(3), ONE, "n_components is 3, but 3 objects span at most 2 dimensions"),
        (STE(0), ONE, "n_components is 0; it must be a whole number, 1 or more"),
        (STE(1.5), ONE, "n_components is 1.5"),
        (SOE(), np.empty((0, 3), int), "SOE needs at least one statement"),
        (SOE(), np.empty((0, 4), int), "SOE needs at least one statement"),
        (TSTE(), np.zeros((2, 5), int), r"\(m, 3\) array of object ids, got shape \(2, 5\)"),
        (TSTE(alpha=0), ONE, "alpha is 0; it must be a positive number"),
        (SOE(margin=-1), ONE, "margin is -1; it must be a number from 1e-100 to"),
        (SOE(margin=1e200), ONE, "margin is 1e.200; it must be a number from 1e-100 to"),
        (GNMDS(l2=-1), ONE, "l2 is -1; it must be a number, 0 or more"),
        (GNMDS(n_init=0), ONE, "n_init is 0"),
        (GNMDS(max_iter=0), ONE, "max_iter is 0"),
        (GNMDS(n_jobs=0), ONE, "n_jobs is 0"),
        (GNMDS(tol=-1), ONE, "tol is -1"),
        (STE(random_state="x"), ONE, "random_state is 'x'; it must be"),
        (SOE(init="pca"), ONE, "init is 'pca'; it must be 'lensmap', 'random'"),
        (SOE(1, init=[[1e200], [0], [1]]), ONE, "init has a number beyond 1e.100"),
        (SOE(init=np.zeros((2, 2))), ONE, r"init has shape \(2, 2\); .* \(3, 2\)"),
        (SOE(), [[0, 1, 2, 2]], "statement 0: .* different objects, not"),
        (SOE(), [[0, 1, 2, 3], [0, 1, 1, 0]], "statement 1: .* two different pairs"),
        (SOE(), [[0, 1, 2, -1]], "not all from 0 to"),
    ],
)
def test_bad_input_is_one_clear_line(estimator, S, says):
    with pytest.raises((ParameterError, StatementError), match=says) as caught:
        clone(estimator).set_params(kind="central").fit(S)
    assert "\n" not in str(caught.value)


def test_violations_are_strict_and_need_coordinates_for_every_object():
    X = [[0.0], [1.0], [-1.0]]
    assert violations(X, ONE, kind="closer") == 1
    assert violations(X, Statements(ONE, kind="central")) == 0
    assert violations(X, [[0, 1, 1, 2], [1, 2, 0, 2]]) == 0.5
    assert violations(X, np.empty((0, 3), int)) == 0
    with pytest.raises(ParameterError, match="about 4 objects, but only 3 are in the embedding"):
        violations(X, [[0, 1, 3]], kind="closer")
    with pytest.raises(ParameterError, match=r"\(n, d\)"):
        violations([0.0, 1.0, 2.0], ONE, kind="closer")
    with pytest.raises(StatementError, match="not all from 0 to 2"):
        Comparisons([[0, 1, 2, 3]], n_objects=3)
    with pytest.raises(StatementError, match="integer object ids"):
        Comparisons([[0.5, 1, 2, 3]])
    with pytest.raises(StatementError, match=r"\(m, 4\) array"):
        Comparisons(ONE)


@pytest.mark.parametrize("Estimator", ALL)
def test_what_all_embeddings_share_is_in_every_docstring(Estimator):
    for name in (*Estimator().get_params(), "violations_", "loss_history_"):
        assert f"\n    {name} : " in Estimator.__doc__


# ---- the objectives: values by the papers' formulas, gradients by differences

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
        elif name == "ste":
            total += np.logaddexp(0.0, near**2 - far**2)
        else:
            total += np.log1p(((1 + near**2 / 3) / (1 + far**2 / 3)) ** 2)
    return total + OBJECTIVES[name].l2 * float((X**2).sum())


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1, 30.0])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_loss_is_the_papers_and_the_gradient_its_slope(name, scale, compiled):
    rng = np.random.default_rng(0)
    triples = np.array([rng.choice(9, 3, replace=False) for _ in range(60)])
    general = np.array([rng.choice(9, 4, replace=False) for _ in range(60)])
    rows = np.concatenate([as_comparisons(Statements(triples, kind="central")).rows, general])
    C = Comparisons(np.concatenate([rows, rows[::3], rows[::5]]), n_objects=9)
    X, h = scale * rng.standard_normal((9, 2)), 1e-6 * scale
    with comparison_loss(OBJECTIVES[name], C, compiled=compiled) as evaluate:
        loss, gradient = evaluate(X)
        assert loss == pytest.approx(loss_by_formula(name, X, C.rows), rel=1e-10)
        for _ in range(6):
            way = rng.standard_normal(X.shape)
            difference = (evaluate(X + h * way)[0] - evaluate(X - h * way)[0]) / (2 * h)
            slope = float((gradient * way).sum())
            assert difference == pytest.approx(slope, rel=1e-5, abs=1e-8 * loss / h)
