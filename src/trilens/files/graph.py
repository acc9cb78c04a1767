"""Graphs as files: edge lists, GraphML and NumPy archives."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files import atomic_write, write_table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ENDINGS = (".csv", ".tsv", ".txt", ".graphml", ".npz")


def check_ending(path: str | Path) -> str:
    """The ending of a graph file; an unknown one is refused before any work."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise FormatError(f"{path}: unknown ending for a graph; use one of {', '.join(_ENDINGS)}")
    return ending


def write_graph(graph: csr_array, names: Sequence[str], path: str | Path) -> None:
    """Write the edges i < j with their weights, whole or not at all."""
    ending = check_ending(path)
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
        columns: dict[str, list[str] | AnyArray] = {
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
