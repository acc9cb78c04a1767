from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import drawn
from trilens.errors import StatementError
from trilens.tasks.medoid import medoid, relative_error

import reference


@given(drawn.statements())
def test_the_medoid_has_the_highest_centrality(S):
    score = reference.centrality(S.triples, S.n_objects, S.kind)
    found = medoid(S, "depth")
    best = np.flatnonzero(score == score.max()).tolist()
    assert found.index == best[0]
    assert found.depth == score.max()
    assert found.tied == tuple(S.names[x] for x in best[1:])


def test_no_objects_no_medoid():
    with pytest.raises(StatementError, match="no objects"):
        medoid([])


<<<<<<< HEAD
=======
@given(drawn.statements(), st.data())
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
    S = Statements([[0, 1, 2], [3, 4, 5]], n_objects=10)
    assert len(outliers(S, contamination=0.25)) == 2
    with pytest.raises(ParameterError, match="not both"):
        outliers(S, n=1, contamination=0.1)
    with pytest.raises(ParameterError, match=r"0\.5"):
        outliers(S, contamination=0.6)
    with pytest.raises(ParameterError, match="from 0 to 10"):
        outliers(S, n=11)


def test_without_a_number_the_gap_decides():
    scores = np.concatenate([[0.01, 0.02, 0.03], np.linspace(0.3, 0.6, 30)])
    assert suggest_count(scores) == 3
    assert suggest_count(np.full(30, 0.3)) == 0
    assert suggest_count(np.array([0.1, 0.5, 0.6])) == 0
    # a gap in the upper part does not make outliers of the lower half
    assert suggest_count(np.concatenate([np.linspace(0, 0.3, 30), [0.9]])) == 0


@given(drawn.statements(), st.sampled_from([0.0, 0.1, 0.3, 0.5, "auto"]))
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
    assert (LensDepthOutlierDetector(0.3).fit_predict(rows) == -1).sum() == 3
    assert (LensDepthOutlierDetector(0.2).fit_predict(rows) == -1).sum() == 2
    assert (LensDepthOutlierDetector(0.1).fit_predict(rows) == -1).sum() == 0


def test_a_detector_refuses_other_objects_and_wrong_shares():
    detector = LensDepthOutlierDetector().fit([[0, 1, 2]])
    with pytest.raises(ParameterError, match="fitted on 3"):
        detector.predict([[0, 1, 3]])
    for wrong in (-0.1, 0.7, "few"):
        with pytest.raises(ParameterError, match="contamination"):
            LensDepthOutlierDetector(wrong).fit([[0, 1, 2]])


>>>>>>> claims-medoid
def test_relative_error_of_the_true_medoid_is_zero():
    assert relative_error(1, np.array([3.0, 2.0, 5.0])) == 0
