"""NPZ: the arrays of `Statements`, as numpy keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import FormatError, StatementError, TrilensError
from trilens.formats.source import Source, one_line, quoted
from trilens.statements import KINDS, Kind, Statements
from trilens.statements.value import check_triples, shown

_COLUMNS = ("raters", "rounds", "seconds")


def read_archive(source: Source, kind: Kind | None, objects: Sequence[str] | None) -> Statements:
    """The statements of an NPZ file: ``triples``, ``names``, ``kind`` and optional columns."""
    arrays = _arrays(source)
    label = source.label
    if "triples" not in arrays:
        raise FormatError(
            f"{label}: no array triples; the arrays seen are {one_line(', '.join(arrays))}"
        )
    triples = arrays["triples"]
    if triples.dtype.kind not in "iu" or triples.ndim != 2 or triples.shape[1] != 3:
        raise FormatError(
            f"{label}: triples is an array of shape {triples.shape} of {triples.dtype}; "
            f"it must be (m, 3) of integers"
        )
    said = _kind(arrays.get("kind"), label)
    if kind is not None and said is not None and kind != said:
        raise FormatError(
            f"{label} says that its statements are of kind {said}, but kind {kind} was asked "
            f"for; leave the kind out"
        )
    names = _names(arrays.get("names"), label)
    n_objects = len(names) if names is not None else int(triples.max(initial=-1)) + 1
    try:
        check_triples(triples, n_objects)
        if objects is not None:
            triples = _listed(triples, names, objects, label)
            names, n_objects = list(objects), len(objects)
        return Statements(
            triples,
            n_objects,
            names,
            kind or said or "central",
            **{name: arrays[name] for name in _COLUMNS if name in arrays},
        )
    except StatementError as error:
        place = label if error.row is None else f"{label}, row {error.row + 1:,}"
        raise StatementError(f"{place}: {error.problem}") from None
    except (TrilensError, ValueError, TypeError) as error:
        raise FormatError(f"{label}: {one_line(error)}") from error


def write_archive(S: Statements, file: BinaryIO) -> None:
    """Write every array of the statements; text becomes numpy's fixed-width text."""
    arrays: dict[str, Any] = {
        "triples": S.triples,
        "names": _fixed_width(S.names, "the object"),
        "kind": np.array(S.kind),
    }
    for name in _COLUMNS:
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


def _arrays(source: Source) -> dict[str, AnyArray]:
    data = source.read()
    # a bad archive makes zipfile, zlib and numpy raise errors of many classes
    try:
        with np.load(BytesIO(data), allow_pickle=False) as archive:
            known = ("triples", "names", "kind", *_COLUMNS)
            return {name: archive[name] for name in archive.files if name in known}
    except (Exception, MemoryError) as error:
        if "allow_pickle" in str(error):
            raise FormatError(
                f"{source.label} holds pickled Python objects, which are not read because they "
                f"can run code; write it again with text and number arrays alone"
            ) from error
        raise FormatError(
            f"{source.label} is truncated or is not an NPZ file: {one_line(error)}; "
            f"write it again, or give it the ending of its format"
        ) from error


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


def _listed(
    triples: AnyArray, names: list[str] | None, objects: Sequence[str], label: str
) -> AnyArray:
    """The triples with the ids that a list of objects gives."""
    known = {name: i for i, name in enumerate(objects)}
    count = len(names) if names is not None else int(triples.max(initial=-1)) + 1
    old = names if names is not None else [str(i) for i in range(count)]
    table = np.array([known.get(name, -1) for name in old], dtype=np.int32)
    new = table[triples] if len(triples) else triples
    if new.size and new.min() < 0:
        row, j = np.argwhere(new < 0)[0].tolist()
        raise StatementError(
            f"object {quoted(old[triples[row, j]])} is not in the list of objects "
            f"({shown(list(objects), 3)}); add it to the list or leave the row out",
            row=row,
        )
    return new
