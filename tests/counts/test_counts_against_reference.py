"""Every engine equals the definition on drawn statements; edges and refusals."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from trilens.counts import (
    PairCounts,
    _threads,
    count_central,
    count_classes,
    count_labelled_pairs,
    count_pairs,
    pairs,
)
from trilens.errors import KindError, LabelError, ParameterError
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
@given(S=drawn(kinds=KINDS), n_threads=threads, n_classes=st.integers(0, 3), data=st.data())
def test_what_is_counted_of_each_object(engine, S, n_threads, n_classes, data):
    n = S.n_objects
    with forced(engine):
        counts = count_central(S, n_threads=n_threads)
    assert counts.kind == S.kind
    assert counts.singled.dtype == counts.appears.dtype == np.int64
    assert_equal((counts.singled, counts.appears), reference.count_central(S.triples, n, S.kind))
    S = Statements(S.triples, n, kind="central")
    y = data.draw(st.lists(st.integers(-1, n_classes - 1), min_size=n, max_size=n))
    labelled = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    with forced(engine):
        counts = count_classes(S, y, n_classes, n_threads=n_threads)
        pairs_ = count_labelled_pairs(S, labelled, n_threads=n_threads)
    assert counts.appears.dtype == counts.singled.dtype == np.int64
    expected = reference.count_classes(S.triples, y, n_classes)
    assert_equal((counts.singled, counts.appears), expected)
    assert pairs_.labelled.tolist() == labelled
    expected = reference.count_labelled_pairs(S.triples, labelled, n)
    assert_equal((pairs_.third, pairs_.appears), expected)


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
            total, counts = sum(count_classes(p, y, 2) for p in parts), count_classes(S, y, 2)
            assert_equal((total.singled, total.appears), (counts.singled, counts.appears))
            labelled = np.flatnonzero(y >= 0)
            counts = count_labelled_pairs(S, labelled)
            total = sum(count_labelled_pairs(p, labelled) for p in parts)
            assert_equal((total.third, total.appears), (counts.third, counts.appears))


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


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("n", [0, 1, 3, 300])
def test_no_statement(engine, n):
    S = Statements(np.empty((0, 3), int), n_objects=n)
    with forced(engine):
        assert count_central(S).appears.tolist() == [0] * n
        for layout in ("dense", "sparse"):
            counts = count_pairs(S, layout=layout)
            assert counts.third.shape == counts.appears.shape == (n, n)
            assert counts.third.sum() == counts.appears.sum() == 0
        assert count_classes(S, np.zeros(n, int), 2).appears.tolist() == [[0, 0]] * n
        assert count_labelled_pairs(S, np.arange(n)).appears.shape == (n, n)
    # an array knows its objects from the labels
    assert count_classes([[2, 0, 1]], [0, 0, -1, 0, 0], 1).appears.shape == (5, 1)


def test_automatic_layout(monkeypatch):
    few = np.array([[0, 1, 2]])
    assert not count_pairs(Statements(few, n_objects=4096, kind="central")).is_sparse
    assert count_pairs(Statements(few, n_objects=4097, kind="central")).is_sparse
    assert count_pairs(Statements(few, n_objects=1_000_000, kind="central")).appears.nnz == 6
    monkeypatch.setattr(pairs, "_DENSE_OBJECTS", 10)
    many = np.tile(few, (40 * 40 // 8, 1))
    assert not count_pairs(Statements(many, n_objects=40, kind="central")).is_sparse
    assert count_pairs(Statements(many[1:], n_objects=40, kind="central")).is_sparse


@pytest.mark.parametrize("layouts", ["dd", "ds", "sd", "ss"])
def test_sums_widen_before_they_overflow(layouts):
    from scipy.sparse import csr_array

    def two(layout, value):
        cells = np.array([[0, value], [value, 0]], dtype=np.int32)
        return PairCounts(*([csr_array(cells) if layout == "s" else cells] * 2))

    largest = np.iinfo(np.int32).max
    fits = two(layouts[0], largest - 1) + two(layouts[1], 1)
    assert fits.appears.dtype == np.int32
    assert fits.to_dense().appears[0, 1] == largest
    wide = two(layouts[0], largest) + two(layouts[1], 1)
    assert wide.third.dtype == wide.appears.dtype == np.int64
    assert wide.to_dense().appears[0, 1] == largest + 1
    again = wide + two(layouts[0], 1)
    assert again.to_dense().third[1, 0] == largest + 2


def test_only_counts_of_the_same_sort_add_and_a_sum_leaves_its_parts_alone():
    counts = [count_central([[0, 1, 2]]), count_pairs([[0, 1, 2]])]
    counts += [count_classes([[0, 1, 2]], [0] * 3, 1), count_labelled_pairs([[0, 1, 2]], [0])]
    for i, some in enumerate(counts):
        for other in (1, None, counts[i - 1]):
            with pytest.raises(TypeError):
                some + other
            with pytest.raises(TypeError):
                other + some
        assert 0 + some is some
    one = count_pairs([[0, 1, 2]])
    both = one + one
    both.third[0, 1] = 9
    assert one.third[0, 1] == 0
    assert (one + count_pairs([[0, 1, 2]], layout="sparse")).third[1, 2] == 2
    assert one.third[1, 2] == 1


THREE = Statements([[0, 1, 2]], kind="central")
FOUR = Statements([[0, 1, 2]], n_objects=4, kind="central")
ODD = Statements([[0, 1, 2]], kind="odd")
in_classes = partial(count_classes, THREE)
of_labelled = partial(count_labelled_pairs, THREE)
REFUSED = [
    (lambda: count_central(THREE, n_threads=0), "n_threads is 0; .* 1 or more"),
    (lambda: count_pairs(THREE, layout="csr"), "layout is 'csr'; .* auto, dense, sparse"),
    (lambda: count_classes(ODD, [0, 0, 0], 1), "needs .* kind central, not odd; Map"),
    (lambda: count_labelled_pairs(ODD, [0]), "needs .* kind central, not odd; Map"),
    (lambda: in_classes([0, 0, 0], -1), "n_classes is -1"),
    (lambda: in_classes([0, 1], 2), r"y has shape \(2,\); .* each of the 3 objects"),
    (lambda: in_classes([0, 1, 2], 2), "object 2 has label 2; labels go from 0 to 1"),
    (lambda: of_labelled([0, 3]), "object 3 does not exist; ids go from 0 to 2"),
    (lambda: of_labelled([0, 0]), "listed twice"),
    (lambda: of_labelled([[0, 1]]), "list of object ids"),
    (lambda: in_classes([0.0, 1.0, np.nan], 2), "y has dtype float64"),
    (lambda: count_central(THREE) + count_central(FOUR), "cannot add counts of shapes"),
    (lambda: count_central(THREE) + count_central(ODD), "counts of central .* counts of odd"),
    (lambda: in_classes([0] * 3, 1) + in_classes([0] * 3, 2), "counts of shapes"),
    (lambda: in_classes([0] * 3, 1) + in_classes([0, 0, -1], 1), "different class labels"),
    (lambda: of_labelled([0]) + of_labelled([0, 1]), "counts of shapes"),
    (lambda: of_labelled([0]) + of_labelled([1]), "different labeled objects"),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_what_is_refused(call, text):
    with pytest.raises((KindError, LabelError, ParameterError), match=text):
        call()


def test_a_survey_needs_neither_compiler_nor_scipy():
    program = """
import sys
import numpy as np
from trilens.counts import count_central, count_classes, count_labelled_pairs, count_pairs
T = np.argsort(np.random.default_rng(0).random((7000, 60)), axis=1)[:, :3]
assert count_central(T).singled.sum() == 7000
assert count_pairs(T).third.sum() == 14000
count_classes(T, np.arange(60) % 3, 3), count_labelled_pairs(T, np.arange(9))
print([name for name in ("numba", "scipy") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
