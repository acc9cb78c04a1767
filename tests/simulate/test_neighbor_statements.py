"""What a graph of nearest neighbors says, as statements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from trilens.errors import ParameterError, StatementError
from trilens.simulate import neighbor_statements


@pytest.fixture
def cloud():
    X = np.random.default_rng(0).normal(size=(14, 2))
    D = cdist(X, X)
    near = np.zeros((14, 14), dtype=int)
    order = (D + np.diag(np.full(14, np.inf))).argsort(axis=1)[:, :3]
    np.put_along_axis(near, order, 1, axis=1)
    return D, near


def test_every_statement_is_true_and_there_are_no_others(cloud):
    D, near = cloud
    S = neighbor_statements(csr_array(near))
    assert S.kind == "closer"
    expected = {
        (v, a, b)
        for v in range(14)
        for a in range(14)
        for b in range(14)
        if len({v, a, b}) == 3 and near[v, a] and not near[v, b]
    }
    rows = list(map(tuple, S.triples.tolist()))
    assert set(rows) == expected
    assert len(rows) == len(expected) == 14 * 3 * 10
    v, a, b = S.triples.T
    assert (D[v, a] < D[v, b]).all()


def test_a_part_is_drawn_without_replacement(cloud):
    _, near = cloud
    S = neighbor_statements(near, 100, random_state=3)
    assert len({tuple(row) for row in S.triples.tolist()}) == 100
    every = {tuple(row) for row in neighbor_statements(near).triples.tolist()}
    assert {tuple(row) for row in S.triples.tolist()} < every
    assert len(neighbor_statements(near, 420)) == 420
    with pytest.raises(ParameterError, match="from 0 to 420"):
        neighbor_statements(near, 421)


def test_objects_without_neighbours_and_with_all_of_them():
    near = np.zeros((4, 4), dtype=bool)
    near[1] = [True, False, True, True]
    near[3, 0] = True
    S = neighbor_statements(near, names=list("abcd"))
    assert S.triples.tolist() == [[3, 0, 1], [3, 0, 2]]
    assert S.names == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("graph", "error", "said"),
    [
        ([[0, 1]], ParameterError, r"\(n, n\) array"),
        ([[0, 1], [1]], ParameterError, r"\(n, n\) array"),
        ([[1, 0], [1, 0]], StatementError, "object 0 is marked as its own neighbor"),
        ([[0, np.nan], [1, 0]], ParameterError, "not finite numbers"),
    ],
)
def test_what_is_no_graph(graph, error, said):
    with pytest.raises(error, match=said):
        neighbor_statements(graph)
