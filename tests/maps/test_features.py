"""Features of the objects: how they are read, and what a map makes of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import trilens as tl
from arrowtable import ArrowTable
from featured_study import answers, featured, study
from trilens.maps.features import FeaturedLikelihood, read_features
from trilens.maps.likelihood import collect_choices, likelihood

NAMES = ("a", "b", "c", "d", "e")
ROWS = np.random.default_rng(0).normal(3.0, 2.0, (5, 3))


# ---- how they are read


def same(given, names=NAMES):
    found = read_features(given, names, len(NAMES)).blocks[0]
    expected = read_features(ROWS, names, len(NAMES)).blocks[0]
    np.testing.assert_allclose(found.factor @ found.factor.T, expected.factor @ expected.factor.T)


def test_one_stated_rule_standardises_features():
    block = read_features(ROWS, NAMES, 5).blocks[0]
    np.testing.assert_allclose(block.factor.mean(axis=0), 0.0, atol=1e-12)
    assert (block.factor**2).sum(axis=1).mean() == pytest.approx(1.0)
    same(ROWS.tolist())
    same(sparse.csr_array(ROWS))
    same(np.column_stack([ROWS, np.full(5, 7.0)]))  # a constant column says nothing
    half = read_features(ROWS.astype(np.float16), NAMES, 5).blocks[0]
    assert half.rows.dtype == np.float64


@pytest.mark.parametrize("names", [NAMES, ("101", "102", "103", "104", "105")])
def test_names_are_matched_in_every_table(names):
    turned = np.array([3, 0, 4, 1, 2])
    called = np.array(names)[turned]
    frame = pd.DataFrame(ROWS[turned], index=called if names is NAMES else turned + 101)
    frame.columns = ["x0", "x1", "x2"]
    word = "word" if names is NAMES else "object"  # text is a name, whatever it is called
    table = pa.Table.from_pandas(frame.reset_index(names=word))
    by_name = dict(zip(called.tolist(), ROWS[turned], strict=True))
    for given in (frame, frame.reset_index(names="object"), table, ArrowTable(table), by_name):
        same(given, names)
    same(pd.DataFrame(ROWS), names)  # rows counted from 0 have no names


def test_blocks_are_told_from_vectors_by_name():
    by_name = dict(zip(NAMES, ROWS, strict=True))
    found = read_features({"pictures": ROWS, "words": by_name}, NAMES, 5)
    assert found.names == ("pictures", "words")
    assert read_features(by_name, NAMES, 5).names == ("features",)


def test_objects_without_features_are_unknown():
    missing = ROWS.copy()
    missing[2, 1] = np.nan
    for given in (missing, {n: r for n, r in zip(NAMES, ROWS, strict=True) if n != "c"}):
        found = read_features(given, NAMES, 5)
        assert found.known.tolist() == [True, True, False, True, True]
        prior = found.prior([0.9])
        C = np.linalg.inv(prior.precision)
        np.testing.assert_allclose(C[2], np.eye(5)[2], atol=1e-9)


def test_a_misspelt_name_is_told():
    names = ["a", "b", "c", "d", "E"]
    with pytest.warns(UserWarning, match=r"1 of 5 objects has no features \('e'\)"):
        read_features(dict(zip(names, ROWS, strict=True)), NAMES, 5)
    # rows of other objects are no fault where nothing is missing: warnings are errors here
    read_features(dict(zip((*NAMES, "more"), [*ROWS, ROWS[0]], strict=True)), NAMES, 5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (ROWS[:4], "4 rows for 5 objects"),
        (np.where(ROWS[1, 1] == ROWS, np.inf, ROWS), "row 1 has an infinite number"),
        (np.full((5, 2), np.nan), "every row has NaN"),
        (np.zeros((5, 0)), "a column or more"),
        (np.zeros((5, 2, 2)), "shape"),
        ([["x"]] * 5, "must be numbers"),
        ("features.npy", "give an"),
        ({}, "empty"),
        ({"x": [1.0], "y": [2.0]}, "none of the 5 objects"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "1 to 2 numbers"),
        ({"a": [1.0], "words": ROWS}, "not both"),
        (pd.DataFrame(ROWS, index=["a", "a", "b", "c", "d"]), "two rows"),
        (pd.DataFrame({"object": NAMES, "colour": NAMES, "x": range(5)}), "colour"),
        (sparse.csr_array(np.where(ROWS > 3, np.nan, 0.0)), "NaN or infinite"),
    ],
)
def test_bad_features_are_one_clear_line(given, said):
    with pytest.raises(tl.errors.ParameterError, match=said) as error:
        read_features(given, NAMES, 5)
    assert "\n" not in str(error.value)


def test_more_columns_than_a_machine_holds():
    rng = np.random.default_rng(0)
    wide = sparse.random_array((40, 100_000), density=1e-3, rng=rng, format="csr")
    assert read_features(wide, None, 40).blocks[0].factor.shape[1] < 40
    with pytest.raises(tl.errors.ParameterError, match="TruncatedSVD"):
        read_features(sparse.csr_array((20_000, 100_000)), None, 20_000)


# ---- the prior


def prior(shares=(0.5, 0.3)):
    words = np.random.default_rng(5).standard_normal((5, 9))
    words[1] = np.nan
    return read_features({"p": ROWS, "w": words}, NAMES, 5).prior(shares)


def test_the_prior_is_that_of_a_linear_part_and_a_remainder():
    found = prior()
    p, w = (block.factor for block in found.features.blocks)
    C = 0.5 * p @ p.T + 0.3 * w @ w.T + 0.2 * np.eye(5)
    C[1, 1] += 0.3
    np.testing.assert_allclose(found.matrix @ found.matrix.T, C, atol=1e-10)
    np.testing.assert_allclose(found.precision, np.linalg.inv(C), atol=1e-8)
    np.testing.assert_allclose(found.own_precision, np.diag(found.precision), atol=1e-8)
    X = np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(found.places(found.standard(X)), X, atol=1e-9)
    np.testing.assert_allclose(found.slopes(X), found.matrix.T @ X)
    G = C - np.diag([0.2, 0.5, 0.2, 0.2, 0.2])
    np.testing.assert_allclose(found.linear_part(X), G @ np.linalg.solve(C, X), atol=1e-8)


def test_the_slope_and_the_information_are_those_of_the_coordinates():
    S = answers(np.random.default_rng(0).standard_normal((5, 2)), 40, 1)
    Z, A = np.random.default_rng(1).standard_normal((5, 2)), prior().matrix
    both, lapse = np.kron(A, np.eye(2)), np.array([0.1])
    with likelihood(collect_choices(S)) as f:
        g = FeaturedLikelihood(f, prior())
        loss, slope, of_lapse = f(A @ Z, lapse)
        for found, expected in zip(g(Z, lapse), (loss, A.T @ slope, of_lapse), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
        H = f.information(A @ Z, lapse)
        np.testing.assert_allclose(g.information(Z, lapse), both.T @ H @ both, atol=1e-9)


# ---- the map


def test_features_help_where_answers_are_few_and_wrong_ones_change_nothing():
    _, F, S, test = study()
    without = tl.ChoiceMap().fit(S)
    assert featured().feature_shares_["features"] > 0.5
    assert featured().score(test) > without.score(test) + 0.03
    assert np.linalg.norm(featured().linear_part_) > 0.8 * np.linalg.norm(featured().embedding_)
    for wrong in (F[np.random.default_rng(4).permutation(30)], np.ones((30, 4))):
        M = tl.ChoiceMap().fit(S, features=wrong)
        assert M.feature_shares_ == {"features": 0.0}
        np.testing.assert_array_equal(M.embedding_, without.embedding_)


def test_the_order_of_objects_does_not_matter():
    _, F, S, _ = study()
    turned = np.random.default_rng(8).permutation(30)
    named = tl.Statements(S.triples, 30, names=[f"o{i}" for i in range(30)], kind="central")
    M, N = (
        tl.ChoiceMap(2, l2=0.5, feature_share=0.7).fit(given, features=rows)
        for given, rows in ((named, F), (named.subset(turned), F[turned]))
    )
    np.testing.assert_allclose(M.embedding_[turned], N.embedding_, atol=1e-8)


def test_shares_can_be_given():
    _, F, S, _ = study()
    M = tl.ChoiceMap(2, l2=0.5, feature_share=0.7).fit(S, features=F)
    assert M.feature_shares_ == {"features": 0.7}
    two = tl.ChoiceMap(2, l2=0.5, feature_share={"a": 0.7}).fit(S, features={"a": F, "b": F[:, :2]})
    assert two.feature_shares_ == {"a": 0.7, "b": 0.0}
    np.testing.assert_allclose(two.embedding_, M.embedding_, atol=1e-6)
    for share in (1.5, -0.1, "all", {"c": 0.5}):
        with pytest.raises(tl.errors.ParameterError, match="feature_share"):
            tl.ChoiceMap(2, l2=0.5, feature_share=share).fit(S, features=F)


def test_everything_that_a_map_can_do_it_can_do_with_features():
    _, F, S, test = study()
    M = featured()
    d = M.n_components_
    assert M.fit_.support
    assert M.fit_.draws.shape[1:] == (30, d)
    assert M.fit_.refit(S.take(range(100))).X.shape == (30, d)
    assert (np.linalg.eigvalsh(M.place_errors_) > 0).all()
    low, high = M.error_rate_interval_
    assert 0 <= low <= M.error_rate_ <= high
    raters = tl.Statements(S.triples, 30, raters=np.arange(150) % 5, kind="central")
    W = tl.ChoiceMap(2, l2=0.5, raters="weights", feature_share=0.9).fit(raters, features=F)
    assert W.raters_ == "weights"
    assert W.score(test) > 0.5


def test_the_posterior_knows_the_features():
    """A place that no answer tells is as sure as its features make it."""
    _, F, S, _ = study()
    seen = S.take(~(S.triples == 3).any(axis=1))
    share = {"features": 0.99}
    M = tl.ChoiceMap(2, l2=0.1, feature_share=share).fit(seen, features=F)
    with pytest.warns(tl.errors.UnmentionedObjectsWarning, match=r"1 of the 30 objects \(3\)"):
        N = tl.ChoiceMap(2, l2=0.1).fit(seen)
    spread = [each.fit_.draws[:, 3].std(axis=0).mean() for each in (M, N)]
    assert spread[0] < 0.85 * spread[1]
    assert np.trace(M.place_errors_[3]) < 0.5 * np.trace(N.place_errors_[3])
    assert np.abs(M.embedding_[3]).max() > 10 * np.abs(N.embedding_[3]).max()


def test_features_travel_by_metadata_routing():
    _, F, S, _ = study()
    with sklearn.config_context(enable_metadata_routing=True):
        M = tl.ChoiceMap(2, l2=0.5).set_fit_request(features=True)
        search = GridSearchCV(Pipeline([("map", M)]), {"map__feature_share": [0.0, 0.9]}, cv=3)
        search.fit(S, features=F)
    assert search.best_params_ == {"map__feature_share": 0.9}
    assert search.best_estimator_["map"].feature_shares_ == {"features": 0.9}


def test_answers_too_large_to_hold_take_them_too(monkeypatch, tmp_path):
    _, F, S, _ = study()
    S = tl.Statements(S.triples, 30, names=[f"n{i}" for i in range(30)], kind="central")
    tl.write_statements(S, tmp_path / "answers.csv")
    features = dict(zip(S.names, F, strict=True))
    held = tl.fit(S, features=features, n_components=2)
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)
    found = tl.fit(tl.Answers(tmp_path / "answers.csv"), features=features, n_components=2)
    assert found.statements is None
    assert found.settings.shares == held.settings.shares
    order = [found.names.index(name) for name in held.names]
    np.testing.assert_allclose(found.map.X[order], held.map.X, atol=1e-6)


# ---- questions about a fit with features


def test_questions_take_the_map_with_features():
    _, F, S, _ = study()
    fitted = tl.fit(S, features=F)
    np.testing.assert_array_equal(fitted.map.X, featured().embedding_)
    found = tl.classify(fitted, [0, 1] * 15)
    classifier = tl.MapClassifier(map=tl.ChoiceMap()).fit(S, [0, 1] * 15, features=F)
    assert found.labels.tolist() == classifier.transduction_.tolist()


def test_what_features_do_not_go_with():
    _, F, S, _ = study()
    with pytest.raises(tl.errors.ParameterError, match="features are for the choice map"):
        tl.MapClassifier(map="lensmap").fit(S, [0, 1] * 15, features=F)
    with pytest.raises(tl.errors.ParameterError, match="a fit has its own features"):
        tl.MapClassifier().fit(featured().fit_, [0, 1] * 15, features=F)
    with pytest.raises(tl.errors.ParameterError, match="29 rows for 30 objects"):
        tl.MapClassifier().fit(S, [0, 1] * 15, features=np.asarray(F)[:29])
