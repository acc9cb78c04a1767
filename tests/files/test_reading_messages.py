"""What is said of files that are not what they were taken for."""

from __future__ import annotations

import openpyxl
import pandas as pd
import pytest

import trilens as tl
from trilens.errors import FormatError, TrilensError
from trilens.files import read_features, read_statements


@pytest.mark.parametrize("name", ["clip.npz", "clip.npy", "clip.csv"])
def test_features_that_are_not_there(tmp_path, name):
    with pytest.raises(FormatError) as caught:
        read_features(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: no such file; check the path"


def test_answers_on_another_sheet(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "info"
    book.active.append(["a study of cars"])
    sheet = book.create_sheet("answers")
    for row in (["odd", "other_1", "other_2"], ["van", "bus", "car"], ["car", "bus", "van"]):
        sheet.append(row)
    book.save(tmp_path / "study.xlsx")
    with pytest.raises(FormatError, match=r"sheet info .*study\.xlsx::answers"):
        read_statements(tmp_path / "study.xlsx")
    assert len(read_statements(f"{tmp_path / 'study.xlsx'}::answers")) == 2
    book["info"].delete_rows(1)
    book.save(tmp_path / "study.xlsx")
    with pytest.raises(FormatError, match=r"sheet info .*study\.xlsx::answers"):
        read_statements(tmp_path / "study.xlsx")


@pytest.mark.parametrize("header", ["object,label", "name;class", "item,category"])
def test_a_file_of_labels(tmp_path, header):
    between = ";" if ";" in header else ","
    rows = [between.join(row) for row in (("van", "road"), ("ship", "sea"), ("car", "road"))]
    (tmp_path / "labels.csv").write_text("\n".join([header, *rows]))
    with pytest.raises(FormatError, match=r"is a file of labels, .*labels=") as caught:
        read_statements(tmp_path / "labels.csv")
    assert "without a header" not in str(caught.value)


@pytest.mark.parametrize("table", [pd.DataFrame(), {}])
def test_a_table_without_columns(table):
    with pytest.raises(TrilensError, match="the table is empty"):
        tl.Statements(table)
