from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import drawn
from trilens.errors import KindError, StatementError
from trilens.statements import Statements
from trilens.tasks.medoid import medoid, relative_error

import reference


@given(drawn.statements(kinds=["central", "odd"]))
def test_the_medoid_has_the_highest_centrality(S):
    score = reference.centrality(S.triples, S.n_objects, S.kind)
    found = medoid(S)
    best = np.flatnonzero(score == score.max()).tolist()
    assert found.index == best[0]
    assert found.depth == score.max()
    assert found.tied == tuple(S.names[x] for x in best[1:])


def test_no_objects_no_medoid():
    with pytest.raises(StatementError, match="no objects"):
        medoid([])


def test_similarity_triplets_have_no_depth_but_a_map():
    S = Statements([[0, 1, 2]], kind="closer")
    with pytest.raises(KindError, match="lensmap"):
        medoid(S)


def test_relative_error_of_the_true_medoid_is_zero():
    assert relative_error(1, np.array([3.0, 2.0, 5.0])) == 0
