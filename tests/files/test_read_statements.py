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
from trilens.errors import FormatError
from trilens.files import read_statements, scan_statements
from trilens.files.source import owned
from trilens.files.text import plain_integers
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
    summary = S.summary()
    assert (len(S), summary.rounds) == (7097, 146)
    assert round(summary.median_seconds, 2) == 4.02


def test_whole_numbers_with_a_point_are_one_name_in_files_and_tables(read) -> None:
    """pandas writes a column of integers with a gap as 1.0, 2.0, ...: both are the same objects."""
    S = read("central,other_1,other_2\n10,9.0,8\n7.0,10.0,8\n")
    frame = {"central": [10, 7], "other_1": [9.0, 10.0], "other_2": [8, 8]}
    assert S.names == Statements(frame).names == ("7", "8", "9", "10")
    rows = ["7.0,8.0,9.0", "8.0,7.0,9.0", "cat,7.0,8"]
    for order in (rows, rows[::-1]):
        S = read("\n".join(["central,other_1,other_2", *order]) + "\n")
        assert set(S.names) == {"7", "8", "9", "cat"}
    versions = "central,other_1,other_2\n1.0,1.1,2.0\n"
    assert read(versions).names == ("1.0", "1.1", "2.0")
    listed = read(versions.replace("1.1", "3"), objects=["1.0", "2.0", "3"])
    assert listed.names == ("1.0", "2.0", "3")


def test_whole_numbers_are_one_name_in_all_files_of_a_folder(tmp_path: Path) -> None:
    header = "central,other_1,other_2\n"
    (tmp_path / "1.csv").write_text(header + "7.0,8.0,9.0\n8.0,7.0,9.0\n")
    (tmp_path / "2.csv").write_text(header + "cat,7.0,8.0\n")
    told = []
    names = read_statements(tmp_path, tell=told.append).names
    assert names == scan_statements(tmp_path).names == ("7", "8", "9", "cat")
    assert Answers(tmp_path).count().names == names
    assert "whole numbers such as 7.0 are taken as 7" in told[0].notes[0]


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
