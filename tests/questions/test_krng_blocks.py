"""Algorithm 4 against very many labeled objects: some rows at a time, the same to the digit."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import trilens as tl
from trilens.counts import count_labelled_pairs
from trilens.questions.classify import paper
from trilens.simulate import mixture, simulate_statements


@pytest.mark.parametrize("alone", ["nearest", "random"])
@pytest.mark.parametrize("m", [300, 30_000])
def test_blocks_change_nothing(monkeypatch, alone: str, m: int) -> None:
    drawn = mixture(80, [[0, 0], [4, 0], [0, 4]], random_state=1)
    S = simulate_statements(drawn.points, m, error_rate=0.1, random_state=2)
    y = np.where(np.arange(80) % 3 == 0, -1, drawn.labels)
    whole = tl.KRNGClassifier(alone=alone, random_state=0).fit(S, y)
    monkeypatch.setattr(paper, "_MOST_CELLS", 5 * 53)
    parts = tl.KRNGClassifier(alone=alone, random_state=0).fit(S, y)
    assert parts.loo_errors_ == whole.loo_errors_
    assert parts.transduction_.tolist() == whole.transduction_.tolist()
    assert parts.how_.tolist() == whole.how_.tolist()
    assert len(set(whole.how_)) > 1


def test_the_counts_of_some_rows_are_those_of_all() -> None:
    drawn = mixture(60, [[0, 0], [4, 0]], random_state=1)
    for m in (500, 400_000):
        S = simulate_statements(drawn.points, m, sampling="replacement", random_state=2)
        labelled = np.arange(0, 60, 4)
        every = count_labelled_pairs(S, labelled)
        some = count_labelled_pairs(S, labelled, objects=[7, 0, 59])
        assert np.array_equal(some.third, every.third[[7, 0, 59]])
        assert np.array_equal(some.appears, every.appears[[7, 0, 59]])
        assert some.appears.any()


def test_many_labelled_objects_need_little_memory(monkeypatch) -> None:
    n, labelled = 4000, 2500
    drawn = mixture(n, [[0, 0], [6, 0]], random_state=1)
    S = simulate_statements(drawn.points, 60_000, random_state=2)
    y = np.where(np.arange(n) < labelled, drawn.labels, -1)
    monkeypatch.setattr(paper, "_MOST_CELLS", 1 << 18)
    model = tl.KRNGClassifier(k=[600], random_state=0)
    tracemalloc.start()
    model.fit(S, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # all counts at once take 2 * 4 * n * labeled bytes, their shares as much again
    assert peak < 8 * n * labelled / 2
    assert (model.transduction_[labelled:] == drawn.labels[labelled:]).mean() > 0.6
