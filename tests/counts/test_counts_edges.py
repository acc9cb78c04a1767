"""Empty input, layouts, overflow, refusals, and what a small input does not import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

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
REFUSED = [
    (lambda: count_central(THREE, n_threads=0), "n_threads is 0; .* 1 or more"),
    (lambda: count_pairs(THREE, n_threads=1.5), "n_threads is 1.5; .* 1 or more"),
    (lambda: count_pairs(THREE, layout="csr"), "layout is 'csr'; .* auto, dense, sparse"),
    (lambda: count_classes(ODD, [0, 0, 0], 1), "needs .* kind central, not odd; Map"),
    (lambda: count_labelled_pairs(ODD, [0]), "needs .* kind central, not odd; Map"),
    (lambda: count_classes(THREE, [0, 0, 0], -1), "n_classes is -1"),
    (lambda: count_classes(THREE, [0, 1], 2), r"y has shape \(2,\); .* each of the 3 objects"),
    (lambda: count_classes(THREE, [0, 1, 2], 2), "object 2 has label 2; labels go from 0 to 1"),
    (lambda: count_classes(THREE, [0.0, 1.0, np.nan], 2), "y has dtype float64"),
    (lambda: count_labelled_pairs(THREE, [0, 3]), "object 3 does not exist; ids go from 0 to 2"),
    (lambda: count_labelled_pairs(THREE, [0, 0]), "listed twice"),
    (lambda: count_labelled_pairs(THREE, [[0, 1]]), "list of object ids"),
    (lambda: count_central(THREE) + count_central(FOUR), "cannot add counts of shapes"),
    (lambda: count_central(THREE) + count_central(ODD), "counts of central .* counts of odd"),
    (
        lambda: count_classes(THREE, [0] * 3, 1) + count_classes(THREE, [0] * 3, 2),
        "counts of shapes",
    ),
    (
        lambda: count_classes(THREE, [0] * 3, 1) + count_classes(THREE, [0, 0, -1], 1),
        "different class labels",
    ),
    (
        lambda: count_labelled_pairs(THREE, [0]) + count_labelled_pairs(THREE, [0, 1]),
        "counts of shapes",
    ),
    (
        lambda: count_labelled_pairs(THREE, [0]) + count_labelled_pairs(THREE, [1]),
        "different labeled objects",
    ),
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
