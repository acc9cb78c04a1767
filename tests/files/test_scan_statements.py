"""Scanning: chunks of one or several files with one set of objects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trilens.counts.partition import Plan, each_batch, partitions
from trilens.errors import FormatError, ParameterError, StatementError
from trilens.files import read, read_statements, scan_statements, write_statements
from trilens.statements import Statements, concatenate


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "BLOCK_BYTES", 16)


def test_files_share_their_objects(tmp_path: Path) -> None:
    (tmp_path / "a1.csv").write_text("30,10,20\n10,20,40\n20,30,40\n")
    (tmp_path / "a2.csv").write_text("central,other_1,other_2,round\n5,10,20,1\n")
    found = scan_statements(str(tmp_path / "a*.csv"), chunk_rows=2)
    assert (found.names, found.n_objects, found.kind) == (
        ("5", "10", "20", "30", "40"),
        5,
        "central",
    )
    for _ in range(2):
        chunks = list(found)
        assert [len(chunk) for chunk in chunks] == [2, 1, 1]
        assert {chunk.names for chunk in chunks} == {found.names}
    whole = concatenate(
        [read_statements(tmp_path / "a1.csv"), read_statements(tmp_path / "a2.csv")]
    )
    names = [[found.names[i] for i in row] for chunk in found for row in chunk.triples]
    assert names == [[whole.names[i] for i in row] for row in whole.triples]
    listed = scan_statements([tmp_path / "a1.csv", tmp_path / "a2.csv"])
    assert listed.names == found.names


def test_listed_objects_need_no_first_pass(tmp_path: Path) -> None:
    rows = "central,other_1,other_2,rater\n" + "30,10,20,A\n" * 9 + "10,30,20,B 01\n" * 3
    (tmp_path / "s.csv").write_text(rows)
    found = scan_statements(tmp_path / "s.csv", chunk_rows=5, objects=["20", "10", "30"])
    chunks = list(found)
    assert [len(chunk) for chunk in chunks] == [5, 5, 2]
    joined = np.concatenate([chunk.triples for chunk in chunks])
    assert joined.tolist() == [[2, 1, 0]] * 9 + [[1, 2, 0]] * 3
    raters = np.concatenate([chunk.raters for chunk in chunks])
    assert raters.tolist() == ["A"] * 9 + ["B 01"] * 3


@pytest.mark.parametrize("ending", [".csv", ".txt", ".csv.gz", ".jsonl", ".parquet", ".arrow"])
def test_rows_are_the_files_own(tmp_path: Path, ending: str) -> None:
    triples = [[0, 1, 2]] * 50
    S = Statements(triples, names=["a b", 'c"\nd', "e"], kind="central")
    write_statements(S, tmp_path / f"s{ending}")
    short = scan_statements(tmp_path / f"s{ending}", objects=["a b", 'c"\nd'])
    first = {".jsonl": 1, ".parquet": 1, ".arrow": 1}.get(ending, 2)
    with pytest.raises(StatementError, match=f", row {first}: object 'e' is not in the list"):
        list(short)


def test_row_in_a_later_block(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes(b"1,2,3\r\n\r\n" * 20 + b"4,5,4\r\n")
    with pytest.raises(StatementError, match="row 41: object '4' appears twice"):
        list(scan_statements(tmp_path / "s.csv"))


def test_mixed_sources(tmp_path: Path) -> None:
    write_statements(
        Statements([[0, 1, 2]], names=["a", "b", "c", "unseen"], kind="central"), tmp_path / "1.npz"
    )
    write_statements(
        Statements([[0, 1, 2]], names=["d", "b", "a"], kind="central"), tmp_path / "2.parquet"
    )
    (tmp_path / "3.csv").write_text("e,a,b\n")
    found = scan_statements(str(tmp_path / "*"))
    assert found.names == ("a", "b", "c", "unseen", "d", "e")
    assert [chunk.triples.tolist() for chunk in found] == [[[0, 1, 2]], [[4, 1, 0]], [[5, 0, 1]]]


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("odd,other_1,other_2\n1,2,3\n")
    (tmp_path / "3.csv").write_text("left,middle,right\n1,2,3\n")
    with pytest.raises(ParameterError, match="chunk_rows is 0"):
        scan_statements(tmp_path / "1.csv", chunk_rows=0)
    with pytest.raises(ParameterError, match="give at least one"):
        scan_statements([])
    for objects in (None, ["1", "2", "3"]):
        with pytest.raises(FormatError, match="looks like a header"):
            scan_statements(tmp_path / "3.csv", objects=objects)
    (tmp_path / "4.csv").write_text("central,other_1,other_2\n")
    for objects in (None, ["1", "2", "3"]):
        with pytest.raises(FormatError, match="no statements"):
            list(scan_statements(tmp_path / "4.csv", objects=objects))


def test_a_streamed_rater_is_the_name_of_the_file(tmp_path: Path) -> None:
    for name in ("P1", "P2"):
        (tmp_path / f"{name}.csv").write_text("odd,other_1,other_2\n0,1,2\n")
    plan = replace(Plan.of(rater_from_name=True), n_objects=3)
    parts = [each_batch(part, plan, raters=True) for part in partitions(tmp_path, True)]
    assert [batch[2].tolist() for part in parts for batch in part] == [["P1"], ["P2"]]
