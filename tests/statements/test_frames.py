"""Tables and rows of names as statements, and statements as sequences and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import drawn
import trilens as tl
from arrowtable import ArrowTable
from nasty import NAMES
from trilens.errors import FormatError, StatementError
from trilens.statements import KINDS, Statements, as_statements

COLUMNS = {
    "Central": ["pear", "apple", "fig, dried"],
    "other_1": ["apple", "fig, dried", "pear"],
    "other 2": ["fig, dried", "nut", "apple"],
    "rater": ["x", None, "y"],
    "seconds": [1.5, 2.0, None],
    "colour": ["red", "blue", "red"],
}
MADE = {
    "pandas": pd.DataFrame,
    "any other": ArrowTable,
    "arrow": pa.table,
    "dict": dict,
    "rows": lambda columns: [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ],
    "categories": lambda columns: pd.DataFrame(columns).astype({"Central": "category"}),
    "filtered": lambda columns: pd.DataFrame(columns, index=[7, 3, 9]),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_every_table_gives_the_same_statements(made):
    S = Statements(made(COLUMNS))
    assert S.names == ("pear", "apple", "fig, dried", "nut")
    assert list(S) == [
        ("pear", "apple", "fig, dried"),
        ("apple", "fig, dried", "nut"),
        ("fig, dried", "pear", "apple"),
    ]
    assert S.kind == "central"
    assert S.raters.tolist() == ["x", "", "y"]
    np.testing.assert_array_equal(S.seconds, [1.5, 2.0, np.nan])


def test_maps_take_a_table():
    S = tl.simulate_statements(np.arange(8.0)[:, None], 160, kind="closer", random_state=0)
    table = ArrowTable(dict(zip(["anchor", "near", "far"], S.triples.T, strict=True)))
    X = tl.SOE(1, random_state=0).fit(table)
    assert X.violations_ == tl.maps.violations(X.embedding_, table)
    np.testing.assert_array_equal(
        tl.LensMap(1).fit_transform(table), tl.LensMap(1).fit_transform(S)
    )


def test_integers_in_a_table_are_names_in_numeric_order_as_in_a_file():
    S = Statements(pd.DataFrame({"odd": [10.0, 9.0], "other_1": [9, 2], "other_2": [2, 10]}))
    assert S.names == ("2", "9", "10")
    assert S.triples.tolist() == [[2, 1, 0], [1, 0, 2]]
    gap = {"odd": [10.0, np.nan], "other_1": [9, 2], "other_2": [2, 10]}
    with pytest.raises(StatementError, match="statement 1: 'nan' in column odd does not name"):
        Statements(pd.DataFrame(gap))


SHOWN = {"shown_1": ["a", "c"], "shown_2": ["b", "a"], "shown_3": ["c", "b"]}


def test_the_chosen_one_among_those_shown():
    S = Statements({"chosen": ["b", "c"], **SHOWN}, kind="odd")
    assert list(S) == [("b", "a", "c"), ("c", "a", "b")]
    assert S.kind == "odd"
    assert S.places.tolist() == [1, 0]
    with pytest.raises(StatementError, match="statement 0: the chosen object 'z' is not among"):
        Statements({"chosen": ["z", "z"], **SHOWN})


@pytest.mark.parametrize(
    "answers",
    [
        [1, 0, 2],
        [2, 1, 3],
        [1.0, 0.0, 2.0],
        ["1", "0", "2"],
        ["Middle", " left", "right"],
        ["shown_2", "shown_1", "shown_3"],
    ],
)
def test_answers_are_positions_as_in_a_file(answers, tmp_path):
    columns = {"answer": answers, **{name: [*shown, shown[0]] for name, shown in SHOWN.items()}}
    S = Statements(columns, kind="odd")
    assert list(S) == [("b", "a", "c"), ("c", "a", "b"), ("c", "a", "b")]
    assert Statements(pa.table(columns), kind="odd") == S
    assert S.places.tolist() == [1, 0, 2]
    pd.DataFrame(columns).to_csv(tmp_path / "s.csv", index=False)
    assert tl.read_statements(tmp_path / "s.csv", kind="odd", objects=S.names) == S
    assert len(Statements(pd.DataFrame(columns)[:0])) == 0


def test_names_of_another_type_are_no_positions():
    table = pd.DataFrame({"chosen": ["3", "1"], "a": [1, 2], "b": [2, 1], "c": [3, 3]})
    roles = {"chosen": "chosen", "shown_1": "a", "shown_2": "b", "shown_3": "c"}
    assert Statements.from_frame(table, roles).places.tolist() == [2, 1]


def test_positions_that_do_not_tell_where_they_begin():
    table = pd.DataFrame({"chosen": [1, 2], **SHOWN})
    with pytest.raises(StatementError, match=r"from 0 or from 1\? Say it with counts_from="):
        Statements(table)
    assert Statements.from_frame(table, counts_from=0).places.tolist() == [1, 2]
    assert Statements.from_frame(table, counts_from=1).places.tolist() == [0, 1]
    with pytest.raises(StatementError, match="as positions they go from 0 to 2"):
        Statements.from_frame(table.assign(chosen=[1, 3]), counts_from=0)
    with pytest.raises(tl.errors.TrilensError, match="counts_from is 2; it must be a whole"):
        Statements.from_frame(table, counts_from=2)
    with pytest.raises(StatementError, match="statement 1: an empty cell in column chosen"):
        Statements(table.assign(chosen=["left", None]))


def test_names_fix_the_order_and_add_objects():
    S = Statements([("b", "a", "c")], names=["a", "b", "c", "never"], kind="central")
    assert S.triples.tolist() == [[1, 0, 2]]
    assert S.n_objects == 4
    T = Statements(S.to_frame(), names=S.names)
    assert T == S


@pytest.mark.parametrize(
    ("columns", "options", "text"),
    [
        ("a,b,c", {}, "no columns central, other_1, other_2; the columns are a"),
        ("x1,x2,x3", {}, "fill in columns="),
        (
            "u,v,w,choice",
            {},
            r"no columns shown_1, shown_2, shown_3; .*tl.Statements\(table, columns='...', kind=",
        ),
        ("anchor,near,far", {"kind": "central"}, "of kind closer, but kind central was asked for"),
        (
            "central,odd,other_1,other_2",
            {},
            "as central, other_1, other_2 or as odd, .*; say which with kind=",
        ),
        ("central,Central ", {}, "may both hold central"),
    ],
)
def test_what_a_table_does_not_tell_is_refused_in_one_line(columns, options, text):
    table = {name: [f"o{i}"] for i, name in enumerate(columns.split(","))}
    with pytest.raises(StatementError, match=text) as caught:
        Statements(pd.DataFrame(table), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("table", [pd.DataFrame(), {}])
def test_a_table_without_columns(table):
    with pytest.raises(tl.errors.TrilensError, match="the table is empty"):
        Statements(table)


def test_a_frame_of_three_counted_columns_is_a_file_without_header():
    array = np.array([["x", "y", "z"]])
    assert list(Statements(pd.DataFrame(array), kind="closer")) == [("x", "y", "z")]
    assert list(Statements(ArrowTable(array))) == [("x", "y", "z")]


@pytest.mark.parametrize(("cell", "text"), [(None, "an empty cell"), (0.5, "0.5 in column")])
def test_a_cell_that_names_no_object(cell, text):
    with pytest.raises(StatementError, match=f"statement 0: {text}"):
        Statements({"central": ["x"], "other_1": ["y"], "other_2": [cell]})


def test_columns_of_other_names_are_told_by_their_roles():
    table = pd.DataFrame({"q": [1], "pick": ["b"], "left": ["a"], "right": ["c"], "id": [17]})
    roles = {"central": "pick", "other_1": "left", "other_2": "right", "rater": "id"}
    S = Statements.from_frame(table, roles)
    assert list(S) == [("b", "a", "c")]
    assert S.raters.tolist() == [17]
    with pytest.raises(StatementError, match="no column 'choice'; the columns seen are q"):
        Statements.from_frame(table, {"central": "choice"})
    with pytest.raises(FormatError, match="'middle' is not something a column can hold"):
        Statements.from_frame(table, {"middle": "pick"})


@settings(max_examples=25)
@given(S=drawn.statements(), seed=st.integers(0, 99))
def test_an_arrow_table_keeps_everything(S, seed):
    rng = np.random.default_rng(seed)
    m = len(S)
    full = Statements(
        S.triples,
        names=[f"{name},{i}" for i, name in enumerate((NAMES * 2)[: S.n_objects])],
        kind=S.kind,
        raters=rng.choice(["a", "b,c", "ü"], m),
        rounds=rng.integers(3, size=m),
        seconds=np.where(rng.random(m) < 0.3, np.nan, rng.random(m)),
        places=rng.integers(3, size=m),
        questions=np.arange(m),
    )
    assert Statements(full.to_arrow()) == full
    assert Statements(ArrowTable(full.to_arrow()), names=full.names) == full
    if m:
        assert Statements(full.to_frame(), names=full.names) == full


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_picked_as_from_an_array(kind):
    S = Statements([("a", "b", "c"), ("b", "c", "d"), ("d", "a", "b")], kind=kind, raters=[5, 6, 7])
    assert S[-1] == ("d", "a", "b")
    assert S[np.int64(0)] == ("a", "b", "c")
    for rows in ([2, 0], np.array([2, 0]), slice(None, None, -2), (np.array([2, 0]), ...)):
        assert list(S[rows]) == [S[2], S[0]]
        assert S[rows].raters.tolist() == [7, 5]
        assert S[rows].n_objects == 4
    assert S[S.raters > 5] == S[1:] == S.take([1, 2])
    assert len(S[[]]) == 0
    with pytest.raises(IndexError):
        S[3]
    with pytest.raises(StatementError.__base__, match="rows go from 0 to 2"):
        S[[3]]
    assert Statements(list(S), kind=kind, raters=S.raters) == S


def test_equality_looks_at_everything():
    make = {"triples": [[0, 1, 2], [2, 1, 0]], "names": "abc", "seconds": [1.0, np.nan]}
    make["kind"] = "central"
    S = Statements(**make)
    assert Statements(**make) == S
    assert hash(S) == hash(Statements(**make))
    for change in (
        {"kind": "odd"},
        {"names": "abd"},
        {"names": "abcd"},
        {"triples": [[0, 1, 2], [2, 0, 1]]},
        {"seconds": None},
        {"seconds": [1.0, 2.0]},
        {"raters": [1, 2]},
        {"questions": [0, 0]},
    ):
        assert Statements(**make | change) != S
    assert S != [[0, 1, 2], [2, 1, 0]]


def test_the_objects_of_statements_stand_for_them():
    S = Statements([("a", "b", "c")], kind="central")
    assert repr(S).startswith("Statements(1 statement about 3 objects")
    assert as_statements(S.objects) is S
    assert S.objects[[2, 0]].names == ("c", "a")
    assert S.objects[1].names == ("b",)
    with pytest.raises(IndexError):
        S.objects[[3]]


def test_rows_that_are_dicts_have_the_same_columns() -> None:
    rows = [{"central": "a", "other_1": "b", "other_2": "c"}]
    assert tl.medoid(rows * 3, method="depth").name == "a"
    for wrong, said in (
        ([*rows, {"central": "a", "other_1": "b"}], "row 1 does not have the same columns"),
        ([*rows, {**rows[0], "rater": "x"}], "row 1 does not have the same columns"),
        ([*rows, ["a", "b", "c"]], "row 1 is not a dict"),
        ([{"x": "a"}], "the columns"),
    ):
        with pytest.raises(StatementError, match=said):
            as_statements(wrong)


@pytest.mark.parametrize("unknown", [float("nan"), "nan", "NaN"])
def test_a_rater_that_is_not_a_number_is_nobody(unknown, tmp_path):
    table = {"central": ["a", "b"], "other_1": ["b", "a"], "other_2": ["c", "c"]}
    rows = list(zip(*table.values(), strict=True))
    file = tmp_path / "a.csv"
    file.write_text(f"central,other_1,other_2,rater\na,b,c,{unknown}\nb,a,c,x\n")
    for S in (
        tl.read_statements(file),
        Statements(rows, raters=[unknown, "x"], kind="central"),
        Statements(table | {"rater": [unknown, "x"]}),
    ):
        assert S.raters.tolist() == ["", "x"]
    assert Statements(table | {"rater": [unknown, 1.5]}).raters.tolist() == ["", "1.5"]


ROWS = [[3, 7, 9], [9, 3, 7]]
NAMED = ["central", "other_1", "other_2"]
ARRAYS = {
    "lists": ROWS,
    "tuples": tuple(map(tuple, ROWS)),
    "array": np.array(ROWS),
    "whole floats": np.array(ROWS, dtype=float),
    "objects": np.array(ROWS, dtype=object),
    "bytes": np.array(ROWS, dtype=np.uint8),
    "arrays": list(np.array(ROWS)),
    "pandas": pd.DataFrame(ROWS),
    "nullable": pd.DataFrame(ROWS, dtype="Int64"),
    "floats of pandas": pd.DataFrame(ROWS, dtype=float),
    "any other": ArrowTable(np.array(ROWS)),
    "arrow": pa.table([list(column) for column in zip(*ROWS, strict=True)], names=["0", "1", "2"]),
}
TABLES = {
    "pandas": pd.DataFrame(ROWS, columns=NAMED),
    "any other": ArrowTable(dict(zip(NAMED, np.array(ROWS).T, strict=True))),
    "arrow": pa.table([list(column) for column in zip(*ROWS, strict=True)], names=NAMED),
    "dict": dict(zip(NAMED, zip(*ROWS, strict=True), strict=True)),
    "records": [dict(zip(NAMED, row, strict=True)) for row in ROWS],
}


@pytest.mark.parametrize("container", ARRAYS)
def test_rows_of_integers_are_the_same_in_every_container(container) -> None:
    given = ARRAYS[container]
    S = Statements(np.array(ROWS), kind="central")
    assert S.n_objects == 10
    assert Statements(given, kind="central") == tl.Answers(given, kind="central").read() == S
    assert Statements(given, 12, kind="odd") == Statements(np.array(ROWS), 12, kind="odd")
    assert tl.Answers(given, kind="odd").read() == Statements(np.array(ROWS), kind="odd")
    assert tl.lens_depth(given).tolist() == tl.lens_depth(S).tolist()
    for whole in (given, tl.Answers(given)):
        with pytest.raises(tl.errors.KindError, match="an array does not say which question"):
            tl.SOE(1).fit(whole)
    with pytest.warns(tl.errors.UnmentionedObjectsWarning, match="7 of the 10 objects"):
        assert tl.SOE(1, kind="odd").fit(given).embedding_.shape == (10, 1)


@pytest.mark.parametrize("container", TABLES)
def test_integers_in_a_table_with_names_are_names_unless_objects_are_counted(container) -> None:
    given = TABLES[container]
    S = Statements(given)
    assert (
        S
        == tl.Answers(given).read()
        == Statements([list(map(str, row)) for row in ROWS], kind="central")
    )
    assert S.names == ("3", "7", "9")
    assert Statements(given, n_objects=10) == Statements(np.array(ROWS), kind="central")
    with pytest.raises(StatementError, match="id 7 is not below n_objects = 5"):
        Statements(given, n_objects=5)


def test_what_is_said_of_statements_in_memory_is_not_ignored() -> None:
    named = Statements([("a", "b", "c")], kind="central")
    with pytest.raises(tl.errors.KindError, match="of kind central, but kind='odd' was asked for"):
        tl.Answers(named, kind="odd").read()
    with pytest.raises(tl.errors.ParameterError, match="have names already"):
        tl.Answers(named, objects=["x", "y", "z"]).read()
    told = tl.Answers([[0, 1, 2]], "central", objects=["x", "y", "z"]).read()
    assert told.names == ("x", "y", "z")


def test_a_number_in_both_spellings_of_a_table_is_told():
    """What pandas makes of ``7.0`` in a column with a name, and of 7 in a column of numbers."""
    mixed = {"central": ["7.0", "8.0", "cat"], "other_1": [8, 7, 7], "other_2": [9, 9, 8]}
    answers = tl.Answers(pd.DataFrame(mixed), kind="central")
    assert answers.read().n_objects == 6
    assert "'7.0' and '7'" in next(c.what for c in answers.known.concerns if c.code == "alike")


def test_a_gap_is_skipped_as_the_refusal_says():
    table = pd.DataFrame({"central": ["a", "b", None], "other_1": list("baa"), "other_2": "c"})
    with pytest.raises(StatementError) as refused:
        Statements(table)
    assert str(refused.value).endswith("Answers(..., skip_bad=True).read()")
    assert list(tl.Answers(table, skip_bad=True).read()) == [("a", "b", "c"), ("b", "a", "c")]


def test_statements_take_the_columns_that_are_asked_for():
    rows = [("a", "b", "c", "a"), ("b", "c", "d", "c"), ("c", "d", "a", "a"), ("d", "a", "b", "d")]
    frame = pd.DataFrame(rows * 6, columns=list("xyzw"))
    columns = "chosen=w,shown_1=x,shown_2=y,shown_3=z"
    line = r"x \(a, b, c\), .*: fill in columns='chosen=\?,other_1=\?,.*,rater=\?'"
    with pytest.raises(tl.errors.TrilensError, match=line):
        Statements(frame)
    S = Statements(frame, columns=columns, kind="odd")
    assert tl.Answers(frame, columns=columns, kind="odd").read() == S
    with pytest.raises(tl.errors.TrilensError) as caught:
        tl.medoid(frame)
    assert "trilens.Statements(table, columns=..., kind=...)" in caught.value.__notes__[0]
    with pytest.raises(tl.errors.ParameterError, match="only a table has columns"):
        Statements([("a", "b", "c")], columns=columns)
