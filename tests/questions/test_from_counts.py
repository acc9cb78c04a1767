"""Counts in place of statements, where they suffice (the paper's Sections 4.1 and 4.2)."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.counts import count_central
from trilens.errors import ParameterError, StatementError
from trilens.questions.medoid import medoid
from trilens.questions.outliers import LensDepthOutlierDetector, outliers
from trilens.simulate import gaussian, simulate_statements


@pytest.fixture(scope="module", params=["central", "odd", "closer"])
def both(request):
    S = simulate_statements(gaussian(40, random_state=0), 4000, kind=request.param, random_state=1)
    half = len(S) // 2
    parts = [S.take(range(half)), S.take(range(half, len(S)))]
    return S, sum(count_central(part) for part in parts)


def test_the_medoid_of_counts(both):
    S, counts = both
    found, expected = medoid(counts), medoid(S, "depth")
    assert (found.index, found.depth, found.method) == (expected.index, expected.depth, "depth")
    assert found.candidates == expected.candidates
    assert np.array_equal(found.scores, expected.scores)


def test_the_outliers_of_counts(both):
    S, counts = both
    found, expected = outliers(counts, 5), outliers(S, 5, method="depth")
    assert found.names == expected.names
    assert np.array_equal(found.depths, expected.depths)
    assert "counts do not say which objects" in found.caution
    assert len(outliers(counts)) == 0
    for contamination in (0.1, "auto"):
        detector = LensDepthOutlierDetector(contamination)
        expected = detector.fit(S).labels_.copy()
        assert np.array_equal(detector.fit(counts).labels_, expected)


def test_what_counts_do_not_tell(both):
    _, counts = both
    with pytest.raises(ParameterError, match="choice needs the statements"):
        medoid(counts, "choice")
    with pytest.raises(ParameterError, match="soe needs the statements"):
        outliers(counts, 3, method="soe")
    with pytest.raises(ParameterError, match="medoids of classes need the statements"):
        medoid(counts, labels=[0] * 40)
    with pytest.raises(StatementError, match="no objects"):
        medoid(count_central(np.empty((0, 3), dtype=int)))
