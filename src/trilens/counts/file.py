"""Counts as files: written whole, checked when read, merged by name."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from trilens._parameters import shown
from trilens._typing import AnyArray
from trilens.counts._merge import Named
from trilens.counts.central import PathLike
from trilens.counts.classes import ClassCounts
from trilens.counts.counted import Counted, counted
from trilens.counts.pairs import PairCounts
from trilens.errors import FormatError, ParameterError, TrilensError
from trilens.statements import KINDS, Statements
from trilens.statements.columns import as_list
from trilens.statements.value import CheckedNames

#: What this trilens writes, and the newest that it reads.
VERSION = 1
_MARK = "trilens counts"
#: The member that tells a file of counts from any other archive.
HEADER = "header"
_PAIRS = ("third", "appears")


def write_counts(counts: Counted | Statements, path: PathLike) -> None:
    """Write counts to a file that `read_counts` checks; it appears whole or not at all.

    Parameters
    ----------
    counts : Counted or Statements
        Of statements the counts per object are written.
    path : str or path
        The file is a numpy archive whatever its ending; ``counts.npz`` is a good name.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "counts.npz"
    >>> write_counts(Statements([[0, 1, 2], [0, 1, 3]], kind="central"), file)
    >>> read_counts(file).central.singled.tolist()
    [2, 0, 0, 0]
    """
    from trilens.files.output import atomic_write

    if isinstance(counts, Statements):
        counts = counted(counts)
    if not isinstance(counts, Counted):
        raise ParameterError(
            f"write_counts takes Counted or Statements, got {type(counts).__name__}; "
            f"count files with Answers(path).count()"
        )
    with atomic_write(path) as file:
        file.write(to_bytes(counts))


def read_counts(path: PathLike) -> Counted:
    """Read counts that `write_counts` wrote.

    Raises
    ------
    FormatError
        For a file that was cut short or edited, one of a newer trilens, and any other file.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise FormatError(f"expected a path, got {shown(path)}")
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FormatError(f"{name}: {why}; check the path") from error
    return from_bytes(data, name)


def merge_counts(
    counts: Iterable[Counted | PathLike],
) -> Counted:
    """The sum of counts, or of files of them, aligned by the names of their objects.

    Objects have the order of the first counts, then what the others add; where all names are
    integers, the numerical order.

    Examples
    --------
    >>> a = counted(Statements([[0, 1, 2]], names=["x", "y", "z"], kind="central"))
    >>> b = counted(Statements([[2, 1, 0]], names=["z", "y", "w"], kind="central"))
    >>> merge_counts([a, b]).names
    ('x', 'y', 'z', 'w')
    """
    total: Counted | None = None
    for given in as_list(counts, "counts"):
        one = given if isinstance(given, Counted) else read_counts(given)
        try:
            total = one if total is None else total + one
        except TrilensError as error:
            if isinstance(given, Counted):
                raise
            raise FormatError(f"{os.fspath(given)}: {error}") from error
    if total is None:
        raise ParameterError("expected at least one file of counts")
    return total


def is_counts(path: Any) -> bool:
    """Whether a file holds counts, or what is left of them.

    >>> is_counts(0)
    False
    """
    if not isinstance(path, str | os.PathLike):
        return False  # a number would be an open file, and its end would be lost
    try:
        if not os.path.isfile(path):
            return False  # a pipe can be read only once
        with open(path, "rb") as file:
            head = file.read(64)
    except (OSError, TypeError, ValueError):
        return False
    return head.startswith(b"PK\x03\x04") and f"{HEADER}.npy".encode() in head


def to_bytes(counts: Counted) -> bytes:
    """The counts as a numpy archive; the same counts give the same bytes."""
    arrays: dict[str, AnyArray] = {"first": counts.first, "rest": counts.rest}
    if counts.near is not None:
        arrays["near"] = counts.near
    if counts.known_names is not None:
        arrays["names"], arrays["name_ends"] = _text(counts.known_names)
    if counts.pairs is not None:
        for what in _PAIRS:
            cells = getattr(counts.pairs, what)
            if counts.pairs.is_sparse:
                arrays[f"pairs_{what}_data"] = cells.data
                arrays[f"pairs_{what}_columns"] = cells.indices
                arrays[f"pairs_{what}_rows"] = cells.indptr
            else:
                arrays[f"pairs_{what}"] = cells
    if counts.classes is not None:
        arrays["classes_singled"] = counts.classes.singled
        arrays["classes_appears"] = counts.classes.appears
        if counts.classes.labels is not None:
            arrays["classes_labels"] = counts.classes.labels
    facts = {
        "format": _MARK,
        "version": VERSION,
        "kind": counts.kind,
        "statements": counts.statements,
        "class_names": list(counts.class_names),
        "skipped": list(counts.skipped),
        "n_skipped": counts.n_skipped,
        "chosen": counts.chosen,
        "reasons": list(counts.reasons),
        "files": [list(pair) for pair in counts.files],
        "clustered": counts.clustered,
    }
    facts["checksum"] = _checksum(facts, arrays)
    header = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    file = io.BytesIO()
    members: dict[str, Any] = {HEADER: header, **arrays}
    np.savez(file, **members)
    return file.getvalue()


