"""Maps by their names, and their number of dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.errors import ParameterError
from trilens.maps.registry import MAPS, coordinates, dimensions
from trilens.questions.medoid import medoid
from trilens.simulate import simulate_statements
from trilens.statements import Statements

POINTS = np.random.default_rng(3).normal(size=(12, 2))
S = simulate_statements(POINTS, 150, random_state=4)


@pytest.mark.parametrize("method", [name for name in MAPS if name != "lensmap"])
def test_progress_of_every_iterative_map_grows_to_one(method):
    shares: list[float] = []
    coordinates(S, method, progress=shares.append)
    assert shares == sorted(shares)
    assert len(set(shares)) > 3
    assert 0 < shares[0] < 0.5
    assert shares[-1] == max(shares) == 1


def test_the_lens_map_has_one_step():
    shares: list[float] = []
    coordinates(S, "lensmap", progress=shares.append)
    assert shares == [1.0]


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


def test_an_unknown_map_is_told_the_known_ones():
    with pytest.raises(ParameterError, match="method is 'nonsense'; it must be one of choice, "):
        coordinates(S, "nonsense")


def test_one_question_has_a_choice_map():
    same = Statements([[0, 1, 2]] * 5, n_objects=4, kind="central")
    found = coordinates(same, "choice", "cv")
    assert len(found) == 4
    assert np.isfinite(found).all()
    assert medoid(same).name == "0"
