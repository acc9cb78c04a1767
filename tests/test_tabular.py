"""Every result is a table, and shows itself in two lines."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import trilens as tl
from trilens._tabular import MOST_ROWS, table

S = tl.Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3]], names=["<b>", "a", "c", "d"], kind="central")


@pytest.mark.parametrize(
    "result",
    [
        tl.medoid(S),
        tl.outliers(S, n=2),
        tl.cluster(S, 2),
        tl.depth_intervals(S),
        tl.classify(S, ["x", "y", None, "x"], "lensmap"),
        tl.neighbors(S, 2, "krng"),
        S.summary(),
    ],
    ids=lambda r: type(r),
)
def test_results_are_tables(result):
    frame = result.to_frame()
    assert list(frame) == list(result.columns())
    assert len(frame) > 0
    html = result._repr_html_()
    assert html.startswith("<table>")
    assert "<b>" not in html


@pytest.mark.parametrize("ask", [tl.medoid, tl.outliers, tl.cluster, tl.reliability, tl.hierarchy])
def test_results_show_themselves_in_two_lines(ask):
    first, second = repr(ask(S)).splitlines()
    assert first.startswith(type(ask(S)).__name__)
    assert ".to_frame()" in second
    assert max(len(first), len(second)) <= 220
    assert re.search(r"\w…|…\w", first + second) is None, "cut inside a word"


def test_a_summary_is_a_table():
    lines = repr(S.summary()).splitlines()
    assert lines[0].split() == ["fact", "value"]
    assert lines[2].split() == ["statements", "3"]
    assert len({len(line) for line in lines}) == 1


def test_groups_are_counted_from_1_in_tables_and_begin_with_their_medoid():
    points = tl.simulate.mixture(20, means=[[0, 0], [8, 0]], random_state=0)
    found = tl.cluster(tl.simulate_statements(points, 1000, random_state=1), 2, "lensmap")
    assert set(found.to_frame()["label"]) == {"1", "2"}
    assert [group.name for group in found.groups] == ["1", "2"]
    assert set(np.unique(found.labels)) == {0, 1}
    for group in found.groups:
        assert group.objects[0] == group.medoid
        assert len(group.objects) == group.size


def test_an_analysis_is_a_table_of_the_objects():
    frame = tl.analyze(S, n_clusters=2).to_frame()
    assert list(frame["object"]) == list(S.names)
    assert set(frame["group"]) == {1, 2}


def test_without_pandas_the_way_to_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(tl.errors.MissingExtraError, match=r"trilens\[pandas\]"):
        tl.medoid(S).to_frame()


def test_table_for_notebooks():
    html = table(["<h>"], [["<script>"], [None], [1234], [True], [0.5]], caption="a & b")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "1,234" in html
    assert "0.500" in html
    assert "a &amp; b" in html
    assert "and 5 more" in table(["x"], [[i] for i in range(MOST_ROWS + 5)])
