"""MATLAB files of version 5 to 7: their matrices, and cells of text.

A small reader of our own, after MathWorks' description of the format ("MAT-File Format"): on a
damaged file that of scipy may take the whole process with it, and this one cannot.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from trilens._typing import AnyArray

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_NUMBERS |= {13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_UTF8, _UTF16, _UTF32 = 16, 17, 18
_CELL, _CHAR = 1, 4
_NUMERIC = range(6, 16)
#: Unpacked bytes of a variable: more is an accident, or worse.
_MOST = 1 << 32


class MatlabError(ValueError):
    """Bytes that are no MATLAB file."""


def read_matlab(data: bytes) -> dict[str, AnyArray]:
    """The numeric matrices and cell arrays of text, by name; others are passed over.

    >>> import io, numpy as np, scipy.io
    >>> file = io.BytesIO()
    >>> scipy.io.savemat(file, {"t": np.array([[3, 1, 2]]), "x": "text"}, do_compression=True)
    >>> read_matlab(file.getvalue())["t"].tolist()
    [[3, 1, 2]]
    """
    if len(data) < 128 or data[126:128] not in (b"IM", b"MI"):
        raise MatlabError("no header of version 5 to 7")
    order = "<" if data[126:128] == b"IM" else ">"
    found: dict[str, AnyArray] = {}
    for kind, content in _elements(data[128:], order):
        if kind == _COMPRESSED:
            unpacker = zlib.decompressobj()
            content = unpacker.decompress(content, _MOST)
            if not unpacker.eof:
                raise MatlabError("a compressed variable is cut short")
            kind, content = next(_elements(content, order), (0, b""))
        if kind == _MATRIX:
            name, value = _matrix(content, order)
            if isinstance(value, np.ndarray):
                found[name] = value
    return found


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The data elements one after the other: their type and content."""
    at = 0
    while at + 8 <= len(data):
        first, second = np.frombuffer(data, f"{order}u4", 2, at).tolist()
        if first >> 16:  # a small element: type and size share a word
            kind, size, start, end = first & 0xFFFF, first >> 16, at + 4, at + 8
        else:
            kind, size, start = first, second, at + 8
            end = start + size + (-size % 8 if kind != _COMPRESSED else 0)
        if size > len(data) - start or (first >> 16 and size > 4):
            raise MatlabError("an element is longer than the file")
        yield kind, data[start : start + size]
        at = end


def _matrix(content: bytes, order: str) -> tuple[str, Any]:
    parts = _elements(content, order)
    try:
        (_, flags), (_, dims), (_, name) = next(parts), next(parts), next(parts)
    except StopIteration:
        raise MatlabError("a variable without its description") from None
    if len(flags) < 4 or len(dims) % 4:
        raise MatlabError("a variable without its description")
    class_ = int(np.frombuffer(flags, f"{order}u4", 1)[0]) & 0xFF
    shape = tuple(np.frombuffer(dims, f"{order}i4").tolist())
    named = name.decode("ascii", "replace")
    if class_ in _NUMERIC:
        kind, values = next(parts, (0, b""))
        if kind not in _NUMBERS:
            raise MatlabError("a matrix without numbers")
        return named, _shaped(np.frombuffer(values, f"{order}{_NUMBERS[kind]}"), shape)
    if class_ == _CHAR:
        kind, values = next(parts, (0, b""))
        return named, _text(kind, values, order)
    if class_ == _CELL:
        cells = [_matrix(inner, order)[1] for kind, inner in parts if kind == _MATRIX]
        if cells and all(isinstance(cell, str) for cell in cells):
            return named, _shaped(np.array(cells, dtype=np.str_), shape)
    return named, None


def _text(kind: int, values: bytes, order: str) -> str:
    end = "le" if order == "<" else "be"
    codec = {_UTF16: f"utf-16-{end}", 4: f"utf-16-{end}", _UTF32: f"utf-32-{end}"}
    return values.decode(codec.get(kind, "utf-8" if kind == _UTF8 else "latin-1"))


def _shaped(values: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    if not shape or min(shape) < 0 or len(values) != np.prod(shape, dtype=np.float64):
        raise MatlabError("a matrix whose size is not that of its numbers")
    return np.ascontiguousarray(values.reshape(shape, order="F")).astype(
        values.dtype.newbyteorder("=")
    )
