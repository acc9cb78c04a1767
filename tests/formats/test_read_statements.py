"""Headers, kinds, separators, names and order of objects."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from trilens.formats import read_objects, read_statements, scan_statements
from trilens.formats.dialect import even_spaces
from trilens.formats.names import is_integer
from trilens.formats.text import plain_integers
from trilens.statements import Statements


@pytest.fixture
def read(tmp_path: Path):
    def read(content: str | bytes, ending: str = ".csv", **options: object) -> Statements:
        path = tmp_path / f"s{ending}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_statements(path, **options)  # type: ignore[arg-type]

    return read


def named(S: Statements) -> list[list[str]]:
    return [[S.names[i] for i in row] for row in S.triples.tolist()]


@pytest.mark.parametrize(
    ("name", "m", "least", "most"),
    [
        ("ALL", 7097, 307, 503),
        ("ALL_REDUCED", 6338, 286, 347),
        ("T_ALL", 6757, 292, 478),
        ("T_ALL_REDUCED", 6056, 269, 333),
    ],
)
def test_car_collections(data_dir: Path, name: str, m: int, least: int, most: int) -> None:
    S = read_statements(data_dir / "cars" / "ordinal_data_preprocessed" / f"{name}.csv")
    appears = np.bincount(S.triples.ravel())
    assert (len(S), S.kind, appears.min(), appears.max()) == (m, "central", least, most)
    assert S.names == tuple(str(i) for i in range(1, 61))


def test_car_survey_reads_as_it_is(data_dir: Path) -> None:
    S = read_statements(data_dir / "cars" / "survey_data.csv")
    ALL = read_statements(data_dir / "cars" / "ordinal_data_preprocessed" / "ALL.csv")
    assert S.kind == "central"
    np.testing.assert_array_equal(S.triples[:, 0], ALL.triples[:, 0])
    np.testing.assert_array_equal(np.sort(S.triples), np.sort(ALL.triples))
    assert S.rounds is not None
    assert S.seconds is not None
    assert S.rounds.dtype == np.int64
    assert S.rounds[0] == 1
    assert S.seconds[:2].tolist() == [11.108, 19.483]


def test_things(data_dir: Path) -> None:
    path = data_dir / "things" / "test_10.txt"
    S = read_statements(path, kind="odd", columns=["other_1", "other_2", "odd"])
    assert (len(S), S.n_objects, S.kind) == (50_000, 1854, "odd")
    rows = np.loadtxt(path, dtype=int)
    names = np.array(S.names).astype(int)
    np.testing.assert_array_equal(names[S.triples], rows[:, [2, 0, 1]])


def test_header_in_any_order(read) -> None:
    S = read("rater,other_2,seconds,odd,note,other_1,round\nR,c,1.5,a,x,b,\n,f,,d,x,e,2\n")
    assert (S.kind, named(S)) == ("odd", [["a", "b", "c"], ["d", "e", "f"]])
    assert S.names == ("a", "b", "c", "d", "e", "f")
    assert S.raters.tolist() == ["R", ""]
    assert S.rounds.tolist() == ["", "2"]
    assert S.seconds[0] == 1.5
    assert np.isnan(S.seconds[1])


def test_chosen_and_shown(read) -> None:
    content = "shown_1,shown_2,shown_3,chosen\na,b,c,a\na,b,c,b\na,b,c,c\n"
    expected = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]]
    assert named(read(content)) == expected
    assert read(content).kind == "central"
    assert read(content, kind="odd").kind == "odd"
    assert read(content.replace("chosen", "chosen_odd")).kind == "odd"


def test_first_appearance_is_by_row_then_column(read) -> None:
    assert read("z,y,x\nw,z,v\n").names == ("z", "y", "x", "w", "v")
    assert read("other_2,central,other_1\nx,z,y\n").names == ("z", "y", "x")


@pytest.mark.parametrize("odd_one", ["007", "+7", "-0", "0x1F", "7.0", " 7", "7\t", "\u0667"])
def test_integers_that_are_not_plain_are_kept_as_written(read, odd_one: str) -> None:
    S = read(f"10,9,8\n{odd_one},10,7\n")
    assert S.names == ("10", "9", "8", odd_one, "7")


def test_numerical_order(read) -> None:
    assert read("10,9,100\n").names == ("9", "10", "100")
    big = str(10**30)
    assert read(f"{big},9,100\n").names == ("9", "100", big)
    assert read("1,0,2\n")._names is None


@pytest.mark.parametrize("separator", [",", "\t", ";", " ", "   "])
@pytest.mark.parametrize("ending", [".csv", ".txt", ".dat", ".unknown"])
def test_separator_is_found(read, separator: str, ending: str) -> None:
    for rows in ([["3", "1", "2"], ["1", "2", "4"]], [["a", "b", "c"], ["c", "d", "a"]]):
        content = "\n".join(separator.join(row) for row in rows)
        assert named(read(content, ending)) == rows


def test_spaces_in_names(read) -> None:
    assert named(read(" a , b b,c\n")) == [[" a ", " b b", "c"]]
    assert named(read('  "a  b"   c d \n\n   \n', ".txt")) == [["a  b", "c", "d"]]
    assert even_spaces(b'5" x  y\n"a"" b"  c') == b'5" x y\n"a"" b" c'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_blank_lines_and_byte_order_mark(read, end: str) -> None:
    content = end.join(["\ufeffcentral,other_1,other_2", "", "a,b,c", "", "", "c,b,é🚗"])
    for tail in ("", end, end * 3):
        assert named(read(content + tail)) == [["a", "b", "c"], ["c", "b", "é🚗"]]
    assert named(read(f"\ufeff1,2,3{end}")) == [["1", "2", "3"]]


def test_quotes(read) -> None:
    S = read('central,other_1,other_2\n"a, ""A""","b\nB",c"d\n"1",2,"3"\n')
    assert named(S) == [['a, "A"', "b\nB", 'c"d'], ["1", "2", "3"]]
    assert read('"10","9","8"\n').names == ("8", "9", "10")


