"""Formats that others write: JSON of any shape, arrays, workbooks, databases, archives, folders."""

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
import pyarrow as pa
import pytest
import scipy.io

from trilens.cli.options import PRESETS as COMMAND_LINE_PRESETS
from trilens.errors import FormatError, ParameterError, StatementError
from trilens.files import Reading, read_statements, scan_statements
from trilens.statements import Statements
from trilens.statements.layout import PRESETS

ROWS = [["van", "bus", "car"], ["car", "van", "tram"]]
RECORDS = [dict(zip(("odd", "other_1", "other_2"), row, strict=True)) for row in ROWS]
CSV = "odd,other_1,other_2\n" + "".join(",".join(row) + "\n" for row in ROWS)


def named(S: Statements) -> list[list[str]]:
    return [[S.names[i] for i in row] for row in S.triples.tolist()]


def line(path: Path | str, **options: Any) -> str:
    told: list[Reading] = []
    read_statements(path, tell=told.append, **options)
    return str(told[0])


@pytest.mark.parametrize("ending", [".json", ".data"])
@pytest.mark.parametrize(
    "content",
    [
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=2),
        json.dumps([["odd", "other_1", "other_2"], *ROWS]),
        json.dumps([{"answer": record} for record in RECORDS]),
        json.dumps([RECORDS]),
        json.dumps([{"participant": 7, "trials": RECORDS}]),
    ],
)
def test_json(tmp_path: Path, content: str, ending: str) -> None:
    (tmp_path / f"s{ending}").write_text("\ufeff" + content, encoding="utf-8")
    S = read_statements(tmp_path / f"s{ending}")
    assert (S.kind, named(S)) == ("odd", ROWS)
    if "participant" in content:
        assert S.raters.tolist() == ["7", "7"]


@pytest.mark.parametrize("ending", [".npz", ".mat"])
def test_cblearn(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"s{ending}"
    X = np.array([[0, 1, 2], [3, 1, 2]])

    def read(**arrays: Any) -> Statements:
        if ending == ".npz":
            np.savez(path, **arrays)
        else:
            scipy.io.savemat(path, arrays)
        return read_statements(path, preset="cblearn", kind=arrays.pop("kind", None) and "odd")

    assert (read(X=X).kind, named(read(X=X))) == ("closer", [["0", "1", "2"], ["3", "1", "2"]])
    signs = read(X=X, y=np.array([1, -1]))
    assert (signs.kind, named(signs)) == ("closer", [["0", "1", "2"], ["3", "2", "1"]])
    if ending == ".npz":
        assert named(read(X=X, y=np.array([True, False]))) == named(signs)
    with pytest.raises(FormatError, match="most central or the odd object"):
        read(X=X, y=np.array([2, 0]))
    np.savez(tmp_path / "p.npz", X=X, y=np.array([2, 0]))
    chosen = read_statements(tmp_path / "p.npz", preset="cblearn", kind="odd")
    assert (chosen.kind, named(chosen)) == ("odd", [["2", "0", "1"], ["3", "1", "2"]])
    for y, what in [(np.array([1]), "2 rows, but y has 1"), (np.array([1, 7]), "y must be")]:
        with pytest.raises(FormatError, match=what):
            read(X=X, y=y)
    np.savez(tmp_path / "p.npz", X=X)
    with pytest.raises(FormatError, match=r"no array triples; .*preset='cblearn'"):
        read_statements(tmp_path / "p.npz")


def test_presets_are_the_command_lines() -> None:
    assert tuple(PRESETS) == COMMAND_LINE_PRESETS
    with pytest.raises(ParameterError, match="the preset is 'next'; it must be one of salmon"):
        read_statements("s.csv", preset="next")


def test_npy(tmp_path: Path) -> None:
    path = tmp_path / "s.npy"
    np.save(path, np.array([[3, 1, 2], [1, 2, 30]], dtype=np.uint8))
    S = read_statements(path, kind="closer")
    assert (S.kind, S.names, named(S)[0]) == ("closer", ("1", "2", "3", "30"), ["3", "1", "2"])
    assert named(read_statements(path, columns="odd=3,other_1=1,other_2=2"))[0][0] == "2"
    np.save(path, np.array(ROWS))
    assert named(read_statements(path)) == ROWS
    np.save(path, np.array([[1.0, 2.0, 3.0]]))
    assert named(read_statements(path)) == [["1", "2", "3"]]
    structured = np.array([("a", "b", "c", 7)], [(n, "U9") for n in RECORDS[0]] + [("rt", int)])
    np.save(path, structured)
    assert read_statements(path).kind == "odd"
    for array, what in [
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([[1, 2, 3, 4]]), "4 columns without a header"),
        (np.array([[1.5, 2, 3]]), "does not name an object"),
        (np.array([[np.nan, 2, 3]]), "row 1: 'nan'"),
        (np.array([[1, 2, 3]]) > 1, "array of bool"),
    ]:
        np.save(path, array)
        with pytest.raises((FormatError, StatementError), match=what):
            read_statements(path)
    np.save(path, np.array([None]), allow_pickle=True)
    with pytest.raises(FormatError, match="holds pickled Python objects"):
        read_statements(path)


