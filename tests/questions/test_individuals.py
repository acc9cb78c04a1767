from __future__ import annotations

import json

import numpy as np
import pytest

import trilens as tl
from people_who_differ import survey
from trilens.errors import ParameterError
from trilens.questions.individuals import divide_raters
from trilens.statements import Statements


@pytest.fixture(scope="module")
def study():
    return survey(["a"] * 6 + ["b"] * 6, n=14, each=80)


@pytest.fixture(scope="module")
def factions(study):
    return tl.individuals(study)


def test_two_factions_are_found(factions):
    assert factions.differ
    assert factions.groups_p_value <= 0.05
    assert [group.raters for group in factions.groups] in (
        [tuple(f"r{i:02d}" for i in part) for part in parts]
        for parts in ((range(6), range(6, 12)), (range(6, 12), range(6)))
    )
    assert factions.group[:6].tolist() == [factions.group[0]] * 6
    first, second = factions.groups
    assert first.medoid in first.candidates
    assert first.plane.shape == second.plane.shape == (14, 2)
    assert first.answers == 480
    said = " ".join(factions.sentences())
    assert "they see the objects differently" in said
    assert "fall into two groups, of 6 and 6 raters" in said
    for number, group in enumerate((first, second), 1):
        others = len(group.candidates) - 1
        may = {0: "", 1: " (or one other)"}.get(others, f" (or one of {others} others)")
        assert f"{group.medoid} for group {number}{may}" in said
    facts = json.loads(json.dumps(factions.to_dict()))
    assert facts["raters"][0]["rater"] == "r00"
    assert set(facts["predicted"]) == {"pooled", "own", "others", "weights"}
    assert facts["groups"][0]["raters"]
    assert len(facts["map"]) == len(facts["objects"]) == 14
    assert list(factions.to_frame()["group"])[:1] == [int(factions.group[0]) + 1]


def test_raters_who_see_alike_and_err_unequally_do_not_differ():
    S = survey(["a"] * 5 + ["guess"] * 2 + ["a"] * 5, n=20, each=80)
    found = tl.individuals(S)
    assert not found.differ
    assert (found.groups, found.dimensions, found.groups_p_value) == ((), (), None)
    assert "no evidence that they see the objects differently" in found.sentences()[0]


@pytest.mark.slow
@pytest.mark.parametrize("one_list", [False, True])
def test_raters_who_weigh_the_axes_differ_without_groups(one_list):
    log = np.linspace(-1.0, 1.0, 12)
    views = [tuple(np.exp([x, -x])) for x in log]
    found = tl.individuals(survey(views, n=20, each=120, one_list=one_list))
    assert found.differ
    assert found.groups == ()
    assert max(dimension.spread for dimension in found.dimensions) > 0.2
    ratio = np.log(found.weights[:, 0] / found.weights[:, 1])
    assert abs(np.corrcoef(ratio, log)[0, 1]) > 0.8
    assert "No groups of them could be confirmed" in " ".join(found.sentences())


def test_evenly_spread_raters_are_not_divided():
    line = np.linspace(-1, 1, 20)
    rng = np.random.default_rng(0)
    _, p = divide_raters(np.outer(line, line), rng)
    assert p > 0.05
    two = np.repeat([-1.0, 1.0], [5, 15]) + 0.05 * rng.standard_normal(20)
    two -= two.mean()
    group, p = divide_raters(np.outer(two, two), rng)
    assert p <= 0.05
    assert np.bincount(group).tolist() in ([5, 15], [15, 5])
    assert divide_raters(np.eye(5), rng) == (None, None)


@pytest.mark.slow
def test_the_order_of_rows_and_objects_does_not_matter(study, factions):
    rng = np.random.default_rng(0)
    T = study.take(rng.permutation(len(study))).subset(rng.permutation(14))
    found = tl.individuals(T)
    assert (found.p_value, found.objects) == (factions.p_value, T.names)
    assert found.group.tolist() == factions.group.tolist()
    shared = [T.names.index(name) for name in factions.objects]
    np.testing.assert_allclose(found.groups[0].plane[shared], factions.groups[0].plane, atol=1e-6)
    assert found.sentences() == factions.sentences()


@pytest.mark.parametrize(
    ("views", "each", "message"),
    [(["a"] * 3, 100, "there are 3"), (["a"] * 6, 15, "there are 0"), (["a"], 100, "there is 1")],
)
def test_too_few_raters_or_answers_and_no_raters(views, each, message):
    S = survey(views, n=10, each=each)
    with pytest.raises(ParameterError, match=message):
        tl.individuals(S)
    with pytest.raises(ParameterError, match="add a column called rater"):
        tl.individuals(Statements(S.triples, kind=S.kind))


def test_raters_with_few_answers_are_left_out():
    S = survey(["a"] * 6, n=12, each=60)
    found = tl.individuals(S.take(np.arange(5 * 60 + 10)))
    assert found.left_out == ("r05",)
    assert len(found.raters) == 5
    assert "1 with fewer than 20 answers" in found.sentences()[0]


def test_predicted_from_others_is_one_number():
    S = tl.simulate.study(16, 300, n_raters=6, random_state=1).statements
    told = {row["rater"]: row["predicted_others"] for row in tl.individuals(S).to_dict()["raters"]}
    checked = {check.rater: check.predicted for check in tl.reliability(S).raters}
    assert told == pytest.approx({name: checked[name] for name in told})
