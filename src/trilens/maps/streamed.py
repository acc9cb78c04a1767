"""Maps of files: coordinates of very many objects, without a matrix of their pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trilens._parameters import generator, one_of, real_number, whole_number
from trilens._typing import FloatArray, Progress
from trilens.answers import Answers
from trilens.counts import Counted
from trilens.counts.engines import Engine, open_engine
from trilens.counts.partition import Plan, partitions
from trilens.errors import ParameterError
from trilens.maps._choice_fit import principal_axes
from trilens.maps._passes import Draw, Rows, drawn, product, score, total
from trilens.maps._scoring import Aside, Fitted, climb, step_of

#: Vectors beside those that are wanted: they make the others come sooner.
_MORE = 8
#: What is rarely asked about has at least this share of the usual weight, lest chance place it far.
_LIKE_OTHERS = 0.1
#: The lens map is done when its eigenvalues change by less than this share in a pass.
_SETTLED = 2e-4
#: Passes of the lens map, and of the choice map after its start in memory.
_LENS_PASSES, _CHOICE_PASSES = 16, 4
#: Statements that the choice map starts from, and those it finds its dimensions by: so many, or
#: so many for each object.
_MOST_STARTED = 10_000_000
_LADDER_ROWS, _LADDER_EACH = 2_000_000, 60
#: Dimensions that are tried, upwards.
LADDER = (2, 3, 5, 8)
#: A dimension more must bring the -log likelihood down by this share, and beyond chance.
_LEAST_SHARE = 0.002
#: Steps of the start.
_START_STEPS = 12
#: The rough fit before that of odd or closer answers: dimensions more, and steps.
_WIDER, _ROUGH_STEPS = 2, 6
#: The share of the questions that is kept aside, and how many statements at most.
_ASIDE, _MOST_ASIDE = 0.05, 1_000_000


@dataclass(frozen=True, eq=False)
class StreamedMap:
    """Coordinates of all objects of files.

    Attributes
    ----------
    names : tuple of str
    embedding : (n, d) float64
        Centred, the widest axis first.
    method : {"choice", "lensmap"}
    counts : Counted
        The counts per object, of the first pass.
    eigenvalues : (d,) float64 or None
        Of the lens map, the largest first.
    lapse : float or None
        The share of blind answers, by the choice map.
    predicted : float or None
        The share of the answers kept aside that the choice map predicts; ``aside`` says how
        many these were.
    aside : int
    """

    names: tuple[str, ...]
    embedding: FloatArray
    method: str
    counts: Counted
    eigenvalues: FloatArray | None = None
    lapse: float | None = None
    predicted: float | None = None
    aside: int = 0

    @property
    def error_rate(self) -> float | None:
        """The share of answers that are wrong because they are blind."""
        if self.lapse is None:
            return None
        return self.lapse * (1 / 2 if self.counts.kind == "closer" else 2 / 3)


def stream_map(
    answers: Answers,
    n_components: int | None = 2,
    *,
    method: str = "choice",
    passes: int | None = None,
    shrinkage: float = 1.0,
    random_state: Any = 0,
    n_threads: int | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
    counts: Counted | None = None,
) -> StreamedMap:
    """The map of answers in files, by passes over them: for objects too many for pairs.

    `ChoiceMap` and `LensMap` do this where the answers are not held.

    Parameters
    ----------
    answers : Answers
        In files; their objects are those that the files name.
    n_components : int or None
        None, for the choice map alone: 2, 3, 5 or 8, as the answers kept aside suggest.
    method : {"choice", "lensmap"}
        ``"choice"``: the model of `ChoiceMap`. Up to 10 million statements, drawn at random,
        make a start in memory; then a few passes over the files move every object to where all
        its own answers are likeliest, given the others. One question in twenty, at most a
        million statements, is kept aside, to choose by and to say how well answers are
        predicted. ``"lensmap"``: the lens map, of which the matrix of dissimilarities is never
        formed: what its eigenvectors need is its product with a few vectors, which is a sum
        over statements. In exchange the shares of a pair are not shrunk by how often it was
        asked about: each answer counts the same.
    passes : int, optional
        Over the files, after those that count the objects and draw the start; each makes the
        map more exact. By default at most 16 for the lens map, and at most 4 for the choice
        map, none where its start is made of all statements.
    shrinkage : float
        How many guessed statements each pair of the lens map starts with.
    random_state, n_threads, progress
        As for the maps.
    cluster
        As in `Answers.count`.
    counts : Counted, optional
        Of the same files, where these have been counted already.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "line.csv"
    >>> rows = [f"{j},{i},{k}" for i in range(9) for j in range(i + 1, 9) for k in range(j + 1, 9)]
    >>> _ = file.write_text("\\n".join(rows))
    >>> line = stream_map(Answers(file), 1, method="lensmap").embedding[:, 0]
    >>> np.argsort(line * np.sign(line[8])).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    one_of("method", method, ("choice", "lensmap"))
    if n_components is not None:
        n_components = whole_number("n_components", n_components, least=1)
    elif method != "choice":
        raise ParameterError("the lens map cannot choose n_components here; give a whole number")
    if passes is not None:
        passes = whole_number("passes", passes, least=1)
    shrinkage = real_number("shrinkage", shrinkage, positive=True)
    if not answers.in_files or answers.in_counts:
        raise ParameterError("a map is streamed from files of answers; fit ChoiceMap or LensMap")
    if answers.objects is not None:
        raise ParameterError("a streamed map takes the objects from the files; leave objects= out")
    if counts is None:
        counts = answers.count(n_threads=n_threads, cluster=cluster)
    n = counts.n_objects
    if n_components is not None and n_components > n - 1:
        raise ParameterError(
            f"n_components is {n_components}, but {n} objects span {n - 1} dimensions"
        )
    files = _Files(answers, counts)
    step: Progress = (lambda share: None) if progress is None else progress
    engine = open_engine(cluster, n_threads)
    here = engine if cluster is None else open_engine(None, n_threads)
    seed = generator(random_state)
    try:
        if method == "lensmap":
            assert n_components is not None
            turns = _LENS_PASSES if passes is None else passes
            X, values = lens_vectors(
                engine, files.parts, files.plan, counts, n_components, turns, shrinkage, seed, step
            )
            return StreamedMap(counts.names, X, "lensmap", counts, values)
        return _choice_map(engine, here, files, n_components, passes, shrinkage, seed, step)
    finally:
        here.close()
        if engine is not here:
            engine.close()


