"""Maps laid over each other."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.errors import ParameterError
from trilens.maps.geometry import procrustes, procrustes_distance


def test_what_is_left_is_the_disparity():
    rng = np.random.default_rng(0)
    X, onto = rng.normal(size=(15, 3)), 40 + 5 * rng.normal(size=(15, 3))
    aligned, disparity = procrustes(X, onto)
    left = ((aligned - onto) ** 2).sum() / ((onto - onto.mean(axis=0)) ** 2).sum()
    assert disparity == pytest.approx(left) == pytest.approx(procrustes_distance(X, onto))
    # no other turn, size or place is nearer
    for other in (
        1.01 * aligned,
        aligned + 0.1,
        aligned @ np.linalg.qr(rng.normal(size=(3, 3)))[0],
    ):
        assert ((other - onto) ** 2).sum() > ((aligned - onto) ** 2).sum()


def test_maps_without_a_shape():
    point, line = np.ones((3, 1)), np.arange(3.0)[:, None]
    assert procrustes(point, line) == (pytest.approx(np.ones((3, 1))), 1.0)
    assert procrustes(line, point) == (pytest.approx(np.ones((3, 1))), 0.0)
    with pytest.raises(ParameterError, match="cannot be aligned"):
        procrustes(line, line[:2])
