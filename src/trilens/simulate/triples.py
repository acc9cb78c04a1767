"""Which triples are asked: all, uniform without or with replacement, the paper's Sampling II.

Questions are numbered. The triple a < b < c has the rank C(c,3) + C(b,2) + C(a,1) of the
combinatorial number system, 0 to C(n,3) - 1, and a question of kind ``central`` or ``odd``
has the rank of its triple. A question of kind ``closer`` also names the anchor, so there are
3 C(n,3) of them: question 3 r + j asks the triple of rank r with its j-th object as anchor.

A design hands out its questions in chunks of about `CHUNK`, each with a generator of its own,
so that neither memory nor the number of threads bounds or changes what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import comb, sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np

from trilens._parameters import one_of, whole_number
from trilens._typing import AnyArray, Int32Array, IntArray
from trilens.errors import ParameterError, option
from trilens.kinds import KINDS, Kind, n_questions as _n_questions

Sampling: TypeAlias = Literal["uniform", "replacement", "sampling2"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)

#: Questions in a chunk, on average. Part of what a seed means: another size, other draws.
CHUNK = 1 << 18

#: Twice the number of questions of any kind, and n^3 / 2, stay below 2^63.
MAX_OBJECTS = 2_000_000

#: A chunk's questions, in an order that suits the memory, and the row of each (None: in order).
Questions: TypeAlias = tuple[IntArray, IntArray | None]
#: Samples a chunk's questions; may run in any thread.
Chunk: TypeAlias = Callable[[], Questions]


def n_questions(n_objects: int, kind: Kind = "central") -> int:
    """The number of different questions: C(n, 3), and three times that for ``closer``.

    >>> n_questions(60), n_questions(60, "closer")
    (34220, 102660)
    """
    one_of("kind", kind, KINDS)
    return _n_questions(kind, whole_number("n_objects", n_objects))


def unrank(ranks: IntArray, n_objects: int) -> Int32Array:
    """The triples a < b < c with the given ranks, (m, 3).

    >>> unrank(np.array([0, 1, 9]), 5).tolist()
    [[0, 1, 2], [0, 1, 3], [2, 3, 4]]
    """
    i = np.arange(n_objects, dtype=np.int64)
    pairs = i * (i - 1) // 2
    triples = np.concatenate([[0], np.cumsum(pairs)[:-1]])
    c = np.searchsorted(triples, ranks, side="right") - 1
    rest = ranks - triples[c]
    b = np.searchsorted(pairs, rest, side="right") - 1
    return np.stack([rest - pairs[b], b, c], axis=1).astype(np.int32)


def rank(triples: AnyArray) -> IntArray:
    """The ranks of triples a < b < c; the inverse of `unrank`.

    >>> rank(np.array([[0, 1, 2], [2, 3, 4]])).tolist()
    [0, 9]
    """
    a, b, c = np.asarray(triples, dtype=np.int64).T
    ranks: IntArray = _pairs_below(c) * (c - 2) // 3 + _pairs_below(b) + a
    return ranks


def design(
    n_objects: int,
    kind: Kind,
    n_statements: int | None,
    sampling: Sampling,
    rng: np.random.Generator,
    groups: AnyArray | None = None,
) -> tuple[int, Iterator[tuple[int, Chunk]]]:
    """What is asked: the number of questions, and chunks of them as (size, chunk).

    The parameters are those of `simulate_statements`; ``rng`` is advanced as the chunks are taken.
    """
    total = n_questions(n_objects, kind)
    one_of("sampling", sampling, SAMPLINGS)
    if n_objects < 3:
        raise ParameterError(f"there are {n_objects} objects; a statement needs 3 or more")
    if n_objects > MAX_OBJECTS:
        raise ParameterError(
            f"there are {n_objects:,} objects; at most {MAX_OBJECTS:,} can be simulated"
        )
    if groups is not None and sampling != "sampling2":
        raise ParameterError(f"groups need {option('sampling', 'sampling2')}", parameter="groups")
    if n_statements is None:
        if sampling != "uniform":
            raise ParameterError(
                f"sampling {sampling!r} needs a number of statements; use {option('n_statements')}",
                parameter="n_statements",
            )
        return total, _every_question(total)
    m = whole_number("n_statements", n_statements)
    if sampling == "uniform":
        if m > total:
            raise ParameterError(
                f"{m:,} statements were requested, but {n_objects:,} objects have only {total:,} "
                f"questions of kind {kind}; request fewer or "
                f"use {option('sampling', 'replacement')}",
                parameter="n_statements",
            )
        return m, _without_replacement(total, m, rng)
    if sampling == "replacement":
        draw: Callable[[np.random.Generator, int], Questions] = partial(_draw_any, total)
    else:
        draw = partial(_draw_sampling2, *_sampling2(n_objects, groups, rng), kind)
    return m, _independent(m, draw, rng)


def _every_question(total: int) -> Iterator[tuple[int, Chunk]]:
    for start in range(0, total, CHUNK):
        stop = min(start + CHUNK, total)
        yield stop - start, partial(_draw_range, start, stop)


def _draw_range(start: int, stop: int) -> Questions:
    return np.arange(start, stop), None


def _without_replacement(
    total: int, m: int, rng: np.random.Generator
) -> Iterator[tuple[int, Chunk]]:
    """An exactly uniform sample of ``m`` of ``total`` questions, in random order.

    Chunk k draws from the questions that are k modulo the number of chunks (after a random
    rotation), as many as a multivariate hypergeometric distribution tells it to, uniformly
    without replacement: the union is a uniform sample without replacement, no two chunks need
    to know of each other, and every chunk covers all objects evenly, so that a part of the
    stream serves as a smaller sample. The rotation makes each question equally likely at each
    place.
    """
    n_chunks = max(1, -(-m // CHUNK))
    shift = int(rng.integers(total))
    left, wanted = total, m
    for k in range(n_chunks):
        size = (total - k + n_chunks - 1) // n_chunks
        count = hypergeometric(size, left, wanted, rng)
        left, wanted = left - size, wanted - count
        (child,) = rng.spawn(1)
        yield count, partial(_draw_residues, child, size, count, n_chunks, k + shift, total)


def _draw_residues(
    rng: np.random.Generator, size: int, count: int, step: int, offset: int, total: int
) -> Questions:
    drawn, row = sample_distinct(size, count, rng)
    drawn *= step
    drawn += offset
    np.subtract(drawn, total, out=drawn, where=drawn >= total)
    return drawn, row


def sample_distinct(size: int, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """``count`` of 0 ... size - 1, uniform without replacement, and a random order of them.

    Exactly uniform, in memory of order ``count``: where at least a quarter is wanted, the
    first of a random permutation; otherwise numbers are drawn until enough are different.
    Whatever the number of different ones, each set of that many is equally likely, and a
    random order picks ``count`` of them. They are returned in increasing order, each with its
    place in the random order.
    """
    if size < 4 * count:
        order = rng.permutation(size)
        drawn = np.flatnonzero(order < count)
        return drawn, order[drawn]
    repeats = count * count / (1.5 * size)  # more than expected for count up to size / 4
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = rng.integers(size, size=count - len(drawn) + int(repeats + 4 * sqrt(repeats)) + 4)
        drawn = np.sort(np.concatenate([drawn, more]) if len(drawn) else more)
        same = drawn[1:] == drawn[:-1]
        if same.any():
            drawn = drawn[np.concatenate([[True], ~same])]
    order = rng.permutation(len(drawn))
    kept = order < count
    return drawn[kept], order[kept]


def hypergeometric(good: int, total: int, draws: int, rng: np.random.Generator) -> int:
    """How many of ``good`` among ``total`` are drawn in ``draws`` without replacement.

    By inversion on a window about the mode, from the ratios of neighboring probabilities;
    numpy's own stops at populations of 10^9. The mass outside of the window is below 1e-30.

    >>> hypergeometric(10**10, 10**11, 10**6, np.random.default_rng(0))
    100105
    """
    low, high = max(0, draws - (total - good)), min(good, draws)
    if low == high:
        return low
    mode = min(max((draws + 1) * (good + 1) // (total + 2), low), high)
    share = good / total
    half = 30 + int(12 * sqrt(draws * share * (1 - share) * (total - draws) / (total - 1)))
    first, last = max(low, mode - half), min(high, mode + half)
    k = np.arange(first, last, dtype=np.float64)
    ratio = (good - k) * (draws - k) / ((k + 1) * (total - good - draws + k + 1))
    at = mode - first
    below, above = np.cumprod(1 / ratio[:at][::-1])[::-1], np.cumprod(ratio[at:])
    cdf = np.cumsum(np.concatenate([below, [1.0], above]))
    return first + int(np.searchsorted(cdf, rng.random() * cdf[-1], side="right"))


def _independent(
    m: int, draw: Callable[[np.random.Generator, int], Questions], rng: np.random.Generator
) -> Iterator[tuple[int, Chunk]]:
    for start in range(0, m, CHUNK):
        count = min(CHUNK, m - start)
        (child,) = rng.spawn(1)
        yield count, partial(draw, child, count)


def _draw_any(total: int, rng: np.random.Generator, count: int) -> Questions:
    drawn = rng.integers(total, size=count)
    drawn.sort()
    return drawn, rng.permutation(count)


def _sampling2(
    n: int, groups: AnyArray | None, rng: np.random.Generator
) -> tuple[Int32Array, IntArray, Sequence[float]]:
    """The paper's Sampling II: for each group an order of the objects that puts it last.

    In that order the statements with an object of the group are those whose last object is
    one of it: the ranks from C(n - size, 3) on.
    """
    if groups is None:
        if n < 10:
            raise ParameterError(f"Sampling II needs at least ten objects, got {n}")
        member = rng.permutation(np.arange(n) % 10)
    else:
        member = np.asarray(groups)
        if member.shape != (n,) or member.dtype.kind not in "iu" or member.min() < 0:
            raise ParameterError(
                f"groups must be {n} whole numbers, 0 or more, one for each object",
                parameter="groups",
            )
    sizes = np.bincount(member)
    if not sizes.all():
        raise ParameterError(f"group {int(sizes.argmin())} of Sampling II has no objects")
    orders = [np.argsort(member == group, kind="stable") for group in range(len(sizes))]
    least = np.array([comb(n - int(size), 3) for size in sizes], dtype=np.int64)
    weights = np.arange(1, len(sizes) + 1) ** 2.0
    return np.array(orders, dtype=np.int32), least, (weights / weights.sum()).tolist()


def _draw_sampling2(
    orders: Int32Array,
    least: IntArray,
    probabilities: Sequence[float],
    kind: Kind,
    rng: np.random.Generator,
    count: int,
) -> Questions:
    n = orders.shape[1]
    group = rng.choice(len(orders), size=count, p=probabilities)
    places = unrank(rng.integers(least[group], comb(n, 3)), n)
    questions = rank(np.sort(orders[group[:, None], places], axis=1))
    if kind == "closer":
        questions = 3 * questions + rng.integers(3, size=count)
    return questions, None


def _pairs_below(x: IntArray) -> IntArray:
    return x * (x - 1) // 2
