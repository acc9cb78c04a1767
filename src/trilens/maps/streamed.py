"""Maps by passes over files: coordinates of very many objects, without a matrix of their pairs.

**The lens map** needs the product of its matrix with a few vectors, which is a sum over statements.

**The choice map** takes scoring steps, each a sum over statements. Given all others, an object's
place has a likelihood of its own: its slope g and the d x d information F are sums over the
statements that name it. A step moves every object at once by F^-1 g. Where an object is compared
with many others, that is nearly Newton's step for all places together. What it does badly is one
number, the scale of the map; that, and the lapse, are fitted to answers that were kept aside. These
also say when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import generator, one_of, real_number, whole_number
from trilens._typing import FloatArray, Int32Array, IntArray, Progress
from trilens.answers import Answers
from trilens.counts import Counted
from trilens.counts.engines import Engine
from trilens.counts.partition import Plan
from trilens.errors import ParameterError
from trilens.kinds import Kind, chance, sides, sign, wrong_by_chance
from trilens.maps.choice_model import ChoiceModel
from trilens.maps.fit import expit, principal_axes
from trilens.maps.likelihood import mixture
from trilens.maps.pairs import squared
from trilens.maps.passes import (
    HeldRows,
    Passes,
    QuestionSample,
    Sums,
    prior_of,
    product,
    sampled_rows,
    score,
    total,
)
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.maps.streamed_errors import MapErrors

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
#: The share of the questions that is kept aside, and how many statements at most; of few
#: statements a larger share, so that these are enough to choose by.
_ASIDE, _MOST_ASIDE = 0.05, 1_000_000
_FEW_ASIDE, _LARGEST_ASIDE = 2000, 0.2
#: The penalty of wide maps: the least one of `ChoiceMap`.
_L2 = 1e-3
#: Steps with all statements, once nothing is left to choose.
_LAST_STEPS = 3
#: Answers kept aside that the scale and the lapse are fitted to.
_MOST_TUNED = 100_000
#: The part of the last step that is gone on with, and the parts of a step where none is better.
_MOMENTA = (0.0, 0.5, 0.9)
_SHORTER = (0.5, 0.25, 0.1)
#: A step may not be longer than this share of the map's breadth.
_LONGEST = 0.5
#: A step must bring the mean -log likelihood of the answers kept aside down by this much.
_LEAST_GAIN = 5e-5


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
        The share of lapses, by the choice map.
    predicted : float or None
        The share of the answers kept aside that the choice map predicts; ``aside`` says how
        many these were.
    aside : int
    passes : Passes or None
        Over the statements, for what is asked later.
    seed : int
    """

    names: tuple[str, ...]
    embedding: FloatArray
    method: str
    counts: Counted
    eigenvalues: FloatArray | None = None
    lapse: float | None = None
    predicted: float | None = None
    aside: int = 0
    passes: Passes | None = field(default=None, repr=False)
    seed: int = 0
    _base: StreamedMap | None = field(default=None, repr=False)
    _rank: IntArray | None = field(default=None, repr=False)

    def among(self, names: tuple[str, ...], rank: IntArray) -> StreamedMap:
        """The same map with its objects in another order: that of rank i comes i-th."""
        if (np.diff(rank) == 1).all():
            return self
        c = self.counts
        counts = replace(
            c,
            first=c.first[rank],
            rest=c.rest[rank],
            near=None if c.near is None else c.near[rank],
            known_names=names,
        )
        X = self.embedding[rank]
        return replace(self, names=names, embedding=X, counts=counts, _base=self, _rank=rank)

    @property
    def in_order(self) -> tuple[StreamedMap, IntArray]:
        """The map with the objects in the order of its fit, and the place of each of these there.

        Random numbers are drawn in that order, so that the same answers say the same.
        """
        if self._base is None or self._rank is None:
            return self, np.arange(len(self.embedding))
        return self._base, self._rank

    @cached_property
    def model(self) -> ChoiceModel:
        """The choice map as a model of answers."""
        assert self.lapse is not None, "a lens map expects nothing of answers"
        return ChoiceModel(self.embedding, self.lapse, self.counts.kind)

    @cached_property
    def errors(self) -> MapErrors | None:
        """How far the places of the choice map may be off, by two passes; None of a lens map."""
        from trilens.maps.streamed_errors import map_errors

        if self.lapse is None or self.passes is None:
            return None
        if self._base is not None and self._rank is not None:
            found = self._base.errors
            return None if found is None else found.among(self._rank)
        return map_errors(self.passes, self.embedding, self.lapse, self.seed)

    @property
    def error_rate(self) -> float | None:
        """The share of answers that are wrong because they are lapses."""
        return None if self.lapse is None else self.lapse * wrong_by_chance(self.counts.kind)


