"""Every engine equals the definition on drawn statements."""

from __future__ import annotations

from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from trilens.counts import (
    _threads,
    count_central,
    count_classes,
    count_labelled_pairs,
    count_pairs,
    pairs,
)
from trilens.statements import Statements

import reference

pytestmark = pytest.mark.first
KINDS = ["central", "odd", "closer"]

#: Engine -> statements up to which numpy counts, rows per batch.
ENGINES = {
    "numpy": (1 << 62, 1 << 25),
    "compiled": (-1, 1 << 25),
    "compiled, in batches": (-1, 16),
}

examples = settings(max_examples=20, deadline=None)
threads = st.integers(1, 4)


@contextmanager
def forced(engine):
    small, batch = ENGINES[engine]
    with (
        mock.patch.object(_threads, "small", small),
        mock.patch.object(pairs, "_BATCH", batch),
    ):
        yield


@st.composite
def drawn(draw, kinds=("central",), wide=False):
    """Few objects named, so that statements repeat and contradict; others are never named."""
    n = draw(st.sampled_from([300, 512, 600])) if wide else draw(st.integers(3, 9))
    named = draw(st.lists(st.integers(0, n - 1), min_size=3, max_size=7, unique=True))
    triple = st.permutations(named).map(lambda p: p[:3])
    triples = draw(st.lists(triple, max_size=60))
    kind = draw(st.sampled_from(kinds))
    return Statements(np.array(triples, dtype=int).reshape(-1, 3), n_objects=n, kind=kind)


def assert_equal(got, expected):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def dense(counts):
    return counts.to_dense().third, counts.to_dense().appears


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@examples
@given(S=drawn(kinds=KINDS), n_threads=threads)
def test_central(engine, S, n_threads):
    with forced(engine):
        counts = count_central(S, n_threads=n_threads)
    assert counts.kind == S.kind
    assert counts.singled.dtype == counts.appears.dtype == np.int64
    expected = reference.count_central(S.triples, S.n_objects, S.kind)
    assert_equal((counts.singled, counts.appears), expected)


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize("wide", [False, True])
@examples
@given(data=st.data(), n_threads=threads, layout=st.sampled_from(["auto", "dense", "sparse"]))
def test_pairs(engine, wide, data, n_threads, layout):
    S = data.draw(drawn(kinds=KINDS, wide=wide))
    with forced(engine):
        counts = count_pairs(S, n_threads=n_threads, layout=layout)
    assert counts.kind == S.kind
    assert counts.n_objects == S.n_objects
    assert counts.is_sparse == (layout == "sparse")
    assert counts.third.dtype == counts.appears.dtype == np.int32
    assert_equal(dense(counts), reference.count_pairs(S.triples, S.n_objects, S.kind))
    if counts.is_sparse:
        for matrix in (counts.third, counts.appears):
            matrix.check_format(full_check=True)
            assert matrix.has_canonical_format
            assert matrix.data.all()


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@examples
@given(S=drawn(), n_threads=threads, n_classes=st.integers(0, 3), data=st.data())
def test_classes(engine, S, n_threads, n_classes, data):
    label = st.integers(-1, n_classes - 1)
    y = data.draw(st.lists(label, min_size=S.n_objects, max_size=S.n_objects))
    with forced(engine):
        counts = count_classes(S, y, n_classes, n_threads=n_threads)
    assert counts.appears.dtype == counts.singled.dtype == np.int64
    assert_equal((counts.singled, counts.appears), reference.count_classes(S.triples, y, n_classes))


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@examples
@given(S=drawn(), n_threads=threads, data=st.data())
def test_labelled_pairs(engine, S, n_threads, data):
    labelled = data.draw(st.lists(st.integers(0, S.n_objects - 1), unique=True))
    with forced(engine):
        counts = count_labelled_pairs(S, labelled, n_threads=n_threads)
    assert counts.labelled.tolist() == labelled
    assert_equal(
        (counts.third, counts.appears),
        reference.count_labelled_pairs(S.triples, labelled, S.n_objects),
    )


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@examples
@given(
    S=drawn(kinds=KINDS),
    cut=st.integers(0, 60),
    layouts=st.tuples(*[st.sampled_from(["dense", "sparse"])] * 2),
)
def test_chunks_sum_to_the_whole(engine, S, cut, layouts):
    parts = [S.take(np.arange(len(S))[:cut]), S.take(np.arange(len(S))[cut:])]
    with forced(engine):
        some = [count_pairs(p, layout=layout) for p, layout in zip(parts, layouts, strict=True)]
        whole = count_pairs(S, layout="dense")
        assert sum(some).is_sparse == (layouts == ("sparse", "sparse"))
        assert_equal(dense(sum(some)), dense(whole))
        assert sum(some).third.dtype == whole.third.dtype
        total, counts = sum(map(count_central, parts)), count_central(S)
        assert_equal((total.singled, total.appears), (counts.singled, counts.appears))
        if S.kind == "central":
            y = np.arange(S.n_objects) % 3 - 1
            by_class = [count_classes(p, y, 2) for p in [S, *parts]]
            total = sum(by_class[1:])
            assert_equal((total.singled, total.appears), (by_class[0].singled, by_class[0].appears))
            labelled = np.flatnonzero(y >= 0)
            against = [count_labelled_pairs(p, labelled) for p in [S, *parts]]
            total = sum(against[1:])
            assert_equal((total.third, total.appears), (against[0].third, against[0].appears))


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize("kind", KINDS)
def test_many_repeats_pass_a_block(engine, kind):
    rng = np.random.default_rng(5)
    triples = np.repeat([[2, 0, 1], [1, 0, 2], [0, 3, 1]], [3000, 256, 1], axis=0)
    S = Statements(rng.permutation(triples), n_objects=5, kind=kind)
    expected = reference.count_pairs(S.triples, 5, kind)
    with forced(engine):
        for layout, n_threads in (("dense", 1), ("dense", 3), ("sparse", 1)):
            assert_equal(dense(count_pairs(S, n_threads, layout)), expected)
