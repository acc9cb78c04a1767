"""The paper's Algorithms 1 to 5 on counts, in its letters: N, D, V, k, l and sigma.

N counts statements that say something about an object or a pair, D those that could have, and
LD and V are N / D: the estimated lens depth of an object, and the estimated share of the other
objects in the lens of a pair. `trilens.reference` states the same in plain loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trilens._parameters import generator, real_array, real_number, whole_number, wrong
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from trilens.answers import Answers, AnswersLike, central_counts, pair_counts, read_or_count
from trilens.counts import (
    CentralCounts,
    ClassCounts,
    Counted,
    LabelledPairCounts,
    PairCounts,
)
from trilens.errors import option
from trilens.kinds import require_kind
from trilens.statements import as_statements

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "LensValues",
    "centrality",
    "correct_errors",
    "effective_k",
    "k_rng",
    "lens_depth",
    "lens_values",
]

#: What the counts of objects, and of pairs, can be made of.
OfObjects: TypeAlias = AnswersLike | Counted | CentralCounts
OfPairs: TypeAlias = AnswersLike | Counted | PairCounts

#: How an object came by its votes in Algorithm 4.
NEIGHBOURS, NEAREST, UNKNOWN, RANDOM = "neighbours", "nearest", "unknown", "random"
#: Values this close to a threshold are compared as fractions: rounding must not make an edge.
_CLOSE = 1e-9
#: Up to this many vertices a dense solver is as fast as Lanczos, and needs no convergence.
_DENSE = 800


def ratio(N: AnyArray, D: AnyArray, if_zero: float = 0.0) -> FloatArray:
    """N / D, and ``if_zero`` where D is 0."""
    return np.asarray(np.divide(N, D, out=np.full(np.shape(N), if_zero), where=D > 0))


# Algorithms 1 and 2: a medoid, and outliers


def lens_depth(statements: OfObjects) -> FloatArray:
    """Estimated lens depth LD of every object: line 1 of Algorithms 1 and 2.

    The share of an object's statements in which it is the most central one; 0 for an object
    that no statement names. The true lens depth, `trilens.exact.lens_depth`, is the same share
    over all pairs of other objects.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, or CentralCounts
        Of kind ``central``.

    Returns
    -------
    (n_objects,) array of float

    Examples
    --------
    >>> lens_depth([[0, 1, 2], [0, 1, 3], [2, 0, 3]]).round(2).tolist()
    [0.67, 0.0, 0.5, 0.0]
    """
    counts = central_counts(statements, kind="central")
    instead = "centrality() and medoid() serve every kind"
    require_kind(counts.kind, ["central"], "lens depth", instead)
    N, D = counts.singled, counts.appears
    return ratio(N, D)


def algorithm_1(statements: OfObjects) -> int:
    """Estimating a medoid: the object of highest LD, of several the first.

    >>> algorithm_1([[0, 1, 2], [0, 1, 3], [2, 0, 3]])
    0
    """
    LD = lens_depth(statements)
    return int(LD.argmax())


def algorithm_2(statements: OfObjects, c: int) -> IntArray:
    """Identifying outlier candidates: the c objects of lowest LD, the lowest first.

    >>> algorithm_2([[0, 1, 2], [0, 1, 3], [2, 0, 3]], c=2).tolist()
    [1, 3]
    """
    LD = lens_depth(statements)
    return LD.argsort(kind="stable")[: whole_number("c", c)]


def centrality(statements: OfObjects) -> FloatArray:
    """How central each object is: a share of the answers about it.

    - ``central``: lens depth, the share in which it is the most central one;
    - ``odd``: 1 - P(odd), the share in which it is not the odd one, the score of Crowd-Median
      (Heikinheimo and Ukkonen, 2013), the function F of the paper's eq. (19);
    - ``closer``: the share of the comparisons with another object that it wins as the nearer
      one to an anchor, the rank centrality of Rendsburg and Garreau (2021).

    An object that no answer could single out has centrality 0.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, or CentralCounts
        Of any kind.

    Returns
    -------
    (n_objects,) array of float

    Examples
    --------
    >>> from trilens.statements import Statements
    >>> S = Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3]], kind="odd")
    >>> centrality(S).round(2).tolist()
    [0.33, 1.0, 0.5, 1.0]
    >>> S = Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3]], kind="closer")
    >>> centrality(S).round(2).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    counts = central_counts(statements)
    N, D = counts.singled, counts.appears
    if counts.kind == "odd":
        return np.where(D > 0, 1.0 - ratio(N, D), 0.0)
    return ratio(N, D)


# Algorithm 3: classification by the depth in each class


