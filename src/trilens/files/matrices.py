"""Matrices of distances between named objects: writing them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import FormatError, MissingExtraError
from trilens.files.output import atomic_write, write_table
from trilens.files.source import PathLike, checked_path

#: What a matrix can be written as.
MATRIX_ENDINGS = (".csv", ".tsv", ".json", ".parquet", ".h5", ".hdf5")
#: The layout that `rsatoolbox` 0.3 reads calls itself so.
_RSATOOLBOX = "0.0.1"


def check_matrix_ending(path: PathLike) -> str:
    """The ending that says how a matrix is written, or one line that lists them."""
    name = checked_path(path)
    ending = ".csv" if name == "-" else Path(name).suffix.lower()
    if ending not in MATRIX_ENDINGS:
        raise FormatError(
            f"{name}: unknown ending {ending or '(none)'} for a matrix of distances; use one of "
            f"{', '.join(MATRIX_ENDINGS)}"
        )
    return ending


def write_matrix(
    names: Sequence[str], matrix: FloatArray, errors: FloatArray | None, path: PathLike
) -> list[str]:
    """Write the distances of named objects, and their standard errors; returns the files.

    The ending tells the format: ``.csv`` and ``.tsv`` have the names in the first row and column,
    and the standard errors in a file of their own beside it; ``.json`` and ``.parquet`` a row for
    each pair; ``.h5`` and ``.hdf5`` what ``rsatoolbox.rdm.load_rdm`` reads.
    """
    ending = check_matrix_ending(path)
    if ending in (".h5", ".hdf5"):
        _write_rdm(names, matrix, errors, path)
    elif ending in (".json", ".parquet"):
        i, j = np.triu_indices(len(names), 1)
        columns: dict[str, Any] = {
            "object_1": [names[k] for k in i.tolist()],
            "object_2": [names[k] for k in j.tolist()],
            "distance": matrix[i, j],
        }
        if errors is not None:
            columns["standard_error"] = errors[i, j]
        write_table(columns, path)
    else:
        written = [str(path)]
        if errors is not None and str(path) != "-":
            beside = Path(path).with_name(f"{Path(path).stem}.errors{Path(path).suffix}")
            _write_square(names, errors, beside, ending)
            written.append(str(beside))
        _write_square(names, matrix, path, ending)
        return written
    return [str(path)]


def _write_square(names: Sequence[str], matrix: FloatArray, path: PathLike, ending: str) -> None:
    text = io.StringIO()
    lines = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    lines.writerow(["", *names])
    for name, row in zip(names, matrix.tolist(), strict=True):
        lines.writerow([name, *row])
    with atomic_write(path) as file:
        file.write(text.getvalue().encode(errors="replace"))


def _write_rdm(
    names: Sequence[str], matrix: FloatArray, errors: FloatArray | None, path: PathLike
) -> None:
    """As ``RDMs.save`` of rsatoolbox does: groups for dicts, datasets for arrays."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("an .h5 file", "data") from None
    at = np.triu_indices(len(names), 1)
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file.attrs["rsatoolbox_version"] = _RSATOOLBOX
        file.attrs["dissimilarity_measure"] = "Euclidean distance on a trilens map, mean 1"
        file["dissimilarities"] = matrix[at][None]
        file.create_group("descriptors").attrs["source"] = "trilens"
        group = file.create_group("rdm_descriptors")
        group["index"] = [0]
        if errors is not None:
            group["standard_error"] = errors[at][None]
        group = file.create_group("pattern_descriptors")
        group["index"] = np.arange(len(names))
        if all(map(str.isascii, names)):
            group["object"] = np.array(names, dtype="S")
        else:  # rsatoolbox takes bytes for ASCII, but reads text in attributes as it is
            group.attrs["object"] = list(names)
    with atomic_write(path) as target:
        target.write(held.getvalue())
