"""Sufficient statistics of statements: integers per object, pair and class, that add.

Counts are a monoid: the counts of a part plus the counts of the rest are the counts of the
whole, bit for bit, so a stream is counted by summing the counts of its chunks::

    sum(count_central(chunk) for chunk in chunks)
"""

from trilens.counts.central import CentralCounts, count_central
from trilens.counts.classes import (
    ClassCounts,
    LabelledPairCounts,
    count_classes,
    count_labelled_pairs,
)
from trilens.counts.counted import Counted, counted
from trilens.counts.file import is_counts, merge_counts, read_counts, write_counts
from trilens.counts.follow import follow
from trilens.counts.pairs import PairCounts, count_pairs

__all__ = [
    "CentralCounts",
    "ClassCounts",
    "Counted",
    "LabelledPairCounts",
    "PairCounts",
    "count_central",
    "count_classes",
    "count_labelled_pairs",
    "count_pairs",
    "counted",
    "follow",
    "is_counts",
    "merge_counts",
    "read_counts",
    "write_counts",
]
