from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from trilens.errors import ParameterError


@pytest.mark.parametrize(("method", "parameters"), [("choice", {"l2": 0.05}), ("soe", {})])
@pytest.mark.parametrize("dimension", [1, 3])
def test_the_dimension_of_points_is_found(method, parameters, dimension):
    points = tl.simulate.gaussian(25, dimension, random_state=2)
    S = tl.simulate_statements(points, 2000, error_rate=0.05, random_state=1)
    found = tl.estimate_dimension(S, [4, 2, 3, 1], method=method, n_folds=3, **parameters)
    assert found.n_components == dimension
    assert found.dimensions == (1, 2, 3, 4)
    assert max(found.scores) > 0.8
    frame = found.to_frame()
    assert list(frame.columns) == ["dimensions", "score", "error"]
    assert len(frame) == 4


def test_repeats_of_a_question_are_held_out_together():
    # a question has one answer only: were repeats divided, every answer would be known
    rng = np.random.default_rng(0)
    X = rng.random((12, 8))
    asked = tl.simulate_statements(rng.random((12, 8)), 60, random_state=0)
    S = tl.concatenate([tl.simulate.answer(asked, X, error_rate=1.0, random_state=1)] * 30)
    found = tl.estimate_dimension(S, [5], method="soe", n_folds=3)
    assert found.scores[0] < 0.7


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"dimensions": []}, "dimensions is empty"),
        ({"dimensions": [0]}, "dimensions is 0"),
        ({"method": "mds"}, "method is 'mds'"),
        ({"n_folds": 1}, "n_folds is 1"),
        ({"n_folds": 3}, "1 different questions cannot be divided into 3 folds"),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, text):
    with pytest.raises(ParameterError, match=text):
        tl.estimate_dimension([[0, 1, 2]], **change)
