"""Maps that the answers allow: draws from the posterior of a fitted map, at every size.

The likelihood of answers does not depend on which questions were asked, nor how often: what the
answers leave open, these draws show. There are two engines.

**Few answers.** Where answers are few for the coordinates, or come from few questions, the maps
that explain them fill a region with corners; a chain walks through it that moves object by object
and finds the sharpness of the answers as it goes. The region may fall into parts, which no such
chain leaves. So many maps go side by side: the answers count for little at first, when every part
can be reached, and for more from stage to stage, and at each the maps that explain the answers
badly give way to copies of the others (annealed importance sampling with resampling; Neal, 2001;
Del Moral, Doucet and Jasra, 2006).

**Many answers.** There the region is an ellipsoid, that of the Fisher information H. A draw is
x + H^-1 e, where e varies as H does: by a factor of H where H is small enough to be factored, and
otherwise as the sum of the answers' scores with a random sign for each question, and of the
prior's, solved by conjugate gradients with the objects' own blocks as preconditioner (Papandreou
and Yuille, 2010). Scores, blocks and products with H are sums over the statements: they need no
more memory than the map, and the statements may lie in files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.calibration import MOST_ANNEALED
from trilens.counts.partition import Plan
from trilens.kinds import sides, sign
from trilens.maps.descent import one_blas_thread
from trilens.maps.features import FeaturePrior
from trilens.maps.laplace import NO_L2, posterior_curvature
from trilens.maps.likelihood import Choices, Products, collect_choices, likelihood
from trilens.maps.map import Map, shares_of
from trilens.maps.pairs import ODDS_RANGE, number_pairs, pair_code
from trilens.maps.passes import Passes, StreamPart, Sums, batches, for_kernels
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.maps.fitted import Fit

#: Coordinates whose information is factored; of more it is multiplied with vectors.
MOST_FACTORED = 3000
#: Maps that are drawn side by side, the rounds in which each moves at a stage, and those in which
#: it moves at the first and at the end.
_MAPS, _ROUNDS, _LAST_ROUNDS = 32, 3, 20
#: For how many answers about each object all of them count at the first stage; at the next they
#: count for as much more as leaves this share of the maps in the running.
_FIRST_ANSWERS, _LEFT = 1.0, 0.9
#: Standard deviations of the coordinates between which the chain moves: answers that hardly
#: depend on the places, and answers that the distances decide.
_SPREAD = (0.1, 1000.0)
#: A lapse of less is taken for this.
_LEAST_LAPSE = 1e-4
#: Raters who lapse more often are kept apart from the others; within either class the mean
#: lapse serves, so that equal answers are looked at once.
_CARELESS = 0.5
#: Parts that few questions link may lie the other way round: the draws take more trouble.
_EFFORT_FOR_BLOCKS = 5.0
#: Conjugate gradients stop where the residual is this share of what it was, or after so many
#: steps.
_EXACT, _MOST_STEPS = 0.03, 12


def draw_maps(fitted: Fit, n_draws: int, rng: np.random.Generator) -> FloatArray | None:
    """Coordinates drawn from the posterior, (draws, n, d); None where sums have to serve."""
    statements, model, prior = fitted.sample, fitted.map, fitted.prior
    # answers count for so many times less, as by a quasi-likelihood
    dispersion = fitted.overdispersion
    effort = _EFFORT_FOR_BLOCKS if fitted.design.blocks > 1 else 1.0
    if model.X.size > MOST_FACTORED and len(statements) > effort * MOST_ANNEALED**2:
        return None
    choices, lapse = _in_classes(statements, model, fitted.lapse_of(statements))
    if len(choices) <= effort * MOST_ANNEALED:
        return _annealed(choices, lapse, model, n_draws, rng, dispersion, prior)
    if model.X.size > MOST_FACTORED:
        return None
    from scipy.linalg import solve_triangular

    with one_blas_thread(), likelihood(choices, model.length, model.alpha, 1) as f:
        H = posterior_curvature(f, model.X, lapse, fitted.settings.l2, prior, dispersion)
        root = np.linalg.cholesky(H)
        moved = solve_triangular(
            root, rng.standard_normal((n_draws, len(root))).T, lower=True, trans="T"
        )
    return np.asarray(model.X + moved.T.reshape(n_draws, *model.X.shape), dtype=np.float64)


def place_covariance(
    statements: Statements,
    model: Map,
    l2: float,
    lapse_of: FloatArray | None,
    prior: FeaturePrior | None = None,
) -> FloatArray:
    """How the places of all objects may be off together, (n d, n d).

    Parameters
    ----------
    statements, model, l2, prior
        A fitted map, the answers it was fitted to, the penalty, and what features say.
    lapse_of : (m,) array of float, optional
        The lapse of each answer's rater.
    """
    choices, lapse = _in_classes(statements, model, lapse_of)
    with one_blas_thread(), likelihood(choices, model.length, model.alpha, 1, compiled=True) as f:
        H = posterior_curvature(f, model.X, lapse, l2, prior)
        return np.asarray(np.linalg.inv(H), dtype=np.float64)


def _in_classes(
    statements: Statements, model: Map, lapse_of: FloatArray | None
) -> tuple[Choices, FloatArray]:
    """Different answers of raters who lapse about as often, and their mean lapse."""
    different = collect_choices(statements, keep_rows=True)
    lapses = np.full(len(statements), model.lapse) if lapse_of is None else lapse_of
    lapses = np.maximum(lapses, _LEAST_LAPSE)
    assert different.row is not None
    codes, place = np.unique(2 * different.row + (lapses > _CARELESS), return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    triples = different.triples[codes // 2]
    found = Choices(triples, count, different.kind, different.n_objects, place)
    return found, np.bincount(place, lapses) / count


# ---- few answers --------------------------------------------------------------------------------


def _annealed(
    choices: Choices,
    lapse: FloatArray,
    model: Map,
    n_draws: int,
    rng: np.random.Generator,
    dispersion: float,
    prior: FeaturePrior | None,
) -> FloatArray:
    from trilens.maps import _kernels

    n = len(model.X)
    codes = [pair_code(i, j, n) for i, j in sides(choices.kind, choices.triples)]
    pairs, numbers = number_pairs(codes, n)
    chosen_from = np.ascontiguousarray(np.stack(numbers, axis=1))
    starts, rows = _of_each(choices.triples, n)
    pair_starts, own_pairs = _of_each(np.stack([pairs.first, pairs.second], axis=1), n)
    together = np.zeros((0, 0)) if prior is None else np.ascontiguousarray(prior.precision)

    def walk(X: FloatArray, count: int, each: int, counts: float) -> tuple[FloatArray, float]:
        """Draws if answers count for so much, and what the last makes of all of them."""
        out = np.empty((count, *X.shape))
        fits = _kernels.slice_chain(
            X,
            pairs.first,
            pairs.second,
            pair_starts,
            own_pairs,
            chosen_from,
            choices.weight,
            counts / dispersion,
            lapse,
            starts,
            rows,
            _kernels.LENGTHS[model.length],
            model.alpha,
            sign(choices.kind),
            _SPREAD,
            together,
            each,
            rng,
            out,
        )
        return out, fits / dispersion

    # from anywhere: a start at the fitted map would stay in its part
    size = np.sqrt((model.X**2).mean())
    maps = max(size, _SPREAD[0]) * rng.standard_normal((_MAPS, *model.X.shape))
    counts = min(1.0, _FIRST_ANSWERS * n * dispersion / float(choices.weight.sum()))
    fits = np.array([walk(X, 1, _LAST_ROUNDS, counts)[1] for X in maps])
    while counts < 1:
        following = _next_stage(fits, counts)
        chance = _chances(fits, following - counts)
        # systematic resampling: as evenly as whole numbers of copies can be
        at = (rng.random() + np.arange(_MAPS)) / _MAPS
        maps = maps[np.minimum(np.searchsorted(chance.cumsum(), at), _MAPS - 1)]
        counts = following
        fits = np.array([walk(X, 1, _ROUNDS, counts)[1] for X in maps])
    maps = maps[rng.permutation(_MAPS)]  # neighbors may be copies of one
    parts = np.bincount(np.arange(n_draws) % _MAPS, minlength=_MAPS).tolist()
    drawn = [
        walk(X, part, max(_LAST_ROUNDS // part, 1), 1.0)[0]
        for X, part in zip(maps, parts, strict=True)
        if part
    ]
    found = np.concatenate(drawn)
    # answers do not tell which way a map is turned: as the fitted one is
    U, _, V = np.linalg.svd(np.swapaxes(found, 1, 2) @ model.X)
    return np.asarray(found @ (U @ V))


def _of_each(objects: Int32Array, n: int) -> tuple[IntArray, IntArray]:
    """The rows in which each object is: those of i are ``rows[starts[i]:starts[i + 1]]``."""
    ids = objects.ravel()
    order = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[order], np.arange(n + 1)).astype(np.int64)
    return starts, (order // objects.shape[1]).astype(np.int64)


def _next_stage(fits: FloatArray, counts: float) -> float:
    """For how much answers count next: as much as leaves enough maps in the running."""

    def leaves_enough(following: float) -> bool:
        left = 1 / (_chances(fits, following - counts) ** 2).sum()
        return bool(left >= _LEFT * len(fits))

    low, high = counts, 1.0
    if leaves_enough(high):
        return high
    while high - low > 1e-3 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if leaves_enough(middle) else (low, middle)
    return high


def _chances(fits: FloatArray, more: float) -> FloatArray:
    """Of each map to be kept, if the answers count for so much more."""
    chance = np.exp(more * (fits - fits.max()))
    return np.asarray(chance / chance.sum())


# ---- any number of answers: sums over statements ------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sweep:
    """What one pass over all statements tells at a map; ``+`` merges."""

    #: The slope of the likelihood, and the information about each object's own place.
    sums: Sums
    #: (n, 2): how often each object is expected to be singled out, and the variance of that.
    expected: FloatArray
    #: (n, d + 1, draws): scores of the answers with a random sign for each question; the last row
    #: is for how often each object is singled out.
    signed: AnyArray

    def __add__(self, other: Sweep) -> Sweep:
        return Sweep(
            self.sums + other.sums, self.expected + other.expected, self.signed + other.signed
        )


def sweep(part: StreamPart, plan: Plan | None, model: Map, salt: int, n_draws: int) -> Sweep:
    """The sums of a part of the statements."""
    from trilens.maps import _kernels

    n, d = model.X.shape
    sums, expected = np.zeros((n, d + d * (d + 1) // 2)), np.zeros((n, 2))
    signed = np.zeros((n, d + 1, n_draws), dtype=np.float32)
    loss = 0.0
    for _, (a, b, c), *_ in batches(part, plan):
        how = (a, b, c, *for_kernels(model))
        loss += _kernels.score(*how, sums)
        keys = np.empty(len(a), dtype=np.uint64)
        _kernels.question_keys(a, b, c, salt, keys)
        _kernels.pull(*how, keys, signed, expected)
    return Sweep(Sums(loss, sums), expected, signed)


def draw_by_sums(fitted: Fit, passes: Passes, swept: Sweep, rng: np.random.Generator) -> AnyArray:
    """Maps that the answers allow, (draws, n, d) float32, from what `sweep` found.

    Parameters
    ----------
    fitted : Fit
        Its sample stands for all statements in the products with H.
    passes : Passes
        Over all statements.
    """
    model, sample = fitted.map, fitted.sample
    prior, dispersion = fitted.prior, fitted.overdispersion
    X, (n, d) = model.X, model.X.shape
    held = 2 * max(fitted.settings.l2, NO_L2) * dispersion
    own = np.ones(n) if prior is None else prior.own_precision
    blocks = swept.sums.information(d) + held * own[:, None, None] * np.eye(d)
    signed = swept.signed[:, :d].astype(np.float32)
    n_draws = signed.shape[2]
    noise = rng.standard_normal((n, d * n_draws)).astype(np.float32)
    if prior is not None:
        noise = np.linalg.cholesky(prior.precision).astype(np.float32) @ noise
    slopes = np.float32(np.sqrt(dispersion)) * signed
    slopes += np.float32(np.sqrt(held * dispersion)) * noise.reshape(n, d, n_draws)
    scale = passes.counts.statements / max(len(sample), 1)
    choices, lapse = collect_choices(sample), np.array([model.lapse])
    with likelihood(choices, model.length, model.alpha, passes.n_threads, True) as f:
        times = f.products(X, lapse)
        if scale == 1.0:
            moved = _solve(times, blocks, held, scale, slopes, prior)
        else:
            # how objects hang together is taken from some statements, what is known of each
            # object by itself from all: a far object may be in few that tell
            some = f.information(X, lapse, whole=False) * scale
            some += held * own[:, None, None] * np.eye(d)
            A, B = np.linalg.cholesky(some), np.linalg.cholesky(blocks)
            turned = (A @ np.linalg.solve(B, slopes.astype(np.float64))).astype(np.float32)
            found = _solve(times, some, held, scale, turned, prior)
            back = A.transpose(0, 2, 1) @ found.astype(np.float64)
            moved = np.linalg.solve(B.transpose(0, 2, 1), back).astype(np.float32)
    # places that were fitted follow the answers: what is left varies less than it did
    freedom = passes.counts.statements * (1 if model.kind == "closer" else 2)
    moved *= np.float32(np.sqrt(freedom / max(freedom - n * d, freedom / 2)))
    moved += X[:, :, None].astype(np.float32)
    return np.ascontiguousarray(moved.transpose(2, 0, 1))


def _solve(
    times: Products,
    blocks: FloatArray,
    held: float,
    scale: float,
    G: AnyArray,
    prior: FeaturePrior | None,
) -> AnyArray:
    """H^-1 G by conjugate gradients, the blocks of each object going before; (n, d, K) float32.

    Parameters
    ----------
    times : callable
        Multiplies vectors with the information of some statements.
    blocks : (n, d, d) float64
        The blocks on the diagonal of H.
    held : float
        The curvature of the prior.
    scale : float
        How many statements each of these stands for.
    """
    inverse = np.linalg.inv(blocks).astype(np.float32)
    residual = np.array(G, dtype=np.float32)
    found = np.zeros_like(residual)
    near = np.einsum("nij,njk->nik", inverse, residual)
    way = near.copy()
    size = np.einsum("nik,nik->k", residual, near, dtype=np.float64)
    first = np.maximum(size, 1e-300)
    for _ in range(_MOST_STEPS):
        turned = np.float32(scale) * times(way)
        pull = way
        if prior is not None:
            flat = way.reshape(len(way), -1)
            pull = (prior.precision.astype(np.float32) @ flat).reshape(way.shape)
        turned += np.float32(held) * pull
        curved = np.einsum("nik,nik->k", way, turned, dtype=np.float64)
        step = np.where(curved > 0, size / np.maximum(curved, 1e-300), 0.0).astype(np.float32)
        found += step * way
        residual -= step * turned
        near = np.einsum("nij,njk->nik", inverse, residual)
        before, size = size, np.einsum("nik,nik->k", residual, near, dtype=np.float64)
        if (size <= _EXACT**2 * first).all():
            break
        way = near + (size / np.maximum(before, 1e-300)).astype(np.float32) * way
    return found


def depths_of(maps: AnyArray, model: Map) -> FloatArray:
    """The depth of each object on each of many maps, over all triples; (draws, n)."""
    n = maps.shape[1]
    of_one = (n - 1) * (n - 2) // (1 if model.kind == "closer" else 2)
    out = np.empty((len(maps), n))
    for X, own in zip(maps, out, strict=True):
        u = model.at(X).log_odds()
        # answers that are as good as certain need not be more so
        u *= min(1.0, ODDS_RANGE / max(float(np.ptp(u)), 1e-300))
        own[:] = shares_of(u, model.kind) / of_one
    return 1 - out if model.kind == "odd" else out