def class_depth(counts: ClassCounts) -> FloatArray:
    """LD of every object with respect to every class, (n, K): line 1 of Algorithm 3.

    0 where no statement compares the object with two labeled objects of the class.

    >>> from trilens.counts import count_classes
    >>> S, y = [[4, 0, 1], [0, 1, 4], [2, 3, 4]], [0, 0, 1, 1, -1]
    >>> class_depth(count_classes(S, y, n_classes=2))[4].tolist()
    [0.5, 0.0]
    """
    N, D = counts.singled, counts.appears
    return ratio(N, D)


def algorithm_3(
    counts: ClassCounts,
    y: IntArray,
    train: Callable[[FloatArray, IntArray], Any],
    asked: IntArray,
) -> tuple[FloatArray, Any, IntArray]:
    """K-class classification I: any classifier, on the depths in each class.

    Parameters
    ----------
    y : (n,) array of int
        The class of each object, -1 where it is unlabeled.
    train : callable
        Given LD, (n, K), and y, it returns a classifier that has learned from the labeled rows.
    asked : array of int
        The unlabeled objects whose class is wanted.

    Returns
    -------
    LD, the classifier, and the class of each of ``asked``
    """
    LD = class_depth(counts)
    classifier = train(LD, y)
    inferred = classifier.predict(LD[asked]) if len(asked) else np.empty(0, dtype=np.int64)
    return LD, classifier, inferred


# Algorithm 4: classification by a vote of the neighbors


def labelled_values(counts: LabelledPairCounts) -> FloatArray:
    """V of every object and labeled object, infinite where D is 0: line 1 of Algorithm 4."""
    N, D = counts.third, counts.appears
    return ratio(N, D, if_zero=np.inf)


def algorithm_4(
    V: FloatArray, votes_for: IntArray, k: float, error_rate: float = 0.0, alone: str = RANDOM
) -> tuple[IntArray, AnyArray]:
    """K-class classification II: the votes of the neighbors in the estimated k-RNG.

    The majority wins, and ties are broken at random, by whoever asks.

    Parameters
    ----------
    V : (u, |L|) array
        Of some objects and all labeled ones, by `labelled_values`.
    votes_for : (|L|, K) array of int
        1 where a labeled object is of the class.
    k : float
    error_rate : float
        V is corrected for it by eq. (16).
    alone : {"random", "nearest"}
        What becomes of an empty vote: as in the paper a tie of all classes, or those of least V
        vote (where that is infinite all labeled objects).

    Returns
    -------
    votes : (u, K) array of int
    how : (u,) array of str
        ``"neighbours"``; where there are none ``"random"``, ``"nearest"``, or ``"unknown"``
        where even the least V is infinite.
    """
    n_labelled = len(votes_for)
    near = V < float(share_threshold(k, error_rate, n_labelled - 1))
    how = np.full(len(V), NEIGHBOURS, dtype="<U10")
    empty = ~near.any(axis=1)
    if alone == RANDOM:
        how[empty] = RANDOM
    elif empty.any():
        least = V[empty].min(axis=1, keepdims=True)
        how[empty] = np.where(np.isfinite(least[:, 0]), NEAREST, UNKNOWN)
        near[empty] = V[empty] == least
    return near.astype(np.int64) @ votes_for, how


# Algorithm 5: clustering by the k-RNG


