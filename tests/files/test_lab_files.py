"""Files as labs have them: one per participant, workbooks, questionnaires of Qualtrics."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commandline import run
from trilens.counts.counting import count_files
from trilens.errors import FormatError, ParameterError, StatementError
from trilens.files import read_statements, scan_statements

ROWS = "odd,other_1,other_2,rt\na,b,c,812\nb,c,d,1043\nc,d,a,977\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("P01", "P02", "P 03"):
        (tmp_path / f"{name}.csv").write_text(ROWS)
    (tmp_path / "README.txt").write_text("who, what, when\n")
    return tmp_path


def test_each_file_is_a_rater(folder):
    told = []
    S = read_statements(folder, rater_from_name=True, tell=told.append)
    assert S.raters.tolist() == ["P 03"] * 3 + ["P01"] * 3 + ["P02"] * 3
    assert told[0].raters == 3
    # one note for all files
    assert str(told[0]).count("taken as ms") == 1
    assert "likewise in 2 other files" in str(told[0])
    parts = list(scan_statements(folder, chunk_rows=2, rater_from_name=True))
    assert np.concatenate([part.raters for part in parts]).tolist() == S.raters.tolist()
    shown = json.loads(run("describe", folder, "--rater-from-name", "--json").stdout)
    assert [each["rater"] for each in shown["raters"]] == ["P 03", "P01", "P02"]
    assert read_statements(folder).raters is None


def test_members_of_an_archive_in_folders_of_their_own(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for who in ("anna", "bo"):
            archive.writestr(f"study/{who}/data.csv", ROWS)
    (tmp_path / "study.zip").write_bytes(packed.getvalue())
    S = read_statements(tmp_path / "study.zip", rater_from_name=True)
    assert S.raters.tolist() == ["anna"] * 3 + ["bo"] * 3


def test_the_sheets_that_were_not_read_are_named(tmp_path):
    book = openpyxl.Workbook()
    for row in ROWS.splitlines():
        book.active.append(row.split(","))
    book.create_sheet("notes")
    book.save(tmp_path / "a.xlsx")
    told = []
    read_statements(tmp_path / "a.xlsx", tell=told.append)
    assert "read sheet Sheet; not read: notes" in str(told[0])


def test_raters_whose_names_have_commas(tmp_path):
    rows = 'odd,other_1,other_2,rater\na,b,c,"Müller, Jörg"\nb,c,d,x\nc,d,a,y\n'
    (tmp_path / "a.csv").write_text(rows)
    for given in (['"Müller, Jörg",x'], ['"Müller, Jörg"', "x"]):
        options = [word for name in given for word in ("--exclude-raters", name)]
        found = json.loads(run("describe", tmp_path / "a.csv", *options, "--json").stdout)
        assert [each["rater"] for each in found["raters"]] == ["y"]


def test_it_must_be_said_plainly(folder):
    with pytest.raises(ParameterError, match="rater_from_name is"):
        read_statements(folder, rater_from_name="yes")


def test_the_header_of_qualtrics_in_three_rows(tmp_path):
    head = "ResponseId,Image 1,Image 2,Image 3,choice\n"
    head += '"Response ID","First\npicture","b","c",Which?\n'
    ids = ",".join(f'"{{""ImportId"":""QID{i}""}}"' for i in range(5)) + "\n"
    shown = [",".join("abc"), ",".join("bcd")] * 9
    rows = "".join(f"R_{i},{three},{i % 3 + 1}\n" for i, three in enumerate(shown))
    (tmp_path / "q.csv").write_text(head + ids + rows)
    told = []
    S = read_statements(tmp_path / "q.csv", kind="odd", tell=told.append)
    assert (len(S), S.names[:3]) == (18, ("a", "b", "c"))
    assert [S.names[i] for i in S.triples[1]] == ["c", "b", "d"]
    assert "header of Qualtrics" in str(told[0])
    (tmp_path / "q.csv").write_text(head + ids + rows + "R_x,a,,c,1\n")
    with pytest.raises(StatementError, match="row 23: an empty cell"):
        read_statements(tmp_path / "q.csv", kind="odd")


def test_an_empty_typed_table_is_read_and_counted_alike(tmp_path):
    columns = {name: pa.array([], pa.string()) for name in ("odd", "other_1", "other_2")}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert len(read_statements(tmp_path / "a.parquet")) == 0
    assert count_files(tmp_path / "a.parquet").statements == 0
    (tmp_path / "a.csv").write_text("odd,other_1,other_2\n")
    for read in (read_statements, count_files):
        with pytest.raises(FormatError, match="has no statements"):
            read(tmp_path / "a.csv")


def test_bad_times_and_places_are_skipped_alike(tmp_path):
    rows = "odd,other_1,other_2,seconds,place\na,b,c,soon,1\nb,c,d,2,7\nc,d,a,-1,0\nd,a,b,2,2\n"
    (tmp_path / "a.csv").write_text(rows)
    assert len(read_statements(tmp_path / "a.csv", skip_bad=True)) == 1
    counts = count_files(tmp_path / "a.csv", skip_bad=True)
    assert (counts.statements, counts.n_skipped) == (1, 3)
