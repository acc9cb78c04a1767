"""Simulated statements, at once or as a stream of chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    Truth,
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


@dataclass(frozen=True, eq=False)
class _Simulation:
    """Which questions are asked, and how they are answered."""

    truth: Truth
    kind: Kind
    n_asked: int
    chunks: Iterator[tuple[int, Chunk]]
    #: Fixes the answer to every question.
    key: np.uint64
    error_rate: float
    ties: Ties
    names: tuple[str, ...] | None
    n_threads: int
    progress: Progress | None

    def statements(self, triples: Int32Array) -> Statements:
        return Statements(triples, self.truth.n_objects, self.names, self.kind)

    def answered(self) -> Iterator[Int32Array]:
        """The chunks' statements, in order; a few chunks are under way at a time."""
        compiled = self.n_asked >= COMPILED_FROM

        def work(count: int, chunk: Chunk) -> tuple[int, Int32Array]:
            questions, row = chunk()
            rates = np.full(len(questions), self.error_rate)
            u = uniform_of(questions, self.key)
            triples = answered(self.truth, questions, row, u, rates, self.kind, self.ties, compiled)
            return count, triples[triples[:, 0] >= 0] if self.ties == "drop" else triples

        n_done = 0
        with pool(self.n_threads) as run:
            done: Iterator[tuple[int, Int32Array]] = (work(*some) for some in self.chunks)
            if compiled and self.n_threads > 1:
                tasks = ((work, *some) for some in self.chunks)
                done = finished(run, tasks, self.n_threads)
            for count, triples in done:
                yield triples
                n_done += count
                if self.progress is not None:
                    self.progress(n_done / self.n_asked)


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
    simulation = _simulation(
        *(objects, n_statements, kind, sampling, error_rate, noise_param, ties, random_state),
        *(metric, names, groups, n_threads, progress),
    )
    n_asked = simulation.n_asked
    try:
        triples = np.empty((n_asked, 3), dtype=np.int32)
    except (MemoryError, ValueError):
        raise ParameterError(
            f"{n_asked:,} statements do not fit in memory; use stream_statements"
        ) from None
    m = 0
    for part in simulation.answered():
        triples[m : m + len(part)] = part
        m += len(part)
    return simulation.statements(triples if m == n_asked else triples[:m].copy())


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
    simulation = _simulation(
        *(objects, n_statements, kind, sampling, error_rate, noise_param, ties, random_state),
        *(metric, names, groups, n_threads, progress),
    )
    return _regrouped(simulation, chunk_rows)


def _regrouped(simulation: _Simulation, chunk_rows: int) -> Iterator[Statements]:
    kept: list[Int32Array] = []
    n_kept = 0
    for part in simulation.answered():
        kept.append(part)
        n_kept += len(part)
        if n_kept >= chunk_rows:
            ready = np.concatenate(kept)
            whole = n_kept - n_kept % chunk_rows
            for start in range(0, whole, chunk_rows):
                yield simulation.statements(ready[start : start + chunk_rows].copy())
            kept, n_kept = [ready[whole:].copy()], n_kept - whole
    if n_kept:
        yield simulation.statements(np.concatenate(kept))


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
) -> _Simulation:
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
    return _Simulation(
        truth, kind, n_asked, chunks, key, error_rate, ties, named, threads, progress
    )
