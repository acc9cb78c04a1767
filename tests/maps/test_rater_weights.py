"""Raters who weigh the dimensions of a map differently."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes

from trilens.errors import ParameterError, StatementError
from trilens.kinds import sides, sign
from trilens.maps import ChoiceMap
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.maps.rater_weights import weighed_likelihood
from trilens.statements import Statements

KINDS = ["central", "odd", "closer"]


def asked(kind="closer", spread=0.8, n=16, d=2, raters=8, each=150, scale=3, seed=0):
    """Raters with weights of their own on the axes, a soft choice, and a share of lapses."""
    rng = np.random.default_rng([seed, raters, n])
    points = scale * rng.standard_normal((n, d))
    weights = np.exp(spread * rng.standard_normal((raters, d)))
    weights /= np.exp(np.log(weights).mean(axis=0))
    who = np.repeat(np.arange(raters), each)
    triples = np.array([rng.permutation(n)[:3] for _ in who])
    ends = sides(kind, triples)
    lengths = [np.sqrt((((points[i] - points[j]) * weights[who]) ** 2).sum(1)) for i, j in ends]
    u = sign(kind) * np.stack(lengths, axis=1) + rng.gumbel(size=(len(who), len(ends)))
    lapsed = rng.random(len(who)) < 0.1
    chosen = np.where(lapsed, rng.integers(len(ends), size=len(who)), u.argmax(axis=1))
    orders = [[0, 1, 2], [0, 2, 1]] if kind == "closer" else [[0, 1, 2], [1, 0, 2], [2, 0, 1]]
    triples = np.take_along_axis(triples, np.array(orders)[chosen], axis=1)
    return Statements(triples.astype(np.int32), n, kind=kind, raters=who), points, weights


@pytest.fixture(scope="module")
def study():
    S, points, weights = asked(each=200)
    return S, points, weights, ChoiceMap(2, l2=0.03, raters="weights").fit(S)


def test_weights_and_axes_are_recovered(study):
    _, points, weights, M = study
    assert M.raters_ == "weights"
    assert list(M.rater_weights_) == list(range(8))
    found = np.array(list(M.rater_weights_.values()))
    np.testing.assert_allclose(np.log(found).mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.log(list(M.rater_sharpness_.values())).mean(), 0, atol=1e-9)
    # each axis of the map is one of the axes that raters weigh
    alike = np.abs(np.corrcoef(points.T, M.embedding_.T)[:2, 2:])
    assert (alike.max(axis=0) > 0.97).all()
    of = alike.argmax(axis=0)
    assert sorted(of) == [0, 1]
    ratio = np.log(found[:, 0] / found[:, 1])
    true = np.log(weights[:, of[0]] / weights[:, of[1]])
    assert np.corrcoef(ratio, true)[0, 1] > 0.9
    assert (M.rater_spread_ > 0.2).all()
    assert M.embedding_.var(axis=0).argmax() == 0


def test_answers_are_predicted_by_the_raters_own_map(study):
    S, *_, M = study
    one = ChoiceMap(2, l2=0.03).fit(S)
    assert M.score(S) > one.score(S) + 0.02
    assert M.log_likelihood_ > one.log_likelihood_ + 50
    P = M.predict_proba(S)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert M.log_likelihood_ == pytest.approx(np.log(P[:, 0]).sum())
    for row in range(0, len(S), 97):
        r = S.raters[row]
        X = M.embedding_ * M.rater_weights_[r] * M.rater_sharpness_[r]
        a, b, c = S.triples[row]
        near, far = np.linalg.norm(X[a] - X[b]), np.linalg.norm(X[a] - X[c])
        lapse = M.rater_lapses_[r]
        assert P[row, 0] == pytest.approx((1 - lapse) / (1 + np.exp(near - far)) + lapse / 2)


def test_all_else_is_of_the_population(study):
    S, *_, M = study
    few = S.triples[:20]
    stranger = Statements(few, S.n_objects, kind=S.kind, raters=["someone"] * 20)
    nobody = Statements(few, S.n_objects, kind=S.kind)
    for given in (stranger, nobody):
        np.testing.assert_array_equal(M.predict_proba(given), M.fit_.map.probabilities(nobody))
    again = M.fit_.refit(S, start=M.embedding_)
    assert procrustes(again.X, M.embedding_)[2] < 0.1
    assert np.corrcoef(M.fit_.draws[0].ravel(), M.embedding_.ravel())[0, 1] > 0.9
    assert M.place_errors_.shape == (16, 2, 2)
    assert (np.linalg.eigvalsh(M.place_errors_) > 0).all()
    low, high = M.error_rate_interval_
    assert low <= M.error_rate_ <= high
    assert low <= 0.05 <= high


@pytest.mark.parametrize("kind", KINDS)
def test_loss_slopes_and_information_are_sums_over_the_raters_maps(kind):
    """Each rater sees the map stretched for them alone; nobody knows who gave the last ones."""
    S, *_ = asked(kind, raters=4, each=15, n=6)
    rng = np.random.default_rng(2)
    X, lapse = rng.standard_normal((6, 2)), rng.uniform(0.05, 0.3, 4)
    stretch = np.vstack([np.exp(0.5 * rng.standard_normal((3, 2))), [1, 1]])
    loss, in_map, total, in_raters, of_raters = 0.0, np.zeros((6, 2)), np.zeros((12, 12)), [], []
    for r, own in enumerate(stretch):
        with likelihood(collect_choices(S.take(S.raters == r))) as f:
            value, slope, _ = f(X * own, lapse[[r]])
            H = f.information(X * own, lapse[[r]])
        loss += value
        in_map += slope * own
        s = np.tile(own, 6)
        total += H * np.multiply.outer(s, s)
        # the logarithm of a stretch moves every coordinate by itself
        moved = ((X * own)[:, :, None] * np.eye(2)).reshape(12, 2)
        in_raters.append(slope.ravel() @ moved)
        of_raters.append(moved.T @ H @ moved)
    with weighed_likelihood(S, None, S.raters, 3) as f:
        seen, lapses = f.stretched(stretch), lapse[f.rater]
        for found, expected in (
            (seen(X, lapses)[:2], (loss, in_map)),
            (f.slopes(X, stretch, lapses), (loss, in_map, in_raters[:3])),
        ):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-9)
        np.testing.assert_allclose(seen.information(X, lapses), total, atol=1e-9)
        np.testing.assert_allclose(seen.of_raters(X, lapses), of_raters[:3], atol=1e-9)
        blocks = seen.information(X, lapses, whole=False)
    own = total.reshape(6, 2, 6, 2)[np.arange(6), :, np.arange(6)]
    np.testing.assert_allclose(blocks, own, atol=1e-9)


def test_auto_takes_weights_where_raters_weigh_differently():
    S, *_ = asked(each=100, seed=3)
    done = []
    M = ChoiceMap(2, l2=0.05, raters="auto").fit(S, progress=done.append)
    assert done == sorted(done)
    assert done[-1] == 1
    gain, error = M.rater_gain_
    assert M.raters_ == "weights"
    assert gain > 3 * error > 0


def test_auto_takes_one_map_where_raters_see_alike():
    S, *_ = asked(spread=0.0, raters=12)
    one, M, W = (
        ChoiceMap(2, l2=0.03, raters=raters).fit(S) for raters in ("one", "auto", "weights")
    )
    assert M.raters_ == "one"
    gain, error = M.rater_gain_
    assert gain <= 3 * error
    np.testing.assert_array_equal(M.embedding_, one.embedding_)
    assert M.rater_lapses_ == one.rater_lapses_
    assert (M.rater_weights_, M.rater_sharpness_) == ({}, {})
    assert not M.rater_spread_.any()
    assert (W.rater_spread_ < 0.2).all()
    assert np.abs(np.log(list(W.rater_weights_.values()))).max() < 0.2


def test_on_a_line_a_weight_is_a_sharpness():
    S, *_ = asked(d=1, scale=1)
    M = ChoiceMap(1, l2=0.03, raters="weights").fit(S)
    np.testing.assert_array_equal(np.array(list(M.rater_weights_.values())), 1)
    assert np.ptp(list(M.rater_sharpness_.values())) > 0.3
    assert M.rater_spread_.tolist() == [0]


@pytest.mark.slow
def test_dimensions_are_chosen_anew_and_nothing_is_to_be_set():
    S, points, _ = asked("central", n=20, raters=12, d=3, each=200, seed=1)
    M = ChoiceMap(raters="auto").fit(S)
    assert (M.raters_, M.n_components_) == ("weights", 3)
    assert (np.abs(np.corrcoef(points.T, M.embedding_.T)[:3, 3:]).max(axis=0) > 0.95).all()
    low, high = M.error_rate_interval_
    assert low <= 0.1 * 2 / 3 <= high


def test_without_raters_auto_is_one_map_and_weights_are_refused():
    S, *_ = asked(each=40)
    for raters, said in ((None, "no rater is known"), (["a"] * len(S), "there is one")):
        few = Statements(S.triples, S.n_objects, kind=S.kind, raters=raters)
        assert ChoiceMap(2, l2=0.1, raters="auto").fit(few).raters_ == "one"
        with pytest.raises(StatementError, match=said):
            ChoiceMap(2, l2=0.1, raters="weights").fit(few)
    with pytest.raises(ParameterError, match="raters"):
        ChoiceMap(2, raters="two").fit(S)


def test_raters_with_one_answer_stay_near_the_others(study):
    S, *_ = study
    raters = np.append(S.raters.astype(float), [50, 51, np.nan])
    triples = np.vstack([S.triples, S.triples[:3]])
    more = Statements(triples, S.n_objects, kind=S.kind, raters=raters)
    M = ChoiceMap(2, l2=0.03, raters="weights").fit(more)
    weights = {float(r): own for r, own in M.rater_weights_.items()}
    assert set(weights) == {*map(float, range(8)), 50.0, 51.0}
    np.testing.assert_allclose(weights[50.0], 1, rtol=0.35)


@pytest.mark.parametrize("kind", ["central", "odd"])
def test_other_kinds_have_weights(kind):
    S, *_ = asked(kind, each=120)
    M = ChoiceMap(2, l2=0.05, raters="weights").fit(S)
    assert M.score(S) > ChoiceMap(2, l2=0.05).fit(S).score(S) + 0.02


def test_neither_rows_objects_nor_the_names_of_raters_matter():
    S, *_ = asked(each=60, raters=6, n=12)
    names = [f"n{i}" for i in range(12)]
    S = Statements(S.triples, 12, names, S.kind, raters=S.raters)
    rng = np.random.default_rng(0)
    rows, order = rng.permutation(len(S)), rng.permutation(12)
    mixed = S.take(rows).subset(order)
    turned = Statements(S.triples, 12, names, S.kind, raters=5 - S.raters)
    M, other, renamed = (
        ChoiceMap(2, l2=0.05, raters="weights").fit(each) for each in (S, mixed, turned)
    )
    np.testing.assert_allclose(other.embedding_, M.embedding_[order], atol=1e-6)
    np.testing.assert_allclose(renamed.embedding_, M.embedding_, rtol=0.02, atol=0.02)
    for r, own in M.rater_weights_.items():
        np.testing.assert_allclose(other.rater_weights_[r], own, rtol=1e-6)
        np.testing.assert_allclose(renamed.rater_weights_[5 - r], own, rtol=0.02)


def test_a_known_lapse_stays(study):
    S, *_ = study
    known, one = (
        ChoiceMap(2, l2=0.03, lapses=lapses, raters="weights").fit(S) for lapses in (0.2, "one")
    )
    assert known.rater_lapses_ == one.rater_lapses_ == {}
    assert known.lapse_ == 0.2
    assert 0 < one.lapse_ < 0.3
