"""The losses of the ordinal embeddings, on data.

They are sums over comparisons d(A,B) < d(C,D) of ``link(v(A,B) - v(C,D))``, where the length ``v``
increases with the squared distance D of a pair:

======  ==========================================  ==============================
method  length v(D)                                 link(t)
======  ==========================================  ==============================
SOE     sqrt(D)                                     max(0, t + margin) ** 2
GNMDS   D                                           max(0, t + margin)
STE     D                                           log(1 + exp(t))
t-STE   (alpha + 1) / 2 * log(1 + D / alpha)        log(1 + exp(t))
======  ==========================================  ==============================

They are evaluated over pairs, each of which is measured once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np

from trilens._typing import FloatArray
from trilens.maps.pairs import (
    Length,
    Work,
    make_ruler,
    number_pairs,
    open_work,
    pair_code,
    with_l2,
)
from trilens.statements.comparisons import Comparisons

Link: TypeAlias = Literal["hinge", "squared hinge", "logistic"]


@dataclass(frozen=True)
class Objective:
    """One of the four objectives: a length, a link and their constants."""

    length: Length
    link: Link
    margin: float = 0.0
    alpha: float = 1.0
    l2: float = 0.0

    @property
    def enough(self) -> float:
        """A loss at which there is nothing left to find.

        The logistic losses of data without contradictions have no minimum: stretching always
        helps. Below log(2), the loss of one violated comparison, none is violated.
        """
        return float(np.log(2.0)) if self.link == "logistic" and self.l2 == 0 else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of random starts.

        Wide for SOE, where a start near the margin's own size often ends in a local minimum.
        """
        if self.link == "logistic":
            return 0.1
        return 100.0 * self.margin if self.length == "distance" else float(np.sqrt(self.margin))

    @property
    def is_smooth(self) -> bool:
        """Whether it has no kinks."""
        return self.link != "hinge"

    def smooth(self) -> Objective:
        """The objective without kinks: the hinge squared. Both are 0 at the same coordinates."""
        return self if self.is_smooth else replace(self, link="squared hinge")

    def losses(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The losses of differences of lengths (near minus far), and their slopes."""
        if self.link == "logistic":
            z = np.exp(-np.abs(t))
            return np.log1p(z) + np.maximum(t, 0.0), np.where(t > 0, 1.0, z) / (1.0 + z)
        over = np.maximum(t + self.margin, 0.0)
        if self.link == "hinge":
            return over, (over > 0).astype(np.float64)
        return over * over, 2.0 * over


class ComparisonLoss:
    """An objective on data: its loss and gradient at coordinates; made by `comparison_loss`.

    The comparisons are numbered pairs, repeats counted as weights.
    """

    def __init__(self, objective: Objective, comparisons: Comparisons, work: Work) -> None:
        self.objective = objective
        rows, n = comparisons.rows, comparisons.n_objects
        codes = [pair_code(rows[:, 0], rows[:, 1], n), pair_code(rows[:, 2], rows[:, 3], n)]
        pairs, (near, far) = number_pairs(codes, n)
        different, count = np.unique(far * len(pairs) + near, return_counts=True)
        self._far, self._near = np.divmod(different, len(pairs))
        self._weight = count.astype(np.float64)
        self._ruler = make_ruler(pairs, work)

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its (n, d) gradient at the (n, d) coordinates ``X``."""
        near, far, weight = self._near, self._far, self._weight
        v = self._ruler.measure(X, self.objective.length, self.objective.alpha)
        loss, slope = self.objective.losses(v[near] - v[far])
        slope *= weight
        pull = (np.bincount(near, slope, len(v)) - np.bincount(far, slope, len(v))).astype(float)
        # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
        loss *= weight
        return with_l2(float(loss.sum()), self._ruler.gradient(X, pull), X, self.objective.l2)

    def of(self, objective: Objective) -> Self:
        """Another objective on the same prepared data."""
        other = copy(self)
        other.objective = objective
        return other


@contextmanager
def comparison_loss(
    objective: Objective,
    comparisons: Comparisons,
    n_threads: int | None = None,
    compiled: bool | None = None,
) -> Iterator[ComparisonLoss]:
    """An objective on data, at least one comparison; as `open_work`, threads end with it."""
    with open_work(len(comparisons), n_threads, compiled) as work:
        yield ComparisonLoss(objective, comparisons, work)