def test_columns_name_or_rename(read) -> None:
    assert named(read("1,2,3\n", columns=["other_1", "other_2", "odd"])) == [["3", "1", "2"]]
    assert named(read("1,2,3\n", columns="far,near,anchor")) == [["3", "2", "1"]]
    renamed = read("odd,x,y,z\na,b,c,d\n", columns=["_", "central", "other_1", "other_2"])
    assert (renamed.kind, named(renamed)) == ("central", [["b", "c", "d"]])
    unknown = read("left,middle,right\n1,2,3\n", columns=["central", "other_1", "other_2"])
    assert named(unknown) == [["1", "2", "3"]]


def test_kind(read, tmp_path: Path) -> None:
    assert read("a,b,c\n").kind == "central"
    assert read("a,b,c\n", kind="closer").kind == "closer"
    assert read("anchor,near,far\na,b,c\n").kind == "closer"
    both = "central,odd,other_1,other_2\na,d,b,c\n"
    assert named(read(both, kind="odd")) == [["d", "b", "c"]]


def test_objects_fix_order_and_add(read, tmp_path: Path) -> None:
    (tmp_path / "objects.txt").write_text("\ufeff5\r\n3\r\n\r\n1\r\n9\r\n", newline="")
    S = read("1,3,5\n", objects=tmp_path / "objects.txt")
    assert (S.names, S.triples.tolist()) == (("5", "3", "1", "9"), [[2, 1, 0]])
    assert read("-1,3,5\n", objects=["-1", "3", "5"]).names == ("-1", "3", "5")
    assert read("1,NA,5\n", objects=[5, "NA", 1]).triples.tolist() == [[2, 1, 0]]
    assert read("a,b,c\n", objects=["x", "c", "b", "a"]).triples.tolist() == [[3, 2, 1]]
    # a rater with spaces makes the names be read as text
    with_rater = "central,other_1,other_2,rater\n1,3,5,A 01\n"
    assert read(with_rater, objects=["5", "3", "1"]).triples.tolist() == [[2, 1, 0]]
    assert read_objects(tmp_path / "objects.txt") == ["5", "3", "1", "9"]


