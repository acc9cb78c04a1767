"""Every result is a table too."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl


@pytest.fixture(scope="module")
def drawn():
    points = tl.simulate.mixture(20, means=[[0, 0], [8, 0]], random_state=0)
    S = tl.simulate_statements(points, 1000, random_state=1)
    named = tl.Statements(S.triples, names=[f"o{i}" for i in range(20)], kind="central")
    return named, [None if i < 3 else str(c) for i, c in enumerate(points.labels)]


@pytest.fixture(scope="module")
def groups(drawn):
    return tl.cluster(drawn[0], 2, "lensmap")


def test_every_result_has_to_frame(drawn, groups):
    S, y = drawn
    for first, result in (("fact", S.summary()), ("object", tl.depth_intervals(S))):
        frame = result.to_frame()
        assert frame.columns[0] == first
        assert len(frame) > 0
        assert result._repr_html_().startswith("<table>")
    for result in (
        tl.medoid(S, "depth"),
        tl.outliers(S, 3, method="depth"),
        groups,
        tl.classify(S, y, "lensmap"),
        tl.neighbors(S, 3, "krng"),
    ):
        assert len(result.to_frame()) > 0


def test_groups_are_counted_from_1_in_tables_and_begin_with_their_medoid(groups):
    assert set(groups.to_frame()["label"]) == {"1", "2"}
    assert [group.name for group in groups.groups] == ["1", "2"]
    assert set(np.unique(groups.labels)) == {0, 1}
    for group in groups.groups:
        assert group.objects[0] == group.medoid
        assert len(group.objects) == group.size


@pytest.mark.slow
def test_an_analysis_is_a_table_of_the_objects(drawn):
    S, y = drawn
    frame = tl.analyze(S, y, n_clusters=2).to_frame()
    assert list(frame["object"]) == list(S.names)
    assert set(frame["group"]) == {1, 2}
