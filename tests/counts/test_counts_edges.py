"""Empty input, layouts, overflow, refusals, and what a small input does not import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from trilens.counts import (
    CentralCounts,
    ClassCounts,
    LabelledPairCounts,
    PairCounts,
    _threads,
    count_central,
    count_classes,
    count_labelled_pairs,
    count_pairs,
)
from trilens.errors import KindError, LabelError, ParameterError
from trilens.statements import Statements


@pytest.fixture(params=[1 << 62, -1], ids=["numpy", "compiled"])
def _engine(request, monkeypatch):
    monkeypatch.setattr(_threads, "small", request.param)


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("n", [0, 1, 3, 300])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_no_statement(n, layout):
    S = Statements(np.empty((0, 3), int), n_objects=n)
    assert count_central(S).appears.tolist() == [0] * n
    counts = count_pairs(S, layout=layout)
    assert counts.third.shape == counts.appears.shape == (n, n)
    assert counts.third.sum() == counts.appears.sum() == 0
    assert count_classes(S, np.zeros(n, int), 2).appears.tolist() == [[0, 0]] * n
    assert count_labelled_pairs(S, np.arange(n)).appears.shape == (n, n)


@pytest.mark.usefixtures("_engine")
def test_one_statement_about_three_objects():
    assert count_central([[2, 0, 1]]).singled.tolist() == [0, 0, 1]
    pairs = count_pairs([[2, 0, 1]])
    assert pairs.third.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert pairs.appears.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert count_classes([[2, 0, 1]], [0, 0, -1], 1).singled.tolist() == [[0], [0], [1]]
    assert count_labelled_pairs([[2, 0, 1]], [2, 1]).third.tolist() == [[0, 1], [0, 0], [0, 0]]


def test_an_array_knows_its_objects_from_the_labels():
    assert count_classes([[2, 0, 1]], [0, 0, -1, 0, 0], 1).appears.shape == (5, 1)


def test_automatic_layout():
    few = np.array([[0, 1, 2]])
    assert not count_pairs(Statements(few, n_objects=4096, kind="central")).is_sparse
    assert count_pairs(Statements(few, n_objects=4097, kind="central")).is_sparse
    assert count_pairs(Statements(few, n_objects=1_000_000, kind="central")).appears.nnz == 6
    many = np.tile(few, (5000 * 5000 // 8, 1))
    assert not count_pairs(Statements(many, n_objects=5000, kind="central")).is_sparse
    assert count_pairs(Statements(many[1:], n_objects=5000, kind="central")).is_sparse


@pytest.mark.parametrize("layouts", ["dd", "ds", "sd", "ss"])
def test_sums_widen_before_they_overflow(layouts):
    from scipy.sparse import csr_array

    def pairs(layout, value):
        cells = np.array([[0, value], [value, 0]], dtype=np.int32)
        return PairCounts(*([csr_array(cells) if layout == "s" else cells] * 2))

    largest = np.iinfo(np.int32).max
    fits = pairs(layouts[0], largest - 1) + pairs(layouts[1], 1)
    assert fits.appears.dtype == np.int32
    assert fits.to_dense().appears[0, 1] == largest
    wide = pairs(layouts[0], largest) + pairs(layouts[1], 1)
    assert wide.third.dtype == wide.appears.dtype == np.int64
    assert wide.to_dense().appears[0, 1] == largest + 1
    again = wide + pairs(layouts[0], 1)
    assert again.to_dense().third[1, 0] == largest + 2


def test_labelled_sums_widen_before_they_overflow():
    cells = np.full((2, 1), np.iinfo(np.int32).max, dtype=np.int32)
    counts = LabelledPairCounts(cells, cells, np.array([1], dtype=np.int32))
    assert (counts + counts).third.tolist() == [[2**32 - 2]] * 2


def test_a_sum_leaves_its_parts_alone():
    one = count_pairs([[0, 1, 2]])
    both = one + one
    both.third[0, 1] = 9
    assert one.third[0, 1] == 0
    assert (one + count_pairs([[0, 1, 2]], layout="sparse")).third[1, 2] == 2
    assert one.third[1, 2] == 1


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_kinds_that_cannot_be_served(kind):
    S = Statements([[0, 1, 2]], kind=kind)
    with pytest.raises(KindError, match=f"needs statements of kind central, not {kind}; Map"):
        count_classes(S, [0, 0, 0], 1)
    with pytest.raises(KindError, match=f"needs statements of kind central, not {kind}; Map"):
        count_labelled_pairs(S, [0])


@pytest.mark.usefixtures("_engine")
def test_the_anchor_of_a_similarity_triplet_does_not_count():
    counts = count_central(Statements([[0, 1, 2], [1, 0, 2]], kind="closer"))
    assert counts.kind == "closer"
    assert counts.singled.tolist() == [1, 1, 0]
    assert counts.appears.tolist() == [1, 1, 2]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
@pytest.mark.parametrize("count", [count_central, count_pairs])
def test_wrong_number_of_threads(count, wrong):
    with pytest.raises(ParameterError, match=f"n_threads is {wrong!r}; .* 1 or more"):
        count([[0, 1, 2]], n_threads=wrong)


def test_wrong_layout():
    with pytest.raises(ParameterError, match=r"layout is 'csr'; .* auto, dense, sparse"):
        count_pairs([[0, 1, 2]], layout="csr")


@pytest.mark.parametrize(
    ("y", "text"),
    [
        ([0, 1], "y has shape .2,.; give one label for each of the 3 objects"),
        ([0, 1, 2], "object 2 has label 2; labels go from 0 to 1"),
        ([0, -2, 1], "object 1 has label -2"),
        ([0.0, 1.0, np.nan], "y has dtype float64"),
    ],
)
def test_wrong_labels(y, text):
    with pytest.raises(LabelError, match=text):
        count_classes(Statements([[0, 1, 2]], kind="central"), y, 2)


def test_wrong_number_of_classes():
    with pytest.raises(ParameterError, match="n_classes is -1"):
        count_classes([[0, 1, 2]], [0, 0, 0], -1)


@pytest.mark.parametrize(
    ("labelled", "text"),
    [
        ([0, 3], "labeled object 3 does not exist; ids go from 0 to 2"),
        ([-1], "labeled object -1"),
        ([0, 0], "listed twice"),
        ([[0, 1]], "list of object ids"),
        (["a"], "list of object ids"),
    ],
)
def test_wrong_labelled_objects(labelled, text):
    with pytest.raises(LabelError, match=text):
        count_labelled_pairs([[0, 1, 2]], labelled)


def test_counts_that_do_not_belong_together():
    three, four = (
        Statements([[0, 1, 2]], kind="central"),
        Statements([[0, 1, 2]], n_objects=4, kind="central"),
    )
    odd = Statements([[0, 1, 2]], kind="odd")
    for count in (count_central, count_pairs):
        with pytest.raises(ParameterError, match="cannot add counts of shapes"):
            count(three) + count(four)
        with pytest.raises(
            KindError, match="cannot add counts of central statements to counts of odd"
        ):
            count(three) + count(odd)
    with pytest.raises(ParameterError, match="counts of shapes"):
        count_classes(three, [0, 0, 0], 1) + count_classes(three, [0, 0, 0], 2)
    with pytest.raises(LabelError, match="different class labels"):
        count_classes(three, [0, 0, 0], 1) + count_classes(three, [0, 0, -1], 1)
    with pytest.raises(ParameterError, match="counts of shapes"):
        count_labelled_pairs(three, [0]) + count_labelled_pairs(three, [0, 1])
    with pytest.raises(LabelError, match="different labeled objects"):
        count_labelled_pairs(three, [0]) + count_labelled_pairs(three, [1])


@pytest.mark.parametrize(
    "counts",
    [
        count_central([[0, 1, 2]]),
        count_pairs([[0, 1, 2]]),
        count_classes([[0, 1, 2]], [0, 0, 0], 1),
        count_labelled_pairs([[0, 1, 2]], [0]),
    ],
    ids=lambda counts: type(counts).__name__,
)
def test_only_counts_of_the_same_sort_add(counts):
    for other in (1, "a", None):
        with pytest.raises(TypeError):
            counts + other
        with pytest.raises(TypeError):
            other + counts
    assert 0 + counts is counts


def test_counts_made_by_hand():
    zero = np.zeros(2, np.int64)
    assert (CentralCounts(zero, zero) + CentralCounts(zero + 1, zero + 2)).appears.tolist() == [
        2,
        2,
    ]
    cells = np.zeros((2, 1), np.int64)
    labels = np.array([0, -1], np.int32)
    assert (ClassCounts(cells, cells) + ClassCounts(cells, cells, labels)).labels is labels


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
