"""What is written comes back, in every format and for any names."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from trilens.errors import FormatError
from trilens.files import read_statements, scan_statements, write_statements
from trilens.statements import KINDS, Statements
from trilens.statements.names import is_missing
from trilens.statements.value import COLUMNS

TEXT = [".csv", ".tsv", ".txt", ".jsonl", ".json"]
TABLES = [".parquet", ".arrow", ".npz"]
PACKED = [".csv.gz", ".txt.gz", ".jsonl.gz", ".csv.zst", ".parquet.zst", ".feather"]

#: Letters with everything that separated text trips over.
AWKWARD = st.text(
    alphabet=[*string.ascii_letters[:4], *' ,;"\t\n\r0-é🚗שم\u202e\u2028\x85'], max_size=6
)
NAME = st.one_of(
    st.integers(0, 300).map(str),
    AWKWARD,
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    st.sampled_from(["007", "+7", "-0", "0x1F", " 7", "1e5", "2020-01-01 00:00:00", "odd"]),
    st.sampled_from(
        [" a ", "a,b", 'say "a"', "two\nlines", "👩‍👩‍👧", "שלום עולם", "مرحبا", "[1]", "{}"]
    ),
)


@st.composite
def statements(draw: st.DrawFn, name: st.SearchStrategy[str] = NAME) -> Statements:
    usable = name.filter(lambda text: not is_missing(text))
    # a letter among the names: integers and nothing else would be judged as integers
    names = ["x", *draw(st.lists(usable.filter("x".__ne__), min_size=2, max_size=6, unique=True))]
    ids = st.permutations(range(len(names))).map(lambda p: p[:3])
    triples = [[0, 1, 2], *draw(st.lists(ids, max_size=8))]
    m = len(triples)

    def column(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
        return st.none() | st.lists(values, min_size=m, max_size=m)

    raters = draw(column(AWKWARD | st.just("")))
    rounds = draw(column(st.integers(-5, 2**40)))
    seconds = draw(column(st.floats(0, 1e300) | st.just(float("nan"))))
    places = draw(column(st.integers(0, 2)))
    questions = draw(column(st.integers(0, 2**40)) | column(st.sampled_from(["q 1", "a,b", ""])))
    return Statements(
        triples,
        len(names),
        names,
        draw(st.sampled_from(KINDS)),
        raters,
        rounds,
        seconds,  # type: ignore[arg-type]
        places,
        questions,
    )


def named(S: Statements) -> list[list[str]]:
    return [[S.names[i] for i in row] for row in S.triples.tolist()]


def assert_same(S: Statements, back: Statements) -> None:
    assert named(back) == named(S)
    assert back.kind == S.kind
    for name in COLUMNS:
        given, found = getattr(S, name), getattr(back, name)
        assert (given is None) == (found is None)
        if given is not None:
            np.testing.assert_array_equal(found, given)


@pytest.mark.parametrize("ending", TEXT + TABLES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(S=statements())
def test_round_trip(ending: str, S: Statements, tmp_path: Path) -> None:
    path = tmp_path / f"statements{ending}"
    write_statements(S, path)
    back = read_statements(path)
    assert_same(S, back)
    if ending in TABLES:
        assert back.names == S.names
        np.testing.assert_array_equal(back.triples, S.triples)
    else:
        in_file_order = dict.fromkeys(name for row in named(S) for name in row)
        assert back.names == tuple(in_file_order)
    listed = read_statements(path, objects=S.names)
    assert listed.names == S.names
    np.testing.assert_array_equal(listed.triples, S.triples)


@pytest.mark.parametrize(
    "ending", [".csv", ".jsonl", ".json", ".parquet", ".arrow", ".npz", ".csv.zst"]
)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(S=statements(), rows=st.integers(1, 4))
def test_scan_equals_read(ending: str, S: Statements, rows: int, tmp_path: Path) -> None:
    path = tmp_path / f"statements{ending}"
    write_statements(S, path)
    whole, scan = read_statements(path), scan_statements(path, chunk_rows=rows)
    chunks = list(scan)
    assert scan.names == whole.names
    assert [len(chunk) for chunk in chunks[:-1]] == [rows] * (len(chunks) - 1)
    np.testing.assert_array_equal(np.concatenate([c.triples for c in chunks]), whole.triples)
    for name in COLUMNS:
        if getattr(whole, name) is not None:
            joined = np.concatenate([getattr(chunk, name) for chunk in chunks])
            np.testing.assert_array_equal(joined, getattr(whole, name))


@pytest.mark.parametrize("ending", [".csv", ".txt", ".jsonl", ".json", ".parquet", ".npz"])
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ids=st.lists(st.integers(0, 10**12), min_size=3, max_size=6, unique=True))
def test_integer_names_come_back_in_numerical_order(
    ending: str, ids: list[int], tmp_path: Path
) -> None:
    names = [str(i) for i in sorted(ids)]
    S = Statements(
        [[2, 1, 0], *([i, 0, 1] for i in range(2, len(ids)))], names=names, kind="central"
    )
    write_statements(S, tmp_path / f"s{ending}")
    back = read_statements(tmp_path / f"s{ending}")
    assert back.names == tuple(names)
    np.testing.assert_array_equal(back.triples, S.triples)


@pytest.mark.parametrize("ending", TABLES)
def test_tables_keep_objects_that_no_statement_names(ending: str, tmp_path: Path) -> None:
    for names in (["a", "b", "c", "never"], ["3", "1", "2", "0"]):
        S = Statements([[0, 1, 2]], names=names, kind="central")
        write_statements(S, tmp_path / f"s{ending}")
        assert read_statements(tmp_path / f"s{ending}").names == tuple(names)
        empty = Statements([], names=names, kind="odd")
        write_statements(empty, tmp_path / f"s{ending}")
        back = read_statements(tmp_path / f"s{ending}")
        assert (len(back), back.names, back.kind) == (0, tuple(names), "odd")


def test_text_headers(tmp_path: Path) -> None:
    for kind, header in [
        ("central", "central,other_1,other_2"),
        ("odd", "odd,other_1,other_2"),
        ("closer", "anchor,near,far"),
    ]:
        known = {"raters": ["r"], "rounds": [4], "seconds": [1.5], "places": [2], "questions": [7]}
        write_statements(Statements([[0, 1, 2]], kind=kind, **known), tmp_path / "s.csv")
        assert (tmp_path / "s.csv").read_text() == (
            f"{header},rater,round,seconds,place,question\n0,1,2,r,4,1.5,2,7\n"
        )


@pytest.mark.parametrize("ending", TEXT + TABLES + PACKED)
def test_statements_of_larger_questions_come_back_equal(ending: str, tmp_path: Path) -> None:
    shown = [["a", "b", "c", "d"], ["b", "c", "d", "e"]]
    S = Statements.from_questions(shown, ["c", "b"], "odd", raters=["x", "y"])
    write_statements(S, tmp_path / f"s{ending}")
    assert read_statements(tmp_path / f"s{ending}", objects=S.names) == S
    joined = list(scan_statements(tmp_path / f"s{ending}", chunk_rows=2))
    assert np.concatenate([part.questions for part in joined]).tolist() == [0, 0, 0, 1, 1, 1]


def test_json_lines_are_plain(tmp_path: Path) -> None:
    S = Statements(
        [[0, 1, 2]], names=["a", 'é"', "c"], rounds=[4], seconds=[np.nan], kind="central"
    )
    write_statements(S, tmp_path / "s.jsonl")
    assert (tmp_path / "s.jsonl").read_text() == (
        '{"central": "a", "other_1": "é\\"", "other_2": "c", "round": 4, "seconds": null}\n'
    )


@pytest.mark.parametrize(
    ("name", "ending", "what"),
    [
        ("", ".csv", "missing cell"),
        ("NA", ".csv", "missing cell"),
        ("none", ".json", "missing cell"),
        (" NaN", ".parquet", "missing cell"),
        ("a\0b", ".tsv", "NUL"),
        ("\ud800", ".jsonl", "surrogate"),
        ("\ud800", ".arrow", "surrogate"),
        ("a\0", ".npz", "NUL"),
    ],
)
def test_names_that_would_not_come_back(name: str, ending: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=what):
        write_statements(
            Statements([[0, 1, 2]], names=["a", "b", name], kind="central"), tmp_path / f"s{ending}"
        )
    assert list(tmp_path.iterdir()) == []


def test_unknown_ending_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"unknown ending \.xlsx; use one of \.csv, "):
        write_statements(Statements([[0, 1, 2]], kind="central"), tmp_path / "s.xlsx")


def test_long_raters_do_not_explode(tmp_path: Path) -> None:
    raters = ["r" * 100_000, *["s"] * 3000]
    S = Statements([[0, 1, 2]] * 3001, raters=np.array(raters, dtype=object), kind="central")
    write_statements(S, tmp_path / "s.parquet")
    back = read_statements(tmp_path / "s.parquet").raters
    assert back is not None
    assert back.nbytes < 10**6
    assert back.tolist() == raters


@pytest.mark.parametrize("names", [["1", "1.0", "2", "3"], ["0.0", "1.0", "2.0", "3.0"]])
def test_names_that_are_the_same_number_stay_two_where_text_has_a_type(names, tmp_path):
    S = Statements([[0, 2, 3], [1, 3, 2], [3, 0, 1]], names=names, kind="central")
    for ending in (*TABLES, ".jsonl", ".json"):
        write_statements(S, tmp_path / f"s{ending}")
        assert_same(S, read_statements(tmp_path / f"s{ending}"))
    for ending in (".csv", ".tsv", ".txt"):
        with pytest.raises(FormatError, match=r"'[01]\.0' would be taken for [01] in a"):
            write_statements(S, tmp_path / f"s{ending}")


def test_decimal_numbers_are_names_as_they_are_written(tmp_path):
    S = Statements([[0, 1, 2], [2, 0, 1]], names=["1.0", "1.1", "2.0"], kind="central")
    for ending in (".csv", ".tsv", ".txt", ".npz", ".parquet"):
        write_statements(S, tmp_path / f"s{ending}")
        assert_same(S, read_statements(tmp_path / f"s{ending}"))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".jsonl"])
def test_objects_that_are_called_as_columns_are(ending, tmp_path):
    names = ["odd", "other_1", "other_2", "rater"]
    S = Statements([[1, 0, 2], [0, 1, 3]], names=names, kind="odd", raters=["w1", "w2"])
    same = Statements([[1, 0, 2], [0, 1, 2]], names=names, kind="odd")
    write_statements(S, tmp_path / f"a{ending}")
    back = read_statements(tmp_path / f"a{ending}")
    assert list(back) == list(S)
    assert back.raters.tolist() == ["w1", "w2"]
    if ending == ".jsonl":
        write_statements(same, tmp_path / f"a{ending}")
        assert list(read_statements(tmp_path / f"a{ending}")) == list(same)
    else:
        with pytest.raises(FormatError, match=r"statement 2 is odd.*\.parquet or \.jsonl"):
            write_statements(same, tmp_path / f"a{ending}")
