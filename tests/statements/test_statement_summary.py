from __future__ import annotations

from collections import Counter
from math import comb

import numpy as np
from hypothesis import given

import drawn
from trilens.statements import Statements


@given(drawn.statements(max_objects=5))
def test_repeats_and_contradictions(S):
    answers = {}
    for a, b, c in S.triples.tolist():
        closer = S.kind == "closer"
        key = (a, *sorted((b, c))) if closer else tuple(sorted((a, b, c)))
        answers.setdefault(key, []).append(b if closer else a)
    facts = S.summary().to_dict()
    assert facts["triples_covered"] == len(answers)
    assert facts["repeated_triples"] == sum(len(given) > 1 for given in answers.values())
    assert facts["contradictory_triples"] == sum(len(set(g)) > 1 for g in answers.values())
    possible = comb(S.n_objects, 3) * (3 if S.kind == "closer" else 1)
    assert facts["triples_possible"] == possible
    assert np.isclose(facts["coverage_percent"], 100 * len(S) / possible)
    seen = Counter(S.triples.ravel().tolist())
    assert facts["appearances"]["max"] == max(seen.values(), default=0)
    assert facts["appearances"]["min"] == min(seen[x] for x in range(S.n_objects))


def test_raters():
    S = Statements(
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [3, 0, 1]],
        raters=["x", "y", "z", "x"],
        seconds=[1.0, 2.0, 4.0, 3.0],
        kind="central",
    )
    x, y, z = S.summary().raters
    assert (x.rater, x.statements, x.median_seconds) == ("x", 2, 2.0)
    # on the triple 0 1 2, x and y say 0 and z says 1; nobody else was asked about 0 1 3
    assert (x.agreement, y.agreement, z.agreement) == (0.5, 0.5, 0.0)


def test_chosen_questions_do_not_count_for_agreement():
    both = [[0, 1, 2], [1, 2, 3]]
    S = Statements(
        [*both, both[0], [2, 1, 3]],
        raters=["x", "x", "y", "y"],
        chosen=[False, True, False, True],
        kind="central",
    )
    assert [rater.agreement for rater in S.summary().raters] == [1.0, 1.0]
    assert [rater.statements for rater in S.summary().raters] == [2, 2]
    # where all were chosen nothing is known
    S = Statements(S.triples, raters=S.raters, chosen=[True] * 4, kind="central")
    assert [rater.agreement for rater in S.summary().raters] == [None, None]


def test_a_rater_alone_has_no_agreement():
    summary = Statements([[0, 1, 2], [1, 0, 2]], raters=[7, 7], kind="central").summary()
    assert summary.raters[0].agreement is None
    assert summary.raters[0].rater == "7"


def test_nothing_at_all():
    facts = Statements([]).summary().to_dict()
    assert facts["statements"] == facts["objects"] == facts["triples_possible"] == 0
    assert facts["coverage_percent"] == 0.0


def test_very_many_objects_do_not_overflow():
    S = Statements([[0, 1, 2_500_000], [2_500_000, 1, 0], [2_499_999, 1, 0]], kind="central")
    assert S.summary().contradictory_triples == 1
    assert S.summary().triples_covered == 2
