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

from trilens.answers import Answers
from trilens.errors import FormatError, StatementError
from trilens.files import read_statements, scan_statements
from trilens.files.objects import object_list
from trilens.files.source import owned
from trilens.files.text import even_spaces, plain_integers
from trilens.statements import Statements
from trilens.statements.names import is_integer


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


@pytest.mark.parametrize("odd_one", ["007", "+7", "-0", "0x1F", '" 7"', '"7\t"', "\u0667"])
def test_integers_that_are_not_plain_are_kept_as_written(read, odd_one: str) -> None:
    S = read(f"10,9,8\n{odd_one},10,7\n")
    assert S.names == ("10", "9", "8", odd_one.strip('"'), "7")


def test_whole_numbers_with_a_point_are_one_name_in_files_and_tables(read) -> None:
    """pandas writes a column of integers with a gap as 1.0, 2.0, ...: both are the same objects."""
    S = read("central,other_1,other_2\n10,9.0,8\n7.0,10.0,8\n")
    frame = {"central": [10, 7], "other_1": [9.0, 10.0], "other_2": [8, 8]}
    assert S.names == Statements(frame).names == ("7", "8", "9", "10")
    assert read("central,other_1,other_2\n10,9.0,8\nv2.0,10.0,8\n").names[1] == "9.0"


def test_a_negative_time_is_none(read) -> None:
    rows = "central,other_1,other_2,seconds\na,b,c,1.5\nb,a,c,-0.2\nc,a,b,2\n"
    with pytest.raises(FormatError, match=r"row 3: '-0.2' in column seconds is not a number of s"):
        read(rows)
    assert read(rows, skip_bad=True).seconds.tolist() == [1.5, 2]
    with pytest.raises(StatementError, match=r"statement 1: '-0.2' in column seconds"):
        Statements(
            {
                "central": ["a", "b"],
                "other_1": ["b", "a"],
                "other_2": ["c", "c"],
                "seconds": [1.5, -0.2],
            }
        )


def test_a_name_with_its_unit_is_believed(read) -> None:
    for name in ("rt_s", "RT (s)", "reaction time [s]", "rt.s"):
        assert read(f"odd,other_1,other_2,{name}\na,b,c,130\nb,a,c,120\n").seconds[0] == 130
    assert read("odd,other_1,other_2,RTs\na,b,c,1300\nb,a,c,1200\n").seconds[0] == 1.3


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
    assert named(read(" a , b b,c\n")) == [["a", "b b", "c"]]
    assert named(read('" a ", "b b" ,c\n a,b\t,"c"\n')) == [[" a ", "b b", "c"], ["a", "b", "c"]]
    assert read("a, b, c\nb, a, d\nc, d, a\nd, c, b\n").names == ("a", "b", "c", "d")
    assert read("1, 20, 3\n20 ,1, 3\n").names == ("1", "3", "20")
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
    assert list(object_list(tmp_path / "objects.txt").names) == ["5", "3", "1", "9"]


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


SHOWN = "rater,chosen,shown_1,shown_2,shown_3\nr,a,a,b,c\ns,c,a,b,c\nr,b,a,b,c\n"


def test_places_are_known_where_the_objects_shown_are(read, tmp_path: Path) -> None:
    assert read(SHOWN).places.tolist() == [0, 2, 1]
    assert read("a,b,c\n").places is None
    rows = [line.split(",") for line in SHOWN.splitlines()]
    records = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert read("\n".join(map(json.dumps, records)), ".jsonl").places.tolist() == [0, 2, 1]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "s.parquet")
    assert read_statements(tmp_path / "s.parquet").places.tolist() == [0, 2, 1]
    (tmp_path / "s.csv").write_text(SHOWN)
    chunks = scan_statements(tmp_path / "s.csv", chunk_rows=2)
    assert [chunk.places.tolist() for chunk in chunks] == [[0, 2], [1]]


def test_places_from_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(SHOWN.encode())))
    assert read_statements("-").places.tolist() == [0, 2, 1]


def test_a_column_of_places(read) -> None:
    content = "central,other_1,other_2,place\na,b,c,2\nb,a,c,0\n"
    assert read(content).places.tolist() == [2, 0]
    for wrong, seen in [("3", "'3'"), ("", "an empty cell"), ("left", "'left'")]:
        with pytest.raises(FormatError, match=f"row 3: {seen} in column place; .* 0, 1 or 2"):
            read(content.replace("c,0", f"c,{wrong}"))
    # the objects shown tell it themselves
    assert read(SHOWN.replace("rater", "place")).places.tolist() == [0, 2, 1]