def test_json_lines(read) -> None:
    rows = [
        {"other_2": "c", "central": "2020-01-01 00:00:00", "other_1": "b"},
        {"central": "b", "other_1": "c", "other_2": "d", "seconds": 2, "rater": 7},
    ]
    S = read("\n\n".join(map(json.dumps, rows)), ".jsonl")
    assert named(S) == [["2020-01-01 00:00:00", "b", "c"], ["b", "c", "d"]]
    assert S.raters.tolist() == ["", "7"]
    assert read('{"anchor": 10, "near": 9, "far": 11}', ".ndjson").names == ("9", "10", "11")


def test_parquet_of_others(tmp_path: Path) -> None:
    columns = {"chosen": [3.0, 2.0], "shown_1": [1, 1], "shown_2": [2, 2], "shown_3": [3, 3]}
    pq.write_table(pa.table(columns | {"round": [1, None]}), tmp_path / "s.parquet")
    S = read_statements(tmp_path / "s.parquet", kind="odd")
    assert (S.kind, named(S)) == ("odd", [["3", "1", "2"], ["2", "1", "3"]])
    text = pa.table({"odd": pa.array(["b"]).dictionary_encode(), "other_1": ["a"], "x": ["c"]})
    pq.write_table(text, tmp_path / "t.parquet")
    S = read_statements(tmp_path / "t.parquet", columns=["odd", "other_1", "other_2"])
    assert named(S) == [["b", "a", "c"]]


def test_npz_of_others(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", triples=np.array([[2, 1, 0]], dtype=np.int64))
    S = read_statements(tmp_path / "s.npz", kind="closer")
    assert (S.kind, S.n_objects, S.names) == ("closer", 3, ("0", "1", "2"))
    S = read_statements(tmp_path / "s.npz", objects=["2", "x", "1", "0"])
    assert S.triples.tolist() == [[0, 2, 3]]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    content = b"3;1;2\n1;2;4\n"
    given = gzip.compress(content) if packed else content

    def standard_input() -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given)))

    standard_input()
    assert named(read_statements("-")) == [["3", "1", "2"], ["1", "2", "4"]]
    standard_input()
    scan = scan_statements("-", chunk_rows=1)
    for _ in range(2):
        assert [named(part) for part in scan] == [[["3", "1", "2"]], [["1", "2", "4"]]]


def test_binary_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pq.write_table(pa.table({"odd": [1], "other_1": [2], "other_2": [3]}), tmp_path / "s.parquet")
    data = (tmp_path / "s.parquet").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert read_statements("-").kind == "odd"


@given(
    cells=st.lists(
        st.integers(-20, 300).map(str)
        | st.text(alphabet='0123456789-+xX. \t"', max_size=5)
        | st.sampled_from(["00", "-0", "0x1", "01", "0"]),
        min_size=3,
        max_size=3,
    )
)
def test_plain_integers_is_never_wrongly_sure(cells: list[str]) -> None:
    data = ",".join(cells).encode()
    if plain_integers(data, ","):
        for cell in cells:
            bare = cell.strip('"')
            try:
                value = int(bare, 16 if "x" in bare.lower() else 10)
            except ValueError:
                continue
            assert is_integer(bare) or bare.startswith("+") or str(value) != bare
            if not bare.startswith("+"):
                assert str(value) == bare


def test_plain_integers_across_pieces() -> None:
    block = b"1,2,3\n" * 50_000
    assert plain_integers(block, ",")
    for at in range(1 << 18, (1 << 18) + 8):
        assert not plain_integers(block[:at] + b"\n00,1,2\n" + block, ",")
