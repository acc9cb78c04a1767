from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import combine_pvalues

import people
from people_who_differ import survey
from trilens import Answers, Statements, compare_groups
from trilens.errors import ParameterError, TrilensError
from trilens.maps.fitted import fit_answers
from trilens.maps.fitting import How
from trilens.questions.compare_groups import groups_given
from trilens.questions.group_agreement import group_agreement
from trilens.questions.group_test import differing_groups
from trilens.words import agreement_by_group, no_group_test

N = 12


def _quick(S):
    return fit_answers(S, How(2, 0.1, lapses="one", max_iter=60, tol=1e-3))


def _of(S):
    """The first four raters against the others."""
    return {name: "first" if name < "r04" else "rest" for name in np.unique(S.raters).tolist()}


def _asked(seed, *, raters=12, each=60, other=(), moved=()):
    """Odd-one-out answers of raters, some of whom have some objects elsewhere."""
    X = np.random.default_rng(8).standard_normal((N, 2))
    Y = X.copy()
    Y[list(moved)] = -2 * X[list(moved)]
    views = [Y if r in other else X for r in range(raters)]
    own = {"common": 0, "again": 0, "blind": 0, "tastes": 0.3, "sharp": 4}
    S = people.survey(X, "odd", raters=raters, per=each, **own, views=views, seed=seed)
    named = [f"r{r:02d}" for r in S.raters]
    return Statements(S.triples, names=[f"o{i:02d}" for i in range(N)], kind="odd", raters=named)


@pytest.fixture(scope="module")
def moved():
    return _asked(1, other=range(4), moved=(0,))


@pytest.fixture(scope="module")
def found(moved):
    return compare_groups(_quick(moved), _of(moved))


def test_groups_with_an_object_elsewhere_differ_and_it_is_named(found):
    assert found.differ
    assert found.differing[0] == "o00"
    assert len(found.differing) <= 3
    assert found.shift.argmax() == 0
    assert (found.exchanged, found.shared, found.why_not) == ("raters", None, None)
    # each group is asked the same questions
    first, rest = found.groups
    assert (first.name, first.raters, first.answers) == ("first", 4, 240)
    assert (rest.name, rest.raters, rest.answers) == ("rest", 8, 480)
    for group in found.groups:
        assert group.medoid in group.candidates
        assert group.plane.shape == (N, 2)
        assert group.centrality.shape == (N,)
        assert 1 / 3 < group.predicted_by_others < group.predicted_by_own < 1
    columns = found.columns()
    assert list(columns)[1:4] == ["centrality_first", "centrality_rest", "shift"]
    assert sum(columns["differs"]) == len(found.differing)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["differing"][0] == "o00"
    said = " ".join(found.sentences())
    assert "They answer differently (p = " in said
    verb = "lies" if len(found.differing) == 1 else "lie"
    assert f"{found.differing[-1]} {verb} in different places for the groups." in said


def test_groups_that_see_alike_rarely_differ_and_name_no_object():
    tests = []
    for S in map(_asked, range(3)):
        number = np.unique(np.asarray(S.raters), return_inverse=True)[1]
        group = (number >= 4).astype(np.int64)
        fitted = _quick(S)
        tests.append(differing_groups(S, number, group, fitted, permutations=99, objects=True))
    # p-values of groups alike are as small as these together in one of a thousand draws of seeds
    assert combine_pvalues([test.p_value for test in tests]).pvalue > 0.001
    assert combine_pvalues([test.objects.min() for test in tests]).pvalue > 0.001


def test_groups_may_be_given_in_many_ways(moved, tmp_path):
    S = moved
    by = _of(S)
    listed = [by[name] for name in S.raters.tolist()]
    frame = S.to_frame().assign(half=listed)
    ways = [(S, way) for way in (by, listed, np.array(listed), pd.Series(by), pd.Series(listed))]
    for given, way in [*ways, (frame, "half"), (Answers(frame), "half")]:
        grouped = groups_given(given, way)
        assert grouped.names == ["first", "rest"]
        assert grouped.labels == listed
        assert grouped.column == ("half" if isinstance(way, str) else None)
    frame.to_csv(tmp_path / "a.csv")
    answers = Answers(tmp_path / "a.csv", kind="odd", where=["rater != r00"])
    assert groups_given(answers, "half").labels.count("first") == 180
    with pytest.raises(TrilensError, match="no column 'planet'"):
        groups_given(answers, "planet")
    unknown = groups_given(S, by | {"r11": None})
    assert unknown.labels.count(None) == 60
    assert unknown.names == ["first", "rest"]


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("half", "statements keep no further columns; give the file"),
        ({"nobody": "a"}, "none of the 1 raters"),
        ([1, 2], "2 groups for 720 statements"),
        (dict.fromkeys([f"r{i:02d}" for i in range(12)], "a"), "only one group of raters"),
        ({f"r{i:02d}": np.nan for i in range(12)}, "no rater has a group"),
        (list(range(720)), "720 groups, and at most 12"),
        (3, "by is 3; it must be the name of a column"),
    ],
)
def test_what_gives_no_groups_is_refused_in_a_line(moved, by, words):
    with pytest.raises(ParameterError, match=words) as caught:
        compare_groups(moved, by)
    assert "\n" not in str(caught.value)


