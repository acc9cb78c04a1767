from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import drawn
from trilens.errors import ParameterError
from trilens.maps.fitted import fit
from trilens.questions.clouds import simulated_answers
from trilens.questions.outlier_test import outliers_by_depth
from trilens.questions.outliers import LensDepthOutlierDetector, outliers
from trilens.simulate import far_outliers, gaussian, simulate_statements
from trilens.statements import Statements

import reference


@given(drawn.statements(kinds=["central", "odd"]), st.data())
def test_outliers_are_the_least_central_in_order(S, data):
    score = reference.centrality(S.triples, S.n_objects, S.kind)
    n = data.draw(st.integers(0, S.n_objects))
    found = outliers(S, n=n, method="depth")
    expected = sorted(range(S.n_objects), key=lambda x: (score[x], x))
    assert found.indices.tolist() == expected[:n]
    assert found.scores.tolist() == [score[x] for x in expected[:n]]
    cut = {S.names[x] for x in expected[n:] if n and score[x] == score[expected[n - 1]]}
    assert set(found.tied) == cut


def test_contamination_rounds_and_excludes_n():
    S = Statements([[0, 1, 2], [3, 4, 5]], n_objects=10, kind="central")
    assert len(outliers(S, contamination=0.25)) == 2
    with pytest.raises(ParameterError, match="not both"):
        outliers(S, n=1, contamination=0.1)
    with pytest.raises(ParameterError, match=r"0\.5"):
        outliers(S, contamination=0.6)
    with pytest.raises(ParameterError, match="from 0 to 10"):
        outliers(S, n=11)


@given(drawn.statements(kinds=["central", "odd"]), st.sampled_from([0.0, 0.1, 0.3, 0.5, "auto"]))
def test_the_detector_keeps_scikit_learns_signs(S, contamination):
    detector = LensDepthOutlierDetector(contamination).fit(S)
    assert np.array_equal(detector.score_samples_, detector.score_samples(S))
    assert np.array_equal(detector.decision_function(S), detector.score_samples_ - detector.offset_)
    assert np.array_equal(detector.predict(S) == -1, detector.score_samples_ < detector.offset_)
    assert np.array_equal(detector.labels_, detector.fit_predict(S))
    if contamination != "auto":
        assert (detector.labels_ == -1).sum() <= round(contamination * S.n_objects)


def test_the_detector_finds_the_stated_share_and_keeps_ties_inside():
    # x is central C(x, 2) times of 36: 0 and 1 never, so they tie
    rows = np.array([[a, b, c] for a in range(10) for b in range(a) for c in range(b)])
    assert (LensDepthOutlierDetector(0.3, kind="central").fit_predict(rows) == -1).sum() == 3
    assert (LensDepthOutlierDetector(0.2, kind="central").fit_predict(rows) == -1).sum() == 2
    assert (LensDepthOutlierDetector(0.1, kind="central").fit_predict(rows) == -1).sum() == 0


def test_a_detector_refuses_other_objects_and_wrong_shares():
    detector = LensDepthOutlierDetector(kind="central").fit([[0, 1, 2]])
    with pytest.raises(ParameterError, match="fitted on 3"):
        detector.predict([[0, 1, 3]])
    for wrong in (-0.1, 0.7, "few"):
        with pytest.raises(ParameterError, match="contamination"):
            LensDepthOutlierDetector(wrong, kind="central").fit([[0, 1, 2]])


def _far(kind="odd", seed=0):
    points = far_outliers(gaussian(36, random_state=seed), 3, seed + 1)
    return simulate_statements(points, 2400, kind, error_rate=0.1, random_state=seed + 2)


def test_far_objects_are_claimed():
    fitted = fit(_far())
    found = outliers(fitted)
    assert set(found.least_central[:3]) == {fitted.names[i] for i in (36, 37, 38)}
    assert set(found.indices.tolist()) == {36, 37, 38}
    assert found.p_value <= found.level
    assert found.apart == found.names
    listed = outliers(fitted, 4)
    assert len(listed) == 4
    assert listed.apart == found.apart


@pytest.mark.parametrize(
    "kind",
    [
        "central",
        pytest.param("odd", marks=pytest.mark.slow),
        pytest.param("closer", marks=pytest.mark.slow),
    ],
)
def test_clouds_and_guesses_have_none(kind):
    wrong = 1 / 2 if kind == "closer" else 2 / 3
    for error_rate in (0.0, wrong):
        S = simulate_statements(
            gaussian(30, random_state=5), 800, kind, error_rate=error_rate, random_state=6
        )
        found = outliers(S, method="choice")
        assert (len(found), found.suggested) == (0, 0)
        if error_rate:  # guesses carry no claim, and the reason is said
            assert found.p_value is None
            assert found.reason == "guesses"
            assert "cannot be distinguished from guessing" in found.caution
        else:
            assert found.p_value > found.level
            assert found.caution is None
        assert len(found.least_central) == 7


def test_the_facts():
    assert set(outliers(_far(), method="depth").to_dict()) == {
        *("outliers", "suggested", "apart", "p_value", "level", "caution", "clearly_least"),
        *("shape", "tail", "p_gaussian", "p_heavy"),
        *("method", "least_central", "tied", "tied_count"),
    }


def test_nothing_said_nothing_stands_apart():
    S = Statements(np.zeros((0, 3), dtype=int), names=list("abcdefghij"))
    for method in ("auto", "depth"):
        found = outliers(S, method=method)
        assert (found.names, found.reason) == ((), "no answers")


def test_other_maps_rank_and_claim_nothing():
    found = outliers(_far(), method="soe")
    assert (len(found), found.p_value) == (0, None)
    assert len(outliers(_far(), 3, method="soe")) == 3


def test_depths_with_a_gap_stand_apart_and_smooth_ones_do_not():
    asked = np.full(60, 2000)
    smooth = np.linspace(0.6, 0.75, 60)
    assert not outliers_by_depth(smooth, asked, "odd").objects.any()
    apart = outliers_by_depth(np.r_[0.02, 0.03, smooth[2:]], asked, "odd")
    assert apart.objects.nonzero()[0].tolist() == [0, 1]
    # of an object that nobody was asked about nothing is known
    unseen = outliers_by_depth(np.r_[0.0, smooth], np.r_[0, asked], "odd")
    assert not unseen.objects.any()


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_simulated_answers_are_those_that_the_model_expects(kind):
    S = simulate_statements(gaussian(12, random_state=1), 200, kind, random_state=2)
    model = fit(S).map
    rng = np.random.default_rng(3)
    copies = [simulated_answers(model, S, rng) for _ in range(300)]
    same = np.mean([(c.triples[:, :2] == S.triples[:, :2]).all(axis=1) for c in copies], axis=0)
    if kind != "closer":
        same = np.mean([c.triples[:, 0] == S.triples[:, 0] for c in copies], axis=0)
    assert np.abs(same - model.probabilities(S)[:, 0]).max() < 0.13
    assert all((np.sort(c.triples) == np.sort(S.triples)).all() for c in copies[:3])
