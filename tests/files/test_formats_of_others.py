"""Formats that others write: arrays, workbooks, databases, SPSS, archives, folders."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pyreadstat
import pytest
import scipy.io

from commandline import facts
from trilens.cli.options import PRESETS as COMMAND_LINE_PRESETS
from trilens.counts.counting import count_files
from trilens.errors import FormatError, StatementError
from trilens.files import Reading, read_statements, scan_statements
from trilens.statements.layout import PRESETS

ROWS = [("van", "bus", "car"), ("car", "van", "tram")]
COLUMNS = ("odd", "other_1", "other_2")
CSV = "odd,other_1,other_2\n" + "".join(",".join(row) + "\n" for row in ROWS)


def rows(path: Path | str, **options: Any) -> list[tuple[str, ...]]:
    """The rows that are read and scanned."""
    found = list(read_statements(path, **options))
    chunks = list(scan_statements(path, chunk_rows=1, **options))
    assert [row for chunk in chunks for row in chunk] == found
    return found


def notes(path: Path | str, **options: Any) -> str:
    told: list[Reading] = []
    read_statements(path, tell=told.append, **options)
    return str(told[0])


def test_presets_are_the_command_lines() -> None:
    assert tuple(PRESETS) == COMMAND_LINE_PRESETS


@pytest.mark.parametrize("ending", [".npz", ".mat"])
def test_cblearn(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"s{ending}"
    X = np.array([[0, 1, 2], [3, 1, 2]])

    def read(kind=None, **arrays: Any) -> tuple[str, list[tuple[str, ...]]]:
        if ending == ".npz":
            np.savez(path, **arrays)
        else:
            scipy.io.savemat(path, arrays)
        S = read_statements(path, preset="cblearn", kind=kind)
        return S.kind, list(S)

    assert read(X=X) == ("closer", [("0", "1", "2"), ("3", "1", "2")])
    signs = ("closer", [("0", "1", "2"), ("3", "2", "1")])
    assert read(X=X, y=np.array([1, -1])) == signs
    if ending == ".npz":
        assert read(X=X, y=np.array([True, False])) == signs
        with pytest.raises(FormatError, match=r"no array triples; .*preset='cblearn'"):
            read_statements(path)
    places = np.array([2, 0])
    assert read("odd", X=X, y=places) == ("odd", [("2", "0", "1"), ("3", "1", "2")])
    for y, what in [
        (places, "most central or the odd object"),
        (np.array([1]), "2 rows, but y has 1"),
        (np.array([1, 7]), "y must be"),
    ]:
        with pytest.raises(FormatError, match=what):
            read(X=X, y=y)


def test_npy(tmp_path: Path) -> None:
    path = tmp_path / "s.npy"
    np.save(path, np.array([[3, 1, 2], [1, 2, 30]], dtype=np.uint8))
    S = read_statements(path, kind="closer")
    assert (S.kind, S.names, S[0]) == ("closer", ("1", "2", "3", "30"), ("3", "1", "2"))
    assert rows(path, columns="odd=3,other_1=1,other_2=2")[0][0] == "2"
    np.save(path, np.array(ROWS))
    assert rows(path) == ROWS
    np.save(path, np.array([[1.0, 2.0, 3.0]]))
    assert rows(path) == [("1", "2", "3")]
    structured = np.array([("a", "b", "c", 7)], [(n, "U9") for n in COLUMNS] + [("rt", int)])
    np.save(path, structured)
    assert read_statements(path).kind == "odd"
    for array, what in [
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([[1, 2, 3, 4]]), "4 columns without a header"),
        (np.array([[1.5, 2, 3]]), "does not name an object"),
        (np.array([[np.nan, 2, 3]]), "row 1: 'nan'"),
        (np.array([[1, 2, 3]]) > 1, "array of bool"),
        (np.array([None]), "holds pickled Python objects"),
    ]:
        np.save(path, array)
        with pytest.raises((FormatError, StatementError), match=what):
            read_statements(path)


def test_npz_of_others(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, triples=np.array([[2, 1, 0]], dtype=np.int64))
    S = read_statements(path, kind="closer")
    assert (S.kind, S.n_objects, S.names) == ("closer", 3, ("0", "1", "2"))
    S = read_statements(path, objects=["2", "x", "1", "0"])
    assert S.triples.tolist() == [[0, 2, 3]]
    for dtype in (np.uint8, np.uint32, np.uint64):
        np.savez(path, triples=np.array([[0, 1, 5]], dtype=dtype))
        S = read_statements(path)
        assert (S.n_objects, S.triples.tolist()) == (6, [[0, 1, 5]])
        np.savez(path, triples=np.empty((0, 3), dtype=dtype))
        assert len(read_statements(path)) == 0
    np.savez(path, triples=np.array([[0, 1, 2**63]], dtype=np.uint64))
    with pytest.raises(FormatError, match=r"s\.npz: n_objects is .* from 0 to 2147483647"):
        read_statements(path)


def test_matlab(tmp_path: Path) -> None:
    path = tmp_path / "s.mat"
    scipy.io.savemat(path, {"triples": np.array([[3, 1, 2]]), "n": 3})
    assert rows(path) == [("3", "1", "2")]
    scipy.io.savemat(path, {"a": np.array([[3, 1, 2]]), "b": np.array([[1, 2, 3]])})
    with pytest.raises(FormatError, match=r"2 variables are \(m, 3\) matrices; .*s\.mat::a"):
        read_statements(path)
    assert rows(f"{path}::b") == [("1", "2", "3")]
    with pytest.raises(FormatError, match="no variable c; the variables are a, b"):
        read_statements(f"{path}::c")
    scipy.io.savemat(path, {"names": np.array([["van", "bus", "car"]], dtype=object)})
    assert rows(path) == ROWS[:1]
    path.write_bytes(path.read_bytes()[:128] + np.array([14, 0], "<u4").tobytes())
    with pytest.raises(FormatError, match="a variable without its description"):
        read_statements(path)


def test_parquet_of_others(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    columns = {"chosen": [3.0, 2.0], "shown_1": [1, 1], "shown_2": [2, 2], "shown_3": [3, 3]}
    pq.write_table(pa.table(columns | {"round": [1, None]}), path)
    assert rows(path, kind="odd") == [("3", "1", "2"), ("2", "1", "3")]
    assert read_statements(path, kind="odd").places.tolist() == [2, 1]
    text = pa.table({"odd": pa.array(["b"]).dictionary_encode(), "other_1": ["a"], "x": ["c"]})
    pq.write_table(text, path)
    assert rows(path, columns=list(COLUMNS)) == [("b", "a", "c")]
    pq.write_table(pa.table({name: pa.array([], pa.string()) for name in COLUMNS}), path)
    assert rows(path) == []
    assert count_files(path).statements == 0


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet", ".npz", ".arrow"])
def test_bad_rows_of_tables(tmp_path: Path, ending: str) -> None:
    three = [[0, 1, 2], [0, 0, 2], [2, 1, 0]]
    table = pa.table(dict(zip(COLUMNS, zip(*three, strict=True), strict=True)))
    path = tmp_path / f"s{ending}"
    if ending == ".npz":
        np.savez(path, triples=np.array(three), kind=np.array("odd"))
    elif ending == ".parquet":
        pq.write_table(table, path)
    elif ending == ".arrow":
        pf.write_feather(table, path)
    elif ending == ".json":
        path.write_text(json.dumps(table.to_pylist()))
    else:
        path.write_text("\n".join(map(json.dumps, table.to_pylist())))
    with pytest.raises(StatementError, match=r"row 2: object '?0'? appears twice"):
        read_statements(path)
    assert rows(path, skip_bad=True) == [("0", "1", "2"), ("2", "1", "0")]
    told: list[Reading] = []
    read_statements(path, skip_bad=True, tell=told.append)
    assert [fault.row for fault in told[0].faults] == [2]


def workbook(path: Path, rows: list[list[Any]], **sheets: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    for name, more in {"Sheet": rows, **sheets}.items():
        sheet = book.active if name == "Sheet" else book.create_sheet(name)
        for row in more:
            sheet.append(row)
    book.save(path)


def test_excel(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    header = ["odd", "other_1", "other_2", "RT", "worker"]
    one, two = [1, 20, 3, 1200, "w"], [20, 3.0, 1, 900.5, "v"]
    workbook(path, [header, one, [None] * 5, two], notes=[])
    S = read_statements(path)
    assert (list(S), S.names) == ([("1", "20", "3"), ("20", "3", "1")], ("1", "3", "20"))
    assert S.seconds.tolist() == [1.2, 0.9005]
    assert "read sheet Sheet; not read: notes" in notes(path)
    with pytest.raises(FormatError, match=r"no sheet x; the sheets are Sheet, notes"):
        read_statements(f"{path}::x")
    for first in (["notes"], []):
        workbook(path, [first], answers=[["van", "bus, long", "car"], [" a", 'b"', "c\nd"]])
        with pytest.raises(FormatError, match=r"sheet Sheet .*s\.xlsx::answers"):
            read_statements(path)
        assert rows(f"{path}::answers")[1] == (" a", 'b"', "c\nd")
    workbook(path, [header, ["a", "b", "c", 1, "w"], [None], ["a", "a", "c", 1, "w"]])
    with pytest.raises(StatementError, match="row 4: object 'a' appears twice"):
        read_statements(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError, match="truncated or is not an Excel workbook"):
        read_statements(path)


def test_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with sqlite3.connect(path) as database:
        database.execute("create table answers (odd, other_1, other_2, worker, rt_ms)")
        database.executemany(
            "insert into answers values (?, ?, ?, ?, ?)", [[*row, 7, 1500] for row in ROWS]
        )
    database.close()
    for name in (str(path), f"{path}::answers"):
        S = read_statements(name)
        assert (S.kind, list(S), S.raters.tolist()) == ("odd", ROWS, ["7", "7"])
        assert S.seconds.tolist() == [1.5, 1.5]
    (tmp_path / "study.sqlite.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert rows(tmp_path / "study.sqlite.gz") == ROWS
    with sqlite3.connect(path) as database:
        database.execute("create table log (x)")
    database.close()
    with pytest.raises(FormatError, match=r"tables are answers, log: .* study\.db::answers"):
        read_statements(path)
    with pytest.raises(FormatError, match="no table nothing"):
        read_statements(f"{path}::nothing")
    for wrong in (b"SQLite format 3\0" + b"x" * 2000, b"a,b,c\n"):
        path.write_bytes(wrong)
        with pytest.raises(FormatError, match="is not an SQLite database"):
            read_statements(path)


def test_spss(tmp_path: Path) -> None:
    labels = {
        "Q1": {1.0: "van", 2.0: "bus", 3.0: "car"},
        "Q2": {1.0: "ski", 2.0: "van", 3.0: "bus"},
    }
    frame = pd.DataFrame({"id": ["r1", "r2"], "Q1": [2.0, 3.0], "Q2": [1.0, None]})
    path = tmp_path / "study.sav"
    titles = {"Q1": "Which is odd? [van, bus, car]", "Q2": "Which is odd? [ski, van, bus]"}
    pyreadstat.write_sav(frame, str(path), column_labels=titles, variable_value_labels=labels)
    S = read_statements(path, kind="odd")
    assert [row[0] for row in S] == ["bus", "ski", "car"]
    assert S.raters.tolist() == ["r1", "r1", "r2"]
    with zipfile.ZipFile(tmp_path / "study.zip", "w") as archive:
        archive.write(path, "study.sav")
    assert rows(tmp_path / "study.zip", kind="odd") == list(S)
    path.write_bytes(b"$FL2 nothing")
    with pytest.raises(FormatError, match="SPSS"):
        read_statements(path)


def test_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zst = pa.compress(CSV.encode(), codec="zstd", asbytes=True)
    records = json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
    (tmp_path / "s.csv.zst").write_bytes(zst)
    (tmp_path / "s.json.zst").write_bytes(pa.compress(records.encode(), codec="zstd", asbytes=True))
    with zipfile.ZipFile(tmp_path / "s.csv.zip", "w") as archive:
        archive.writestr("__MACOSX/s.csv", "rubbish")
        archive.writestr("folder/s.csv", CSV)
    for name in ("s.csv.zst", "s.json.zst", "s.csv.zip"):
        assert rows(tmp_path / name) == ROWS
    for data in (zst, (tmp_path / "s.csv.zip").read_bytes()):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert list(read_statements("-")) == ROWS
    for name, what in (("s.csv.zst", "zstd file"), ("s.csv.zip", "zip archive")):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-3])
        with pytest.raises(FormatError, match=f"truncated or is not a {what}"):
            read_statements(tmp_path / name)


def zipped(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_an_archive_of_several_files(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"b.csv": "e,a,b\n", "a.json": '[["a", "b", "c"]]'})
    assert rows(path) == [("a", "b", "c"), ("e", "a", "b")]
    assert rows(f"{path}::b.csv") == [("e", "a", "b")]
    with pytest.raises(FormatError, match=r"no file c\.csv; the files are a\.json, b\.csv"):
        read_statements(f"{path}::c.csv")
    with pytest.raises(FormatError, match="contains archives"):
        read_statements(zipped(path, {"inner.zip": "x"}))
    with pytest.raises(FormatError, match="empty archive"):
        read_statements(zipped(path, {"folder/": ""}))


def test_each_file_of_a_folder_or_an_archive_is_a_rater(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    (folder / "pictures").mkdir()
    for name, text in {"P1.csv": CSV, "P2.csv": CSV, "notes.docx": "x"}.items():
        (folder / name).write_text(text)
    packed = zipped(tmp_path / "p.zip", {"d/P1.csv": CSV, "d/P2.csv": CSV, "d/a.jpg": "x"})
    for path, left_out in ((folder, "notes.docx, pictures/"), (packed, "d/a.jpg")):
        S = read_statements(path, rater_from_name=True)
        assert S.raters.tolist() == ["P1", "P1", "P2", "P2"]
        assert f"not read: {left_out}" in notes(path)
    shown = facts("describe", folder, "--rater-from-name")
    assert [each["rater"] for each in shown["raters"]] == ["P1", "P2"]
    own = zipped(tmp_path / "own.zip", {f"study/{who}/data.csv": CSV for who in ("anna", "bo")})
    S = read_statements(own, rater_from_name=True)
    assert S.raters.tolist() == ["anna", "anna", "bo", "bo"]


def test_many_files(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(CSV)
    (tmp_path / "2.jsonl").write_text('{"odd": "a", "other_1": "b", "other_2": "c"}')
    (tmp_path / "readme.md").write_text("# not data")
    for path in (tmp_path, str(tmp_path / "*[0-9].*"), [tmp_path / "1.csv", tmp_path / "2.jsonl"]):
        assert rows(path) == [*ROWS, ("a", "b", "c")]
        assert notes(path).startswith("2 files: 3 statements, kind odd, 7 objects")
    with pytest.raises(FormatError, match="no file matches the pattern"):
        read_statements(str(tmp_path / "x*.csv"))


def test_a_part_of_a_file_of_json(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    trial = dict(zip(COLUMNS, "abc", strict=True))
    path.write_text(json.dumps({"people": [{"id": 1}], "trials": [trial]}))
    assert "not read: people" in notes(path)
    assert rows(f"{path}::trials") == [("a", "b", "c")]
    with pytest.raises(FormatError, match=r"no key tri; the keys are people, trials"):
        read_statements(f"{path}::tri")


@pytest.mark.parametrize("orient", ["columns", "records", "split", "values", "index"])
def test_json_as_pandas_writes_it(tmp_path: Path, orient: str) -> None:
    n = 5_000
    frame = pd.DataFrame(
        {name: [f"o{(i + 7 * j) % 50}" for i in range(n)] for j, name in enumerate(COLUMNS)}
    )
    frame.to_json(tmp_path / "s.json", orient=orient)
    start = time.process_time()
    S = read_statements(tmp_path / "s.json", kind="odd")
    assert time.process_time() - start < 2
    assert [list(row) for row in S] == frame.to_numpy().tolist()
