from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import drawn
from trilens.errors import KindError, ParameterError, StatementError, TrilensError
from trilens.statements import Statements, as_statements, concatenate
from trilens.statements.combine import as_kind


def test_an_int32_array_is_not_copied_and_nothing_can_be_changed():
    ids, raters = np.array([[0, 1, 2]], dtype=np.int32), np.array(["x"])
    S = Statements(ids, raters=raters, kind="central")
    raters[0] = "y"
    assert S.raters.tolist() == ["x"]
    assert np.shares_memory(S.triples, ids)
    with pytest.raises(ValueError, match="read-only"):
        S.triples[0, 0] = 2
    assert ids.flags.writeable
    with pytest.raises(AttributeError):
        S.kind = "odd"


@pytest.mark.parametrize(
    ("triples", "fields", "error", "text"),
    [
        ([[0, 1, 1]], {}, StatementError, "statement 0: object 1 appears twice"),
        ([[0, 1, 2], [3, 3, 1]], {}, StatementError, "statement 1: object 3 appears twice"),
        ([[0, 1, -1]], {}, StatementError, "object id -1 is negative"),
        ([[0, 1, 5]], {"n_objects": 4}, StatementError, "5 is not below n_objects = 4"),
        ([[0, 1]], {}, StatementError, r"got shape \(1, 2\)"),
        ([0, 1, 2], {}, StatementError, r"got shape \(3,\)"),
        ([[0.5, 1, 2]], {}, StatementError, "whole numbers"),
        ([[0, 1, np.nan]], {}, StatementError, "NaN"),
        ([["a", "b", ""]], {}, StatementError, "statement 0: a missing value"),
        ([["a", "b", None]], {}, StatementError, "statement 0: a missing value"),
        ([["a", "b", "b"]], {}, StatementError, "twice"),
        ([["a", "b", True]], {}, StatementError, "True does not name an object"),
        ([["a", "b", "c"]], {"names": ["a", "b", "d"]}, StatementError, "no object is named 'c'"),
        ([[0, 1, 2]], {"kind": "median"}, KindError, "central, odd, closer"),
        ([[0, 1, 2]], {"names": ["a", "b", "b"]}, ParameterError, "'b'"),
        ([[0, 1, 2]], {"names": [1, 2, 3]}, ParameterError, "names must be strings"),
        ([[0, 1, 2]], {"names": ["a", "b", "c"], "n_objects": 4}, ParameterError, "3 names"),
        ([[0, 1, 2]], {"n_objects": -1}, ParameterError, "n_objects"),
        ([[0, 1, 2]], {"seconds": [1.0, 2.0]}, StatementError, "seconds"),
    ],
)
def test_what_is_not_a_statement_is_refused(triples, fields, error, text):
    with pytest.raises(error, match=text) as caught:
        Statements(triples, **{"kind": "central"} | fields)
    assert isinstance(caught.value, TrilensError)
    assert "\n" not in str(caught.value)


def test_the_row_of_an_error_is_counted_over_all_chunks():
    ids = np.tile(np.array([[0, 1, 2]], dtype=np.int32), (600_000, 1))
    ids[500_001] = [7, 7, 1]
    with pytest.raises(StatementError) as caught:
        Statements(ids, kind="central")
    assert caught.value.row == 500_001


def test_no_statements_and_whole_floats():
    assert len(Statements([])) == 0
    assert Statements([], n_objects=5).n_objects == 5
    assert Statements(np.array([[0.0, 1.0, 2.0]]), kind="central").triples.tolist() == [[0, 1, 2]]
    assert as_statements([[0, 1, 2]], "odd").kind == "odd"


@given(drawn.statements(), st.data())
def test_subset_keeps_what_lies_inside(S, data):
    chosen = data.draw(st.lists(st.sampled_from(range(S.n_objects)), unique=True, min_size=1))
    sub = S.subset(chosen)
    expected = [row for row in S.triples.tolist() if set(row) <= set(chosen)]
    assert [[chosen[x] for x in row] for row in sub.triples.tolist()] == expected
    assert sub.names == tuple(S.names[x] for x in chosen)
    by_name = S.subset([S.names[x] for x in chosen])
    assert by_name.triples.tolist() == sub.triples.tolist()
    mask = np.isin(np.arange(S.n_objects), chosen)
    assert len(S.subset(mask)) == len(sub)


