"""How far a streamed map may be off: copies of it, from sums over statements.

The places of a map move by H^-1 g where the slope of its likelihood changes by g; H is the Fisher
information of all places together. If every question, or every rater with all answers, counts
twice or not at all by lot, g is a sum over statements with a random sign for each question or
rater: the multiplier bootstrap of the score (Kline and Santos, 2012). One pass gives forty such
sums. H is never formed: conjugate gradients need its product with the forty vectors, which is a
sum over statements too, and
start from the blocks of each object alone, as if the places of the others were known.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.counts.engines import Engine
from trilens.counts.partition import Plan
from trilens.kinds import Kind, sign
from trilens.maps.passes import (
    HeldRows,
    Passes,
    QuestionSample,
    StreamPart,
    Sums,
    prior_of,
    rated_batches,
    sampled_rows,
    score,
    total,
)

#: Copies of the map; at most 64, the bits of a key.
N_COPIES = 40
#: Of so many numbers (objects times dimensions) on there are fewer copies, at least these.
_MOST_NUMBERS, _LEAST_COPIES = 40_000_000, 16
#: Statements that stand for all in the products with H: so many, or so many for each object.
_BENT_ROWS, _BENT_EACH = 10_000_000, 100
#: Conjugate gradients stop where the residual is this share of what it was, or after so many
#: steps.
_EXACT, _MOST_STEPS = 0.03, 12
#: With fewer raters, questions are what is drawn.
LEAST_RATERS = 8


@dataclass(frozen=True, eq=False)
class MapErrors:
    """How far the places of a map may be off.

    Attributes
    ----------
    copies : (copies, n, d) float32
        Deviations of the places in copies of the map, as if questions or raters were drawn anew.
    places : (n, d, d) float64
        Covariance of the error of each place.
    left : (n,) float64
        By how much each object was more central than the map expects of the same questions,
        lapses apart; with ``left_variance`` (infinite where it has no answers) and
        ``left_copies`` (copies, n).
    n_raters : int
        Of whom some answer is known; 0 where raters are not.
    clusters : {"rater", "question"}
        What was drawn.
    inflation : float
        Mean variance of places, by that which the block of each object alone would give.
    sample : (k, 3) int32
        Statements that stand for all.
    """

    copies: AnyArray
    places: FloatArray
    left: FloatArray
    left_variance: FloatArray
    left_copies: AnyArray
    n_raters: int
    clusters: str
    inflation: float
    sample: Int32Array = field(repr=False)

    def among(self, rank: IntArray) -> MapErrors:
        """The same with the objects in another order."""
        place = np.argsort(rank).astype(np.int32)
        return replace(
            self,
            copies=self.copies[:, rank],
            places=self.places[rank],
            left=self.left[rank],
            left_variance=self.left_variance[rank],
            left_copies=self.left_copies[:, rank],
            sample=place[self.sample],
        )


@dataclass(frozen=True, eq=False)
class _Pulls:
    """Sums of slopes with signs by lot; ``+`` merges.

    ``by_question`` and ``by_rater`` are (n, d + 1, copies); ``expected`` is (n, 2).
    """

    sums: Sums
    expected: FloatArray
    by_question: AnyArray
    by_rater: AnyArray | None
    raters: frozenset[int]

    def __add__(self, other: _Pulls) -> _Pulls:
        by_rater: AnyArray | None = None
        if self.by_rater is not None and other.by_rater is not None:
            by_rater = self.by_rater + other.by_rater
        return _Pulls(
            self.sums + other.sums,
            self.expected + other.expected,
            self.by_question + other.by_question,
            by_rater,
            self.raters | other.raters,
        )


def map_errors(
    passes: Passes, X: FloatArray, lapse: float, seed: int = 0, *, n_copies: int | None = None
) -> MapErrors:
    """How far a choice map may be off, by two passes over its statements.

    Parameters
    ----------
    passes : Passes
        Over the statements that it was fitted to.
    X : (n, d) float64
    lapse : float
    """
    n, d = X.shape
    counts = passes.counts
    if n_copies is None:
        n_copies = int(np.clip(_MOST_NUMBERS // (n * (d + 1)), _LEAST_COPIES, N_COPIES))
    salt = int(np.random.default_rng([seed, 41]).integers(2**31))
    share = min(1.0, max(_BENT_ROWS, _BENT_EACH * n) / max(counts.statements, 1))
    with passes.engines() as (engine, here):
        pulls: _Pulls = total(engine, passes.parts, pull, passes.plan, X, lapse, salt, n_copies)
        parts: Any = passes.parts
        if share < 1.0 or not isinstance(parts[0], HeldRows):
            meant = QuestionSample(0.0, share if share < 1.0 else 2.0, salt)
            drawn = total(engine, passes.parts, sampled_rows, passes.plan, meant)
            parts = HeldRows(counts.kind, np.concatenate(drawn)).parts()
        held = np.concatenate([part.triples for part in parts])
        whole = counts.statements / max(len(held), 1)
        own = pulls.sums if whole == 1.0 else total(here, parts, score, None, X, lapse, None)
        prior = prior_of(X)
        blocks = pulls.sums.information(d) + prior * np.eye(d)
        drawn_by = "question"
        G = pulls.by_question
        if pulls.by_rater is not None and len(pulls.raters) >= LEAST_RATERS:
            # the larger variance counts
            mean = [_size(one[:, :d], blocks) for one in (G, pulls.by_rater)]
            if mean[1] > mean[0]:
                drawn_by, G = "rater", pulls.by_rater
        if whole == 1.0:
            moved = solve(here, parts, X, lapse, blocks, prior, whole, G[:, :d])
        else:
            # how objects hang together is taken from some statements, what is known of each
            # object by itself from all: a far object may be in few that tell
            some = own.information(d) * whole + prior * np.eye(d)
            A, B = np.linalg.cholesky(some), np.linalg.cholesky(blocks)
            slopes = (A @ np.linalg.solve(B, G[:, :d].astype(np.float64))).astype(np.float32)
            found = solve(here, parts, X, lapse, some, prior, whole, slopes)
            turned = A.transpose(0, 2, 1) @ found.astype(np.float64)
            moved = np.linalg.solve(B.transpose(0, 2, 1), turned).astype(np.float32)
    # places that were fitted follow the answers: what is left varies less than it did
    freedom = counts.statements * (1 if counts.kind == "closer" else 2)
    moved *= np.float32(np.sqrt(freedom / max(freedom - n * d, freedom / 2)))
    copies = np.ascontiguousarray(moved.transpose(2, 0, 1))
    inverse = np.linalg.inv(blocks)
    size = np.einsum("nik,nij,njk->", moved, blocks, moved, dtype=np.float64)
    inflation = max(float(size) / (n_copies * n * d), 1.0)
    left, variance, left_copies = _left_over(counts, lapse, pulls, G[:, d])
    return MapErrors(
        copies=copies,
        places=np.asarray(inflation * inverse, dtype=np.float64),
        left=left,
        left_variance=variance,
        left_copies=left_copies,
        n_raters=len(pulls.raters),
        clusters=drawn_by,
        inflation=inflation,
        sample=held,
    )


def _size(G: AnyArray, blocks: FloatArray) -> float:
    """The mean square of the moves by the blocks alone."""
    moved = np.linalg.solve(blocks, G.astype(np.float64))
    return float((moved**2).mean())


def _left_over(
    counts: Any, lapse: float, pulls: _Pulls, signed: AnyArray
) -> tuple[FloatArray, FloatArray, AnyArray]:
    central = counts.central
    asked = central.appears.astype(np.float64)
    divisor = np.maximum(asked, 1e-9) * (1 - lapse)
    turn = -1.0 if counts.kind == "odd" else 1.0
    left = turn * (central.singled - pulls.expected[:, 0]) / divisor
    variance = pulls.expected[:, 1] / divisor**2
    variance[asked == 0] = np.inf
    left[asked == 0] = 0.0
    return left, variance, (turn * signed / divisor[:, None].astype(np.float32)).T


def pull(
    part: StreamPart, plan: Plan | None, X: FloatArray, lapse: float, salt: int, n_copies: int
) -> _Pulls:
    """Slopes, information, and sums with signs by lot, over the statements of a part."""
    from trilens.maps import _kernels

    n, d = X.shape
    sums, expected = np.zeros((n, d + d * (d + 1) // 2)), np.zeros((n, 2))
    by_question = np.zeros((n, d + 1, n_copies), dtype=np.float32)
    by_rater: AnyArray | None = None
    loss, many, raters = 0.0, 0, set[int]()
    for kind, (a, b, c), who in rated_batches(part, plan):
        how = (a, b, c, kind == "closer", sign(kind), X, lapse)
        loss += _kernels.score(*how, sums)
        many += len(a)
        _kernels.expect(*how, expected)
        keys = np.empty(len(a), dtype=np.uint64)
        _kernels.question_keys(a, b, c, salt, keys)
        _kernels.pull(*how, keys, by_question)
        if who is not None:
            raters |= set(np.unique(who).tolist())
            if by_rater is None:
                by_rater = np.zeros_like(by_question)
            # an answer of nobody's is drawn by itself
            _kernels.pull(*how, np.where(who == 0, keys, who ^ np.uint64(salt)), by_rater)
    return _Pulls(Sums(loss, many, sums), expected, by_question, by_rater, frozenset(raters - {0}))


def solve(
    engine: Engine,
    parts: list[HeldRows],
    X: FloatArray,
    lapse: float,
    blocks: FloatArray,
    prior: float,
    scale: float,
    G: AnyArray,
) -> AnyArray:
    """H^-1 G by conjugate gradients, the blocks of each object going before; (n, d, K) float32.

    Parameters
    ----------
    blocks : (n, d, d) float64
        The blocks on the diagonal of H.
    prior : float
        What is added to the diagonal of the information.
    scale : float
        How many statements each of those in ``parts`` stands for.
    """
    inverse = np.linalg.inv(blocks).astype(np.float32)
    residual = np.array(G, dtype=np.float32)
    found = np.zeros_like(residual)
    near = np.einsum("nij,njk->nik", inverse, residual)
    way = near.copy()
    size = np.einsum("nik,nik->k", residual, near, dtype=np.float64)
    first = np.maximum(size, 1e-300)
    for _ in range(_MOST_STEPS):
        bent = np.float32(scale) * total(engine, parts, bend, X, lapse, way)
        bent += np.float32(prior) * way
        curved = np.einsum("nik,nik->k", way, bent, dtype=np.float64)
        step = np.where(curved > 0, size / np.maximum(curved, 1e-300), 0.0).astype(np.float32)
        found += step * way
        residual -= step * bent
        near = np.einsum("nij,njk->nik", inverse, residual)
        before, size = size, np.einsum("nik,nik->k", residual, near, dtype=np.float64)
        if (size <= _EXACT**2 * first).all():
            break
        way = near + (size / np.maximum(before, 1e-300)).astype(np.float32) * way
    return found


def bend(part: HeldRows, X: FloatArray, lapse: float, V: AnyArray) -> AnyArray:
    """The information of all places together times some vectors, over a part; (n, d, K)."""
    from trilens.maps import _kernels

    out = np.zeros_like(V)
    kind: Kind = part.kind
    for _, (a, b, c), _ in rated_batches(part, None, raters=False):
        _kernels.bend(a, b, c, kind == "closer", sign(kind), X, lapse, V, out)
    return out
