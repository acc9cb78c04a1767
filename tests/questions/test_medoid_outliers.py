from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import drawn
from trilens.counts import count_central
from trilens.errors import StatementError
from trilens.questions.medoid import medoid, relative_error
from trilens.statements import Statements

import reference


@given(drawn.statements())
def test_the_medoid_has_the_highest_centrality(S):
    score = reference.centrality(S.triples, S.n_objects, S.kind)
    found = medoid(S, "depth")
    # of those that tie, the one with the most answers
    best = np.flatnonzero(score == score.max())
    best = best[np.argsort(-S.appearances[best], kind="stable")].tolist()
    assert found.index == best[0]
    assert found.depth == score.max()
    assert found.tied == tuple(S.names[x] for x in best[1:])


#: Objects 1 and 3 are always the most central, 1 in one answer and 3 in two.
TIED = [[1, 0, 2], [3, 0, 2], [3, 4, 5]]


def test_ties_go_by_the_number_of_answers():
    found = medoid(Statements(TIED, kind="central"), "depth")
    assert (found.name, found.tied) == ("3", ("1",))
    again = medoid(count_central(Statements(TIED, kind="central")))
    assert (again.name, again.tied) == ("3", ("1",))


def test_no_objects_no_medoid():
    with pytest.raises(StatementError, match="no objects"):
        medoid([])


def test_relative_error_of_the_true_medoid_is_zero():
    assert relative_error(1, np.array([3.0, 2.0, 5.0])) == 0
