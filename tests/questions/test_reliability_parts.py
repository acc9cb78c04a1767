"""Test questions, exclusions, halves, groups and the paragraph for a paper."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import combine_pvalues

from people import say, survey
from trilens.answers import Answers
from trilens.errors import ParameterError
from trilens.maps.fitted import fit_answers
from trilens.maps.fitting import How
from trilens.questions.group_test import differing_groups
from trilens.questions.reliability import reliability
from trilens.simulate import study
from trilens.statements import Statements, select
from trilens.words import no_group_test, p_text

POINTS = np.random.default_rng(5).standard_normal((20, 3)) * [1, 1, 0]


@pytest.fixture(scope="module")
def people():
    return survey(POINTS, raters=24, per=80, seed=1)


@pytest.mark.slow
def test_test_questions_are_counted_apart(people):
    asked = people.triples[0]
    right = Statements([asked.tolist()], n_objects=20, kind="central")
    found = reliability(people, catch=right)
    same = (np.sort(people.triples, axis=1) == np.sort(asked)).all(axis=1)
    assert found.catch["asked"] == same.sum() > 1
    assert found.catch["right"] == (same & (people.triples[:, 0] == asked[0])).sum()
    assert found.collected["used"] == len(people) - same.sum()
    assert (found.marks[same] == "test-question").all()
    assert sum(check.catch_asked for check in found.raters) == same.sum()
    by_column = [people.names[asked[0]] if s else "" for s in same]
    again = reliability(people, catch=by_column)
    assert again.to_dict() == found.to_dict()
    assert again.between.questions == reliability(people).between.questions - 1


@pytest.mark.parametrize(
    ("catch", "words"),
    [
        (["a"], "1 values for"),
        (Statements([[0, 1, 2]], names=["x", "y", "z"], kind="central"), "not in the statements"),
        (Statements([[0, 1, 2]], kind="odd"), "kind odd"),
        (["none of these"] * 2112, "it shows"),
    ],
)
def test_bad_test_questions(people, catch, words):
    with pytest.raises(ParameterError, match=words):
        reliability(people, catch=catch)


@pytest.mark.slow
def test_nothing_is_deleted_and_every_step_says_what_is_left():
    S = study(n_objects=30, n_statements=2000, n_raters=20, random_state=2).statements
    chosen = select(S, exclude_raters=["3"], min_seconds=0.8)
    found = reliability(Answers(S, exclude_raters=["3"], min_seconds=0.8))
    left = [step.left for step in found.exclusions]
    assert left == sorted(left, reverse=True)
    assert [step.done for step in found.exclusions[:2]] == [True, True]
    assert found.exclusions[1].left == chosen.kept.sum() == found.collected["used"]
    assert len(found.marks) == len(S) == found.collected["answers"]
    assert ((found.marks == "left-out") == ~chosen.kept).all()
    guessing = {check.rater for check in found.raters if check.guessing}
    assert guessing
    marked = {str(r) for r in np.asarray(S.raters)[found.marks == "guessing"]}
    assert marked == guessing
    # the figures are those of the answers that are left
    assert found.predicted == reliability(S.take(chosen.kept)).predicted


def test_what_people_disagree_about_most():
    clear = [[i, i + 1, i + 2] for i in range(0, 30, 3)] * 6
    open_ = [[30, 31, 32], [31, 30, 32], [32, 30, 31]] * 4
    S = Statements(clear + open_, n_objects=33, raters=np.arange(72), kind="central")
    most = reliability(S).questions[0]
    assert (most.objects, most.agreement) == (("30", "31", "32"), pytest.approx(18 / 66))


def _lists(design, seed, *, other=False, raters=16, per=40):
    """Two halves of raters: one list for both, lists of their own, or a quarter in common."""
    rng = np.random.default_rng([seed, other])
    X = np.random.default_rng(8).standard_normal((15, 3))
    n_shared = {"one list": per, "partly": per // 4, "own": 0}[design]
    asked = rng.permuted(np.tile(np.arange(15), (3 * per, 1)), axis=1)[:, :3]
    lists = [asked[:per], np.r_[asked[:n_shared], asked[per : 2 * per - n_shared]]]
    rows, who = [], np.repeat(np.arange(raters), per)
    for r in range(raters):
        second = r >= raters // 2
        a, b, c = lists[second].T
        view = X * ([1, 0, 1] if other and second else [1, 1, 0])
        D = np.sqrt(((view[:, None] - view[None]) ** 2).sum(axis=2))
        scores = 3 * np.array([D[b, c], D[a, c], D[a, b]]) + rng.gumbel(size=(3, per))
        rows.append(say(lists[second], scores.argmax(axis=0)))
    S = Statements(np.concatenate(rows), 15, raters=who, kind="central")
    group = (np.arange(raters) >= raters // 2).astype(np.int64)
    fitted = fit_answers(S, How(2, 0.1, lapses="one", max_iter=20, tol=1e-3))
    return differing_groups(S, who, group[who], fitted, seed, permutations=99)


@pytest.mark.parametrize(("design", "shared"), [("one list", None), ("partly", 8)])
def test_lists_of_their_own_do_not_make_groups_differ_or_alike(design, shared):
    alike = [_lists(design, seed) for seed in range(3)]
    assert all(found.shared is None or found.shared >= shared for found in alike)
    p_values = [found.p_value for found in alike]
    assert combine_pvalues(p_values).pvalue > 0.001
    assert min(p_values) < 1  # whole lists in place of raters gave 1
    assert _lists(design, 0, other=True).p_value <= 0.05


def test_groups_without_common_questions_are_not_compared():
    found = _lists("own", 0, other=True)
    assert (found.p_value, found.why_not) == (None, "own lists")
    assert found.shared <= 4
    assert "from one between questions; ask all groups" in no_group_test(found)
    # questions drawn at random are no lists
    S = survey(POINTS, raters=12, per=30, common=0, again=0, seed=0)
    who = np.asarray(S.raters)
    assert differing_groups(S, who, who % 2, None, 0, 19).shared is None
    alone = (who == 0).astype(np.int64)
    assert "fewer than two raters" in no_group_test(differing_groups(S, who, alone, None))


@pytest.mark.slow
def test_the_facts_are_plain_and_the_paragraph_rests_on_them(people):
    by = {r: "young" if r % 2 else "old" for r in range(24)}
    found = reliability(people, by=by)
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["ceiling"] == found.ceiling
    assert f"{found.ceiling:.0%}" in facts["methods"]
    assert f"{found.predicted:.0%}" in facts["methods"]
    assert p_text(found.groups.p_value) in facts["methods"]
    assert "24 raters" in facts["methods"]
    assert [group["name"] for group in facts["groups"]["groups"]] == ["old", "young"]
