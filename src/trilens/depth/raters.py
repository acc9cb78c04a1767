"""What raters who differ take from the worth of answers: the design effect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.depth.lens import ratio
from trilens.statements import Statements

#: Fewer raters say too little about how raters differ; then answers count as independent, and
#: what is claimed is about these raters only.
LEAST_RATERS = 8


@dataclass(frozen=True)
class DesignEffect:
    """How much more the centrality of an object varies than independent answers would let it.

    Attributes
    ----------
    factor : (n,) array
        At least 1: the variance with raters drawn whole, by that of as many independent answers.
    n_raters : int
        Between whom the variance was measured.
    """

    factor: FloatArray
    n_raters: int


def design_effect(statements: Statements) -> DesignEffect | None:
    """The design effect of raters; None where fewer than `LEAST_RATERS` are known.

    The variance of an object's share is that of a ratio of sums over raters (Cochran, 1977,
    ch. 6 and 9). As one object's may rest on few answers, it counts as at least that of all
    objects together, and as at least 1.

    Examples
    --------
    >>> alike = Statements([[0, 1, 2], [1, 0, 2]] * 20, raters=np.arange(40) // 2)
    >>> design_effect(alike).factor.tolist()
    [1.0, 1.0, 1.0]
    >>> differ = Statements([[0, 1, 2]] * 20 + [[1, 0, 2]] * 20, raters=np.arange(40) // 2)
    >>> design_effect(differ).factor.round(1).tolist()
    [2.1, 2.1, 2.1]
    """
    if statements.raters is None:
        return None
    known, rater = np.unique(statements.raters, return_inverse=True)
    if len(known) < LEAST_RATERS:
        return None
    n = statements.n_objects
    what, hits, trials = _by_rater(statements, rater.astype(np.int64))
    total = np.bincount(what, trials, n)
    share = ratio(np.bincount(what, hits, n), total)
    squares = np.bincount(what, (hits - share[what] * trials) ** 2, n)
    seen_by = np.bincount(what, minlength=n)
    # one rater tells nothing of how raters differ
    between = squares * np.divide(seen_by, seen_by - 1, out=np.zeros(n), where=seen_by > 1)
    independent = total * share * (1 - share)
    own = np.divide(between, independent, out=np.zeros(n), where=independent > 0)
    together = between.sum() / independent.sum() if independent.any() else 1.0
    return DesignEffect(np.maximum(own, max(together, 1.0)), len(known))


def _by_rater(statements: Statements, rater: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """For each rater and object seen: the object, how often singled out, how often compared."""
    n = statements.n_objects
    first = 1 if statements.kind == "closer" else 0
    codes = [rater * n + statements.triples[:, column] for column in range(first, 3)]
    pairs, place = np.unique(np.concatenate(codes), return_inverse=True)
    hits = np.bincount(place[: len(statements)], minlength=len(pairs)).astype(np.float64)
    trials = np.bincount(place, minlength=len(pairs)).astype(np.float64)
    return pairs % n, hits, trials
