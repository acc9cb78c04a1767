"""Tiles of ranks: the same numbers in pieces, interrupts, threads that stop, no vectors."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.exact import _vectors, sweep


def test_progress_and_an_interrupt_that_leaves_no_thread_behind(monkeypatch):
    monkeypatch.setattr(sweep, "SMALL", 0)
    D = cdist(*2 * [np.random.default_rng(0).normal(size=(900, 2))])

    def stop(share):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        exact.lens_depth(D, n_threads=2, progress=stop, normalise=False)
    assert threading.active_count() == before
    # and the next call is as good as the first, in three slabs too
    seen = []
    found = exact.lens_depth(D, n_threads=2, progress=seen.append, normalise=False)
    assert len(set(seen)) > 1
    assert seen == sorted(seen)
    assert seen[-1] == 1
    monkeypatch.setattr(sweep, "HELD", (1, 1))
    np.testing.assert_array_equal(found, exact.lens_depth(D, normalise=False))


@pytest.mark.parametrize("fault", ["raises", "wrong"])
def test_vectors_that_fail_are_found_by_trying(fault, monkeypatch):
    """The definition serves in their place."""

    def fail(*arguments):
        if fault == "raises":
            raise RuntimeError("no such instruction")

    assert _vectors.work()
    monkeypatch.setattr(_vectors, "lens_sizes", fail)
    assert not _vectors.work()
    monkeypatch.setattr(sweep, "_vectors_work", _vectors.work)
    monkeypatch.setattr(sweep, "SMALL", 0)
    D = cdist(*2 * [np.random.default_rng(0).integers(0, 9, size=(50, 2))]).astype(int)
    counts, depth = exact.lens_counts(D), exact.lens_depth(D, normalise=False)
    lens = (D[:, None, :] < D[:, :, None]) & (D[None, :, :] < D[:, :, None])
    assert (counts == lens.sum(axis=2)).all()
    assert (2 * depth == lens.sum(axis=(0, 1))).all()