def test_no_answers_and_no_raters():
    with pytest.raises(ParameterError, match="no answers to compare"):
        compare_groups(Statements(np.zeros((0, 3), dtype=int), n_objects=4), [])
    S = Statements([[0, 1, 2], [1, 2, 3]] * 8, kind="central")
    with pytest.raises(ParameterError, match="who gave each answer"):
        compare_groups(S, {"1": "a"})
    found = compare_groups(S, ["a", "b"] * 8)
    assert found.p_value is None
    assert not found.differ
    assert "add a column called rater" in found.why_not
    assert "cannot be determined" in found.sentences()[1]


def test_what_was_left_out_is_said(moved, found):
    grouped = groups_given(moved, _of(moved) | {"x2": "rest", "x1": "first"})
    assert grouped.without_answers == ("x1", "x2")
    assert found.left_out == []
    some = replace(found, without_group=1, without_answers=grouped.without_answers)
    assert some.left_out == [
        "1 answer without a group was left out.",
        "In the groups, but not in the answers: x1 and x2.",
    ]
    assert some.sentences()[-2:] == some.to_dict()["left_out"] == some.left_out


@pytest.mark.slow
def test_neither_the_order_of_rows_nor_that_of_objects_matters(moved, found):
    rng = np.random.default_rng(1)
    T = moved.subset(rng.permutation(N)).take(rng.permutation(len(moved)))
    theirs = compare_groups(_quick(T), _of(T))
    assert (found.p_value, found.differing) == (theirs.p_value, theirs.differing)
    assert [g.medoid for g in found.groups] == [g.medoid for g in theirs.groups]


def _conditions(seed, moved=()):
    """Every rater answers under two conditions; in the second some objects are elsewhere."""
    S = _asked(seed, raters=12, each=50, other=range(6), moved=moved)
    number = np.array([int(name[1:]) for name in S.raters.tolist()])
    names = [f"r{i % 6}" for i in number.tolist()]
    return Statements(S.triples, names=S.names, kind="odd", raters=names), number < 6


def test_conditions_within_raters_are_exchanged_within_raters():
    S, second = _conditions(0, moved=(3,))
    found = compare_groups(_quick(S), np.where(second, "b", "a"))
    assert found.exchanged == "answers"
    assert found.differ
    assert found.differing[0] == "o03"
    assert [group.raters for group in found.groups] == [6, 6]
    p_values = []
    for seed in range(3):
        S, second = _conditions(seed)
        rater = np.unique(np.asarray(S.raters), return_inverse=True)[1]
        lot = np.random.default_rng(seed).permuted(second).astype(np.int64)
        p_values.append(differing_groups(S, rater, lot, _quick(S), permutations=99).p_value)
    assert combine_pvalues(p_values).pvalue > 0.001


def test_conditions_with_lists_of_their_own_are_compared_on_common_questions():
    rng = np.random.default_rng(2)
    every = np.array([rng.choice(N, 3, replace=False) for _ in range(60)])
    lists = every[:40], every[20:]
    rows = [rng.permuted(asked, axis=1) for _ in range(6) for asked in lists]
    rater, condition = np.repeat(np.arange(6), 80), np.tile(np.repeat([0, 1], 40), 6)
    S = Statements(np.concatenate(rows), n_objects=N, kind="odd", raters=rater)
    test = differing_groups(S, rater, condition, None, permutations=99)
    assert test.exchanged == "answers"
    assert 20 <= test.shared < 40
    assert test.p_value > 0.05


def test_some_raters_in_between_are_not_tested():
    S = _asked(0)
    number = np.array([int(name[1:]) for name in S.raters.tolist()])
    group = (number >= 6).astype(np.int64)
    group[:10] = 1  # one rater is in both
    test = differing_groups(S, number, group, None, permutations=19)
    assert test.p_value is None
    assert "1 of 12 raters answered in several groups" in no_group_test(test)


def test_the_effect_of_groups_is_how_much_more_they_agree_within():
    group = np.repeat(np.arange(16) % 2, 150)
    differ = survey("ab" * 8, one_list=True)
    found = group_agreement(differ, differ.raters, group)
    assert 0 < found.low < found.difference < found.high
    assert found.difference == pytest.approx(found.within - found.between)
    assert "more often within groups than between them" in agreement_by_group(found)
    assert 140 < found.questions <= 150
    alike = survey("a" * 16, one_list=True)
    found = group_agreement(alike, alike.raters, group)
    assert found.low < 0 < found.high
    assert group_agreement(alike.take(np.arange(150)), alike.raters[:150], group[:150]) is None