def test_text_after_integers_needs_no_second_look_at_the_file(
    read, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "30,10,20\n" * 2000 + "x,10,20\n"
    S = read(content)
    assert S.names == ("30", "10", "20", "x")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    piped = read_statements("-")
    assert piped.names == S.names
    np.testing.assert_array_equal(piped.triples, S.triples)


def test_a_row_of_text_above_integers(read) -> None:
    rows = "a,b,c\n" + "1,2,3\n" * 20
    with pytest.raises(FormatError, match=r"row 1: the first row looks like a header"):
        read(rows)
    # a list of the objects says that it is none
    named = read(rows, objects=["a", "b", "c", "1", "2", "3"])
    assert len(named) == 21
    assert len(read(rows, columns=["central", "other_1", "other_2"])) == 20


def test_seconds_that_are_no_time_are_not_known(read) -> None:
    S = read("central,other_1,other_2,seconds\na,b,c,inf\nb,a,c,1e308\nc,a,b,1e308\na,b,c,-inf\n")
    assert np.isnan(S.seconds[[0, 3]]).all()
    assert S.summary().median_seconds == 1e308


def test_what_pyarrow_reads_is_its_own_memory() -> None:
    data = b"1,2,3\n" * 9
    buffer = owned(data)
    assert buffer.to_pybytes() == data
    assert buffer.address != np.frombuffer(data, dtype=np.uint8).ctypes.data
    assert owned(b"").size == 0


def test_unsigned_triples_without_names(tmp_path: Path) -> None:
    for dtype in (np.uint8, np.uint32, np.uint64):
        np.savez(tmp_path / "s.npz", triples=np.array([[0, 1, 5]], dtype=dtype))
        S = read_statements(tmp_path / "s.npz")
        assert (S.n_objects, S.triples.tolist()) == (6, [[0, 1, 5]])
        np.savez(tmp_path / "s.npz", triples=np.empty((0, 3), dtype=dtype))
        assert len(read_statements(tmp_path / "s.npz")) == 0
    np.savez(tmp_path / "s.npz", triples=np.array([[0, 1, 2**63]], dtype=np.uint64))
    with pytest.raises(FormatError, match=r"s\.npz: n_objects is .* from 0 to 2147483647"):
        read_statements(tmp_path / "s.npz")


def test_many_digits_and_many_brackets(read) -> None:
    digits = "7" * 5000
    S = read(f"central,other_1,other_2,rater,round\na,b,c,{digits},{digits}\n")
    assert S.raters.tolist() == S.rounds.tolist() == [digits]
    assert S.summary().raters[0].rater == digits
    row = f'{{"central": "a", "other_1": "b", "other_2": "c", "rater": {digits}}}'
    with pytest.raises(FormatError, match=r"column rater has numbers too large .* write them as t"):
        read(row, ".jsonl")
    assert read(row.replace("7" * 5000, f'"{digits}"'), ".jsonl").raters.tolist() == [digits]
    with_gap = row.replace("7" * 5000, "4") + "\n" + row.replace("7" * 5000, "null")
    assert read(with_gap, ".jsonl").raters.tolist() == ["4", ""]
    assert read(f"{digits},1,2\n").names == ("1", "2", digits)
    nested = '{"central": "a", "other_1": "b", "other_2": "c", "x": ' + "[" * 100_000
    for content in (nested, nested + "]" * 100_000 + "}", "[" * 100_000):
        with pytest.raises(FormatError, match="row 1: nested more than 500 deep"):
            read(content, ".jsonl")
    brackets = '{"central": "[[", "other_1": "{{", "other_2": "c"}\n' * 2000
    assert len(read(brackets, ".jsonl")) == 2000


def test_a_column_that_one_file_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("central,other_1,other_2,rater\na,b,c,ann\n", encoding="utf-8")
    (tmp_path / "2.csv").write_text("central,other_1,other_2\nb,a,c\n", encoding="utf-8")
    answers = Answers(str(tmp_path / "*.csv"))
    assert answers.statements.raters is None
    assert answers.reading is not None
    said = [note for note in answers.reading.notes if "the column rater is left out" in note]
    assert len(said) == 1
    assert said[0].endswith("2.csv has none")
    assert "rater" not in answers.reading.columns
    # a reason that only some files have is kept
    (tmp_path / "2.csv").write_text(
        "central,other_1,other_2,reason\nb,a,c,adaptive\n", encoding="utf-8"
    )
    answers = Answers(str(tmp_path / "*.csv"))
    assert answers.statements.chosen.tolist() == [False, True]
    assert answers.reading is not None
    assert list(answers.reading.columns) == ["central", "other_1", "other_2", "reason"]


def test_answers_of_which_none_was_shown_are_named(tmp_path: Path) -> None:
    rows = "".join(f"A{i},B{i},C{i},a{i}\n" for i in range(20))
    file = tmp_path / "1.csv"
    file.write_text("shown_1,shown_2,shown_3,chosen\n" + rows, encoding="utf-8")
    with pytest.raises(StatementError, match="row 2: the chosen object 'a0' is not among"):
        read_statements(file, kind="central")