@dataclass(frozen=True, eq=False)
class LensValues:
    """V(i, j) = N(i, j) / D(i, j) of every pair i < j that was asked about.

    Pairs that are not listed have V = infinity.

    Attributes
    ----------
    n_objects : int
    i, j : (p,) arrays of int
    N, D : (p,) arrays of int
        Of the statements with i and j, those in which the third object is the most central; and
        all of them.
    """

    n_objects: int
    i: AnyArray
    j: AnyArray
    N: AnyArray
    D: AnyArray

    @cached_property
    def V(self) -> FloatArray:
        """N / D as floats; equal fractions are equal floats."""
        return np.asarray(self.N / self.D)

    def below(self, k: float, error_rate: float = 0.0) -> BoolArray:
        """Whether V, corrected for wrong answers, is less than k / (n - 2), without rounding."""
        k = real_number("k", k)
        if self.n_objects <= 2:
            _checked(error_rate)
            return np.zeros(len(self.V), dtype=bool)
        threshold = share_threshold(k, error_rate, self.n_objects - 2)
        near = self.V < float(threshold)
        for at in np.flatnonzero(np.abs(self.V - float(threshold)) < _CLOSE):
            near[at] = Fraction(int(self.N[at]), int(self.D[at])) < threshold
        return near

    def graph(self, k: float, error_rate: float = 0.0, sigma: float | None = None) -> csr_array:
        """W: 1, or ``exp(-V^2 / sigma^2)``, where V < k / (n - 2), else 0."""
        from scipy.sparse import coo_array

        near = self.below(real_number("k", k, least=1), error_rate)
        i, j = self.i[near], self.j[near]
        weight = np.ones(len(i))
        if sigma is not None:
            width = real_number("sigma", sigma, positive=True)
            # the corrected value estimates a share of objects; below zero it is an estimate of 0
            V = np.maximum(correct_errors(self.V[near], error_rate), 0.0)
            with np.errstate(over="ignore", under="ignore"):
                weight = np.exp(-((V / width) ** 2))
            # a weight that underflows is kept just above 0, so that no edge is lost
            weight = np.maximum(weight, np.finfo(float).tiny ** 0.5)
        n = self.n_objects
        both = (np.concatenate([weight, weight]), (np.concatenate([i, j]), np.concatenate([j, i])))
        return coo_array(both, shape=(n, n)).tocsr()

    def connecting_k(self, error_rate: float = 0.0) -> int | None:
        """The smallest k whose graph is connected, or None where none is.

        None means that the statements themselves fall apart: some objects are never compared
        with the rest.

        >>> lens_values([[1, 0, 2], [1, 0, 2], [1, 0, 2], [0, 1, 2]]).connecting_k()
        1
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        n, e = self.n_objects, _exact(_checked(error_rate))
        if n <= 1:
            return 1
        # ranks from 1 on stand for the values: csgraph takes a weight of 0 for no edge
        _, first, rank = np.unique(self.V, return_index=True, return_inverse=True)
        weights = coo_array((rank + 1.0, (self.i, self.j)), shape=(n, n)).tocsr()
        tree = minimum_spanning_tree(weights)
        if tree.nnz < n - 1 or n == 2:
            return None
        at = first[int(tree.data.max()) - 1]
        V = Fraction(int(self.N[at]), int(self.D[at]))
        # strictly below k / (n - 2): the next whole number
        return max(1, int((V - e / 2) / (1 - 3 * e / 2) * (n - 2) // 1) + 1)


def lens_values(statements: OfPairs) -> LensValues:
    """N, D and V of every pair of objects: line 1 of Algorithm 5."""
    counts = pairs_of(statements)
    if isinstance(counts.appears, np.ndarray):
        i, j = np.nonzero(np.triu(counts.appears, 1))
        N, D = counts.third[i, j], counts.appears[i, j]
    else:
        asked = counts.appears.tocoo()
        upper = asked.coords[0] < asked.coords[1]
        i, j, D = asked.coords[0][upper], asked.coords[1][upper], asked.data[upper]
        N = counts.third_where_asked()[upper]
    return LensValues(counts.n_objects, i, j, N, D)


def k_rng(
    statements: OfPairs, k: float, error_rate: float = 0.0, sigma: float | None = None
) -> csr_array:
    """The estimated k-RNG, lines 1 and 2 of Algorithm 5: an edge where V(i, j) < k / (n - 2).

    V(i, j) is the share of the statements about i and j that put a third object at the
    center; a pair that was never asked about has V = infinity, so no edge.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, or PairCounts
        Of kind ``central``.
    k : float
        At least 1. In the k-RNG two objects are neighbors when fewer than k others lie in their
        lens: k is not the number of neighbors.
    error_rate : float
        The known share of wrong answers (Noise model I), below 2/3; V is corrected for it by
        the paper's eq. (14).
    sigma : float, optional
        Weights ``exp(-V^2 / sigma^2)``; without it every edge has weight 1. With an
        ``error_rate``, V is the corrected one here too, and 0 where that is negative: it
        estimates the share of objects in the lens, of which the paper's eq. (9) is made.

    Returns
    -------
    (n, n) scipy.sparse.csr_array
        Symmetric, without loops.

    Examples
    --------
    >>> k_rng([[1, 0, 2], [1, 0, 2]], k=1).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    return lens_values(statements).graph(k, error_rate, sigma)


def algorithm_5(
    values: LensValues,
    k: float,
    l: int,
    sigma: float | None = None,
    error_rate: float = 0.0,
    *,
    n_init: int = 10,
    random_state: RandomState = 0,
) -> tuple[IntArray, csr_array]:
    """Clustering: spectral clustering of the estimated k-RNG into l clusters.

    The paper leaves open what becomes of objects without a neighbor: here they take no part in
    the eigenproblem, and each goes to the cluster of the object of least V, or to the largest
    cluster where nothing is known about it.

    Returns
    -------
    C : (n,) array of int
        The cluster of each object.
    W : (n, n) csr_array
        The weights of the graph.
    """
    n = values.n_objects
    W = values.graph(k, error_rate, sigma)
    if n <= l:
        return np.arange(n), W
    C = np.full(n, -1, dtype=np.int64)
    connected = np.flatnonzero(np.diff(W.indptr) > 0)
    C[connected] = spectral_clusters(W[connected][:, connected], l, random_state, n_init)
    _join_nearest(C, values)
    return C, W


