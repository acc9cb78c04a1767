"""Split-half reliability: do two halves of the answers order the objects alike?"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.statements import Statements

_SPLITS = 100
#: Beyond so many numbers the raters are divided instead of held one by one.
_MOST_CELLS = 20_000_000
_FEWEST_OBJECTS = 4


@dataclass(frozen=True)
class SplitHalf:
    """How alike the depths from two halves of the answers are.

    Attributes
    ----------
    correlation : float
        Pearson's, between the depths by counting in two halves; the mean over the splits.
    reliability : float
        What it would be between two studies as large as this one (Spearman and Brown, 1910).
    low, high : float
        The middle 95 % of the splits, in the same terms: how much the way to split matters.
        It is no interval for other raters or objects.
    splits : int
    unit : {"rater", "round", "answer"}
        What was divided into halves.
    """

    correlation: float
    reliability: float
    low: float
    high: float
    splits: int
    unit: str

    def to_dict(self) -> dict[str, float | int | str]:
        """The facts in plain types."""
        return asdict(self)


def split_half(
    statements: Statements, unit: str | None, who: AnyArray | None, seed: int = 0
) -> SplitHalf | None:
    """Divide the raters at random, or the answers where raters are not known.

    None where there are fewer than four objects, or a half without answers about them.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> S = study(n_statements=4000).statements
    >>> found = split_half(S, "rater", S.raters)
    >>> found.unit, 0.8 < found.reliability < 1
    ('rater', True)
    """
    n, m = statements.n_objects, len(statements)
    if n < _FEWEST_OBJECTS or m < 2:
        return None
    rng = np.random.default_rng([seed, 3])
    first = 1 if statements.kind == "closer" else 0
    numbers = None if who is None else np.unique(who, return_inverse=True)[1]
    units = 0 if numbers is None else int(numbers.max()) + 1
    if numbers is None or units < 2 or units * n > _MOST_CELLS:
        numbers, units, unit = rng.permutation(m) % min(m, 200), min(m, 200), "answer"
    ids = statements.triples[:, first:].astype(np.int64)
    cells = (numbers[:, None] * np.int64(n) + ids).ravel()
    trials = np.bincount(cells, minlength=units * n).reshape(units, n).astype(np.float64)
    hits = np.bincount(numbers * np.int64(n) + ids[:, 0], minlength=units * n)
    won = hits.reshape(units, n).astype(np.float64)
    found = []
    for _ in range(_SPLITS):
        half = rng.permutation(units) < units // 2
        depth = [_shares(won[part].sum(axis=0), trials[part].sum(axis=0)) for part in (half, ~half)]
        known = np.isfinite(depth[0]) & np.isfinite(depth[1])
        if known.sum() < _FEWEST_OBJECTS:
            continue
        one, two = depth[0][known], depth[1][known]
        if one.std() > 0 and two.std() > 0:
            found.append(float(np.corrcoef(one, two)[0, 1]))
    if not found:
        return None
    mean = float(np.mean(found))
    low, high = (float(_whole(float(q))) for q in np.quantile(found, [0.025, 0.975]))
    return SplitHalf(mean, _whole(mean), low, high, len(found), unit or "rater")


def _shares(won: FloatArray, trials: FloatArray) -> FloatArray:
    shares: FloatArray = np.full(len(won), np.nan)
    np.divide(won, trials, out=shares, where=trials > 0)
    return shares


def _whole(correlation: float) -> float:
    """Spearman and Brown's formula; a negative correlation stays as it is."""
    return 2 * correlation / (1 + correlation) if correlation > 0 else correlation
