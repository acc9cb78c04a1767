"""The lens map of files: coordinates of very many objects, without a matrix of their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import generator, real_number, whole_number
from trilens._typing import AnyArray, FloatArray, Progress
from trilens.counts import Counted
from trilens.engines.count import count_files
from trilens.engines.engine import open_engine
from trilens.engines.partition import Partition, partitions
from trilens.engines.work import Plan, each_batch
from trilens.errors import ParameterError
from trilens.formats.asked import asked
from trilens.formats.source import PathLike

#: Vectors beside those that are wanted: they make the others come sooner.
_MORE = 4


@dataclass(frozen=True, eq=False)
class StreamedMap:
    """Coordinates of all objects of files.

    Attributes
    ----------
    names : tuple of str
    embedding : (n, d) float64
        Centred.
    eigenvalues : (d,) float64
        The largest first.
    counts : Counted
        The counts per object, of the first pass.
    """

    names: tuple[str, ...]
    embedding: FloatArray
    eigenvalues: FloatArray
    counts: Counted


def map_files(
    source: PathLike | Sequence[PathLike],
    n_components: int = 2,
    *,
    passes: int = 8,
    shrinkage: float = 1.0,
    random_state: Any = 0,
    n_threads: int | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
    **reading: Any,
) -> StreamedMap:
    """The lens map of files, by passes over them: for objects too many for pairs.

    `LensMap` needs the counts of all pairs that were asked about. Here the matrix of
    dissimilarities is never formed: what its eigenvectors need is its product with a few
    vectors, which is a sum over statements. In exchange the shares of a pair are not shrunk by
    how often it was asked about: each answer counts the same. Where most pairs were asked about
    at most once, as with very many objects, that is the same.

    Parameters
    ----------
    source
        As in `count_files`.
    n_components : int
    passes : int
        Over the files, after the one that counts the objects; each makes the map more exact.
    shrinkage : float
        How many guessed statements each pair starts with.
    reading
        ``kind``, ``columns``, ... of `count_files`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "line.csv"
    >>> rows = [f"{j},{i},{k}" for i in range(9) for j in range(i + 1, 9) for k in range(j + 1, 9)]
    >>> _ = file.write_text("\\n".join(rows))
    >>> line = map_files(file, 1).embedding[:, 0]
    >>> np.argsort(line * np.sign(line[8])).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    d = whole_number("n_components", n_components, least=1)
    passes = whole_number("passes", passes, least=1)
    shrinkage = real_number("shrinkage", shrinkage, positive=True)
    if "objects" in reading or "labels" in reading or "pairs" in reading:
        raise ParameterError("map_files takes the objects from the files")
    counts = count_files(source, n_threads=n_threads, cluster=cluster, **reading)
    n = counts.n_objects
    width = min(d + _MORE, n - 1)
    if d > n - 1:
        raise ParameterError(f"n_components is {d}, but {n} objects span {n - 1} dimensions")
    wish = asked(**{key: value for key, value in reading.items() if key != "encoding"})
    plan = Plan(
        wish,
        reading.get("encoding"),
        None,
        bool(reading.get("skip_bad", False)),
        n_objects=n,
        names=counts.known_names,
    )
    # the shares of a pair that was asked about once, less the one of a pair that was not
    guess = 1 / 2 if counts.kind == "closer" else 1 / 3
    on, off = ((answer - guess) / (1 + shrinkage) for answer in (1.0, 0.0))
    sign = -1.0 if counts.kind == "central" else 1.0
    parts = partitions(source)
    X = generator(random_state).standard_normal((n, width)).astype(np.float32)
    engine = open_engine(cluster, n_threads)
    try:
        for turn in range(passes):
            X = np.linalg.qr(X - X.mean(axis=0))[0].astype(np.float32)
            handles = [engine.submit(product, part, plan, X, on, off) for part in parts]
            Y = sign * engine.collect(engine.merge(_sum, handles))
            Y -= Y.mean(axis=0)
            if turn + 1 < passes:
                X = Y
            if progress is not None:
                progress((turn + 1) / passes)
    finally:
        engine.close()
    inner = X.T.astype(np.float64) @ Y.astype(np.float64)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
    points = X.astype(np.float64) @ vectors * np.sqrt(np.clip(values, 0, None))
    largest = np.abs(points).argmax(axis=0)
    points *= np.where(points[largest, np.arange(d)] < 0, -1, 1)
    return StreamedMap(counts.names, points, values, counts)


def product(part: Partition, plan: Plan, X: AnyArray, on: float, off: float) -> AnyArray:
    """E X over the statements of a partition, (n, width) float32."""
    from trilens.maps import _statement_kernels

    Y = np.zeros_like(X)
    for kind, columns in each_batch(part, plan):
        ready = []
        for column in columns:
            view = column.astype(np.int32, copy=False).view()
            view.flags.writeable = False
            ready.append(view)
        a, b, c = ready
        _statement_kernels.multiply(a, b, c, kind == "closer", on, off, X, Y)
    return Y


def _sum(*parts: AnyArray) -> AnyArray:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
