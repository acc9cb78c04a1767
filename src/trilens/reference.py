"""The paper in plain loops: each algorithm as its pseudocode states it, in its notation.

S is a collection of statements (A, B, C): "A is the most central object within the triple of
objects (A, B, C)". Objects are numbered from 0; n is how many there are, by default as many as S
names. Statements may repeat and contradict each other, and may leave objects out. Shares are
compared as fractions, so that a strict inequality is strict.

Nothing here is fast. `trilens.lens` has the same algorithms on counts; a test holds them equal.

M. Kleindessner and U. von Luxburg. Lens depth function and k-relative neighborhood graph:
versatile tools for ordinal data analysis. Journal of Machine Learning Research 18(58), 2017.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp, inf
from typing import Any

from trilens._parameters import real_number, whole_number
from trilens._typing import RandomState
from trilens.errors import LabelError, StatementError
from trilens.kinds import Kind, require_kind
from trilens.statements import StatementsLike, as_statements

__all__ = [
    "algorithm_1",
    "algorithm_2",
    "algorithm_3",
    "algorithm_4",
    "algorithm_5",
    "crowd_median",
    "k_rng",
    "lens_depth",
]


def lens_depth(S: StatementsLike, n: int | None = None) -> list[float]:
    """LD(O), the estimated lens depth of every object: line 1 of Algorithms 1 and 2.

    >>> lens_depth([(0, 1, 2), (0, 1, 3), (2, 0, 3)], n=5)
    [0.6666666666666666, 0.0, 0.5, 0.0, 0.0]
    """
    triples, n = _collection(S, n)
    N, D = [0] * n, [0] * n
    for A, B, C in triples:
        N[A] += 1
        for O in (A, B, C):
            D[O] += 1
    return [N[O] / D[O] if D[O] > 0 else 0.0 for O in range(n)]


def algorithm_1(S: StatementsLike, n: int | None = None) -> int:
    """Estimating a medoid: an object for which LD(O) is maximal, of several the first.

    >>> algorithm_1([(0, 1, 2), (0, 1, 3), (2, 0, 3)])
    0
    """
    LD = lens_depth(S, n)
    return LD.index(max(LD))


def algorithm_2(S: StatementsLike, c: int, n: int | None = None) -> list[int]:
    """Identifying outlier candidates: the c objects with the smallest values of LD(O).

    >>> algorithm_2([(0, 1, 2), (0, 1, 3), (2, 0, 3)], c=2)
    [1, 3]
    """
    LD = lens_depth(S, n)
    return sorted(range(len(LD)), key=lambda O: LD[O])[: whole_number("c", c)]


def crowd_median(S: StatementsLike, n: int | None = None) -> int:
    """Heikinheimo and Ukkonen's medoid: the object that is least often the outlier, eq. (19).

    Here a statement (A, B, C) says that A is the outlier within the triple.

    >>> crowd_median([(0, 1, 2), (0, 1, 3), (2, 1, 3)])
    1
    """
    triples, n = _collection(S, n, "odd")
    N, D = [0] * n, [0] * n
    for A, B, C in triples:
        N[A] += 1
        for O in (A, B, C):
            D[O] += 1
    F = [1 - N[O] / D[O] if D[O] > 0 else 0.0 for O in range(n)]
    return F.index(max(F))


def algorithm_3(S: StatementsLike, y: Sequence[Any], classifier: Any) -> dict[int, Any]:
    """K-class classification I: a label for every unlabeled object.

    ``y`` has the label of each object, None or -1 for an unlabeled one; ``classifier`` is any
    with ``fit`` and ``predict``, such as one of scikit-learn's.

    >>> from itertools import permutations
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> x = [1, 2, 4, 11, 12, 14, 3]  # on a line the most central of three is the middle one
    >>> S = [(b, a, c) for a, b, c in permutations(range(7), 3) if x[a] < x[b] < x[c]]
    >>> int(algorithm_3(S, [0, 0, 0, 1, 1, 1, None], KNeighborsClassifier(1))[6])
    0
    """
    triples, n = _collection(S, len(y))
    L, U, classes = _labeled(y)
    N, D = ([[0] * len(classes) for O in range(n)] for _ in range(2))
    for A, B, C in triples:
        for O, P, Q in ((A, B, C), (B, A, C), (C, A, B)):
            if P in L and Q in L and y[P] == y[Q]:
                i = classes.index(y[P])
                D[O][i] += 1
                if O == A:
                    N[O][i] += 1
    K = range(len(classes))
    LD = [[N[O][i] / D[O][i] if D[O][i] > 0 else 0.0 for i in K] for O in range(n)]
    classifier.fit([LD[O] for O in L], [y[O] for O in L])
    return {O: classifier.predict([LD[O]])[0] for O in U}


def algorithm_4(
    S: StatementsLike,
    y: Sequence[Any],
    k: float,
    error_rate: float = 0.0,
    choose: Callable[[list[Any]], Any] = random.choice,
) -> dict[int, Any]:
    """K-class classification II: a label for every unlabeled object.

    ``choose`` picks one of the labels with the most votes; without a neighbor that is any label.
    With ``error_rate``, the paper's errorprob, V is corrected by eq. (16).

    >>> S = [(0, 1, 4), (1, 0, 4), (4, 0, 3), (0, 4, 2), (2, 3, 4), (3, 2, 4)]
    >>> algorithm_4(S, ["a", "a", "b", "b", None], k=1)
    {4: 'a'}
    """
    triples, n = _collection(S, len(y))
    L, U, classes = _labeled(y)
    N, D = ([[0] * n for O in range(n)] for _ in range(2))
    for A, B, C in triples:
        for u, l, third in ((A, B, C), (A, C, B), (B, A, C), (B, C, A), (C, A, B), (C, B, A)):
            if u in U and l in L and third in L:
                D[u][l] += 1
                if third == A:
                    N[u][l] += 1
    inferred = {}
    for u in U:
        votes = dict.fromkeys(classes, 0)
        for l in L:
            V = Fraction(N[u][l], D[u][l]) if D[u][l] > 0 else inf
            if _corrected(V, error_rate) < _exact("k", k) / (len(L) - 1):
                votes[y[l]] += 1
        most = max(votes.values())
        inferred[u] = choose([label for label in classes if votes[label] == most])
    return inferred


def k_rng(
    S: StatementsLike,
    k: float,
    error_rate: float = 0.0,
    sigma: float | None = None,
    n: int | None = None,
) -> list[list[float]]:
    """W, the estimated k-RNG: lines 1 and 2 of Algorithm 5, with ``sigma`` the weighted version.

    With ``error_rate`` V is corrected by eq. (16), in the weights too, where a negative one is 0.

    >>> k_rng([(1, 0, 2), (1, 0, 2)], k=1)
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    triples, n = _collection(S, n)
    N, D = ([[0] * n for i in range(n)] for _ in range(2))
    for A, B, C in triples:
        for i, j, third in ((A, B, C), (A, C, B), (B, A, C), (B, C, A), (C, A, B), (C, B, A)):
            D[i][j] += 1
            if third == A:
                N[i][j] += 1
    W = [[0.0] * n for i in range(n)]
    for i in range(n):
        for j in range(n):
            V = _corrected(Fraction(N[i][j], D[i][j]) if D[i][j] > 0 else inf, error_rate)
            if n > 2 and V < _exact("k", k) / (n - 2):
                W[i][j] = 1.0 if sigma is None else exp(-((max(float(V), 0.0) / sigma) ** 2))
    return W


