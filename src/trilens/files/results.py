"""Results as files: graphs between named objects, and matrices of their distances."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import FormatError, MissingExtraError
from trilens.files.output import atomic_write, write_table
from trilens.files.source import PathLike, checked_path

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What a graph and a matrix of distances can be written as.
ENDINGS = {
    "graph": (".csv", ".tsv", ".txt", ".graphml", ".npz"),
    "matrix of distances": (".csv", ".tsv", ".json", ".parquet", ".h5", ".hdf5"),
}
#: The layout that `rsatoolbox` 0.3 reads calls itself so.
_RSATOOLBOX = "0.0.1"


def check_ending(path: PathLike, what: str) -> str:
    """The ending that says how a result is written; an unknown one is refused before any work."""
    name = checked_path(path)
    ending = ".csv" if name == "-" else Path(name).suffix.lower()
    if ending not in ENDINGS[what]:
        raise FormatError(
            f"{name}: unknown ending {ending or '(none)'} for a {what}; use one of "
            f"{', '.join(ENDINGS[what])}"
        )
    return ending


def write_graph(graph: csr_array, names: Sequence[str], path: PathLike) -> None:
    """Write the edges i < j with their weights, whole or not at all."""
    ending = check_ending(path, "graph")
    upper = graph.tocoo()
    keep = upper.coords[0] < upper.coords[1]
    i, j, weight = upper.coords[0][keep], upper.coords[1][keep], upper.data[keep]
    if ending == ".npz":
        with atomic_write(path) as file:
            np.savez_compressed(
                file, source=i, target=j, weight=weight, names=np.array(names, dtype=np.str_)
            )
    elif ending == ".graphml":
        with atomic_write(path) as file:
            _write_graphml(file, i.tolist(), j.tolist(), weight.tolist(), names)
    else:
        columns: dict[str, Any] = {
            "source": [names[x] for x in i],
            "target": [names[x] for x in j],
            "weight": weight,
        }
        write_table(columns, path)


def _write_graphml(
    file: IO[bytes],
    source: list[int],
    target: list[int],
    weight: list[float],
    names: Sequence[str],
) -> None:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="name" for="node" attr.name="name" attr.type="string"/>',
        '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
        '<graph edgedefault="undirected">',
        *(
            f'<node id="n{x}"><data key="name">{escape(_xml_text(name), quote=False)}</data></node>'
            for x, name in enumerate(names)
        ),
        *(
            f'<edge source="n{i}" target="n{j}"><data key="weight">{w!r}</data></edge>'
            for i, j, w in zip(source, target, weight, strict=True)
        ),
        "</graph>",
        "</graphml>",
    ]
    file.write("\n".join(lines).encode() + b"\n")


def _xml_text(name: str) -> str:
    """XML 1.0 has no way to write control characters and lone surrogates."""
    lost = "\N{REPLACEMENT CHARACTER}"
    kept = "".join(c if c >= " " or c in "\t\n\r" else lost for c in name)
    return kept.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def write_matrix(
    names: Sequence[str], matrix: FloatArray, errors: FloatArray | None, path: PathLike
) -> list[str]:
    """Write the distances of named objects, and their standard errors; returns the files.

    The ending tells the format: ``.csv`` and ``.tsv`` have the names in the first row and column,
    and the standard errors in a file of their own beside it; ``.json`` and ``.parquet`` a row for
    each pair; ``.h5`` and ``.hdf5`` what ``rsatoolbox.rdm.load_rdm`` reads.
    """
    ending = check_ending(path, "matrix of distances")
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
