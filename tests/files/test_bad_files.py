"""Bad files: one line with the file, the row, what was seen and what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trilens.errors import FormatError, StatementError
from trilens.files import read_statements, scan_statements, write_statements
from trilens.statements import Statements


def problem(path: Path | str, **options: object) -> str:
    """The one line that reading must end in."""
    with pytest.raises((FormatError, StatementError)) as caught:
        read_statements(path, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_far_down_and_very_long(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"a,b,c\n" * 20_000 + b"d,e,\xff\n")
    assert f"{path}, row 20,001: byte 0xff is not UTF-8" in problem(path)
    path.write_text('"' + "a" * 70_000)
    assert f"{path}, row 1: the first row is longer" in problem(path)


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for ending in (".csv", ".csv.gz", ".parquet", ".arrow", ".npz", ".jsonl", ""):
        folder = tmp_path / f"folder{ending}"
        folder.mkdir()
        assert problem(folder).startswith(f"{folder} is a folder")
    assert "cannot be read" in problem("a\0b.csv")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert "permission denied" in problem(tmp_path / "s.csv")


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".npz", ".csv.gz", ".jsonl.gz"])
def test_truncated(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"s{ending}"
    write_statements(
        Statements(np.array([[0, 1, 2]] * 500), names=["a", "b", "c"], kind="central"), path
    )
    data = path.read_bytes()
    for part in (0.0, 0.3, 0.7, 0.99):
        path.write_bytes(data[: int(len(data) * part)])
        text = problem(path)
        assert text.startswith(str(path))
        assert "truncated" in text or "is empty" in text
        with pytest.raises(FormatError):
            list(scan_statements(path))


def test_json_column_that_comes_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trilens.files.json._FIRST_BLOCK", 64)
    row = '{"central": "a", "other_1": "b", "other_2": "c"}\n'
    (tmp_path / "s.jsonl").write_text(row * 3 + row.replace("}", ', "seconds": 1}'))
    assert "seconds is first given far down the file" in problem(tmp_path / "s.jsonl")


GOOD = {"central": ["a"], "other_1": ["b"], "other_2": ["c"]}


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"other_2": [None]}, {}, "row 1: an empty cell in column other_2"),
        ({"other_2": [np.nan]}, {}, "row 1: 'nan' in column"),
        ({"other_2": [b"c"]}, {}, "holds binary"),
        ({"rater": [["c"]]}, {}, "holds list"),
        ({}, {"kind": "odd"}, "kind central, but kind odd"),
        ({}, {"columns": ["odd"]}, "names 1 columns, but there are 3"),
    ],
)
def test_parquet(columns, options, said, tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD | columns), tmp_path / "s.parquet")
    assert said in problem(tmp_path / "s.parquet", **options)


def test_parquet_that_says_its_kind(tmp_path: Path) -> None:
    shown = {"chosen": [1], "shown_1": [1], "shown_2": [2], "shown_3": [3]}
    metadata = {"trilens": '{"kind": "odd", "names": ["1", "2", "3"]}'}
    pq.write_table(pa.table(shown).replace_schema_metadata(metadata), tmp_path / "s.parquet")
    assert "kind odd, but kind central" in problem(tmp_path / "s.parquet", kind="central")


ONE = np.array([[0, 1, 2]])


@pytest.mark.parametrize(
    ("arrays", "options", "said"),
    [
        ({"names": ["a"]}, {}, "no array triples"),
        ({"triples": ONE * 0.5}, {}, "shape (1, 3) of float64"),
        ({"triples": ONE, "kind": "weird"}, {}, "kind is weird"),
        ({"triples": ONE, "kind": "odd"}, {"kind": "central"}, "kind odd, but kind central"),
        ({"triples": ONE, "names": np.array(["a", None], dtype=object)}, {}, "pickled"),
        ({"triples": [[0, 1, 2], [0, 1, -1]]}, {}, "row 2: object id -1 is negative"),
        ({"triples": [[0, 1, 1]]}, {}, "row 1: object '1' appears twice"),
        ({"triples": ONE, "names": ["a", "a", "b"]}, {}, "two objects have the name"),
        ({"triples": ONE, "seconds": np.zeros(2)}, {}, "shape"),
        ({"triples": ONE, "names": np.zeros(3)}, {}, "names is an array of shape"),
        ({"triples": ONE}, {"columns": ["odd"]}, "does not apply to NPZ"),
        ({"triples": ONE}, {"objects": ["0", "1"]}, "row 1: object '2' is not in the list"),
    ],
)
def test_npz(arrays, options, said, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", **arrays)
    assert said in problem(tmp_path / "s.npz", **options)


def test_a_wrong_bit_in_a_parquet_file_of_ours_makes_no_other_answers(tmp_path: Path) -> None:
    names = [f"object {i}" for i in range(40)]
    triples = np.arange(600)[:, None] % 38 + np.arange(3)
    path = tmp_path / "s.parquet"
    seconds = np.random.default_rng(0).gamma(2, 2, size=600)
    write_statements(Statements(triples, names=names, kind="odd", seconds=seconds), path)
    facts, data = pq.ParquetFile(path).metadata, path.read_bytes()
    whole = read_statements(path)
    refused = 0
    for i in range(facts.num_columns):
        chunk = facts.row_group(0).column(i)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        for at in np.linspace(start, start + chunk.total_compressed_size - 1, 30, dtype=int):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            try:
                assert read_statements(path) == whole
            except FormatError:
                refused += 1
    assert refused > 60
