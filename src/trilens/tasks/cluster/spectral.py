"""Normalised spectral clustering as in Shi and Malik (2000)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to this many vertices a dense solver is as fast as Lanczos, and needs no convergence.
_DENSE = 800


def spectral_clusters(graph: csr_array, n_clusters: int, random_state: Any = None) -> IntArray:
    """k-means on the first eigenvectors of the random-walk Laplacian.

    The eigenvectors solve the generalised problem L u = lambda D u; they are those of the
    symmetric matrix D^-1/2 W D^-1/2 of largest eigenvalue, times D^-1/2.

    Parameters
    ----------
    graph : (n, n) csr_array
        Symmetric weights; every vertex has a neighbour.
    """
    from sklearn.cluster import KMeans

    seed = int(np.random.default_rng(random_state).integers(2**31))
    vectors = laplacian_eigenvectors(graph, n_clusters)
    means = KMeans(n_clusters, n_init=10, random_state=seed)
    return np.asarray(means.fit_predict(vectors), dtype=np.int64)


def laplacian_eigenvectors(graph: csr_array, count: int) -> FloatArray:
    """The ``count`` eigenvectors of L u = lambda D u of least eigenvalue, as columns."""
    from scipy.sparse.linalg import eigsh

    n = graph.shape[0]
    normalised, root = normalised_laplacian(graph)
    if n <= _DENSE or count >= n - 1:
        # all of them: asked for a part, LAPACK may find none where eigenvalues coincide
        vectors = np.linalg.eigh(normalised.toarray())[1][:, :count]
    else:
        from scipy.sparse import eye_array

        # 2 - L has its largest eigenvalues where L has its least, and Lanczos finds those faster
        start = np.random.default_rng(0).standard_normal(n)
        _, vectors = eigsh(2 * eye_array(n) - normalised, k=count, which="LA", v0=start)
        vectors = vectors[:, ::-1]
    return np.asarray(vectors / root[:, None])


def normalised_laplacian(graph: csr_array) -> tuple[Any, FloatArray]:
    """D^-1/2 (D - W) D^-1/2, sparse, and the roots of the degrees."""
    from scipy.sparse.csgraph import laplacian

    matrix, root = laplacian(graph, normed=True, return_diag=True)
    return matrix, np.asarray(root)
