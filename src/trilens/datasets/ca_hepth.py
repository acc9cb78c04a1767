"""The collaboration network of high energy physics theory (Section 6.1.1 of the paper)."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import IntArray
from trilens.datasets.fetch import Address, Origin, find_files, notice

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CITATION = (
    "Jure Leskovec, Jon Kleinberg and Christos Faloutsos. Graph evolution: densification and "
    "shrinking diameters. ACM Transactions on Knowledge Discovery from Data 1(1), 2007."
)
LICENSE = "No licence stated (Stanford Large Network Dataset Collection); cite the paper."

#: The address could not be tried when this was written; whatever it sends is checked.
ORIGIN = Origin(
    homepage="https://snap.stanford.edu/data/ca-HepTh.html",
    addresses=(Address("https://snap.stanford.edu/data/ca-HepTh.txt.gz"),),
    notice=notice("ca-HepTh", CITATION, LICENSE),
)


@dataclass(frozen=True, eq=False)
class Collaboration:
    """The largest connected component of the network ca-HepTh.

    Attributes
    ----------
    adjacency : (8638, 8638) scipy.sparse.csr_array of int8
        Symmetric, 1 where two authors wrote a paper together, 0 on the diagonal.
    authors : (8638,) array of int
        The author's number in the file, ascending.
    """

    adjacency: csr_array[Any, tuple[int, int]]
    authors: IntArray
    citation: str = CITATION
    license: str = LICENSE


def load_ca_hepth() -> Collaboration:
    """The largest connected component of the collaboration network, without self-loops.

    The file lists each edge in both directions, and some authors as their own co-authors.

    Returns
    -------
    Collaboration

    Raises
    ------
    DatasetError
        If the file cannot be obtained, or is corrupted.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    (path,) = find_files(["ca-HepTh/ca-HepTh.txt.gz"], ORIGIN)
    with gzip.open(path, "rt", encoding="ascii") as file:
        listed = np.loadtxt(file, dtype=np.int64, comments="#")
    authors, ids = np.unique(listed, return_inverse=True)
    ids = ids.reshape(listed.shape)
    i, j = ids[ids[:, 0] != ids[:, 1]].T
    n = len(authors)
    pairs = np.unique(np.concatenate([i * n + j, j * n + i]))
    graph = coo_array(
        (np.ones(len(pairs), dtype=np.int8), (pairs // n, pairs % n)), shape=(n, n)
    ).tocsr()
    _, component = connected_components(graph, directed=False)
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    return Collaboration(adjacency=graph[largest][:, largest], authors=authors[largest])
