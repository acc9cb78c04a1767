"""Maps by their names, and their number of dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.errors import ParameterError
from trilens.maps.registry import MAPS, coordinates, dimensions
from trilens.simulate import simulate_statements

POINTS = np.random.default_rng(3).normal(size=(12, 2))
S = simulate_statements(POINTS, 150, random_state=4)


@pytest.mark.parametrize("method", MAPS)
def test_progress_of_every_map_grows_to_one(method):
    shares: list[float] = []
    coordinates(S, method, progress=shares.append)
    if method == "lensmap":  # it has one step
        assert shares == [1.0]
        return
    assert shares == sorted(shares)
    assert len(set(shares)) > 3
    assert 0 < shares[0] < 0.5
    assert shares[-1] == max(shares) == 1


@pytest.mark.parametrize("method", MAPS)
def test_a_random_state_of_numpys_old_kind(method):
    quick = {} if method == "lensmap" else {"max_iter": 20}
    again = [coordinates(S, method, 2, np.random.RandomState(5), **quick) for _ in "ab"]
    assert np.array_equal(*again)


def test_dimensions_are_at_most_those_that_objects_span():
    assert [dimensions(d, 4) for d in (None, 1, 3, 9)] == [2, 1, 3, 3]
    assert dimensions(None, 1) == 1
    with pytest.raises(ParameterError, match=r"n_components is 1\.5"):
        dimensions(1.5, 4)
    with pytest.raises(ParameterError, match="method is 'nonsense'; it must be one of choice, "):
        coordinates(S, "nonsense")
