"""Catch questions: an object is shown twice, so that everybody knows the right answer.

They say nothing of the objects and something of who answered them. Where few rows are of this
sort they are set aside as checks; where many are, the columns hold something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, BoolArray
from trilens.kinds import Kind
from trilens.statements.batch import Batch, named_codes
from trilens.statements.columns import text_array

#: The share of a table's rows that may be checks.
_MOST = 0.2


@dataclass(frozen=True, eq=False)
class Checks:
    """The answers to catch questions.

    Attributes
    ----------
    right : (n,) array of int8
        1 where the answer was right, 0 where it was wrong, -1 where either would do: two
        copies of the same object were offered beside another one.
    raters : (n,) array of str or None
    """

    right: AnyArray
    raters: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.right)

    def __str__(self) -> str:
        """In one line, for a note.

        >>> print(Checks(np.array([1, 1, 0, -1])))
        4 rows show an object twice: checks, not answers (67 % right)
        """
        many = "1 row shows" if len(self) == 1 else f"{len(self):,} rows show"
        known = self.right[self.right >= 0]
        share = f" ({100 * known.mean():.0f} % right)" if len(known) else ""
        return f"{many} an object twice: checks, not answers{share}"

    def by_rater(self) -> dict[str, tuple[int, int]]:
        """How many checks each rater answered rightly, and of how many.

        >>> Checks(np.array([1, 0, 1, -1]), np.array(["a", "a", "b", "b"])).by_rater()
        {'a': (1, 2), 'b': (1, 1)}
        """
        found: dict[str, tuple[int, int]] = {}
        if self.raters is None:
            return found
        for rater, right in zip(self.raters.tolist(), self.right.tolist(), strict=True):
            if right >= 0 and rater != "":
                good, asked = found.get(str(rater), (0, 0))
                found[str(rater)] = (good + right, asked + 1)
        return found

    def failed(self, least: float) -> list[str]:
        """The raters who answered a smaller share of their checks rightly."""
        return [who for who, (good, asked) in self.by_rater().items() if good < least * asked]

    def without(self, raters: Iterable[object]) -> Checks:
        """The checks of the other raters.

        >>> Checks(np.array([1, 0, 1]), np.array(["a", "a", "b"])).without(["a"]).by_rater()
        {'b': (1, 1)}
        """
        if self.raters is None:
            return self
        gone = {str(rater) for rater in raters}
        kept = np.array([str(rater) not in gone for rater in self.raters.tolist()], dtype=np.bool_)
        return Checks(self.right[kept], self.raters[kept])

    @classmethod
    def joined(cls, parts: Iterable[Checks]) -> Checks | None:
        """The checks of several tables."""
        every = list(parts)
        if not every:
            return None
        raters = None
        if all(part.raters is not None for part in every):
            raters = text_array([str(x) for part in every for x in part.raters])  # type: ignore[union-attr]
        return cls(np.concatenate([part.right for part in every]), raters)


def set_aside(batch: Batch) -> tuple[Batch, Batch | None]:
    """The rows that are no catch questions, and those that are; None where none is, or many are."""
    columns = _objects(batch)[1]
    a, b, c = columns[-3:]
    twice: BoolArray = np.asarray(((a == b) | (a == c) | (b == c)) & (a >= 0) & (b >= 0) & (c >= 0))
    n = int(np.count_nonzero(twice))
    if not n or n > _MOST * len(batch):
        return batch, None
    return batch.take(np.flatnonzero(~twice)), batch.take(np.flatnonzero(twice))


def checks_of(batch: Batch, kind: Kind) -> Checks:
    """How the catch questions of a batch were answered."""
    chosen, columns = _objects(batch)
    a, b, c = columns[-3:]
    alike = (a == b) & (b == c)
    if batch.form == "pair":
        picked = np.where(batch.positions == 0, b, c) if chosen is None else chosen
        right = np.where(b == c, -1, picked == a)
    elif kind == "closer":
        right = np.where(b == c, -1, a == b)
    else:
        if batch.form == "shown":
            shown = np.stack([a, b, c], axis=1)
            places = np.clip(batch.positions, 0, 2) if batch.positions is not None else None
            picked = shown[np.arange(len(a)), places] if chosen is None else chosen
        else:
            picked = a
        same = np.where(b == c, b, a)
        right = (picked == same) if kind == "central" else (picked != same)
    right = np.where(alike, -1, right).astype(np.int8)
    raters = batch.known("rater") if "rater" in batch.others else None
    return Checks(right, raters)


def _objects(batch: Batch) -> tuple[AnyArray | None, list[AnyArray]]:
    """The chosen object where it is named, and the columns of the objects, as numbers."""
    columns = batch.arrays() if batch.integers else named_codes(batch)
    return (columns[0] if len(columns) == 4 else None), columns
