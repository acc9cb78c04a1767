"""Graphs as files."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from trilens.files.graph import write_graph


def test_graphml_replaces_what_xml_cannot_hold(tmp_path):
    graph = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    write_graph(graph, ["\ud800", "b"], tmp_path / "x.graphml")
    assert "\N{REPLACEMENT CHARACTER}" in (tmp_path / "x.graphml").read_text(encoding="utf-8")
