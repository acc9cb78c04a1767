"""Normalised spectral clustering as in Shi and Malik (2000)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import generator
from trilens._typing import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to this many vertices a dense solver is as fast as Lanczos, and needs no convergence.
_DENSE = 800


def spectral_clusters(
    graph: csr_array, n_clusters: int, random_state: Any = None, n_init: int = 10
) -> IntArray:
    """k-means on the first eigenvectors of the random-walk Laplacian.

    The eigenvectors solve the generalised problem L u = lambda D u; they are those of the
    symmetric matrix D^-1/2 W D^-1/2 of largest eigenvalue, times D^-1/2.

    Parameters
    ----------
    graph : (n, n) csr_array
        Symmetric weights; every vertex has a neighbour.
    n_init : int
        Starts of k-means, of which the best counts.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    seed = int(generator(random_state).integers(2**31))
    _, vectors = laplacian_eigenvectors(graph, n_clusters)
    means = KMeans(n_clusters, n_init=n_init, random_state=seed)
    # k-means of so few numbers is over before further threads have started
    with threadpool_limits(1):
        return np.asarray(means.fit_predict(vectors), dtype=np.int64)


def laplacian_eigenvectors(graph: csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """The ``count`` least eigenvalues of L u = lambda D u, and the eigenvectors as columns."""
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    n = graph.shape[0]
    normalised: Any
    normalised, root = laplacian(graph, normed=True, return_diag=True)
    if n <= _DENSE or count >= n - 1:
        # all of them: asked for a part, LAPACK may find none where eigenvalues coincide
        values, vectors = np.linalg.eigh(normalised.toarray())
        values, vectors = values[:count], vectors[:, :count]
    else:
        from scipy.sparse import eye_array

        # 2 - L has its largest eigenvalues where L has its least, and Lanczos finds those faster
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(2 * eye_array(n) - normalised, k=count, which="LA", v0=start)
        values, vectors = 2 - values[::-1], vectors[:, ::-1]
    return np.asarray(values), np.asarray(vectors / root[:, None])
