"""What a graph of nearest neighbors says, as statements."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from trilens.errors import ParameterError, StatementError
from trilens.simulate import neighbor_statements


def test_every_statement_is_true_and_there_are_no_others():
    X = np.random.default_rng(0).normal(size=(14, 2))
    D = cdist(X, X)
    rank = D.argsort(axis=1).argsort(axis=1)
    near = (rank > 0) & (rank < 4)
    S = neighbor_statements(csr_array(near.astype(int)))
    assert S.kind == "closer"
    expected = {
        (v, a, b) for v, a, b in permutations(range(14), 3) if near[v, a] and not near[v, b]
    }
    rows = list(map(tuple, S.triples.tolist()))
    assert set(rows) == expected
    assert len(rows) == len(expected) == 14 * 3 * 10
    v, a, b = S.triples.T
    assert (D[v, a] < D[v, b]).all()
    # a part is drawn without replacement
    part = set(map(tuple, neighbor_statements(near, 100, random_state=3).triples.tolist()))
    assert len(part) == 100
    assert part < expected
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
