"""Maps by their names."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.errors import ParameterError
from trilens.maps.registry import MAPS, coordinates, make_map
from trilens.simulate import gaussian, simulate_statements


@pytest.fixture(scope="module")
def statements():
    return simulate_statements(gaussian(20, 2, random_state=0), 600, random_state=1)


@pytest.mark.parametrize("method", MAPS)
def test_coordinates_are_those_of_the_estimator_and_progress_moves(method, statements):
    shares: list[float] = []
    found = coordinates(statements, method, 2, 3, progress=shares.append)
    np.testing.assert_array_equal(found, make_map(method, 2, 3).fit_transform(statements))
    assert found.shape == (20, 2)
    assert shares[-1] == 1
    assert shares == sorted(shares)
    if method != "lensmap":
        assert len(shares) > 5


def test_an_unknown_map_is_refused():
    with pytest.raises(ParameterError, match="a map is one of choice, lensmap, soe"):
        make_map("pca")
