"""The choice map as a user meets it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.stats import spearmanr
from sklearn.exceptions import NotFittedError

from trilens.errors import KindError, ParameterError, StatementError, UnmentionedObjectsWarning
from trilens.maps import ChoiceMap, Map, draws, fitted, map as map_module, violations
from trilens.simulate import ask_raters, draw_raters, gaussian, simulate_statements, study
from trilens.statements import Statements

import reference

pytestmark = pytest.mark.first
KINDS = ["central", "odd", "closer"]


def asked(kind="central", n=30, m=2500, d=2, error_rate=0.0, seed=0):
    points = gaussian(n, d, random_state=seed)
    S = simulate_statements(points, m, kind=kind, error_rate=error_rate, random_state=seed + 50)
    return points.points, S


def answered(model, questions, rng):
    """Answers drawn from a map."""
    P = model.probabilities(questions)
    answer = (rng.random(len(P))[:, None] > P.cumsum(axis=1)).sum(axis=1)
    orders = [[0, 1, 2], [0, 2, 1]] if P.shape[1] == 2 else [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    rows = np.take_along_axis(questions.triples, np.array(orders)[answer], axis=1)
    return Statements(rows, n_objects=questions.n_objects, kind=questions.kind)


@pytest.fixture(scope="module", params=KINDS)
def noisy(request):
    points, S = asked(request.param, error_rate=0.2)
    return points, S, ChoiceMap().fit(S)


def test_everything_is_recovered_from_noisy_answers(noisy):
    points, S, M = noisy
    X = M.embedding_
    assert M.n_components_ == 2
    assert procrustes(points, X)[2] < 0.03
    low, high = M.error_rate_interval_
    assert low <= 0.2 <= high
    assert low <= M.error_rate_ <= high
    assert high - low < 0.1
    factor = 1 / 2 if S.kind == "closer" else 2 / 3
    assert M.error_rate_ == pytest.approx(factor * M.lapse_)
    assert M.cv_scores_[2] == max(M.cv_scores_.values())
    assert set(M.cv_scores_) >= {1, 2, 3}
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    spread = X.T @ X
    assert spread[0, 0] > spread[1, 1]
    assert abs(spread[0, 1]) < 1e-6 * spread[0, 0]
    assert M.violations_ == violations(X, S)
    assert M.log_likelihood_ == pytest.approx(np.log(M.predict_proba(S)[:, 0]).sum())
    assert M.rater_lapses_ == {}
    assert M.converged_
    assert M.n_iter_ > 0


def test_probabilities_are_the_models(noisy):
    _, S, M = noisy
    P = M.predict_proba(S)
    assert P.shape == (len(S), 2 if S.kind == "closer" else 3)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    for row in range(20):
        expected = reference.answer_probabilities(M.embedding_, M.lapse_, S.triples[row], S.kind)
        np.testing.assert_allclose(P[row], expected)
    assert M.score(S) == pytest.approx((P.argmax(axis=1) == 0).mean())
    assert M.score(S) > 0.75
    assert np.isnan(M.score(S.take([])))


def test_depth_is_the_models(noisy, monkeypatch):
    _, S, M = noisy
    exact = M.depth()
    expected = reference.model_depth(M.embedding_, S.kind)
    np.testing.assert_allclose(exact.depth, expected, rtol=1e-9)
    assert (exact.error == 0).all()
    drawn = M.depth(n_triples=150, random_state=1)
    assert drawn.n_triples == 150
    assert (np.abs(drawn.depth - expected) < 4 * drawn.error + 1e-12).all()
    assert not np.array_equal(drawn.depth, M.depth(n_triples=150, random_state=2).depth)
    monkeypatch.setattr(map_module, "_NUMPY_OBJECTS", 10)
    np.testing.assert_allclose(M.depth().depth, expected, rtol=1e-9)
    monkeypatch.setattr(map_module, "ODDS_RANGE", 0.1)
    np.testing.assert_allclose(M.depth().depth, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3])
def test_the_dimension_is_found(kind, d):
    _, S = asked(kind, m=3500, d=d, error_rate=0.1, seed=3)
    assert ChoiceMap().fit(S).embedding_.shape == (30, d)


@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_have_no_error_rate(kind):
    points, S = asked(kind)
    M = ChoiceMap(2).fit(S)
    assert M.error_rate_ < 0.005
    assert M.error_rate_interval_[0] == 0
    assert M.error_rate_interval_[1] < 0.02
    assert procrustes(points, M.embedding_)[2] < 0.005


def test_a_penalty_keeps_answers_without_contradictions_finite():
    _, S = asked(m=2000)
    wide, narrow = (ChoiceMap(2, l2=l2).fit(S).embedding_.std() for l2 in (1e-3, 1.0))
    assert 2 < narrow < wide < 200


def test_distances_that_are_hard_to_tell_are_no_blind_answers():
    points = gaussian(30, 2, random_state=1).points
    questions = simulate_statements(points, 4000, random_state=2)
    S = answered(Map(3 * points, 0.0, "central"), questions, np.random.default_rng(3))
    assert (S.triples[:, 0] != questions.triples[:, 0]).mean() > 0.15
    M = ChoiceMap(2).fit(S)
    assert M.error_rate_interval_[0] < 0.02
    assert M.embedding_.std() == pytest.approx(3 * points.std(), rel=0.2)


def test_raters_have_lapses_of_their_own():
    made = study()
    M = ChoiceMap(3, l2=0.003).fit(made.statements)
    careless = made.raters.careless
    share = np.array([M.rater_lapses_[r] for r in range(len(made.raters))])
    assert share[careless].min() > 0.7 > 0.6 > share[~careless].max()
    assert spearmanr(share, made.raters.rates("central"))[0] > 0.85
    for r, (low, high) in M.rater_lapse_intervals_.items():
        assert 0 <= low <= M.rater_lapses_[r] <= high <= 1
    one = ChoiceMap(3, l2=0.003, lapses="one").fit(made.statements)
    assert one.rater_lapses_ == {}
    assert one.log_likelihood_ != M.log_likelihood_


def test_raters_may_be_texts_and_partly_missing():
    raters = draw_raters(8, 0.05, 0.25, random_state=1)
    S = ask_raters(gaussian(20, 2, random_state=0), raters, 1100, random_state=2)

    def lapses(names):
        named = Statements(S.triples, n_objects=20, raters=names, kind="central")
        return ChoiceMap(2, l2=0.01).fit(named).rater_lapses_

    names = np.array([f"r{i}" for i in S.raters], dtype=object)
    names[::7], names[1::31] = None, ""
    found = lapses(names)
    assert set(found) == {f"r{i}" for i in range(8)}
    careless = {f"r{i}" for i in np.flatnonzero(raters.careless)}
    assert set(sorted(found, key=found.__getitem__)[-len(careless) :]) == careless
    numbers = np.where(np.arange(1100) % 7 == 0, np.nan, S.raters.astype(float))
    assert set(map(float, lapses(numbers))) == set(map(float, range(8)))
    assert lapses([""] * 1100) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_refit_is_a_fit_with_other_weights(kind):
    _, S = asked(kind, error_rate=0.2)
    M = ChoiceMap(2, l2=0.03).fit(S)
    weights = np.random.default_rng(0).integers(0, 3, len(S))
    other = M.fit_.refit(S, weights=weights, start=M.embedding_)
    again = ChoiceMap(2, l2=0.03, lapses=M.lapse_, init=M.embedding_).fit(S, sample_weight=weights)
    assert procrustes(other.X, again.embedding_)[2] < 1e-5
    assert other.lapse == M.lapse_


def test_parameters_that_are_given_are_kept():
    _, S = asked(m=500, error_rate=0.1)
    M = ChoiceMap(3, l2=0.1, length="student", lapses=0.1, random_state=None)
    for attribute in ("embedding_", "error_rate_interval_"):
        with pytest.raises(NotFittedError):
            getattr(M, attribute)
    M.fit(S)
    assert M.n_components_ == 3
    assert (M.length_, M.lapse_, M.l2_, M.cv_scores_) == ("student", 0.1, 0.1, {})
    chances = reference.answer_probabilities(
        M.embedding_, 0.1, S.triples[0], "central", lambda d: 1.5 * np.log1p(d**2 / 2)
    )
    np.testing.assert_allclose(M.predict_proba(S)[0], chances)


def test_statements_of_another_kind_are_refused_and_an_array_is_of_the_kind_of_the_map():
    _, S = asked("odd", m=500)
    M = ChoiceMap(2, l2=0.1).fit(S)
    np.testing.assert_array_equal(M.predict_proba(S.triples), M.predict_proba(S))
    with pytest.raises(KindError, match=r"kind odd.*kind central.*Statements\(array, kind='odd'\)"):
        M.predict_proba(Statements(S.triples, kind="central"))
    with pytest.raises(KindError, match=r"kind odd.*kind closer"):
        M.predict_proba(Statements(S.triples, kind="closer"))
    with pytest.raises(ParameterError, match="about 40 objects, but only 30 are on the map"):
        M.predict_proba(Statements(S.triples, n_objects=40, kind="odd"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameters", [{}, {"n_components": 2}, {"n_components": 2, "l2": 0.01}])
def test_degenerate_input_gives_finite_maps(kind, parameters):
    one = np.array([[0, 1, 2]])
    two_parts = np.array([[0, 1, 2], [3, 4, 5], [1, 0, 2], [4, 3, 5]])
    contradictory = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]] * 20)
    for rows in (one, two_parts, contradictory, np.repeat(one, 50, axis=0)):
        S = Statements(rows, kind=kind)
        M = ChoiceMap(**parameters).fit(S)
        assert np.isfinite(M.embedding_).all()
        assert np.isfinite(M.log_likelihood_)
        assert 0 <= M.lapse_ <= 1
        assert np.isfinite(M.predict_proba(S)).all()
        assert 0 <= M.error_rate_interval_[0] <= M.error_rate_interval_[1] <= 1


def test_objects_without_statements_are_in_the_middle():
    points, S = asked(n=16, m=500)
    with pytest.warns(UnmentionedObjectsWarning, match=r"3 of the 19 objects \(16, 17, 18\)"):
        X = ChoiceMap().fit(Statements(S.triples, n_objects=19, kind="central")).embedding_
    assert np.abs(X[16:]).max() < 0.2 * X.std()
    assert procrustes(points, X[:16])[2] < 0.02


@pytest.mark.parametrize(
    ("estimator", "says"),
    [
        (ChoiceMap(3), "n_components is 3, but 3 objects span at most 2 dimensions"),
        (ChoiceMap(0), "n_components is 0; it must be 'cv' or a whole number, 1 or more"),
        (ChoiceMap("gap"), "n_components is 'gap'"),
        (ChoiceMap(2.0), "n_components is 2.0"),
        (ChoiceMap(2, l2=-1), "l2 is -1; it must be a number, 0 or more"),
        (ChoiceMap(2, length="square"), "length is 'square'; it must be one of distance"),
        (ChoiceMap(2, lapses="some"), "lapses is 'some'"),
        (ChoiceMap(2, lapses=1.5), "lapses is 1.5; it must be a number from 0 to 1"),
        (ChoiceMap(2, max_iter=0), "max_iter is 0"),
        (ChoiceMap(2, tol=-1), "tol is -1"),
        (ChoiceMap(2, n_jobs=0), "n_jobs is 0"),
        (ChoiceMap(2, init="random"), "init is 'random'"),
        (ChoiceMap(2, init=np.zeros((2, 2))), r"init has shape \(2, 2\); .* \(3, 2\)"),
        (ChoiceMap(init=np.zeros((3, 2))), "n_components must be a number"),
        (ChoiceMap(2, random_state="x"), "random_state is 'x'"),
    ],
)
def test_bad_parameters_are_one_clear_line(estimator, says):
    with pytest.raises(ParameterError, match=says) as caught:
        estimator.fit(Statements([[0, 1, 2]], kind="central"))
    assert "\n" not in str(caught.value)
    with pytest.raises(StatementError, match="at least one statement"):
        ChoiceMap().fit(np.empty((0, 3), int))
    with pytest.raises(ParameterError, match="three objects or more"):
        Map(np.zeros((2, 1)), 0.0, "central").depth()


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1.0], r"sample_weight has shape \(1,\); give a weight for each of the 2 statements"),
        ([1.0, np.nan], "the weight of statement 1 is nan"),
        ([-1.0, 1.0], "the weight of statement 0 is -1.0"),
        ([0.0, 0.0], "all weights are 0"),
        ([1e300, 1.0], r"the weights sum to 1e\+300; scale them down"),
    ],
)
def test_bad_weights_are_refused(weights, says):
    S = Statements([[0, 1, 2], [1, 0, 2]], kind="central")
    with pytest.raises(ParameterError, match=says):
        ChoiceMap(1, l2=0.1).fit(S, sample_weight=weights)


def test_the_cars_are_mapped_without_a_compiler(data_dir):
    code = """
