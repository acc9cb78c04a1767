from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from trilens.simulate import mixture, simulate_statements


@pytest.fixture(scope="module")
def S() -> tl.Statements:
    drawn = mixture(30, [[0, 0], [9, 0]], random_state=1)
    found = simulate_statements(drawn.points, 3000, random_state=2)
    return tl.Statements(found.triples, 30, [f"o{i}" for i in range(30)])


@pytest.mark.parametrize(
    ("estimator", "found"),
    [
        (lambda: tl.LensDepthOutlierDetector(0.2), "labels_"),
        (lambda: tl.KRNGClustering(2, random_state=0), "labels_"),
        (lambda: tl.LensMap(2, random_state=0), "embedding_"),
    ],
)
def test_part_by_part_is_the_whole(S: tl.Statements, estimator, found: str) -> None:
    whole = getattr(estimator().fit(S), found)
    model = estimator()
    for rows in np.split(np.arange(3000), [100, 2000]):
        model.partial_fit(S.take(rows))
    assert np.array_equal(getattr(model, found), whole)
    model = estimator().fit(S.take(np.arange(1000)))
    count = tl.count_central if found == "labels_" and hasattr(model, "offset_") else tl.count_pairs
    model.partial_fit(count(S.take(np.arange(1000, 3000))))
    assert np.array_equal(getattr(model, found), whole)
    assert not np.array_equal(model.counts_.appears, 0)
    model.fit(S)  # starts anew
    assert np.array_equal(getattr(model, found), whole)
