"""Bad rows: where they are, what is wrong, and leaving them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import AnyArray
from trilens.files.cell import is_missing
from trilens.files.source import PathLike, quoted

if TYPE_CHECKING:
    from trilens.files.batch import Batch


@dataclass(frozen=True)
class Fault:
    """A row that is no statement."""

    file: str
    row: int
    problem: str
    content: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row:,}: {self.problem}"


def without_faults(
    batch: Batch, listed: Sequence[str], keys: frozenset[str] | None
) -> tuple[Batch, list[Fault]]:
    """The rows of a batch that are statements, and what is wrong with the others.

    Parameters
    ----------
    listed
        Names that are known: such a cell is never missing.
    keys
        What an object may be called, where that is known.
    """
    known = frozenset(listed)
    names: dict[str, int] = {}
    columns = batch.texts()
    codes = np.empty((len(batch), len(columns)), dtype=np.int64)
    missing: set[int] = set()
    unknown: set[int] = set()
    for j, (at, values) in enumerate(columns):
        local = np.empty(len(values) + 1, dtype=np.int64)
        local[-1] = -1  # serves the index -1 of a missing cell
        for k, value in enumerate(values):
            code = names.setdefault(value, len(names))
            local[k] = code
            if is_missing(value) and value not in known:
                missing.add(code)
            elif keys is not None and value not in keys:
                unknown.add(code)
        codes[:, j] = local[at]
    problems: dict[int, str] = {}
    texts = list(names)

    def mark(wrong: Any, problem: Callable[[int], str]) -> None:
        for row in np.flatnonzero(wrong).tolist():
            problems.setdefault(row, problem(row))

    absent = (codes < 0) | np.isin(codes, list(missing))
    mark(absent.any(axis=1), lambda row: "an object is missing")
    strange = np.isin(codes, list(unknown))
    mark(
        strange.any(axis=1),
        lambda row: f"object {quoted(texts[codes[row][strange[row]][0]])} is not in the list",
    )
    shown = codes[:, 1:] if codes.shape[1] == 4 else codes
    a, b, c = shown.T
    mark((a == b) | (a == c) | (b == c), lambda row: "an object stands twice in it")
    if codes.shape[1] == 4:
        beside = codes[:, 1:] if batch.form == "shown" else codes[:, 2:]
        mark(
            ~(beside == codes[:, :1]).any(axis=1),
            lambda row: f"the chosen object {quoted(texts[codes[row, 0]])} was not to be chosen",
        )
    if batch.positions is not None:
        mark(batch.positions < 0, lambda row: "the answer is no position")
    extra = batch.columns(replace(batch, strict=False))
    if extra.get("places") is not None:
        mark(np.asarray(extra["places"]) < 0, lambda row: "the place is not 0, 1 or 2")
    if not problems:
        return batch, []
    faults = [
        Fault(
            batch.label,
            batch.row_in_file(row),
            problem,
            ",".join(texts[code] if code >= 0 else "" for code in codes[row]),
        )
        for row, problem in sorted(problems.items())
    ]
    kept = np.ones(len(batch), dtype=np.bool_)
    kept[list(problems)] = False
    return take_rows(batch, np.flatnonzero(kept), extra), faults


def take_rows(batch: Batch, rows: AnyArray, extra: dict[str, Any] | None = None) -> Batch:
    """Some rows of a batch."""
    known = batch.columns(batch) if extra is None else extra
    some = {name: np.asarray(values)[rows] for name, values in known.items() if values is not None}
    row_in_file = batch.row_in_file
    return replace(
        batch,
        table=batch.table.take(rows),
        row_in_file=lambda row: row_in_file(int(rows[row])),
        columns=lambda _: some,
        positions=None if batch.positions is None else batch.positions[rows],
    )


def write_faults(faults: Iterable[Fault], path: PathLike) -> None:
    """Write bad rows to a CSV with the columns ``file``, ``row``, ``problem``, ``objects``."""
    from trilens.files.output import write_table

    listed = list(faults)
    write_table(
        {
            "file": [fault.file for fault in listed],
            "row": [fault.row for fault in listed],
            "problem": [fault.problem for fault in listed],
            "objects": [fault.content for fault in listed],
        },
        path,
    )
