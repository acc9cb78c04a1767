"""Lens depth (Algorithms 1 and 2), and its counterparts for the other kinds of statements."""

from __future__ import annotations

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.counts import CentralCounts, count_central
from trilens.statements import Statements, StatementsLike
from trilens.statements.value import require_kind


def lens_depth(statements: StatementsLike | CentralCounts) -> FloatArray:
    """Estimated lens depth of every object: line 1 of Algorithms 1 and 2.

    The share of an object's statements in which it is the most central one; 0 for an object
    that no statement names. Divided by C(n-1, 2), the true lens depth is the same share over
    all pairs of other objects.

    Parameters
    ----------
    statements : Statements, (m, 3) array, or CentralCounts
        Of kind ``central``.

    Returns
    -------
    (n_objects,) array of float

    Examples
    --------
    >>> lens_depth([[0, 1, 2], [0, 1, 3], [2, 0, 3]]).round(2).tolist()
    [0.67, 0.0, 0.5, 0.0]
    """
    require_kind(
        statements.kind if isinstance(statements, CentralCounts | Statements) else "central",
        ["central"],
        "lens depth",
        "centrality() and medoid() serve every kind",
    )
    return _share(counts_of(statements))


def centrality(statements: StatementsLike | CentralCounts) -> FloatArray:
    """How central each object is, by counting: a share of the answers about it.

    - ``central``: lens depth, the share in which it is the most central one;
    - ``odd``: 1 - P(odd), the share in which it is not the odd one, the score of Crowd-Median
      (Heikinheimo and Ukkonen, 2013), the function F of the paper's eq. (19);
    - ``closer``: the share of the comparisons with another object that it wins as the nearer
      one to an anchor, the rank centrality of Rendsburg and Garreau (2021).

    An object that no answer could single out has centrality 0.

    Examples
    --------
    >>> from trilens.statements import Statements
    >>> S = Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3]], kind="odd")
    >>> centrality(S).round(2).tolist()
    [0.33, 1.0, 0.5, 1.0]
    >>> S = Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3]], kind="closer")
    >>> centrality(S).round(2).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    counts = counts_of(statements)
    share = _share(counts)
    if counts.kind == "odd":
        return np.where(counts.appears > 0, 1.0 - share, 0.0)
    return share


def counts_of(statements: StatementsLike | CentralCounts) -> CentralCounts:
    """The counts that depth is made of; counts are passed on."""
    return statements if isinstance(statements, CentralCounts) else count_central(statements)


def _share(counts: CentralCounts) -> FloatArray:
    return ratio(counts.singled, counts.appears)


def ratio(part: IntArray, whole: IntArray) -> FloatArray:
    """``part / whole``, and 0 where the denominator is 0."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
