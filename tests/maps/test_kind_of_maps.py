"""What a map knows of its answers: their kind, their weights, and what they do not tell."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

import trilens as tl
from trilens.errors import KindError, ParameterError, UnmentionedObjectsWarning
from trilens.maps.registry import MAPS as NAMES, coordinates, dimensions

POINTS = np.random.default_rng(0).normal(size=(15, 2))
CLOSER = tl.simulate_statements(POINTS, 600, kind="closer", random_state=1)
CENTRAL = tl.simulate_statements(POINTS, 450, error_rate=0.1, random_state=1)
MAPS = (
    tl.ChoiceMap(2, l2=0.1),
    tl.SOE(2),
    tl.STE(2, l2=0.01),
    tl.TSTE(2, l2=0.01),
    tl.GNMDS(2),
)
OTHERS = (
    tl.MapClustering(2),
    tl.MapOutlierDetector(n=2),
    tl.LensDepthOutlierDetector(),
    tl.KRNGClustering(2),
)


def name(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", [*MAPS, tl.LensMap(2)], ids=name)
def test_a_fitted_map_takes_an_array_for_its_own_kind(estimator):
    M = clone(estimator).fit(CLOSER)
    assert M.kind_ == "closer"
    assert M.score(CLOSER.triples) == M.score(CLOSER) > 0.8
    np.testing.assert_array_equal(M.predict(CLOSER.triples), M.predict(CLOSER))
    assert pickle.loads(pickle.dumps(M)).score(CLOSER.triples) == M.score(CLOSER)
    by_parameter = clone(estimator).set_params(kind="closer").fit(CLOSER.triples)
    np.testing.assert_array_equal(by_parameter.embedding_, M.embedding_)
    if not isinstance(estimator, tl.ChoiceMap):  # it knows the chances of its own kind alone
        assert M.score(CENTRAL) > 0.6 > M.score(CENTRAL.triples)


@pytest.mark.parametrize("estimator", MAPS, ids=name)
def test_an_array_without_a_kind_is_refused_where_kinds_differ(estimator):
    for rows in (CLOSER.triples, CLOSER.triples.tolist(), [("a", "b", "c")]):
        with pytest.raises(KindError, match=r"kind='closer' for rows of .*Statements\(array") as e:
            clone(estimator).fit(rows)
        assert "\n" not in str(e.value)
    with pytest.raises(ValueError, match="kind='closer'"):
        cross_val_score(estimator, CLOSER.triples, cv=2)
    with_kind = clone(estimator).set_params(kind="closer")  # the first line of who knows cblearn
    assert (cross_val_score(with_kind, CLOSER.triples, cv=3) > 0.85).all()


@pytest.mark.parametrize("estimator", [*MAPS, tl.LensMap(2), *OTHERS], ids=name)
def test_kind_must_agree_with_the_statements(estimator):
    with pytest.raises(KindError, match="kind is 'odd', but the statements are of kind central"):
        clone(estimator).set_params(kind="odd").fit(CENTRAL)
    with pytest.raises(KindError, match="kind is 'far'; it must be one of"):
        clone(estimator).set_params(kind="far").fit(CENTRAL)


def test_comparisons_have_no_kind():
    rows = [[0, 1, 0, 2], [1, 2, 0, 2]]
    M = tl.SOE(1).fit(rows)
    assert M.kind_ is None
    with pytest.raises(KindError, match="an array does not say"):
        M.score([[0, 1, 2]])
    assert M.score(tl.Statements([[0, 1, 2]], kind="closer")) == 1
    for other in (tl.ChoiceMap(1), tl.LensMap(1), tl.STE(1), tl.TSTE(1)):
        with pytest.raises(KindError, match="use SOE or GNMDS"):
            other.fit(rows)


def test_weights_of_answers():
    times = np.random.default_rng(3).integers(0, 3, size=len(CENTRAL))
    M = tl.ChoiceMap(2, l2=0.1)
    weighed = clone(M).fit(CENTRAL, sample_weight=times)
    left_out = clone(M).fit(CENTRAL, sample_weight=(times > 0).astype(float))
    np.testing.assert_array_equal(left_out.embedding_, clone(M).fit(CENTRAL[times > 0]).embedding_)
    repeated = clone(M).fit(CENTRAL[np.repeat(np.arange(len(CENTRAL)), times)])
    np.testing.assert_allclose(weighed.embedding_, repeated.embedding_, atol=1e-4)
    expected = np.average(M.fit(CENTRAL).predict(CENTRAL) == 0, weights=times)
    assert M.score(CENTRAL, sample_weight=times) == pytest.approx(expected)
    logs = np.log(M.predict_proba(CENTRAL)[:, 0])
    found = tl.neg_log_loss(M, CENTRAL, sample_weight=times)
    assert found == pytest.approx(np.average(logs, weights=times))
    with pytest.raises(ParameterError, match=r"sample_weight has shape \(3,\)"):
        M.score(CENTRAL, sample_weight=[1, 2, 3])
    scores = cross_val_score(M, CENTRAL, params={"sample_weight": times}, cv=2)
    assert (scores > 0.6).all()


def test_the_likelihood_as_a_score():
    M = tl.ChoiceMap(2, l2=0.1)
    found = cross_val_score(M, CENTRAL, cv=2, scoring=tl.neg_log_loss)
    fitted = clone(M).fit(CENTRAL[225:])
    assert found[0] == pytest.approx(np.log(fitted.predict_proba(CENTRAL[:225])[:, 0]).mean())
    triplets = cross_val_score(
        clone(M).set_params(kind="closer"), CLOSER.triples, cv=2, scoring=tl.neg_log_loss
    )
    assert (triplets > -np.log(2)).all()
    with pytest.raises(ParameterError, match="SOE gives no probabilities"):
        tl.neg_log_loss(tl.SOE(), CENTRAL)
    # scikit-learn's own needs the questions and their answers apart
    X, y = CENTRAL.to_choices()
    Q = clone(M).set_params(kind="central")
    grid = GridSearchCV(Q, {"l2": [0.1, 100.0]}, cv=2, scoring="neg_log_loss").fit(X, y)
    assert grid.best_params_ == {"l2": 0.1}
    assert (grid.cv_results_["mean_test_score"] > -np.log(3)).all()
    whole = Q.fit(X, y)
    assert tl.neg_log_loss(whole, X, y) == pytest.approx(tl.neg_log_loss(whole, CENTRAL))
    np.testing.assert_array_equal(whole.embedding_, M.fit(CENTRAL).embedding_)
    assert whole.score(X, y) == M.score(CENTRAL)
    assert whole.classes_.tolist() == [0, 1, 2]
    assert ((whole.predict(X) == y).mean()) == pytest.approx(M.score(CENTRAL))


def test_answers_apart_are_taken_only_where_they_have_one_meaning():
    X, y = CENTRAL.to_choices()
    for answers in (y, np.where(y == 1, 1, -1), y == 0):
        with pytest.raises(ParameterError, match="from_responses"):
            tl.SOE(2, kind="closer").fit(X, answers)
    with pytest.raises(ParameterError, match="from_responses"):
        tl.LensMap(2, kind="closer").fit(X, y)
    with pytest.raises(tl.errors.TrilensError, match="neither"):
        tl.ChoiceMap(2, kind="odd").fit(X, y + 1)


@pytest.mark.parametrize("estimator", MAPS, ids=name)
def test_a_fit_that_stopped_early_says_so(estimator):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations") as told:
        M = clone(estimator).set_params(max_iter=2, tol=0).fit(CENTRAL)
    assert not M.converged_
    assert [each.filename for each in told] == [__file__]
    with pytest.warns(ConvergenceWarning):
        clone(M).fit_transform(CENTRAL)
    with pytest.warns(ConvergenceWarning):
        tl.MapClassifier(map=M).fit(CENTRAL, [0, 1, 2] * 5)


@pytest.mark.parametrize("estimator", [*MAPS, tl.LensMap(2)], ids=name)
def test_objects_that_no_answer_is_about_are_left_to_chance(estimator):
    S = tl.Statements(CENTRAL.triples, names=[*"abcdefghijklmno", "p", "q"], kind="central")
    with pytest.warns(UnmentionedObjectsWarning, match=r"2 of the 17 objects \(p, q\)"):
        M = clone(estimator).fit(S)
    about = tl.Statements([("a", "b", "p"), ("p", "q", "a"), ("b", "p", "c")], kind="central")
    assert M.score(about) == pytest.approx(1 / 3)
    if hasattr(M, "predict_proba"):
        np.testing.assert_allclose(M.predict_proba(about), 1 / 3)
    tl.outliers(S, n=1, method="lensmap")  # tells it in its own words: warnings are errors here


def test_objects_that_features_place_are_not_left_to_chance(tmp_path):
    features = np.vstack([POINTS, POINTS[:1] + 0.1])
    S = tl.Statements(CENTRAL.triples, n_objects=16, kind="central")
    M = tl.ChoiceMap(2, l2=0.1, feature_share=0.9).fit(S, features=features)
    assert M.predict_proba([[15, 1, 2]])[0].std() > 0.01
    with pytest.warns(UnmentionedObjectsWarning):
        N = tl.ChoiceMap(2, l2=0.1).fit(S)
    N.fit_.save(tmp_path / "study.fit")
    assert np.flatnonzero(tl.load(tmp_path / "study.fit").unknown).tolist() == [15]
    more = N.extend(tl.Statements([[16, 1, 2], [3, 16, 4]], kind="central"))
    np.testing.assert_allclose(more.predict_proba([[15, 1, 2]]), 1 / 3)
    assert more.predict_proba([[16, 1, 2]])[0].std() > 0.001


# ---- maps by their names


@pytest.mark.parametrize("method", NAMES)
def test_progress_of_every_map_grows_to_one(method):
    shares: list[float] = []
    coordinates(CENTRAL[:150], method, progress=shares.append)
    if method == "lensmap":  # it has one step
        assert shares == [1.0]
        return
    assert shares == sorted(shares)
    assert len(set(shares)) > 3
    assert 0 < shares[0] < 0.5
    assert shares[-1] == max(shares) == 1


def test_dimensions_are_at_most_those_that_objects_span():
    assert [dimensions(d, 4) for d in (None, 1, 3, 9)] == [2, 1, 3, 3]
    assert dimensions(None, 1) == 1
    with pytest.raises(ParameterError, match=r"n_components is 1\.5"):
        dimensions(1.5, 4)
    with pytest.raises(ParameterError, match="method is 'nonsense'; it must be one of choice, "):
        coordinates(CENTRAL[:150], "nonsense")