@pytest.mark.parametrize(
    ("objects", "text"),
    [(["a", "z"], "'z'"), ([0, 9], "from 0 to 2"), ([0, 0], "twice"), ([True], "mask")],
)
def test_a_wrong_subset_is_refused(objects, text):
    with pytest.raises(ParameterError, match=text):
        Statements([[0, 1, 2]], names=["a", "b", "c"], kind="central").subset(objects)


KNOWN = {"raters": ["x", "y"], "rounds": [1, 2], "seconds": [3.0, 4.0], "places": [2, 0]}


def test_take_keeps_what_is_known_of_the_statements():
    S = Statements([[0, 1, 2], [1, 0, 3]], kind="central", **KNOWN)
    for T in (S.take([1]), S.subset([0, 1, 3])):
        assert [getattr(T, name).tolist() for name in KNOWN] == [["y"], [2], [4.0], [0]]
    assert len(S.take([])) == 0
    assert S.take(np.array([True, False])).triples.tolist() == [[0, 1, 2]]


@given(drawn.statements(kinds=["central", "odd"]))
def test_choices_go_there_and_back(S):
    X, y = S.to_choices()
    back = Statements.from_responses(X, y, S.kind, n_objects=S.n_objects)
    assert back.triples[:, 0].tolist() == S.triples[:, 0].tolist()
    assert np.array_equal(np.sort(back.triples), np.sort(S.triples))


def test_wrong_choices():
    with pytest.raises(KindError):
        Statements([[0, 1, 2]], kind="closer").to_choices()


@given(drawn.statements())
def test_a_pickled_value_is_the_same(S):
    T = pickle.loads(pickle.dumps(S))
    assert np.array_equal(T.triples, S.triples)
    assert (T.names, T.kind) == (S.names, S.kind)


def test_places_are_positions():
    assert Statements([[0, 1, 2]], kind="central").places is None
    for wrong in ([3], [-1], [0.5], [np.nan], [True], ["0"], [None]):
        with pytest.raises(StatementError, match="position"):
            Statements([[0, 1, 2]], places=wrong, kind="central")
    assert Statements.from_responses([[7, 3, 5]], [2], "central").places.tolist() == [2]
    assert as_kind(Statements([[0, 1, 2]], places=[1], kind="central"), "closer").places is None


@given(drawn.statements())
def test_appearances_count_the_statements_that_name_an_object(S):
    expected = [sum(x in row for row in S.triples.tolist()) for x in range(S.n_objects)]
    assert S.appearances.tolist() == expected
    assert S.appearances.dtype == np.int64


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([3, 5], [3, 5]),
        ([3.0, 5.0], [3, 5]),
        ([3.0, np.nan], ["3", ""]),
        (["x", None], ["x", ""]),
        ([None, None], ["", ""]),
        (np.array([2, pd.NA], dtype=object), ["2", ""]),
        (pd.Series([2, None], dtype="Int64"), ["2", ""]),
        (pd.Series(["x", pd.NA], dtype="string"), ["x", ""]),
        (np.array([2, "x"], dtype=object), ["2", "x"]),
        ([b"x", b"y"], ["x", "y"]),
    ],
)
def test_raters_that_are_not_known_are_the_empty_text(given, kept):
    S = Statements([[0, 1, 2], [1, 0, 2]], raters=given, rounds=given, kind="central")
    assert S.raters.tolist() == S.rounds.tolist() == kept
    summary = S.summary()
    assert [rater.rater for rater in summary.raters] == sorted({str(r) for r in kept} - {""})
    assert summary.rounds == len(set(kept) - {""})
    assert concatenate([S, S]).raters.tolist() == kept * 2


@pytest.mark.parametrize(
    ("seconds", "median"),
    [([np.inf, 1.7e308, 1.7e308], 1.7e308), ([None, 2, None], 2.0), ([1.0, np.nan, 3.0], 2.0)],
)
def test_seconds_that_are_not_known_do_not_count(seconds, median):
    S = Statements([[0, 1, 2]] * 3, seconds=seconds, kind="central")
    assert np.isnan(S.seconds).any()
    assert S.summary().median_seconds == median
