"""NPZ: the arrays of `Statements`, as numpy keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray
from trilens.errors import FormatError, StatementError, TrilensError
from trilens.files.asked import Asked
from trilens.files.batch import Batch
from trilens.files.faults import Fault
from trilens.files.names import Naming
from trilens.files.source import Source, one_line, quoted
from trilens.statements import KINDS, Kind, Statements
from trilens.statements.value import COLUMNS


@dataclass(frozen=True)
class Archive:
    """An NPZ file: ``triples``, ``names``, ``kind`` and what else is known of each statement."""

    source: Source
    kind: Kind | None
    stored: Naming
    skip_bad: bool = False
    may_be_empty: bool = True
    layout: None = None
    notes: Sequence[str] = ()
    faults: Sequence[Fault] = ()

    @property
    def label(self) -> str:
        return self.source.label

    def batches(self, integers: bool, block_bytes: int | None = None) -> Iterator[Batch]:
        """All rows at once, as numpy can only read them whole; see `StatementFile`."""
        arrays: dict[str, Any] = _arrays(self.source, ("triples", *COLUMNS))
        triples = arrays.pop("triples")
        n = self.stored.n_objects
        try:
            if self.skip_bad:  # whoever skips bad rows looks at the objects
                _refuse_outside(triples, n)
                S = Statements(np.tile([0, 1, 2], (len(triples), 1)), 3, **arrays)
            else:
                S = Statements(triples, n, **arrays)
        except StatementError as error:
            place = self.label if error.row is None else f"{self.label}, row {error.row + 1:,}"
            raise StatementError(f"{place}: {error.problem}") from None
        except TrilensError as error:
            raise FormatError(f"{self.label}: {error}") from None
        if len(S):
            ids = pa.table(
                list(triples.astype(np.int32).T.copy()), [f"object_{j}" for j in range(3)]
            )
            columns = {name: getattr(S, name) for name in COLUMNS}
            yield Batch(ids, self.label, lambda row: row + 1, lambda _: columns, self.stored.names)


def _refuse_outside(triples: AnyArray, n: int) -> None:
    wrong = ((triples < 0) | (triples >= n)).any(axis=1) if len(triples) else np.zeros(0, np.bool_)
    if wrong.any():
        row = int(wrong.argmax())
        raise StatementError(f"an object id is not from 0 to {n - 1}", row=row)


def open_archive(source: Source, asked: Asked) -> Archive:
    """An NPZ file, with its kind and its objects known."""
    label, kind = source.label, asked.kind
    if asked.columns is not None:
        raise FormatError(
            f"{label}: columns= does not apply to NPZ, whose triples stand in the order "
            f"of the kind; leave it out"
        )
    arrays = _arrays(source, ("kind", "names"))
    said = _kind(arrays.get("kind"), label)
    if kind is not None and said is not None and kind != said:
        raise FormatError(
            f"{label} says that its statements are of kind {said}, but kind {kind} was asked "
            f"for; leave the kind out"
        )
    names = _names(arrays.get("names"), label)
    try:
        if names is not None:
            return Archive(source, said, Naming(names), asked.skip_bad)
        triples = _arrays(source, ("triples",))["triples"]
        n = int(triples.max()) + 1 if triples.size else 0
        return Archive(source, said, Naming(None, n), asked.skip_bad)
    except TrilensError as error:
        raise FormatError(f"{label}: {one_line(error)}") from error


def write_archive(S: Statements, file: BinaryIO) -> None:
    """Write every array of the statements; text becomes numpy's fixed-width text."""
    arrays: dict[str, Any] = {
        "triples": S.triples,
        "names": _fixed_width(S.names, "the object"),
        "kind": np.array(S.kind),
    }
    for name in COLUMNS:
        column: AnyArray | None = getattr(S, name)
        if column is not None:
            plain = column.dtype.kind != "O"
            arrays[name] = column if plain else _fixed_width(column.tolist(), f"one of {name},")
    np.savez(file, **arrays)


def _fixed_width(values: Sequence[Any], what: str) -> AnyArray:
    texts = [str(value) for value in values]
    cut = next((text for text in texts if text.endswith("\0")), None)
    if cut is not None:
        raise FormatError(f"{what} {quoted(cut)} ends in NUL, which NPZ cannot keep; rename it")
    return np.array(texts, dtype=np.str_) if texts else np.array([], dtype="U1")


def _arrays(source: Source, wanted: tuple[str, ...]) -> dict[str, AnyArray]:
    """Those of the wanted arrays that are there; ``triples`` must be, and be ids."""
    with source.open() as stream:
        # a bad archive makes zipfile, zlib and numpy raise errors of many classes
        try:
            with np.load(stream, allow_pickle=False) as archive:
                found = {name: archive[name] for name in wanted if name in archive.files}
                seen = list(archive.files)
        except (Exception, MemoryError) as error:
            if "allow_pickle" in str(error):
                raise FormatError(
                    f"{source.label} holds pickled Python objects, which are not read because "
                    f"they can run code; write it again with text and number arrays alone"
                ) from error
            raise FormatError(
                f"{source.label} is truncated or is not an NPZ file: {one_line(error)}; "
                f"write it again, or give it the ending of its format"
            ) from error
    if "triples" not in seen:
        hint = "; for cblearn's X and y, preset='cblearn' (--from cblearn)" if "X" in seen else ""
        raise FormatError(
            f"{source.label}: no array triples; the arrays seen are "
            f"{one_line(', '.join(seen))}{hint}"
        )
    triples = found.get("triples")
    if triples is not None and (
        triples.dtype.kind not in "iu" or triples.ndim != 2 or triples.shape[1] != 3
    ):
        raise FormatError(
            f"{source.label}: triples is an array of shape {triples.shape} of {triples.dtype}; "
            f"it must be (m, 3) of integers"
        )
    return found


def _kind(array: AnyArray | None, label: str) -> Kind | None:
    if array is None:
        return None
    if array.dtype.kind != "U" or array.size != 1 or array.item() not in KINDS:
        raise FormatError(
            f"{label}: kind is {one_line(array, 40)}; it must be one of {', '.join(KINDS)}"
        )
    kind: Kind = array.item()
    return kind


def _names(array: AnyArray | None, label: str) -> list[str] | None:
    if array is None:
        return None
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise FormatError(
            f"{label}: names is an array of shape {array.shape} of {array.dtype}; "
            f"it must be (n,) of text"
        )
    return [str(name) for name in array.tolist()]