def algorithm_5(
    S: StatementsLike,
    k: float,
    l: int,
    sigma: float | None = None,
    error_rate: float = 0.0,
    n: int | None = None,
    random_state: RandomState = 0,
) -> list[int]:
    """Clustering: the cluster of every object, by spectral clustering of the estimated k-RNG.

    k-means on the first l eigenvectors of L u = lambda D u (Shi and Malik, 2000). Every object
    must have a neighbor: choose k so large that the graph is connected.

    >>> from itertools import permutations
    >>> x = [1, 2, 4, 11, 12, 14]
    >>> S = [(b, a, c) for a, b, c in permutations(range(6), 3) if x[a] < x[b] < x[c]]
    >>> algorithm_5(S, k=2, l=2)
    [0, 0, 0, 1, 1, 1]
    """
    import numpy as np
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    W = np.array(k_rng(S, k, error_rate, sigma, n))
    degree = W.sum(axis=1)
    if not degree.all():
        isolated = int(degree.argmin())
        raise StatementError(f"object {isolated} has no neighbor in the k-RNG; take a larger k")
    D = np.diag(degree)
    _, u = eigh(D - W, D)
    C = KMeans(l, n_init=10, random_state=random_state).fit_predict(u[:, :l]).tolist()
    firsts = list(dict.fromkeys(C))
    return [firsts.index(cluster) for cluster in C]


def _corrected(V: Any, error_rate: float) -> Any:
    """p of eq. (14): the share of objects in the lens, without what wrong answers add to it."""
    e = _exact("error_rate", error_rate)
    return (V - e / 2) / (1 - 3 * e / 2)


def _exact(name: str, value: float) -> Fraction:
    """The decimal number as it was written: 0.3 is 3/10."""
    return Fraction(str(real_number(name, value)))


def _collection(
    S: StatementsLike, n: int | None, kind: Kind = "central"
) -> tuple[list[list[int]], int]:
    """The statements as triples of numbers, and the number of objects."""
    given = as_statements(S, kind)
    require_kind(given.kind, [kind], "this algorithm of the paper", "the choice map serves all")
    n = given.n_objects if n is None else whole_number("n", n, least=given.n_objects)
    if n == 0:
        raise StatementError("there are no objects; give statements, or n")
    return given.triples.tolist(), n


def _labeled(y: Sequence[Any]) -> tuple[list[int], list[int], list[Any]]:
    """The labeled objects, the unlabeled ones, and the classes in order."""
    L = [O for O, label in enumerate(y) if label is not None and label != -1]
    U = [O for O in range(len(y)) if O not in L]
    classes = sorted({y[O] for O in L})
    if len(classes) < 2:
        raise LabelError("classification needs labels of at least two classes", parameter="y")
    return L, U, classes
