"""Hints about tables in memory can be followed where they are given."""

from __future__ import annotations

import pandas as pd
import pytest

import trilens as tl
from trilens.errors import ParameterError, TrilensError

FRAME = pd.DataFrame(
    {
        "x": ["a", "b", "c", "d"] * 6,
        "y": ["b", "c", "d", "a"] * 6,
        "z": ["c", "d", "a", "b"] * 6,
        "w": ["a", "c", "a", "d"] * 6,
    }
)
COLUMNS = "chosen=w,shown_1=x,shown_2=y,shown_3=z"


def test_statements_take_the_columns_that_are_asked_for():
    line = r"x \(a, b, c\), .*: fill in columns='chosen=\?,other_1=\?,.*,rater=\?'"
    with pytest.raises(TrilensError, match=line):
        tl.Statements(FRAME)
    S = tl.Statements(FRAME, columns=COLUMNS, kind="odd")
    assert tl.Answers(FRAME, columns=COLUMNS, kind="odd").read() == S
    with pytest.raises(TrilensError) as caught:
        tl.medoid(FRAME)
    assert "trilens.Statements(table, columns=..., kind=...)" in caught.value.__notes__[0]
    with pytest.raises(ParameterError, match="only a table has columns"):
        tl.Statements([("a", "b", "c")], columns=COLUMNS)


def test_a_rater_that_is_not_a_number_is_nobody(tmp_path):
    rows = [("a", "b", "c"), ("b", "a", "c")]
    file = tmp_path / "a.csv"
    file.write_text("central,other_1,other_2,rater\na,b,c,nan\nb,a,c,x\n")
    told = tl.read_statements(file).raters.tolist()
    assert (
        told
        == tl.Statements(rows, raters=["nan", "x"], kind="central").raters.tolist()
        == ["", "x"]
    )
    assert tl.Statements(rows, raters=[float("nan"), "x"], kind="central").raters.tolist() == told
    frame = {"central": ["a", "b"], "other_1": ["b", "a"], "other_2": ["c", "c"]}
    assert tl.Statements(frame | {"rater": ["NaN", "x"]}).raters.tolist() == told
