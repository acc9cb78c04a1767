"""Local lens depth from statements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from trilens import exact
from trilens.errors import KindError, ParameterError
from trilens.questions.local_depth import local_depth
from trilens.questions.medoid import medoid
from trilens.simulate import simulate_statements, two_moons, with_outliers
from trilens.statements import Statements


@pytest.fixture(scope="module")
def moons():
    drawn = two_moons(100, noise=0.08, random_state=0)
    X = with_outliers(drawn, ((-2.2, 1.8), (3.2, 1.6), (0.5, -2.2), (0.5, 0.25))).points
    return X, simulate_statements(X, random_state=1)


def test_the_outlier_between_the_moons(moons):
    X, S = moons
    assert medoid(S, "depth").index == 103
    found = local_depth(S, 0.1, method="ste")
    assert rankdata(found)[100:].max() <= 9
    exactly = exact.local_lens_depth(X, share=0.1, metric="euclidean", normalise=True)
    assert np.corrcoef(found, exactly)[0, 1] > 0.95


def test_by_answers_all_of_them_are_the_count_on_the_map(moons):
    X, S = moons
    by_answers = local_depth(S, 0.1, method="ste", by="answers")
    exactly = exact.local_lens_depth(X, share=0.1, metric="euclidean", normalise=True)
    # the map of all statements tells near pairs nearly without fail
    assert np.abs(by_answers - exactly).max() < 0.003
    whole = local_depth(S, 1.0, method="ste", by="answers")
    assert whole == pytest.approx(exact.lens_depth(X, metric="euclidean", normalise=True))


def test_what_is_refused():
    odd = Statements([[0, 1, 2], [1, 2, 3]], kind="odd")
    with pytest.raises(KindError, match="by='map' takes every kind"):
        local_depth(odd, by="answers")
    assert local_depth(odd, method="lensmap").shape == (4,)
    with pytest.raises(ParameterError, match="share is 2"):
        local_depth(odd, 2)
    with pytest.raises(ParameterError, match="by is 'count'"):
        local_depth(odd, by="count")
    assert local_depth(Statements(np.empty((0, 3), int), n_objects=2)).tolist() == [0, 0]
