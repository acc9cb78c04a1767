"""One handle wherever the answers lie: in memory, in files, as counts."""

import numpy as np
import pytest

from trilens import Statements, answers as module, write_counts, write_statements
from trilens.answers import Answers, central_counts, pair_counts, read_or_count
from trilens.counts import count_central, count_pairs, counted
from trilens.counts.counting import count_files
from trilens.errors import FormatError

S = Statements([[0, 1, 2], [1, 0, 3], [0, 3, 2], [0, 1, 2]], names=["a", "b", "c", "d"])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "answers.parquet"
    write_statements(S, path)
    return path


def places(file, tmp_path, monkeypatch):
    """The same answers in memory, in a small file, in one too large to hold, and as counts."""
    stored = tmp_path / "answers.counts.npz"
    write_counts(count_files(file, pairs=True), stored)
    yield S
    yield Answers(S)
    yield Answers(file)
    yield Answers(stored)
    yield count_files(file, pairs=True)
    monkeypatch.setattr(module, "STREAMED_BYTES", 0)
    yield Answers(file)


def test_counts_do_not_depend_on_where_the_answers_lie(file, tmp_path, monkeypatch):
    one, two = count_central(S), count_pairs(S)
    for data in places(file, tmp_path, monkeypatch):
        found, pairs = central_counts(data), pair_counts(data)
        assert found.names == pairs.names == S.names
        assert found.kind == pairs.kind == "central"
        np.testing.assert_array_equal(found.singled, one.singled)
        np.testing.assert_array_equal(found.appears, one.appears)
        np.testing.assert_array_equal(pairs.third, two.third)
        np.testing.assert_array_equal(pairs.appears, two.appears)


def test_counts_are_passed_on():
    one, two = count_central(S), count_pairs(S)
    assert central_counts(one) is one
    assert pair_counts(two) is two


def test_small_files_are_read_and_large_ones_counted(file, monkeypatch):
    assert isinstance(read_or_count(Answers(file)), Statements)
    monkeypatch.setattr(module, "STREAMED_BYTES", 0)
    assert read_or_count(Answers(file), pairs=True).pairs is not None


def test_pairs_that_were_not_counted_are_missed():
    with pytest.raises(FormatError, match="pairs were not counted"):
        pair_counts(counted(S))