import sys, numpy as np
from trilens.maps import SOE, ChoiceMap
T = np.loadtxt(sys.argv[1], delimiter=",", dtype=int) - 1
M = ChoiceMap(kind="central").fit(T)
assert M.n_components_ == 2, M.cv_scores_
assert 0.05 < M.error_rate_ < 0.25, M.error_rate_
assert M.score(T) > 0.7
assert set(np.argsort(-M.depth().depth)[:2] + 1) == {7, 44}
assert M.fit_.medoid().name in ("6", "43")
soe = SOE(kind="central").fit(T)
assert soe.converged_ and 0.1 < soe.violations_ < 0.2, soe.violations_
assert "numba" not in sys.modules
"""
    cars = data_dir / "cars" / "ordinal_data_preprocessed" / "T_ALL.csv"
    subprocess.run([sys.executable, "-c", code, str(cars)], check=True)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_errors_of_places_are_about_right(kind):
    true = 2 * np.random.default_rng(3).standard_normal((16, 2))
    model = Map(true - true.mean(axis=0), 0.1, kind)
    made, claimed = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = np.array([rng.choice(16, 3, replace=False) for _ in range(4000)])
        S = answered(model, Statements(rows, n_objects=16, kind=kind), rng)
        M = ChoiceMap(2, l2=0.01, lapses=0.1, init=model.X).fit(S)
        left, _, right = np.linalg.svd(M.embedding_.T @ model.X)
        made.append(((M.embedding_ @ (left @ right) - model.X) ** 2).sum(axis=1))
        claimed.append(np.trace(M.place_errors_, axis1=1, axis2=2))
    assert 0.5 < np.sum(made) / np.sum(claimed) < 2


def test_errors_of_places_are_of_like_size_by_sums_over_answers(monkeypatch):
    S = study(n_objects=30, n_statements=2000).statements
    M = ChoiceMap(2, l2=0.01).fit(S)
    whole = np.trace(M.place_errors_, axis1=1, axis2=2)
    for module in (fitted, draws):
        monkeypatch.setattr(module, "MOST_FACTORED", 0)
    alone = np.trace(ChoiceMap(2, l2=0.01).fit(S).place_errors_, axis1=1, axis2=2)
    assert 0.5 < np.median(alone / whole) < 2
