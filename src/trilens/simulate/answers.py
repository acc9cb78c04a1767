"""How questions are answered: by true dissimilarities, with ties, and with the paper's noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator, one_of, real_number, shown, wrong
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray, RandomState
from trilens.errors import ParameterError
from trilens.kinds import KINDS, Kind
from trilens.simulate.points import Points
from trilens.simulate.triples import rank, unrank
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.columns import as_array
from trilens.statements.value import CHOSEN_FIRST

#: What answers follow: a dissimilarity matrix, points, or `Points`.
TruthLike: TypeAlias = ArrayLike | Points
Ties: TypeAlias = Literal["random", "drop"]

#: From this many questions on, the kernels (and numba's import) pay; below, numpy is faster.
COMPILED_FROM = 1 << 19

#: Above this many points, Euclidean distances are computed as they are needed.
_MOST_IN_MATRIX = 4096
#: Above this many objects, a matrix of float64 (3 GiB) is not made without being asked for.
_MOST_DISTORTED = 20_000
_KERNEL_TYPES = frozenset("bBhHiIlLqQfd")

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def answer(
    questions: StatementsLike,
    objects: TruthLike,
    *,
    kind: Kind | None = None,
    metric: str = "euclidean",
    error_rate: float = 0.0,
    ties: Ties = "random",
    random_state: RandomState = 0,
) -> Statements:
    """Answers to given questions by given points or dissimilarities.

    Parameters
    ----------
    questions : Statements, a table, or (m, 3) array
        What is asked; how these statements answer it does not matter. Of ``closer`` questions
        the first object is the anchor.
    objects : (n, d) points, (n, n) dissimilarities, or Points
        What the answers follow: a row for each object.
    kind : {"central", "odd", "closer"}, optional
        What is asked of the triples; by default the kind of ``questions``.
    metric, error_rate, ties
        As in `simulate_statements`. Every answer goes wrong on its own, also to a question
        that is asked again.
    random_state

    Returns
    -------
    Statements
        One for each question, in order, with the raters, rounds and names of ``questions``;
        less those that ``ties="drop"`` leaves out.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [3.0], [9.0]])
    >>> answer([[0, 1, 2], [3, 0, 1]], points).triples.tolist()
    [[1, 0, 2], [1, 0, 3]]
    >>> answer([[0, 1, 2], [3, 0, 1]], points, kind="closer").triples.tolist()
    [[0, 1, 2], [3, 1, 0]]
    """
    asked = as_statements(questions, "central")
    wanted = asked.kind if kind is None else kind
    check_answers(wanted, ties, error_rate)
    truth = as_truth(objects, metric)
    n = truth.n_objects
    if asked.n_objects > n:
        raise ParameterError(
            f"the questions are about {asked.n_objects:,} objects, but only {n:,} are given"
        )
    T = asked.triples.astype(np.int64)
    ordered = np.sort(T, axis=1)
    numbers = rank(ordered)
    if wanted == "closer":
        numbers = 3 * numbers + (ordered == T[:, :1]).argmax(axis=1)
    rng = generator(random_state)
    rates = np.full(len(T), float(error_rate))
    rows = answered(truth, numbers, None, rng.random(len(T)), rates, wanted, ties, False)
    kept = np.flatnonzero(rows[:, 0] >= 0)
    return Statements(
        rows[kept],
        asked.n_objects,
        asked._names,
        wanted,
        raters=None if asked.raters is None else asked.raters[kept],
        rounds=None if asked.rounds is None else asked.rounds[kept],
    )


@dataclass(frozen=True, eq=False)
class Truth:
    """True dissimilarities."""

    #: The matrix or, where that would be too large, points, compared by their squared distances.
    values: AnyArray
    precomputed: bool

    @property
    def n_objects(self) -> int:
        return len(self.values)


def as_truth(objects: TruthLike, metric: str = "euclidean") -> Truth:
    """A dissimilarity matrix or points, checked.

    A square array is a dissimilarity matrix; `Points`, and any other two-dimensional array,
    are points. ``metric`` is any that `trilens.exact.dissimilarities` knows, or
    ``"precomputed"`` to insist on a matrix.
    """
    is_points = isinstance(objects, Points)
    values = objects.points if isinstance(objects, Points) else as_array(objects, "objects")
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise ParameterError(
            f"objects is {shown(objects, 60)} of shape {values.shape} and type {values.dtype}; it "
            f"must be an (n, n) matrix of dissimilarities or (n, d) points"
            + ", such as the embedding_ of a fitted map"
            * hasattr(objects, "transform"),
            parameter="objects",
        )
    if not isinstance(metric, str):
        raise wrong("metric", metric, "the name of a metric")
    if len(values) < 3:
        raise ParameterError(f"there are {len(values)} objects; a statement needs 3 or more")
    if metric == "precomputed" or (not is_points and values.shape[0] == values.shape[1]):
        return Truth(_checked_matrix(values), precomputed=True)
    points = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ParameterError(f"point {row} has a coordinate that is not a finite number")
    if metric == "euclidean" and len(points) > _MOST_IN_MATRIX:
        return Truth(points, precomputed=False)
    return Truth(_dissimilarities(points, metric), precomputed=True)


def distort(objects: TruthLike, noise_param: float, random_state: RandomState = 0) -> FloatArray:
    """Noise model II: true dissimilarities plus Gaussian noise (the paper's Section 6.1).

    To every dissimilarity d(A, B), A != B, noise with mean zero and standard deviation
    ``noise_param`` times the standard deviation of all true dissimilarities is added, once
    and independently. Statements that follow the result are distorted accordingly; its values
    may be negative, so it is no dissimilarity matrix any more.

    Returns
    -------
    (n, n) float64
        Symmetric, with a zero diagonal.

    Examples
    --------
    >>> D = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    >>> distort(D, 0.0).tolist() == D.tolist()
    True
    """
    truth = as_truth(objects)
    return distorted(truth, noise_param, generator(random_state)).values


def distorted(truth: Truth, noise_param: float, rng: np.random.Generator) -> Truth:
    from scipy.spatial.distance import squareform

    noise_param = real_number("noise_param", noise_param, 0)
    n = truth.n_objects
    if n > _MOST_DISTORTED:
        raise ParameterError(
            f"Noise model II keeps an n x n matrix, so it takes at most "
            f"{_MOST_DISTORTED:,} objects, got {n:,}"
        )
    true = truth.values if truth.precomputed else _dissimilarities(truth.values, "euclidean")
    D = np.asarray(true, dtype=np.float64)
    # the standard deviation beside the diagonal, in two passes: it may be small beside the mean
    mean = D.sum() / (n * (n - 1))
    squares = sum(float(((row - mean) ** 2).sum()) for row in D)
    scale = noise_param * float(np.sqrt(max(squares - n * mean**2, 0.0) / (n * (n - 1))))
    pairs = squareform(D, checks=False)
    pairs += scale * rng.standard_normal(len(pairs))
    return Truth(squareform(pairs), precomputed=True)


def _dissimilarities(points: FloatArray, metric: str) -> FloatArray:
    from trilens.exact import dissimilarities

    return dissimilarities(points, metric)


def _checked_matrix(values: AnyArray) -> AnyArray:
    from trilens.exact import check_dissimilarities

    D = check_dissimilarities(values)
    return np.ascontiguousarray(D if D.dtype.char in _KERNEL_TYPES else D.astype(np.float64))


def check_answers(kind: str, ties: str, error_rate: float) -> None:
    """Raise `ParameterError` for parameters that do not say how to answer."""
    one_of("kind", kind, KINDS)
    one_of("ties", ties, ("random", "drop"))
    real_number("error_rate", error_rate, 0, 1)


def uniform_of(questions: IntArray, key: np.uint64) -> FloatArray:
    """A uniform number in [0, 1) for each question, the same whenever it is asked.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) on key plus question. It fixes
    the answers to all questions beforehand, as in the paper, where a sample is drawn from the
    set of all statements: a question that is asked again gets the same answer, right or wrong.
    """
    x = questions.astype(np.uint64)
    x *= _GOLDEN
    x += key
    x ^= x >> np.uint64(30)
    x *= _MIX_1
    x ^= x >> np.uint64(27)
    x *= _MIX_2
    x ^= x >> np.uint64(31)
    x >>= np.uint64(11)
    return x.astype(np.float64) * 2.0**-53


def answered(
    truth: Truth,
    questions: IntArray,
    row: IntArray | None,
    u: FloatArray,
    error_rate: FloatArray,
    kind: Kind,
    ties: Ties,
    compiled: bool | None = None,
) -> Int32Array:
    """The statements that answer numbered questions, (m, 3), each in its ``row`` (None: in order).

    ``u`` has a uniform number for each question, ``error_rate`` the probability that its answer is
    wrong. -1 in the first column marks a tie that is to be dropped. The kernels and numpy give the
    same statements; by default the faster of the two is taken.
    """
    m = len(questions)
    code, drop = KINDS.index(kind), ties == "drop"
    out = np.empty((m, 3), dtype=np.int32)
    if m >= COMPILED_FROM if compiled is None else compiled:
        from trilens.simulate._kernels import answer_questions

        rows = np.arange(m) if row is None else row
        values, precomputed = truth.values, truth.precomputed
        answer_questions(values, precomputed, questions, rows, u, error_rate, code, drop, out)
    else:
        out[slice(None) if row is None else row] = _answered_in_numpy(
            truth, questions, u, error_rate, kind, drop
        )
    return out


def _answered_in_numpy(
    truth: Truth,
    questions: IntArray,
    u: FloatArray,
    error_rate: FloatArray,
    kind: Kind,
    drop: bool,
) -> Int32Array:
    rank, anchor = np.divmod(questions, 3 if kind == "closer" else 1)
    triples = unrank(rank, truth.n_objects)
    sides = sides_of(truth, triples)
    # [0, rate/2): one wrong answer, [rate/2, rate): the other, [rate, 1): the true one; where
    # in its interval u lies is uniform again, and decides ties
    half = 0.5 * error_rate
    wrong, other_wrong = u < error_rate, (u >= half) & (u < error_rate)
    start = np.where(wrong, np.where(other_wrong, half, 0.0), error_rate)
    v = (u - start) / np.where(wrong, half, 1.0 - error_rate)
    rows = np.arange(len(questions))
    if kind == "closer":
        one, two = (anchor + 1) % 3, (anchor + 2) % 3
        # the side opposite of one of the two is the other one's distance to the anchor
        to_one, to_two = sides[rows, two], sides[rows, one]
        tied = to_one == to_two
        near_one = np.where(tied, v < 0.5, to_one < to_two) ^ wrong
        near = np.where(near_one, one, two)
        order = np.stack([anchor, near, 3 - anchor - near], axis=1)
    else:
        best = sides.max(axis=1) if kind == "central" else sides.min(axis=1)
        candidate = sides == best[:, None]
        n_candidates = candidate.sum(axis=1)
        tied = n_candidates > 1
        which = np.minimum((v * n_candidates).astype(np.int64), n_candidates - 1)
        true = ((candidate.cumsum(axis=1) == which[:, None] + 1) & candidate).argmax(axis=1)
        chosen = (true + wrong + other_wrong) % 3
        order = CHOSEN_FIRST[chosen]
    answered = np.take_along_axis(triples, order, axis=1)
    if drop:
        answered[tied, 0] = -1
    return answered


def sides_of(truth: Truth, triples: Int32Array) -> AnyArray:
    """(m, 3): the side opposite of each object of a triple."""
    a, b, c = triples.T
    if truth.precomputed:
        D = truth.values
        return np.stack([D[c, b], D[c, a], D[b, a]], axis=1)
    X = truth.values

    def squared(i: Int32Array, j: Int32Array) -> FloatArray:
        # coordinate by coordinate, as the kernel adds them up, not pairwise as np.sum does
        total = np.zeros(len(i))
        for column in X.T:
            total += (column[i] - column[j]) * (column[i] - column[j])
        return total

    return np.stack([squared(b, c), squared(a, c), squared(a, b)], axis=1)