def spectral_clusters(
    W: csr_array,
    l: int,
    random_state: Any = 0,
    n_init: int = 10,
) -> IntArray:
    """k-means on the first eigenvectors of the random-walk Laplacian (Shi and Malik, 2000).

    The eigenvectors solve the generalised problem L u = lambda D u; they are those of the
    symmetric matrix D^-1/2 W D^-1/2 of largest eigenvalue, times D^-1/2. Every vertex of W has a
    neighbor; no more vertices than clusters are a cluster each.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    n = W.shape[0]
    if n <= l:
        return np.arange(n)
    seed = int(generator(random_state).integers(2**31))
    _, vectors = laplacian_eigenvectors(W, l)
    means = KMeans(l, n_init=n_init, random_state=seed)
    # k-means of so few numbers is over before further threads have started
    with threadpool_limits(1):
        return np.asarray(means.fit_predict(vectors), dtype=np.int64)


def laplacian_eigenvectors(W: csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """The ``count`` least eigenvalues of L u = lambda D u, and the eigenvectors as columns."""
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    n = W.shape[0]
    normalised: Any
    normalised, root = laplacian(W, normed=True, return_diag=True)
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


def _join_nearest(C: IntArray, values: LensValues) -> None:
    """Give each object without a cluster, -1, that of the clustered object of least V."""
    clustered = C >= 0
    if clustered.all():
        return
    largest = int(np.bincount(C[clustered], minlength=1).argmax())
    for x in np.flatnonzero(~clustered):
        at_x = (values.i == x) | (values.j == x)
        other = values.i[at_x] + values.j[at_x] - x
        usable = clustered[other]
        C[x] = largest
        if usable.any():
            C[x] = C[other[usable][values.V[at_x][usable].argmin()]]


# Section 3.2.1: wrong answers


def correct_errors(value: AnyArray, error_rate: float) -> FloatArray:
    """p from p-tilde, the paper's eq. (14): undo the bias of wrong answers in V.

    >>> correct_errors(np.array([0.15, 0.7]), 0.3).round(3).tolist()
    [0.0, 1.0]
    """
    _checked(error_rate)
    value = real_array("value", value)
    return np.asarray((value - error_rate / 2) / (1 - 1.5 * error_rate))


def effective_k(k: float, error_rate: float, n_objects: int) -> float:
    """k' of the paper's eq. (15): the graph that is actually estimated when answers are wrong.

    Without the correction, thresholding at k estimates the k'-RNG; at k' <= 0 an empty graph.

    >>> round(effective_k(10, 0.3, 60), 2)
    2.36
    """
    _checked(error_rate)
    k, n_objects = real_number("k", k), whole_number("n_objects", n_objects)
    return (k - error_rate / 2 * (n_objects - 2)) / (1 - 1.5 * error_rate)


def share_threshold(k: float, error_rate: float, n_others: int) -> Fraction:
    """What V must stay below by the paper's eq. (16), solved for V, without rounding.

    (V - e/2) / (1 - 3e/2) < k / n_others, e the share of wrong answers.

    >>> share_threshold(2, 0.3, 58)
    Fraction(49, 290)
    """
    e = _exact(_checked(error_rate))
    return _exact(k) * (1 - 3 * e / 2) / n_others + e / 2


def _checked(error_rate: float) -> float:
    if isinstance(error_rate, str):
        raise wrong(
            "error_rate",
            error_rate,
            "a number here; neighbors(), cluster(), KRNGClustering and KRNGClassifier "
            "can estimate it",
        )
    if not 0 <= real_number("error_rate", error_rate) < 2 / 3:
        raise wrong(
            "error_rate",
            error_rate,
            "at least 0 and below 2/3, where answers no longer say anything about lenses",
        )
    return error_rate


def _exact(value: float) -> Fraction:
    """The decimal number that was written: 0.3 is 3/10."""
    return Fraction(repr(float(value)))


def pairs_of(statements: OfPairs) -> PairCounts:
    """Pair counts of ``central`` answers; other kinds are refused, in memory before counting."""
    given = statements
    if isinstance(given, Answers):
        given = read_or_count(given, enough=True, pairs=True)
    if not isinstance(given, Counted | PairCounts):
        given = as_statements(given, "central")
    instead = f"the lens map serves every kind: {option('method', 'lensmap')}"
    require_kind(given.kind, ["central"], "the k-RNG", instead)
    return pair_counts(given)