class _Files:
    """The files, once the objects are known."""

    def __init__(self, answers: Answers, counts: Counted) -> None:
        self.counts = counts
        self.parts = partitions(answers.source)
        how = answers.options | {"skip_bad": bool(answers.skip_bad), "where": answers.where}
        plan = Plan.of(**how)
        self.plan = replace(plan, n_objects=counts.n_objects, names=counts.known_names)


def lens_vectors(
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
    guess = 1 / 2 if counts.kind == "closer" else 1 / 3
    on, off = ((answer - guess) / (1 + shrinkage) for answer in (1.0, 0.0))
    sign = -1.0 if counts.kind == "central" else 1.0
    # an object that was asked about often weighs as much as the others, as it does where shares
    # of pairs are looked at: the map is not that of what is popular
    seen = counts.appearances.astype(np.float64)
    root = np.sqrt(seen + _LIKE_OTHERS * seen.mean())[:, None].astype(np.float32)
    axis = root / np.linalg.norm(root)
    X, before = rng.standard_normal((n, width)).astype(np.float32), 0.0
    for turn in range(passes):
        X = np.linalg.qr(X - axis * (axis.T @ X))[0].astype(np.float32)
        Y = sign * total(engine, parts, product, plan, X / root, on, off) / root
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


def _choice_map(
    engine: Engine,
    here: Engine,
    files: _Files,
    n_components: int | None,
    passes: int | None,
    shrinkage: float,
    rng: np.random.Generator,
    progress: Progress,
) -> StreamedMap:
    counts = files.counts
    m, n, kind = counts.statements, counts.n_objects, counts.kind
    key = int(rng.integers(2**31))
    kept = min(_ASIDE, _MOST_ASIDE / max(m, 1))
    upto = min(1.0, kept + _MOST_STARTED / max(m, 1))
    found = total(
        engine, files.parts, drawn, files.plan, Draw(0.0, upto if upto < 1.0 else 2.0, key)
    )
    apart = Draw(0.0, kept, key).among(*found.T)
    held, some = found[apart], found[~apart]
    del found
    if len(held) < 2 or len(some) < 2:
        raise ParameterError(
            f"{m:,} statements are too few for a streamed choice map; read them with "
            f"read_statements and fit ChoiceMap"
        )
    progress(0.1)
    aside = Aside(kind, held)
    wanted = (n_components,) if n_components is not None else tuple(d for d in LADDER if d < n)
    rows = some
    if len(wanted) > 1:
        # from everywhere: files may be sorted
        rows = some[:: max(1, len(some) // max(_LADDER_ROWS, _LADDER_EACH * n))]
    parts = Rows(kind, rows).parts()
    width = wanted[-1] if kind == "central" else min(wanted[-1] + _WIDER, n - 1)
    lens, _ = lens_vectors(
        here, parts, None, counts, width, _LENS_PASSES, shrinkage, rng, lambda share: None
    )
    progress(0.2)
    fitted = _best_dimension(here, parts, lens, wanted, aside)
    progress(0.5)
    if len(rows) < len(some):
        parts = Rows(kind, some).parts()
        fitted = climb(here, parts, None, fitted, aside, _START_STEPS)
    progress(0.6)
    if upto < 1.0:
        rest = Draw(kept, 2.0, key)
        most = _CHOICE_PASSES if passes is None else passes
        fitted = climb(engine, files.parts, files.plan, fitted, aside, most, rest)
    X = fitted.X
    predicted = aside.hits(X)
    if upto >= 1.0:
        # nothing is left to choose: the answers kept aside have their say about the places
        every = Rows(kind, np.concatenate([some, held])).parts()
        X = X - step_of(total(here, every, score, None, X, fitted.lapse, None), X)
    progress(1.0)
    return StreamedMap(
        names=counts.names,
        embedding=principal_axes(X),
        method="choice",
        counts=counts,
        lapse=fitted.lapse,
        predicted=predicted,
        aside=len(aside),
    )


def _best_dimension(
    engine: Engine, parts: list[Rows], lens: FloatArray, wanted: tuple[int, ...], aside: Aside
) -> Fitted:
    """The fewest dimensions beyond which the answers kept aside are predicted no better.

    From ``odd`` and ``closer`` answers the lens map draws outliers in the middle. In a few more
    dimensions they find their way out: the widest axes of a rough fit there are the start.
    """
    more = lens.shape[1] - wanted[-1]
    best: Fitted | None = None
    before: FloatArray | None = None
    for d in wanted:
        start = aside.tuned(lens[:, : d + more])
        if more:
            rough = climb(engine, parts, None, start, aside, _ROUGH_STEPS)
            start = aside.tuned(principal_axes(rough.X)[:, :d])
        tried = climb(engine, parts, None, start, aside, _START_STEPS)
        losses = aside.losses(tried)
        if best is not None and before is not None:
            gain = before - losses
            chance = 2 * float(gain.std()) / np.sqrt(len(gain))
            if gain.mean() <= max(chance, _LEAST_SHARE * before.mean()):
                break
        best, before = tried, losses
    assert best is not None
    return best
