"""Coordinates in closed form: classical scaling of what the counts of pairs say."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from trilens._parameters import real_number, wrong
from trilens._typing import AnyArray, FloatArray
from trilens.counts import PairCounts
from trilens.errors import ParameterError, StatementError
from trilens.maps.descent import one_blas_thread
from trilens.maps.pairs import pointing
from trilens.statements import Kind

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

#: Up to so many objects the values are smoothed, which takes an (n, n) array.
SMOOTHED_OBJECTS = 4096
#: Up to so many objects LAPACK is no slower than Lanczos iterations.
_LAPACK_OBJECTS = 300
_BLOCK = 1024

#: An ``ndarray`` or a ``scipy.sparse.csr_array``.
Matrix: TypeAlias = Any
#: The largest eigenvalues, or the largest by absolute value.
Which: TypeAlias = Literal["LA", "LM"]


@dataclass(frozen=True, eq=False)
class PairDissimilarity:
    """A dissimilarity for every pair of objects: ``prior``, and the deviations from it."""

    #: (n, n), dense or sparse: symmetric, with a zero diagonal; zero for a pair that was never
    #: asked about.
    deviation: Matrix
    #: The dissimilarity of such a pair.
    prior: float

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return int(self.deviation.shape[0])

    def to_dense(self) -> FloatArray:
        """The whole (n, n) array, with a zero diagonal."""
        E = self.deviation
        Q = np.array(E if isinstance(E, np.ndarray) else E.toarray(), dtype=np.float64)
        Q += self.prior
        np.fill_diagonal(Q, 0.0)
        return Q


@dataclass(frozen=True, eq=False)
class Scaling:
    """Coordinates by classical scaling, and the eigenvalues they come from."""

    #: (n, d): centered; column c has the squared length ``max(eigenvalues[c], 0)``.
    coordinates: FloatArray
    #: (d,): of B, the largest first; may be negative, B need not be that of real points.
    eigenvalues: FloatArray
    #: The sum of all n eigenvalues of B.
    trace: float


def pair_dissimilarity(
    pairs: PairCounts, shrinkage: float = 1.0, error_rate: float = 0.0, power: float = 1.0
) -> PairDissimilarity:
    """The shrunk share V of each pair, corrected for wrong answers, as a dissimilarity.

    V = (N + a p) / (D + a) with N = ``pairs.third``, D = ``pairs.appears``, a the shrinkage
    and p what guessing gives: 1/3 for ``central`` and ``odd``, 1/2 for ``closer``. Under Noise
    model I with error rate e, V is corrected by the paper's eq. (14), (V - e/2) / (1 - 3e/2); a
    ``closer`` answer has only one wrong side, so there it is (V - e) / (1 - 2e). Both leave p
    where it is. V grows with the distance for ``central`` statements; for ``odd`` and
    ``closer`` ones it falls, and 1 - V takes its place.

    Parameters
    ----------
    shrinkage : float
        How many guessed statements each pair starts with; above 0.
    error_rate : float
        Below 2/3 (``closer``: below 1/2).
    power : float
        The dissimilarity is raised to this power; unless it is 1, corrected values outside
        [0, 1] are moved to the nearer end first.

    Examples
    --------
    >>> from trilens.counts import count_pairs
    >>> pairs = count_pairs([[0, 1, 2], [0, 1, 2]])
    >>> pair_dissimilarity(pairs).to_dense().round(2).tolist()
    [[0.0, 0.11, 0.11], [0.11, 0.0, 0.78], [0.11, 0.78, 0.0]]
    """
    check_error_rate(error_rate, pairs.kind)
    shrinkage = real_number("shrinkage", shrinkage, positive=True)
    check_power(power)
    guess = 1 / 2 if pairs.kind == "closer" else 1 / 3
    prior = (guess if pairs.kind == "central" else 1 - guess) ** power

    def deviation(third: AnyArray, appears: AnyArray) -> FloatArray:
        V = (third + shrinkage * guess) / (appears + shrinkage)
        if error_rate:
            V = guess + (V - guess) / (1 - error_rate / (1 - guess))
        if pairs.kind != "central":
            V = 1 - V
        if power != 1:
            V = np.clip(V, 0, 1) ** power
        return np.asarray(V - prior)

    if pairs.is_sparse:
        E: Matrix = pairs.appears.astype(np.float64)
        E.data = deviation(pairs.third_where_asked(), pairs.appears.data)
        return PairDissimilarity(E, prior)
    n = pairs.n_objects
    # single precision halves what bounds n; the counts hold far fewer digits
    dtype = np.float64 if n <= SMOOTHED_OBJECTS else np.float32
    dense = np.empty((n, n), dtype=dtype)
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        dense[rows] = deviation(pairs.third[rows], pairs.appears[rows])
    np.fill_diagonal(dense, 0)
    return PairDissimilarity(dense, prior)


def check_error_rate(error_rate: float, kind: Kind) -> None:
    """Refuse an error rate at which the answers say nothing, or the opposite."""
    limit, text = (1 / 2, "1/2") if kind == "closer" else (2 / 3, "2/3")
    if not 0 <= real_number("error_rate", error_rate) < limit:
        raise ParameterError(
            f"error_rate is {error_rate!r}; for statements of kind {kind} it must be at least 0 "
            f"and below {text}, where answers are no better than guesses",
            parameter="error_rate",
        )


def smooth(dissimilarity: PairDissimilarity, rank: int, start: FloatArray) -> FloatArray:
    """The nearest matrix of low rank, with a zero diagonal.

    A share of few answers is noisy, and a power below 1 would turn the noise into a bias.
    Squared distances of points in d dimensions form a matrix of rank d + 2.

    Returns
    -------
    (n, n) float64
    """
    Q = dissimilarity.to_dense()
    if rank >= len(Q) - 1:
        return Q
    values, vectors = _eigenpairs(Q, rank, start, "LM")
    smoothed: FloatArray = (vectors * values) @ vectors.T
    np.fill_diagonal(smoothed, 0.0)
    return smoothed


def classical_scaling(
    dissimilarity: PairDissimilarity, n_components: int, start: FloatArray
) -> Scaling:
    """The leading eigenpairs of B = -J Q J / 2 (J: centring), as coordinates.

    Q, the dissimilarities, stand for squared distances. B is never formed for many objects:
    as Q is ``prior`` everywhere off the diagonal plus the deviations E, and J takes constants
    away, B v = (prior J v - J E J v) / 2, which costs one pass over the pairs that were asked.

    Parameters
    ----------
    start : (n,) array
        Where Lanczos iterations start.
    """
    n, E, prior = dissimilarity.n_objects, dissimilarity.deviation, dissimilarity.prior
    trace = (float(E.sum(dtype=np.float64)) + prior * n * (n - 1)) / (2 * n)
    B: FloatArray | LinearOperator
    if n <= SMOOTHED_OBJECTS:
        Q = dissimilarity.to_dense()
        mean = Q.mean(axis=0)
        B = (mean + mean[:, None] - mean.mean() - Q) / 2
    else:
        B = _centred_operator(E, prior)
    values, vectors = _eigenpairs(B, n_components, start, "LA")
    # the sign of an eigenvector is arbitrary
    lengths = np.sqrt(np.clip(values, 0, None)) * pointing(vectors)
    return Scaling(vectors * lengths, values, trace)


def usual_power(n_components: int) -> float:
    """The power of the shares in so many dimensions: see `LensMap`."""
    return max(0.5, min(1.0, 2 / n_components))


def lens_scaling(
    pairs: PairCounts,
    d: int,
    power: float,
    start: FloatArray,
    shrinkage: float = 1.0,
    error_rate: float = 0.0,
) -> Scaling:
    """The lens map in ``d`` dimensions; its parameters are those of `LensMap`."""
    if pairs.n_objects > SMOOTHED_OBJECTS:
        raw = pair_dissimilarity(pairs, shrinkage, error_rate, power)
        return classical_scaling(raw, d, start)
    Q = smooth(pair_dissimilarity(pairs, shrinkage, error_rate), d + 2, start)
    Q = np.clip(Q, 0, 1) ** power
    return classical_scaling(PairDissimilarity(Q, 0.0), d, start)


def check_power(power: Any) -> None:
    if isinstance(power, str) or not 0 < real_number("power", power) <= 1:
        raise wrong("power", power, "above 0 and at most 1, or 'auto'")


def _centred_operator(E: Matrix, prior: float) -> LinearOperator:
    from scipy.sparse.linalg import LinearOperator

    dtype = E.dtype

    def times(v: FloatArray) -> FloatArray:
        v = v.reshape(-1).astype(dtype, copy=False)
        v = v - v.mean()
        product = prior * v - E @ v
        return np.asarray((product - product.mean()) / 2)

    return LinearOperator(E.shape, matvec=times, rmatvec=times, dtype=dtype)


def _eigenpairs(A: Any, k: int, start: FloatArray, which: Which) -> tuple[FloatArray, FloatArray]:
    """``k`` eigenpairs of a symmetric (n, n) array or operator, the leading one first."""
    n = A.shape[0]
    # products this small lose more to waiting threads than they gain
    with one_blas_thread() if n <= SMOOTHED_OBJECTS else nullcontext():
        if isinstance(A, np.ndarray) and (n <= _LAPACK_OBJECTS or 3 * k > n):
            from scipy.linalg import eigh

            values, vectors = eigh(A)
        else:
            values, vectors = _by_lanczos(A, k, start, which)
    order = np.argsort(-np.abs(values) if which == "LM" else -values, kind="stable")[:k]
    return values[order].astype(np.float64), vectors[:, order].astype(np.float64)


def _by_lanczos(A: Any, k: int, start: FloatArray, which: Which) -> tuple[AnyArray, AnyArray]:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = A.shape[0]
    try:
        values, vectors = eigsh(
            A, k=k, which=which, v0=start.astype(A.dtype), tol=1e-4, ncv=min(n, 2 * k + 20)
        )
    except ArpackNoConvergence:
        raise StatementError(
            f"the {k} leading dimensions of the lens map of {n:,} objects cannot be separated "
            f"from noise; give more statements, or ask for fewer n_components"
        ) from None
    return values, vectors
