"""What is found does not depend on the order of the answers, nor on that of the objects."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl


def _by_name(names, values):
    return dict(zip(names, np.asarray(values).tolist(), strict=True))


@pytest.mark.parametrize("raters", [True, False])
def test_reliability(raters) -> None:
    S = tl.simulate.study(20, 500, n_raters=10, random_state=1).statements
    S = tl.Statements(S.triples, 20, S.names, raters=S.raters if raters else None, kind="central")
    rng = np.random.default_rng(2)
    T = S.take(rng.permutation(len(S))).subset(rng.permutation(20))
    one, other = (tl.reliability(each) for each in (S, T))
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize("method", ["krng", "lensmap"])
def test_groups_of_counts_have_the_numbers_of_groups_of_statements(method) -> None:
    S = tl.simulate.study(n_statements=3000).statements
    shuffled = S.take(np.random.default_rng(1).permutation(len(S))).subset(np.arange(60)[::-1])
    every = tl.cluster(S, 3, method)
    for T in (S, shuffled):
        counted = tl.cluster(tl.count_pairs(T), 3, method)
        assert _by_name(counted.names, counted.labels) == _by_name(every.names, every.labels)