def from_bytes(data: bytes, label: str) -> Counted:
    """The counts of a numpy archive, or one line that says what is wrong with it."""
    facts, arrays = _open(data, label)
    n = len(arrays["first"])
    try:
        names: Named = None
        if "names" in arrays:
            names = CheckedNames.of(_words(arrays["names"], arrays["name_ends"]))
        classes = None
        if "classes_singled" in arrays:
            classes = ClassCounts(
                arrays["classes_singled"], arrays["classes_appears"], arrays.get("classes_labels")
            )
        found = Counted(
            kind=facts["kind"],
            statements=int(facts["statements"]),
            first=arrays["first"],
            rest=arrays["rest"],
            near=arrays.get("near"),
            known_names=names,
            pairs=_pairs(arrays, facts["kind"], n),
            classes=classes,
            class_names=tuple(facts["class_names"]),
            skipped=tuple(facts["skipped"]),
            n_skipped=int(facts["n_skipped"]),
            # older files do not tell
            chosen=int(facts.get("chosen", 0)),
            reasons=tuple(facts.get("reasons", ())),
            files=tuple((str(path), str(stamp)) for path, stamp in facts["files"]),
            clustered=facts.get("clustered"),  # older files do not tell
        )
        if facts["kind"] not in KINDS or len(found.rest) != n or len(names or found.first) != n:
            raise ValueError("its parts do not fit together")
    except (KeyError, TypeError, ValueError, TrilensError) as error:
        raise FormatError(f"{label} is not a valid file of counts: {error}; count again") from error
    return found


def _open(data: bytes, label: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    damaged = f"{label} was cut short or damaged"
    again = "count again, or copy it again from where it was written"
    # a bad archive makes zipfile, zlib, json and numpy raise errors of many classes
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            if HEADER not in archive.files:
                what = "statements" if "triples" in archive.files else "other arrays"
                raise FormatError(
                    f"{label} holds {what}, not counts; trilens count counts statements"
                )
            facts = json.loads(archive[HEADER].tobytes())
            if facts.get("format") != _MARK:
                raise FormatError(f"{label} is not a file of counts; trilens count writes them")
            if int(facts["version"]) > VERSION:
                raise FormatError(
                    f"{label} was written by a newer trilens (version {facts['version']} of the "
                    f"format, this one reads up to {VERSION}); update trilens"
                )
            arrays = {name: archive[name] for name in archive.files if name != HEADER}
            told = facts.pop("checksum")
    except FormatError:
        raise
    except (Exception, MemoryError) as error:
        if not data.startswith(b"PK\x03\x04"):
            raise FormatError(
                f"{label} is not a file of counts; trilens count writes them"
            ) from error
        raise FormatError(f"{damaged} ({_short(error)}); {again}") from error
    if told != _checksum(facts, arrays):
        raise FormatError(f"{label} was changed after it was written (wrong checksum); {again}")
    return facts, arrays


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 80 else f"{text[:80]}..."


def _checksum(facts: dict[str, Any], arrays: dict[str, AnyArray]) -> str:
    total = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _pairs(arrays: dict[str, AnyArray], kind: Any, n: int) -> PairCounts | None:
    if "pairs_third" in arrays:
        return PairCounts(arrays["pairs_third"], arrays["pairs_appears"], kind)
    if "pairs_third_data" not in arrays:
        return None
    from scipy.sparse import csr_array

    third, appears = (
        csr_array(
            tuple(arrays[f"pairs_{what}_{part}"] for part in ("data", "columns", "rows")),
            shape=(n, n),
        )
        for what in _PAIRS
    )
    return PairCounts(third, appears, kind)


def _text(names: Sequence[str]) -> tuple[AnyArray, AnyArray]:
    """The names end to end, and where each ends: no name is too long or too odd for that."""
    words = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    return np.frombuffer(b"".join(words), dtype=np.uint8), ends


def _words(text: AnyArray, ends: AnyArray) -> list[str]:
    data, edges = text.tobytes(), [0, *ends.tolist()]
    if edges[-1] != len(data):
        raise ValueError("its names are damaged")
    return [data[low:high].decode("utf-8", "surrogatepass") for low, high in pairwise(edges)]