def stream_map(
    answers: Answers | Statements,
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
    answers : Answers or Statements
        In files, whose objects are those that the files name; or in memory.
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
    passes_over = Passes.over(answers, counts=counts, n_threads=n_threads, cluster=cluster)
    counts = passes_over.counts
    n = counts.n_objects
    if n_components is not None and n_components > n - 1:
        raise ParameterError(
            f"n_components is {n_components}, but {n} objects span {n - 1} dimensions"
        )
    step: Progress = (lambda share: None) if progress is None else progress
    rng = generator(random_state)
    with passes_over.engines() as (engine, here):
        if method == "lensmap":
            assert n_components is not None
            turns = _LENS_PASSES if passes is None else passes
            how = passes_over.parts, passes_over.plan, counts, n_components, turns
            X, values = lens_vectors(engine, *how, shrinkage, rng, step)
            return StreamedMap(counts.names, X, "lensmap", counts, values)
        return _choice_map(engine, here, passes_over, n_components, passes, shrinkage, rng, step)


# ---- the lens map ------------------------------------------------------------------------------


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


# ---- the choice map ----------------------------------------------------------------------------


def _choice_map(
    engine: Engine,
    here: Engine,
    files: Passes,
    n_components: int | None,
    passes: int | None,
    shrinkage: float,
    rng: np.random.Generator,
    progress: Progress,
) -> StreamedMap:
    counts = files.counts
    m, n, kind = counts.statements, counts.n_objects, counts.kind
    key = int(rng.integers(2**31))
    kept = min(max(_ASIDE, min(_FEW_ASIDE / max(m, 1), _LARGEST_ASIDE)), _MOST_ASIDE / max(m, 1))
    upto = min(1.0, kept + _MOST_STARTED / max(m, 1))
    meant = QuestionSample(0.0, upto if upto < 1.0 else 2.0, key)
    found = np.concatenate(total(engine, files.parts, sampled_rows, files.plan, meant))
    is_aside = QuestionSample(0.0, kept, key).among(*found.T)
    held, some = found[is_aside], found[~is_aside]
    del found
    if len(held) < 2 or len(some) < 2:
        raise ParameterError(
            f"{m:,} statements are too few for a streamed choice map; read them with "
            f"read_statements and fit ChoiceMap"
        )
    progress(0.1)
    aside = HeldOutAnswers(kind, held, _L2 / m)
    wanted = (n_components,) if n_components is not None else tuple(d for d in LADDER if d < n)
    rows = some
    if len(wanted) > 1:
        # from everywhere: files may be sorted
        rows = some[:: max(1, len(some) // max(_LADDER_ROWS, _LADDER_EACH * n))]
    parts = HeldRows(kind, rows).parts()
    width = wanted[-1] if kind == "central" else min(wanted[-1] + _WIDER, n - 1)
    lens, _ = lens_vectors(
        here, parts, None, counts, width, _LENS_PASSES, shrinkage, rng, lambda share: None
    )
    progress(0.2)
    fitted = _best_dimension(here, parts, lens, wanted, aside)
    progress(0.5)
    if len(rows) < len(some):
        parts = HeldRows(kind, some).parts()
        fitted = climb(here, parts, None, fitted, aside, _START_STEPS)
    progress(0.6)
    if upto < 1.0:
        rest = QuestionSample(kept, 2.0, key)
        most = _CHOICE_PASSES if passes is None else passes
        fitted = climb(engine, files.parts, files.plan, fitted, aside, most, rest)
    X = fitted.X
    predicted = aside.hits(X)
    if upto >= 1.0:
        # nothing is left to choose: the answers kept aside have their say about the places
        every = HeldRows(kind, np.concatenate([some, held])).parts()
        for _ in range(_LAST_STEPS):
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
        passes=files,
        seed=key,
    )


def _best_dimension(
    engine: Engine,
    parts: list[HeldRows],
    lens: FloatArray,
    wanted: tuple[int, ...],
    aside: HeldOutAnswers,
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


@dataclass(frozen=True, eq=False)
class Fitted:
    """A choice map, and how well it predicts answers that were kept aside.

    Attributes
    ----------
    X : (n, d) float64
    lapse : float
    loss : float
        The mean -log likelihood of the answers kept aside, and the penalty of a wide map.
    """

    X: FloatArray
    lapse: float
    loss: float


class HeldOutAnswers:
    """Answers that no place is fitted to."""

    def __init__(self, kind: Kind, triples: Int32Array, penalty: float = 0.0) -> None:
        self.kind, self.penalty = kind, penalty
        step = max(1, len(triples) // _MOST_TUNED)
        self._triples = triples[::step]

    def __len__(self) -> int:
        return len(self._triples)

    def losses(self, found: Fitted) -> FloatArray:
        """-log likelihood of each answer."""
        model = ChoiceModel(found.X, found.lapse, self.kind)
        return -np.log(np.maximum(model.chosen(self._triples), 1e-300))

    def hits(self, X: FloatArray) -> float:
        """The share of the answers that a map would have given."""
        v = self._lengths(X)
        return float((v[0] > v[1:].max(axis=0)).mean())

    def tuned(self, X: FloatArray, lapse: float | None = None) -> Fitted:
        """The map at the scale, and with the lapse, that predict the answers best."""
        from scipy.optimize import minimize

        v = self._lengths(X)
        share = 1.0 / len(v)
        breadth = max(float(np.sqrt(np.mean(X.var(axis=0)))), 1e-300)
        width = self.penalty * X.size * breadth**2

        def loss(at: Any) -> float:
            u = np.exp(min(at[0], 50.0)) * v
            u -= u.max(axis=0)
            np.exp(u, out=u)
            P, _, _ = mixture(np.maximum(u[0], 1e-300), u.sum(axis=0), expit(at[1]), share)
            return float(-np.log(P).mean() + width * np.exp(min(2 * at[0], 100.0)))

        if lapse is None:
            starts = [
                (np.log(2.0**k / breadth), s) for k in range(-4, 9, 2) for s in (-7.0, -1.0, 1.0)
            ]
            start = min(starts, key=loss)
        else:
            bounded = min(max(lapse, 1e-4), 1 - 1e-4)
            start = (0.0, float(np.log(bounded / (1 - bounded))))
        found = minimize(
            loss,
            np.array(start),
            method="Nelder-Mead",
            options={
                "initial_simplex": np.array(start) + np.array([[0, 0], [0.3, 0], [0, 0.7]]),
                "xatol": 0.01,
                "fatol": 1e-5,
                "maxiter": 60,
            },
        )
        scale = np.exp(min(found.x[0], 50.0))
        return Fitted(X * scale, expit(found.x[1]), float(found.fun))

    def _lengths(self, X: FloatArray) -> FloatArray:
        """The sides as what is chosen by: the larger, the likelier; the chosen one first."""
        ends = sides(self.kind, self._triples)
        return sign(self.kind) * np.sqrt(np.stack([squared(X, i, j) for i, j in ends]))


def climb(
    engine: Engine,
    parts: Any,
    plan: Plan | None,
    start: Fitted,
    aside: HeldOutAnswers,
    most: int,
    draw: QuestionSample | None = None,
) -> Fitted:
    """Steps as long as the answers kept aside are predicted better, at most so many.

    What the last step brought is gone on with for a part, where that predicts better still: it
    is cheap to try, and what moves all objects alike comes sooner.
    """
    now, last = start, np.zeros_like(start.X)
    for _ in range(most):
        move = step_of(total(engine, parts, score, plan, now.X, now.lapse, draw), now.X)
        ways = [-move + share * last for share in _MOMENTA] + [-s * move for s in _SHORTER]
        best: tuple[Fitted, FloatArray] | None = None
        for i, way in enumerate(ways):
            tried = aside.tuned(now.X + way, now.lapse)
            if tried.loss < (now if best is None else best[0]).loss:
                best = tried, way
            if i + 1 >= len(_MOMENTA) and best is not None:
                break
        if best is None:
            return now
        stretched = float(np.linalg.norm(best[0].X) / np.linalg.norm(now.X + best[1]))
        gain, last = now.loss - best[0].loss, stretched * best[1]
        now = best[0]
        if gain < _LEAST_GAIN:
            return now
    return now


def step_of(sums: Sums, X: FloatArray) -> FloatArray:
    """How far each object moves towards where its own answers are likeliest, (n, d).

    The places have a Gaussian prior, as wide as the map.
    """
    d = X.shape[1]
    prior = prior_of(X)
    gradient = sums.gradient(d) + (X - X.mean(axis=0)) * prior
    information = sums.information(d) + prior * np.eye(d)
    move = np.asarray(np.linalg.solve(information, gradient[:, :, None])[:, :, 0], np.float64)
    length: FloatArray = np.sqrt((move**2).sum(axis=1, keepdims=True))
    longest = _LONGEST / float(np.sqrt(prior))
    move *= np.minimum(1.0, longest / np.maximum(length, 1e-300))
    return move