def test_matlab(tmp_path: Path) -> None:
    path = tmp_path / "s.mat"
    scipy.io.savemat(path, {"triples": np.array([[3, 1, 2]]), "n": 3})
    assert named(read_statements(path)) == [["3", "1", "2"]]
    scipy.io.savemat(path, {"a": np.array([[3, 1, 2]]), "b": np.array([[1, 2, 3]])})
    with pytest.raises(FormatError, match=r"2 variables are \(m, 3\) matrices; .*s\.mat::a"):
        read_statements(path)
    assert named(read_statements(f"{path}::b")) == [["1", "2", "3"]]
    with pytest.raises(FormatError, match="no variable c; the variables are a, b"):
        read_statements(f"{path}::c")
    scipy.io.savemat(path, {"names": np.array([["van", "bus", "car"]], dtype=object)})
    assert named(read_statements(path)) == [["van", "bus", "car"]]


def workbook(path: Path, rows: list[list[Any]], **sheets: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, more in sheets.items():
        sheet = book.create_sheet(name)
        for row in more:
            sheet.append(row)
    book.save(path)


def test_excel(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    header = ["odd", "other_1", "other_2", "RT", "worker"]
    workbook(path, [header, [1, 20, 3, 1200, "w"], [None] * 5, [20, 3.0, 1, 900.5, "v"]])
    S = read_statements(path)
    assert (named(S), S.names) == ([["1", "20", "3"], ["20", "3", "1"]], ("1", "3", "20"))
    assert S.seconds.tolist() == [1.2, 0.9005]
    workbook(path, [["notes"]], answers=[["van", "bus, long", "car"], [" a", 'b"', "c\nd"]])
    assert named(read_statements(f"{path}::answers"))[1] == [" a", 'b"', "c\nd"]
    with pytest.raises(FormatError, match=r"no sheet x; the sheets are Sheet, answers"):
        read_statements(f"{path}::x")
    with pytest.raises(FormatError, match="1 column without a header"):
        read_statements(path)
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
        assert (S.kind, named(S), S.raters.tolist()) == ("odd", ROWS, ["7", "7"])
        assert S.seconds.tolist() == [1.5, 1.5]
    (tmp_path / "study.sqlite.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert named(read_statements(tmp_path / "study.sqlite.gz")) == ROWS
    with sqlite3.connect(path) as database:
        database.execute("create table log (x)")
    database.close()
    with pytest.raises(FormatError, match=r"tables are answers, log: .* study\.db::answers"):
        read_statements(path)
    with pytest.raises(FormatError, match="no table nothing"):
        read_statements(f"{path}::nothing")
    path.write_bytes(b"SQLite format 3\0" + b"x" * 2000)
    with pytest.raises(FormatError, match="is not an SQLite database"):
        read_statements(path)
    path.write_text("a,b,c\n")
    with pytest.raises(FormatError, match="is not an SQLite database"):
        read_statements(path)


def test_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zst = pa.compress(CSV.encode(), codec="zstd", asbytes=True)
    (tmp_path / "s.csv.zst").write_bytes(zst)
    (tmp_path / "s.json.zst").write_bytes(
        pa.compress(json.dumps(RECORDS).encode(), codec="zstd", asbytes=True)
    )
    with zipfile.ZipFile(tmp_path / "s.csv.zip", "w") as archive:
        archive.writestr("__MACOSX/s.csv", "rubbish")
        archive.writestr("folder/s.csv", CSV)
    for name in ("s.csv.zst", "s.json.zst", "s.csv.zip"):
        assert named(read_statements(tmp_path / name)) == ROWS
        assert sum(map(len, scan_statements(tmp_path / name, chunk_rows=1))) == 2
    for data in (zst, gzip.compress(CSV.encode()), (tmp_path / "s.csv.zip").read_bytes()):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert named(read_statements("-")) == ROWS
    (tmp_path / "s.csv.zst").write_bytes(zst[:-3])
    with pytest.raises(FormatError, match="truncated or is not a zstd file"):
        read_statements(tmp_path / "s.csv.zst")
    (tmp_path / "s.csv.zip").write_bytes((tmp_path / "s.csv.zip").read_bytes()[:-30])
    with pytest.raises(FormatError, match="truncated or is not a zip archive"):
        read_statements(tmp_path / "s.csv.zip")


def test_an_archive_of_several_files(tmp_path: Path) -> None:
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b.csv", "e,a,b\n")
        archive.writestr("a.json", json.dumps([["a", "b", "c"]]))
    assert named(read_statements(path)) == [["a", "b", "c"], ["e", "a", "b"]]
    assert named(read_statements(f"{path}::b.csv")) == [["e", "a", "b"]]
    with pytest.raises(FormatError, match=r"no file c\.csv; the files are a\.json, b\.csv"):
        read_statements(f"{path}::c.csv")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.zip", "x")
    with pytest.raises(FormatError, match="contains archives"):
        read_statements(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("folder")
    with pytest.raises(FormatError, match="empty archive"):
        read_statements(path)


def test_many_files(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("odd,other_1,other_2,rater\nvan,bus,car,r\n")
    (tmp_path / "2.jsonl").write_text(
        '{"odd": "car", "other_1": "van", "other_2": "tram", "rater": "s"}'
    )
    (tmp_path / "readme.md").write_text("# not data")
    (tmp_path / ".hidden.csv").write_text("x")
    for path in (tmp_path, str(tmp_path / "*[0-9].*"), [tmp_path / "1.csv", tmp_path / "2.jsonl"]):
        S = read_statements(path)
        assert (named(S), S.raters.tolist()) == (ROWS, ["r", "s"])
        assert line(path).startswith("2 files: 2 statements, kind odd, 4 objects, 2 raters")
        assert [named(part) for part in scan_statements(path)] == [[ROWS[0]], [ROWS[1]]]
    (tmp_path / "3.csv").write_text("anchor,near,far\na,b,c\n")
    with pytest.raises(FormatError, match=r"kind odd, but .* of kind closer"):
        read_statements(tmp_path)
    with pytest.raises(FormatError, match="no file matches the pattern"):
        read_statements(str(tmp_path / "x*.csv"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"contains no statement files; .* \.csv"):
        read_statements(tmp_path / "empty")


def test_integer_names_of_many_files_are_ordered_by_number(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("10,9,100\n")
    (tmp_path / "2.csv").write_text("2,9,100\n")
    assert read_statements(tmp_path).names == ("2", "9", "10", "100")


def test_json_as_pandas_writes_it(tmp_path: Path) -> None:
    import pandas as pd

    n = 5_000
    frame = pd.DataFrame(
        {name: [f"o{(i + 7 * j) % 50}" for i in range(n)] for j, name in enumerate(RECORDS[0])}
    )
    expected = frame.to_numpy().tolist()
    for orient in ("columns", "records", "split", "values"):
        frame.to_json(tmp_path / "s.json", orient=orient)
        start = time.process_time()
        S = read_statements(tmp_path / "s.json", kind="odd")
        assert time.process_time() - start < 2
        assert named(S) == expected
    frame.to_json(tmp_path / "s.json", orient="index")
    assert named(read_statements(tmp_path / "s.json")) == expected
    frame[:3].to_json(tmp_path / "s.json", orient="columns")
    assert named(read_statements(tmp_path / "s.json")) == expected[:3]
