"""Local lens depth from statements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from trilens import exact
from trilens.errors import ParameterError
from trilens.questions.local_depth import local_depth
from trilens.questions.medoid import medoid
from trilens.simulate import simulate_statements, two_moons, with_outliers
from trilens.statements import Statements


@pytest.fixture(scope="module")
def moons():
    drawn = two_moons(60, noise=0.08, random_state=0)
    X = with_outliers(drawn, ((-2.2, 1.8), (3.2, 1.6), (0.5, -2.2), (0.5, 0.25))).points
    return X, simulate_statements(X, random_state=1)


def test_the_outlier_between_the_moons(moons):
    X, S = moons
    exactly = exact.local_lens_depth(X, share=0.1, metric="euclidean", normalise=True)
    assert medoid(S, "depth").index == 63
    found = local_depth(S, 0.1, method="ste")
    assert rankdata(found)[60:].max() <= 9
    assert np.corrcoef(found, exactly)[0, 1] > 0.95


def test_few_answers_and_what_is_refused():
    odd = Statements([[0, 1, 2], [1, 2, 3]], kind="odd")
    with pytest.raises(ParameterError, match="share is 2"):
        local_depth(odd, 2)
    assert local_depth(odd, method="lensmap").shape == (4,)
    assert local_depth(Statements(np.empty((0, 3), int), n_objects=2)).tolist() == [0, 0]
