"""What one small text does not show: real files, pipes, long cells, bad rows in a file."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from trilens.errors import FormatError
from trilens.files import Reading, read_statements, scan_statements
from trilens.files.source import owned
from trilens.files.text import plain_integers
from trilens.statements import Statements
from trilens.statements.names import is_integer
from trilens.statements.roles import NAMES, role_of


@pytest.fixture
def read(tmp_path: Path):
    def read(content: str, ending: str = ".csv", **options: object) -> Statements:
        path = tmp_path / f"s{ending}"
        path.write_text(content, encoding="utf-8")
        return read_statements(path, **options)  # type: ignore[arg-type]

    return read


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch):
    def piped(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    return piped


def test_car_survey_reads_as_it_is(data_dir: Path) -> None:
    S = read_statements(data_dir / "cars" / "survey_data.csv")
    ALL = read_statements(data_dir / "cars" / "ordinal_data_preprocessed" / "ALL.csv")
    assert S.kind == "central"
    np.testing.assert_array_equal(S.triples[:, 0], ALL.triples[:, 0])
    np.testing.assert_array_equal(np.sort(S.triples), np.sort(ALL.triples))
    assert S.rounds.dtype == np.int64
    assert S.rounds[0] == 1
    assert S.seconds[:2].tolist() == [11.108, 19.483]
    summary = S.summary()
    assert (len(S), summary.rounds) == (7097, 146)
    assert round(summary.median_seconds, 2) == 4.02


def test_things_with_their_names(data_dir: Path) -> None:
    things = data_dir / "things"
    S = read_statements(things / "test_10.txt", preset="things", objects=things / "unique_id.txt")
    assert (len(S), S.kind, S.n_objects, S.names[0]) == (50_000, "odd", 1854, "aardvark")
    rows = np.loadtxt(things / "test_10.txt", dtype=int)
    np.testing.assert_array_equal(S.triples, rows[:, [2, 0, 1]])


def test_one_name_one_role() -> None:
    for role, names in NAMES.items():
        for name in names:
            assert role_of(name) == role or name == "session", name
    assert role_of("colour") is None
    assert role_of("a") is None


def test_bad_rows_are_written_to_a_file(read, tmp_path: Path) -> None:
    told: list[Reading] = []
    rows = ["a,b,c,1", "a,b,b,1", "", "b,NA,c,1", "a,b", "b,a,c,soon", "b,c,a,2", "a,b,c,d,e"]
    header = "odd,other_1,other_2,rt"
    read("\n".join([header, *rows]), skip_bad=tmp_path / "bad.csv", tell=told.append)
    assert "5 bad rows skipped" in str(told[0])
    written = list(csv.DictReader((tmp_path / "bad.csv").read_text().splitlines()))
    assert [row["row"] for row in written] == ["3", "5", "6", "7", "9"]
    assert [row["objects"] for row in written[:2]] == ["a,b,b", "b,NA,c"]


def test_only_ten_bad_rows_are_named(read) -> None:
    told: list[Reading] = []
    read("a,b,c\n" + "a,a,b\n" * 17 + "c,b,a\n", skip_bad=True, tell=told.append)
    named = told[0].named_faults()
    assert len(named) == 11
    assert named[-1] == "and 7 more bad rows"
    assert named[0].endswith("row 2: object 'a' appears twice in one statement")


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(piped, packed: bool) -> None:
    shown = b"rater,chosen,shown_1,shown_2,shown_3\nr,a,a,b,c\ns,c,a,b,c\nr,b,a,b,c\n"
    given = gzip.compress(shown) if packed else shown
    piped(given)
    S = read_statements("-")
    assert list(S) == [("a", "b", "c"), ("c", "a", "b"), ("b", "a", "c")]
    assert S.places.tolist() == [0, 2, 1]
    piped(given)
    scan = scan_statements("-", chunk_rows=2)
    for _ in range(2):
        assert [chunk.places.tolist() for chunk in scan] == [[0, 2], [1]]


def test_binary_standard_input(piped, tmp_path: Path) -> None:
    pq.write_table(pa.table({"odd": [1], "other_1": [2], "other_2": [3]}), tmp_path / "s.parquet")
    piped((tmp_path / "s.parquet").read_bytes())
    assert read_statements("-").kind == "odd"


def test_text_after_integers_needs_no_second_look_at_the_file(read, piped) -> None:
    content = "30,10,20\n" * 2000 + "x,10,20\n"
    S = read(content)
    assert S.names == ("30", "10", "20", "x")
    piped(content.encode())
    again = read_statements("-")
    assert again.names == S.names
    np.testing.assert_array_equal(again.triples, S.triples)


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


def test_what_pyarrow_reads_is_its_own_memory() -> None:
    data = b"1,2,3\n" * 9
    buffer = owned(data)
    assert buffer.to_pybytes() == data
    assert buffer.address != np.frombuffer(data, dtype=np.uint8).ctypes.data
    assert owned(b"").size == 0


def test_many_digits_and_many_brackets(read) -> None:
    digits = "7" * 5000
    S = read(f"central,other_1,other_2,rater,round\na,b,c,{digits},{digits}\n")
    assert S.raters.tolist() == S.rounds.tolist() == [digits]
    assert S.summary().raters[0].rater == digits
    row = f'{{"central": "a", "other_1": "b", "other_2": "c", "rater": {digits}}}'
    with pytest.raises(FormatError, match=r"column rater has numbers too large .* write them as t"):
        read(row, ".jsonl")
    assert read(row.replace(digits, f'"{digits}"'), ".jsonl").raters.tolist() == [digits]
    with_gap = row.replace(digits, "4") + "\n" + row.replace(digits, "null")
    assert read(with_gap, ".jsonl").raters.tolist() == ["4", ""]
    assert read(f"{digits},1,2\n").names == ("1", "2", digits)
    nested = '{"central": "a", "other_1": "b", "other_2": "c", "x": ' + "[" * 100_000
    for content in (nested, nested + "]" * 100_000 + "}", "[" * 100_000):
        with pytest.raises(FormatError, match="row 1: nested more than 500 deep"):
            read(content, ".jsonl")
    brackets = '{"central": "[[", "other_1": "{{", "other_2": "c"}\n' * 2000
    assert len(read(brackets, ".jsonl")) == 2000
