"""Simulated statements, at once or as a stream of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import (
    check_progress,
    generator,
    real_number,
    thread_count,
    whole_number,
    wrong,
)
from trilens._typing import Int32Array, Progress, RandomState
from trilens.errors import ParameterError
from trilens.exact._threads import finished, pool
from trilens.kinds import Kind
from trilens.simulate.answers import (
    COMPILED_FROM,
    Ties,
    TruthLike,
    answered,
    as_truth,
    check_answers,
    distorted,
    uniform_of,
)
from trilens.simulate.triples import Chunk, Sampling, design
from trilens.statements import Statements
from trilens.statements.value import CheckedNames


def simulate_statements(
    objects: TruthLike,
    n_statements: int | None = None,
    kind: Kind = "central",
    sampling: Sampling = "uniform",
    error_rate: float = 0.0,
    noise_param: float = 0.0,
    ties: Ties = "random",
    random_state: RandomState = 0,
    metric: str = "euclidean",
    names: Iterable[str] | None = None,
    groups: ArrayLike | None = None,
    n_threads: int | None = None,
    *,
    progress: Progress | None = None,
) -> Statements:
    """Statements about objects with known dissimilarities (the paper's Section 6.1).

    Parameters
    ----------
    objects : (n, n) array, (n, d) array or Points
        A square array holds dissimilarities, of any number type: symmetric, with a zero
        diagonal. Any other array, and `Points`, are points; more than 4096 of them are
        compared by squared Euclidean distances computed on the way.
    n_statements : int, optional
        How many questions are asked. By default every one, once, in the order of their
        numbers: C(n, 3) of kind ``central`` or ``odd``, 3 C(n, 3) of kind ``closer`` (each
        triple with each of its objects as anchor).
    kind : {"central", "odd", "closer"}
    sampling : {"uniform", "replacement", "sampling2"}
        Which questions are asked: ``uniform`` without replacement, in random order;
        uniform with ``replacement``; the paper's Sampling II: of ten groups of objects the
        i-th is chosen with probability i² / Σ j², and then one of all statements with an
        object of it, with replacement (``closer``: each object is as likely the anchor).
    error_rate : float
        Noise model I: an answer is wrong with this probability, independently of the
        others. A wrong answer names either of the two other objects with probability 1/2
        (``closer``: swaps near and far).
    noise_param : float
        Noise model II, see `distort`: the answers follow distorted dissimilarities. Keeps an
        (n, n) float64 matrix.
    ties : {"random", "drop"}
        Where no side is strictly the longest (``odd``: the shortest; ``closer``: where both
        distances are equal), one of the tied answers at random is the true one, or the
        question gets no statement, so that there are fewer than ``n_statements``.
    random_state
        The same seed gives the same statements, whatever the number of threads; None gives
        others each time. It also fixes the answer to every question beforehand: one that is
        drawn twice is answered alike, since the paper draws from the set of all statements.
    metric : str
        Of points; any that `trilens.exact.dissimilarities` knows.
    names : sequence of str, optional
        The objects' names.
    groups : (n,) array of int, optional
        The groups 0, 1, ... of Sampling II; by default ten of equal size, at random.
    n_threads : int, optional
        By default as many as there are cores.
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    Statements

    Examples
    --------
    >>> from trilens.simulate import gaussian
    >>> D = [[0, 1, 2, 4], [1, 0, 1, 3], [2, 1, 0, 2], [4, 3, 2, 0]]
    >>> simulate_statements(D).triples.tolist()
    [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
    >>> simulate_statements(D, 3, error_rate=0.3, random_state=0)
    Statements(3 statements about 4 objects, kind='central')
    """
    n_asked, parts, made_of = _simulation(
        *(objects, n_statements, kind, sampling, error_rate, noise_param, ties, random_state),
        *(metric, names, groups, n_threads, progress),
    )
    try:
        triples = np.empty((n_asked, 3), dtype=np.int32)
    except (MemoryError, ValueError):
        raise ParameterError(
            f"{n_asked:,} statements do not fit in memory; use stream_statements"
        ) from None
    m = 0
    for part in parts:
        triples[m : m + len(part)] = part
        m += len(part)
    return made_of(triples if m == n_asked else triples[:m].copy())


def stream_statements(
    objects: TruthLike,
    n_statements: int | None = None,
    kind: Kind = "central",
    sampling: Sampling = "uniform",
    error_rate: float = 0.0,
    noise_param: float = 0.0,
    ties: Ties = "random",
    random_state: RandomState = 0,
    metric: str = "euclidean",
    names: Iterable[str] | None = None,
    groups: ArrayLike | None = None,
    n_threads: int | None = None,
    *,
    chunk_rows: int = 1 << 20,
    progress: Progress | None = None,
) -> Iterator[Statements]:
    """The statements of `simulate_statements`, in the same order, ``chunk_rows`` at a time.

    Memory is that of a few chunks, besides the dissimilarities. Put together, the chunks are
    what `simulate_statements` gives for the same seed, whatever ``chunk_rows``. Every chunk
    of a uniform sample is about evenly spread over the objects.

    >>> from trilens.simulate import gaussian
    >>> parts = stream_statements(gaussian(20, random_state=0), random_state=0, chunk_rows=500)
    >>> [len(part) for part in parts]
    [500, 500, 140]
    """
    chunk_rows = whole_number("chunk_rows", chunk_rows, least=1)
    _, parts, made_of = _simulation(
        *(objects, n_statements, kind, sampling, error_rate, noise_param, ties, random_state),
        *(metric, names, groups, n_threads, progress),
    )
    return (made_of(part) for part in _regrouped(parts, chunk_rows))


def _regrouped(parts: Iterator[Int32Array], chunk_rows: int) -> Iterator[Int32Array]:
    kept: list[Int32Array] = []
    n_kept = 0
    for part in parts:
        kept.append(part)
        n_kept += len(part)
        if n_kept >= chunk_rows:
            ready = np.concatenate(kept)
            whole = n_kept - n_kept % chunk_rows
            for start in range(0, whole, chunk_rows):
                yield ready[start : start + chunk_rows].copy()
            kept, n_kept = [ready[whole:].copy()], n_kept - whole
    if n_kept:
        yield np.concatenate(kept)


def _simulation(
    objects: TruthLike,
    n_statements: int | None,
    kind: Kind,
    sampling: Sampling,
    error_rate: float,
    noise_param: float,
    ties: Ties,
    random_state: RandomState,
    metric: str,
    names: Iterable[str] | None,
    groups: ArrayLike | None,
    n_threads: int | None,
    progress: Progress | None,
) -> tuple[int, Iterator[Int32Array], Callable[[Int32Array], Statements]]:
    """The number of questions, what is answered to them, and what makes statements of it."""
    check_answers(kind, ties, error_rate)
    truth = as_truth(objects, metric)
    # a child, because a stream draws as it goes and its parent may be drawn from in between
    (rng,) = generator(random_state).spawn(1)
    key = rng.integers(2**64, dtype=np.uint64)
    try:
        grouped = None if groups is None else np.asarray(groups)
    except (TypeError, ValueError):  # rows of different lengths
        raise wrong("groups", groups, "one group for each object") from None
    n_asked, chunks = design(truth.n_objects, kind, n_statements, sampling, rng, grouped)
    if real_number("noise_param", noise_param, 0) > 0:
        truth = distorted(truth, noise_param, rng)
    named = None if names is None else CheckedNames.of(names)
    if named is not None and len(named) != truth.n_objects:
        raise ParameterError(
            f"there are {truth.n_objects:,} objects, but {len(named):,} names", parameter="names"
        )
    check_progress(progress)
    threads = thread_count(n_threads)
    compiled = n_asked >= COMPILED_FROM

    def work(count: int, chunk: Chunk) -> tuple[int, Int32Array]:
        questions, row = chunk()
        rates = np.full(len(questions), error_rate)
        u = uniform_of(questions, key)
        triples = answered(truth, questions, row, u, rates, kind, ties, compiled)
        return count, triples[triples[:, 0] >= 0] if ties == "drop" else triples

    def parts() -> Iterator[Int32Array]:
        """The chunks' statements, in order; a few chunks are under way at a time."""
        n_done = 0
        with pool(threads) as run:
            done: Iterator[tuple[int, Int32Array]] = (work(*some) for some in chunks)
            if compiled and threads > 1:
                done = finished(run, ((work, *some) for some in chunks), threads)
            for count, triples in done:
                yield triples
                n_done += count
                if progress is not None:
                    progress(n_done / n_asked)

    def made_of(triples: Int32Array) -> Statements:
        return Statements(triples, truth.n_objects, named, kind)

    return n_asked, parts(), made_of
