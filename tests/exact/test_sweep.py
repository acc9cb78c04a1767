"""Tiles of ranks: the same numbers in pieces, interrupts, threads that stop, no vectors."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.exact import _vectors, sweep


@pytest.mark.parametrize(("n", "tied"), [(700, False), (1025, True)])
def test_slabs_do_not_matter(n, tied, monkeypatch):
    rng = np.random.default_rng(n)
    X = rng.integers(0, 9, size=(n, 2)) if tied else rng.normal(size=(n, 2))
    D = cdist(X, X)
    monkeypatch.setattr(sweep, "SMALL", 0)
    counts, depth = exact.lens_counts(D), exact.lens_depth(D, normalise=False)
    monkeypatch.setattr(sweep, "HELD", (1, 1))
    np.testing.assert_array_equal(exact.lens_counts(D), counts)
    np.testing.assert_array_equal(exact.lens_depth(D, normalise=False), depth)


def test_ties_in_some_slabs_only(monkeypatch):
    """A slab without ties meets one with ties."""
    monkeypatch.setattr(sweep, "SMALL", 0)
    monkeypatch.setattr(sweep, "HELD", (1, 1))
    rng = np.random.default_rng(0)
    D = cdist(*2 * [rng.normal(size=(600, 2))])
    D[599, 597] = D[597, 599] = D[599, 598]
    by_definition = np.zeros(600, int)
    for i in range(600):
        lenses = (D[i][None, :] < D[i][:, None]) & (D[i][:, None] > D)
        by_definition += lenses[:i].sum(axis=0)
    np.testing.assert_array_equal(exact.lens_depth(D, normalise=False), by_definition)


def test_an_interrupt_leaves_no_thread_behind(monkeypatch):
    monkeypatch.setattr(sweep, "SMALL", 0)
    D = cdist(*2 * [np.random.default_rng(0).normal(size=(900, 2))])

    def stop(share):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        exact.lens_depth(D, n_threads=2, progress=stop, normalise=False)
    assert threading.active_count() == before
    # and the next call is as good as the first
    np.testing.assert_array_equal(
        exact.lens_depth(D, n_threads=2, normalise=False), exact.lens_depth(D, normalise=False)
    )


@pytest.mark.parametrize("fault", ["raises", "wrong"])
def test_vectors_that_fail_are_found_by_trying(fault, monkeypatch):
    """The definition serves in their place."""

    def fail(*arguments):
        if fault == "raises":
            raise RuntimeError("no such instruction")

    monkeypatch.setattr(_vectors, "lens_sizes", fail)
    assert not _vectors.work()
    monkeypatch.setattr(sweep, "_vectors_work", _vectors.work)
    monkeypatch.setattr(sweep, "SMALL", 0)
    D = cdist(*2 * [np.random.default_rng(0).integers(0, 9, size=(50, 2))]).astype(int)
    counts, depth = exact.lens_counts(D), exact.lens_depth(D, normalise=False)
    lens = (D[:, None, :] < D[:, :, None]) & (D[None, :, :] < D[:, :, None])
    assert (counts == lens.sum(axis=2)).all()
    assert (2 * depth == lens.sum(axis=(0, 1))).all()


def test_vectors_that_work_are_kept():
    assert _vectors.work()


@pytest.mark.slow
def test_no_place_for_a_cache():
    """Neither beside the package nor in the home: compiled anew, no traceback."""
    code = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
import numpy as np
from trilens import exact
D = abs(np.subtract.outer(np.arange(230), np.arange(230)))
assert exact.lens_depth(D, normalise=False).max() == 114 * 115
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
