"""Files as people have them: what columns are called, headers, positions, ids, bad rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trilens.errors import FormatError, StatementError
from trilens.files import Reading, read_statements, scan_statements, write_statements
from trilens.statements import Statements
from trilens.statements.roles import NAMES, role_of


@pytest.fixture
def understood(tmp_path: Path):
    def understood(content: str | bytes, ending: str = ".csv", **options: Any) -> Reading:
        path = tmp_path / f"s{ending}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        told: list[Reading] = []
        read_statements(path, tell=told.append, **options)
        return told[0]

    return understood


def test_one_name_one_role() -> None:
    for role, names in NAMES.items():
        for name in names:
            expected = "round" if role == "round" and name != "session" else role
            found = role_of(name)
            assert found == expected or name == "session", name
    assert role_of("colour") is None
    assert role_of("a") is None


BAD = (
    "odd,other_1,other_2,rt\na,b,c,1\na,b,b,1\n\nb,NA,c,1\na,b\nb,a,c,soon\n"
    "b,c,a,2\nc,c,a,2\na,b,c,d,e\n"
)


def test_bad_rows_are_written_to_a_file(tmp_path: Path, understood) -> None:
    path = tmp_path / "bad.csv"
    assert "6 bad rows skipped" in str(understood(BAD, skip_bad=path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["row"] for row in rows] == ["3", "5", "6", "7", "9", "10"]
    assert [row["objects"] for row in rows[:2]] == ["a,b,b", "b,NA,c"]


def test_only_ten_bad_rows_are_named(understood) -> None:
    found = understood("a,b,c\n" + "a,a,b\n" * 17 + "c,b,a\n", skip_bad=True)
    assert len(found.named_faults()) == 11
    assert found.named_faults()[-1] == "and 7 more bad rows"
    assert found.named_faults()[0].endswith("row 2: object 'a' appears twice in one statement")


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet", ".npz", ".arrow"])
def test_bad_rows_of_tables(tmp_path: Path, ending: str) -> None:
    import json

    import pyarrow as pa
    import pyarrow.feather as pf
    import pyarrow.parquet as pq

    rows = [[0, 1, 2], [0, 0, 2], [2, 1, 0]]
    columns = dict(zip(("odd", "other_1", "other_2"), np.array(rows).T.tolist(), strict=True))
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    path = tmp_path / f"s{ending}"
    if ending == ".npz":
        np.savez(path, triples=np.array(rows), kind=np.array("odd"))
    elif ending == ".parquet":
        pq.write_table(pa.table(columns), path)
    elif ending == ".arrow":
        pf.write_feather(pa.table(columns), path)
    else:
        lines = "\n".join(map(json.dumps, records))
        path.write_text(json.dumps(records) if ending == ".json" else lines)
    with pytest.raises(StatementError, match=r"row 2: object '?0'? appears twice"):
        read_statements(path)
    told: list[Reading] = []
    S = read_statements(path, skip_bad=True, tell=told.append)
    assert (S.kind, S.triples.tolist()) == ("odd", [[0, 1, 2], [2, 1, 0]])
    assert [fault.row for fault in told[0].faults] == [2]
    assert sum(map(len, scan_statements(path, skip_bad=True))) == 2


def test_things_with_their_names(data_dir: Path) -> None:
    things = data_dir / "things"
    S = read_statements(things / "test_10.txt", preset="things", objects=things / "unique_id.txt")
    assert (len(S), S.kind, S.n_objects, S.names[0]) == (50_000, "odd", 1854, "aardvark")
    rows = np.loadtxt(things / "test_10.txt", dtype=int)
    np.testing.assert_array_equal(S.triples, rows[:, [2, 0, 1]])


def test_objects_that_are_called_as_columns_are(tmp_path: Path) -> None:
    names = ["odd", "other_1", "other_2", "rater"]
    S = Statements([[1, 0, 2], [0, 1, 3]], names=names, kind="odd")
    same = Statements([[1, 0, 2], [0, 1, 2]], names=names, kind="odd")
    for ending in ("csv", "tsv", "txt", "jsonl"):
        file = tmp_path / f"a.{ending}"
        write_statements(S, file)
        back = read_statements(file)
        assert [[back.names[i] for i in row] for row in back.triples] == [
            ["other_1", "odd", "other_2"],
            ["odd", "other_1", "rater"],
        ]
        if ending != "jsonl":
            with pytest.raises(FormatError, match=r"statement 2 is odd.*\.parquet or \.jsonl"):
                write_statements(same, file)
    rated = Statements([[0, 1, 2]], names=names[:3], kind="odd", raters=["w1"])
    write_statements(rated, tmp_path / "rated.csv")
    assert read_statements(tmp_path / "rated.csv").raters.tolist() == ["w1"]
    write_statements(same, tmp_path / "same.jsonl")
    assert len(read_statements(tmp_path / "same.jsonl")) == 2
