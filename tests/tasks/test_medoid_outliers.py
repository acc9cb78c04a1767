from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import drawn
from trilens.errors import StatementError
from trilens.tasks.medoid import medoid, relative_error

import reference


@given(drawn.statements())
def test_the_medoid_has_the_highest_centrality(S):
    score = reference.centrality(S.triples, S.n_objects, S.kind)
    found = medoid(S, "depth")
    best = np.flatnonzero(score == score.max()).tolist()
    assert found.index == best[0]
    assert found.depth == score.max()
    assert found.tied == tuple(S.names[x] for x in best[1:])


def test_no_objects_no_medoid():
    with pytest.raises(StatementError, match="no objects"):
        medoid([])


def test_relative_error_of_the_true_medoid_is_zero():
    assert relative_error(1, np.array([3.0, 2.0, 5.0])) == 0
