"""Local lens depth: the definition, and the outlier between two moons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from trilens import exact
from trilens.errors import ParameterError
from trilens.simulate import two_moons, with_outliers

import reference

FAR = ((-2.2, 1.8), (3.2, 1.6), (0.5, -2.2))
BETWEEN = (0.5, 0.25)


@given(st.integers(0, 2**32 - 1), st.integers(0, 14), st.integers(1, 5), st.integers(0, 6))
def test_the_definition_with_ties(seed, n, levels, tau):
    rng = np.random.default_rng(seed)
    D = np.triu(rng.integers(0, levels + 1, (n, n)), 1)
    D = (D + D.T).astype(float)
    expected = reference.exact_local_lens_depth(D, tau)
    assert exact.local_lens_depth(D, tau, normalise=False).tolist() == expected.tolist()


def test_all_pairs_give_lens_depth_and_none_give_nothing():
    X = np.random.default_rng(0).normal(size=(300, 2))
    whole = exact.lens_depth(X, metric="euclidean", normalise=False)
    assert np.array_equal(
        exact.local_lens_depth(X, share=1, metric="euclidean", normalise=False), whole
    )
    assert np.array_equal(
        exact.local_lens_depth(cdist(X, X), 100, n_threads=2, normalise=False), whole
    )
    assert not exact.local_lens_depth(X, share=0, metric="euclidean", normalise=False).any()
    shares = exact.local_lens_depth(X, share=1, metric="euclidean", normalise=True)
    np.testing.assert_allclose(shares, exact.lens_depth(X, metric="euclidean", normalise=True))


def test_the_outlier_between_two_moons_is_found():
    """Lens depth takes it for the medoid (Section 6.1.2); local lens depth does not."""
    moons = two_moons(200, noise=0.08, random_state=0)
    X = with_outliers(moons, (*FAR, BETWEEN)).points
    assert exact.lens_depth(X, metric="euclidean", normalise=False).argmax() == 203
    local = rankdata(exact.local_lens_depth(X, share=0.1, metric="euclidean", normalise=False))
    assert local[200:].max() <= 5
    # with pairs across the gap it is in many lenses again
    wide = rankdata(exact.local_lens_depth(X, share=0.3, metric="euclidean", normalise=False))
    assert wide[203] > 20


@pytest.mark.parametrize("given", [{}, {"tau": 1, "share": 0.1}, {"share": 1.5}, {"tau": -1}])
def test_wrong_arguments(given):
    with pytest.raises(ParameterError, match=r"^(give either tau|share is|tau is)"):
        exact.local_lens_depth(np.zeros((3, 3)), **given)
