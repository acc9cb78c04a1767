"""Outliers: Algorithm 2, isolation on the map, and what is set aside before groups are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import drawn
from trilens.cli.outliers import _notes
from trilens.errors import ParameterError
from trilens.maps.fitted import fit
from trilens.questions import clouds
from trilens.questions.clouds import AskedInOrder
from trilens.questions.cluster.groups import cluster
from trilens.questions.hierarchy import hierarchy
from trilens.questions.mixtures import fit_mixtures
from trilens.questions.outlier_test import (
    isolation,
    isolation_by_answers,
    most_apart,
    outliers_by_depth,
    widest_gap,
)
from trilens.questions.outliers import LensDepthOutlierDetector, outliers
from trilens.simulate import far_outliers, gaussian, simulate_statements
from trilens.statements import Statements

import reference

# ---- by depth: Algorithm 2


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


@pytest.mark.parametrize(
    ("wanted", "words"), [({"contamination": 0.6}, r"0\.5"), ({"n": 11}, "from 0 to 10")]
)
def test_how_many_are_wanted(wanted, words):
    S = Statements([[0, 1, 2], [3, 4, 5]], n_objects=10, kind="central")
    assert len(outliers(S, contamination=0.25)) == 2
    with pytest.raises(ParameterError, match=words):
        outliers(S, **wanted)


@given(drawn.statements(kinds=["central", "odd"]), st.sampled_from([0.0, 0.1, 0.3, 0.5]))
def test_the_detector_keeps_scikit_learns_signs(S, contamination):
    detector = LensDepthOutlierDetector(contamination).fit(S)
    assert np.array_equal(detector.score_samples_, detector.score_samples(S))
    assert np.array_equal(detector.decision_function(S), detector.score_samples_ - detector.offset_)
    assert np.array_equal(detector.predict(S) == -1, detector.score_samples_ < detector.offset_)
    assert np.array_equal(detector.labels_, detector.fit_predict(S))
    assert (detector.labels_ == -1).sum() <= round(contamination * S.n_objects)


def test_the_detector_finds_the_stated_share_and_keeps_ties_inside():
    # x is central C(x, 2) times of 36: 0 and 1 never, so they tie
    rows = np.array([[a, b, c] for a in range(10) for b in range(a) for c in range(b)])
    for share, found in ((0.3, 3), (0.2, 2), (0.1, 0), ("auto", 0)):
        detector = LensDepthOutlierDetector(share, kind="central")
        assert (detector.fit_predict(rows) == -1).sum() == found
    with pytest.raises(ParameterError, match="fitted on 10"):
        detector.predict([[0, 1, 10]])
    for wrong in (-0.1, 0.7, "few"):
        with pytest.raises(ParameterError, match="contamination"):
            LensDepthOutlierDetector(wrong, kind="central").fit(rows)


def test_depths_with_a_gap_stand_apart_and_smooth_ones_do_not():
    asked = np.full(60, 2000)
    smooth = np.linspace(0.6, 0.75, 60)
    assert not outliers_by_depth(smooth, asked, "odd").objects.any()
    apart = outliers_by_depth(np.r_[0.02, 0.03, smooth[2:]], asked, "odd")
    assert apart.objects.nonzero()[0].tolist() == [0, 1]
    # of an object that nobody was asked about nothing is known
    unseen = outliers_by_depth(np.r_[0.0, smooth], np.r_[0, asked], "odd")
    assert not unseen.objects.any()


# ---- on a map: isolation is local

CENTRES = np.array([[0.0, 0], [7, 0], [3.5, 6]])


def _far_from_groups():
    """Three groups, and one object that is far from each and not from the middle of all."""
    X = CENTRES[np.arange(24) % 3] + np.random.default_rng(0).standard_normal((24, 2))
    return np.r_[X, [[16.0, 9.0]]]


def test_up_to_three_together_are_isolated_and_four_are_a_group():
    cloud = np.random.default_rng(0).standard_normal((40, 2))
    for together in (1, 2, 3, 4):
        far = [9.0, 0] + 0.1 * np.random.default_rng(together).standard_normal((together, 2))
        X = np.r_[cloud, far]
        gap, number = widest_gap(isolation(X))
        assert (number == together and gap > 1) == (together < 4)
        assert widest_gap(isolation(7 * X + [3, 5])) == (pytest.approx(gap), number)
    assert [most_apart(n) for n in (8, 40, 100, 400)] == [3, 4, 6, 12]


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_a_far_object_is_placed_again_without_the_penalty(kind):
    X = np.r_[np.random.default_rng(0).standard_normal((30, 2)), [[7.0, 0]]]
    S = simulate_statements(X, 2000, kind, error_rate=0.05, random_state=1)
    model, every = fit(S, n_components=2).map, np.arange(31)
    seen, alone = isolation(model.X), isolation_by_answers(model, every, S)
    assert np.array_equal(isolation_by_answers(model, every, None), seen)
    assert len(np.flatnonzero(alone != seen)) <= most_apart(31) + 3
    assert alone.argmax() == 30
    assert widest_gap(alone)[0] > widest_gap(seen)[0]


def test_of_very_many_answers_a_part_is_tested(monkeypatch):
    X = np.r_[np.random.default_rng(0).standard_normal((30, 2)), [[7.0, 0]]]
    S = simulate_statements(X, 3000, "odd", error_rate=0.05, random_state=1)
    monkeypatch.setattr(clouds, "_MOST_ANSWERS", 1500)
    monkeypatch.setattr(clouds, "_MOST_OF_EACH", 1)
    F = fit(S, n_components=2)
    model, answers = clouds.compared_map(F.canonical[0])
    assert len(answers) == 1500
    assert not np.array_equal(model.X, F.canonical[0].map.X)
    assert F.outliers().names == ("30",)


def test_the_groups_of_a_map_are_found_and_drawn_anew():
    X = _far_from_groups()[:24]
    found = fit_mixtures(X, np.arange(24))
    best = found.each[int(found.weights.argmax())]
    assert len(best.centres) == 3
    assert found.weights.sum() == pytest.approx(1)
    rng = np.random.default_rng(0)
    means = np.mean([best.draw(rng) for _ in range(400)], axis=0)
    np.testing.assert_allclose(means, best.centres[best.group], atol=0.3)


@pytest.mark.parametrize("heavy", [False, True])
def test_tails_are_drawn_as_they_are_asked_for(heavy):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    if heavy:
        X /= np.sqrt(rng.chisquare(2, (60, 1)) / 2)
    found = fit_mixtures(X, np.arange(60))
    assert (found.heavy > 0.5) == heavy
    far = [np.abs(found.draw(heavy, rng)).max() / np.abs(X).max() for _ in range(50)]
    assert 0.4 < np.median(far) < 2.5


def test_what_is_far_from_every_group_is_named_and_set_aside():
    S = simulate_statements(_far_from_groups(), 2200, "odd", error_rate=0.03, random_state=0)
    fitted = fit(S)
    found = outliers(fitted)
    assert found.names == found.apart == ("24",)
    assert found.p_value <= found.level
    assert outliers(fitted, 2).apart == ("24",)
    groups = cluster(fitted)
    assert (groups.n_clusters, groups.shape, groups.unassigned) == (3, "groups", ("24",))
    assert groups.p_value <= 0.05
    assert repr(groups).startswith(f"Clusters: {groups.structure.sentence} Groups: p ")
    assert groups.columns()["label"][24] == "unassigned"
    # the groups are those that were tested
    assert groups.structure.part.tolist() == groups.labels.tolist()
    assert groups.structure.sentence.endswith("One object stands apart: 24.")
    facts = groups.to_dict()
    assert (facts["unassigned"], facts["shape"], facts["clusters"]["24"]) == (["24"], "groups", -1)
    # with a number of groups nobody is left out
    three = cluster(fitted, 3)
    assert (three.labels.min(), three.labels.max(), three.unassigned) == (0, 2, ())
    # a tree does not contradict them
    tree = hierarchy(fitted)
    assert tree.claimed
    for branch in tree.claimed:
        inside = np.isin(np.array(tree.names), branch.objects)
        cut = [0 < inside[groups.labels == g].sum() < (groups.labels == g).sum() for g in range(3)]
        assert not any(cut) or len(set(groups.labels[inside].tolist()) - {-1}) == 1


@pytest.mark.slow
def test_what_only_the_counts_show_is_named():
    # two groups and one object so far away that the map, which draws it in, is not sure of it
    rng = np.random.default_rng(2)
    X = np.repeat([[0.0, 0.0], [8.0, 0.0]], 10, axis=0) + 0.8 * rng.normal(size=(20, 2))
    noise = {"error_rate": 0.05, "noise_param": 0.15, "sampling": "replacement"}
    S = simulate_statements(np.r_[X, [[4.0, 40.0]]], 2000, "odd", **noise, random_state=2)
    assert outliers(S).names == ("20",)


def test_what_stands_apart_is_set_aside_where_questions_are_too_few_for_a_shape():
    asked = simulate_statements(
        _far_from_groups(), 60, "odd", sampling="replacement", random_state=3
    )
    groups = cluster(Statements(np.tile(asked.triples, (20, 1)), 25, kind="odd"))
    assert (groups.unassigned, groups.labels[24]) == (("24",), -1)
    assert groups.structure.reason == "few questions"
    assert groups.structure.sentence.endswith("One object stands apart: 24.")


def test_an_object_whose_interval_lies_below_all_others_is_named_by_counting_too():
    X = np.r_[np.random.default_rng(0).standard_normal((11, 2)), [[6, 0]]]
    S = simulate_statements(X, 600, "closer", sampling="replacement", random_state=1)
    found = outliers(S, method="depth")
    assert (found.apart, found.clearly_least) == ((), "11")
    said = "no outlier could be confirmed; 11 is clearly the least central"
    assert repr(found).startswith(f"Outliers: {said}")


def test_far_objects_are_claimed_and_other_maps_rank_and_claim_nothing():
    points = far_outliers(gaussian(18, random_state=0), 2, 1)
    S = simulate_statements(points, 1000, "odd", error_rate=0.1, random_state=2)
    found = outliers(S)
    assert set(found.indices.tolist()) == {18, 19}
    assert set(found.least_central[:2]) == set(found.apart) == set(found.names)
    assert found.p_value <= found.level
    other = outliers(S, method="lensmap")
    assert (len(other), other.p_value, other.reason) == (0, None, "no test")
    assert len(outliers(S, 3, method="lensmap")) == 3


@pytest.mark.parametrize(
    "kind", ["central", *(pytest.param(k, marks=pytest.mark.slow) for k in ("odd", "closer"))]
)
def test_clouds_and_guesses_have_none(kind):
    wrong = 1 / 2 if kind == "closer" else 2 / 3
    for error_rate in (0.0, wrong):
        S = simulate_statements(
            gaussian(16, random_state=5), 400, kind, error_rate=error_rate, random_state=6
        )
        found = outliers(S, method="choice")
        assert (len(found), found.suggested, len(found.least_central)) == (0, 0, 4)
        if error_rate:  # guesses carry no claim, and the reason is said
            assert (found.p_value, found.reason) == (None, "guesses")
            assert "cannot be distinguished from guessing" in found.caution
        else:
            assert found.p_value > found.level
            assert found.caution is None


def test_what_is_said_of_the_facts_and_of_no_answers():
    for method in ("auto", "depth"):
        nothing = outliers(Statements(np.zeros((0, 3), dtype=int), n_objects=10), method=method)
        assert (nothing.names, nothing.reason) == ((), "no answers")
    S = simulate_statements(gaussian(12, random_state=0), 200, "odd", random_state=2)
    found = outliers(S, method="depth")
    nothing = replace(found, names=(), apart=("a", "b"), reason=None)
    assert repr(nothing).startswith("Outliers: none listed; a and b stand apart")
    tail = replace(found, apart=(), shape="long tail", tail=("b", "a"), p_value=0.3, reason=None)
    said = list(_notes(replace(tail, clearly_least="b")))
    assert said[0].startswith("by depth alone, no outlier could be confirmed (p = 0.30); least ")
    assert said[1].startswith("the map, asked without --method")
    assert said[2] == "the objects thin out into a long tail; farthest out: b, a"
    assert said[3] == "b is clearly the least central, which alone makes no outlier"


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_simulated_answers_are_those_that_the_model_expects(kind):
    S = simulate_statements(gaussian(12, random_state=1), 200, kind, random_state=2)
    model = fit(S, n_components=2).map
    rng = np.random.default_rng(3)
    asked = AskedInOrder.of(S)
    copies = [asked.answered_by(model, rng) for _ in range(300)]
    same = np.mean([(c.triples[:, :2] == S.triples[:, :2]).all(axis=1) for c in copies], axis=0)
    if kind != "closer":
        same = np.mean([c.triples[:, 0] == S.triples[:, 0] for c in copies], axis=0)
    assert np.abs(same - model.probabilities(S)[:, 0]).max() < 0.13
    assert all((np.sort(c.triples) == np.sort(S.triples)).all() for c in copies[:3])
