"""The lens map by passes over files: for objects too many for a matrix of their pairs.

What its eigenvectors need is the product of its matrix with a few vectors, which is a sum over
statements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import generator, real_number, whole_number
from trilens._typing import FloatArray, Progress
from trilens.answers import Answers
from trilens.counts import Counted
from trilens.counts.engines import Engine
from trilens.counts.partition import Plan
from trilens.errors import ParameterError
from trilens.kinds import chance, sign
from trilens.maps.passes import Passes, product, total
from trilens.statements import Statements

#: Vectors beside those that are wanted: they make the others come sooner.
_MORE = 8
#: What is rarely asked about has at least this share of the usual weight, lest chance place it far.
_LIKE_OTHERS = 0.1
#: The lens map is done when its eigenvalues change by less than this share in a pass.
_SETTLED = 2e-4
_PASSES = 16


@dataclass(frozen=True, eq=False)
class LensVectors:
    """The lens map of files.

    Attributes
    ----------
    embedding : (n, d) float64
        Centered, the widest axis first.
    eigenvalues : (d,) float64
        The largest first.
    counts : Counted
        The counts per object, of the first pass.
    """

    embedding: FloatArray
    eigenvalues: FloatArray
    counts: Counted


def stream_lens_map(
    answers: Answers | Statements,
    n_components: int,
    *,
    shrinkage: float = 1.0,
    random_state: Any = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> LensVectors:
    """The lens map of answers in files; `LensMap` makes it where the answers are not held.

    The shares of a pair are not shrunk by how often it was asked about: each answer counts the
    same.

    Parameters
    ----------
    answers : Answers or Statements
    n_components : int
    shrinkage : float
        How many guessed statements each pair starts with.
    random_state, n_threads, progress
        As for the maps.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "line.csv"
    >>> rows = [f"{j},{i},{k}" for i in range(9) for j in range(i + 1, 9) for k in range(j + 1, 9)]
    >>> _ = file.write_text("\\n".join(rows))
    >>> line = stream_lens_map(Answers(file), 1).embedding[:, 0]
    >>> np.argsort(line * np.sign(line[8])).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    whole_number("n_components", n_components, least=1)
    shrinkage = real_number("shrinkage", shrinkage, positive=True)
    passes = Passes.over(answers, n_threads=n_threads)
    counts = passes.counts
    n = counts.n_objects
    if n_components > n - 1:
        raise ParameterError(
            f"n_components is {n_components}, but {n} objects span {n - 1} dimensions"
        )
    step: Progress = (lambda share: None) if progress is None else progress
    rng = generator(random_state)
    with passes.engines() as (engine, _):
        X, values = _lens_vectors(
            engine, passes.parts, passes.plan, counts, n_components, _PASSES, shrinkage, rng, step
        )
    return LensVectors(X, values, counts)


def _lens_vectors(
    engine: Engine,
    parts: Any,
    plan: Plan | None,
    counts: Counted,
    d: int,
    passes: int,
    shrinkage: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[FloatArray, FloatArray]:
    """The lens map in d dimensions by the power of its matrix, and its eigenvalues."""
    n = counts.n_objects
    width = min(d + _MORE, n - 1)
    # the shares of a pair that was asked about once, less the one of a pair that was not
    guess = chance(counts.kind)
    on, off = ((answer - guess) / (1 + shrinkage) for answer in (1.0, 0.0))
    # an object that was asked about often weighs as much as the others, as it does where shares
    # of pairs are looked at: the map is not that of what is popular
    seen = counts.appearances.astype(np.float64)
    root = np.sqrt(seen + _LIKE_OTHERS * seen.mean())[:, None].astype(np.float32)
    axis = root / np.linalg.norm(root)
    X, before = rng.standard_normal((n, width)).astype(np.float32), 0.0
    for turn in range(passes):
        X = np.linalg.qr(X - axis * (axis.T @ X))[0].astype(np.float32)
        Y = -sign(counts.kind) * total(engine, parts, product, plan, X / root, on, off) / root
        Y -= axis * (axis.T @ Y)
        progress((turn + 1) / passes)
        inner = X.T.astype(np.float64) @ Y.astype(np.float64)
        values, vectors = np.linalg.eigh((inner + inner.T) / 2)
        grown = float(np.abs(values[-d:]).sum())
        if turn + 1 == passes or abs(grown - before) < _SETTLED * grown:
            break
        X, before = Y, grown
    values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
    points = X.astype(np.float64) @ vectors * np.sqrt(np.clip(values, 0, None)) / root
    points -= points.mean(axis=0)
    largest = np.abs(points).argmax(axis=0)
    points *= np.where(points[largest, np.arange(d)] < 0, -1, 1)
    return points, values
