"""Maps that the answers allow: draws from the posterior of a choice map.

The likelihood of answers does not mind which questions were asked, nor how often: what the
answers leave open, these draws show. Where answers are few for the coordinates, or come from few
questions, the maps that explain them fill a region with corners; a chain walks through it that
moves object by object and finds the sharpness of the answers as it goes. The region may fall into
parts, which no such chain leaves. So many maps go side by side: the answers count for little at
first, when every part can be reached, and for more from stage to stage, and at each the maps that
explain the answers badly give way to copies of the others (annealed importance sampling with
resampling; Neal, 2001; Del Moral, Doucet and Jasra, 2006). Where answers are many, the region is
an ellipsoid, that of the Fisher information (Laplace's method).
"""

from __future__ import annotations

import numpy as np

from trilens._typing import FloatArray, Int32Array, IntArray
from trilens.kinds import sides, sign
from trilens.maps.choice_model import ChoiceModel
from trilens.maps.features import FeaturePrior
from trilens.maps.fit import one_blas_thread
from trilens.maps.laplace import add_penalty, moves_of_the_whole
from trilens.maps.likelihood import Choices, collect_choices, likelihood
from trilens.maps.pairs import ODDS_RANGE, number_pairs, pair_code
from trilens.statements import Statements

#: Coordinates whose information is factored.
MOST_COORDINATES = 3000
#: Different answers beyond which the region is taken for an ellipsoid.
_MOST_DIFFERENT = 950
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
#: Stands for no penalty.
_NO_L2 = 1e-6


def draw_maps(
    statements: Statements,
    model: ChoiceModel,
    l2: float,
    lapse_of: FloatArray | None,
    n_draws: int,
    rng: np.random.Generator,
    dispersion: float = 1.0,
    effort: float = 1.0,
    prior: FeaturePrior | None = None,
) -> FloatArray | None:
    """Coordinates drawn from the posterior, (draws, n, d); None where that is too dear.

    Parameters
    ----------
    statements, model, l2
        A fitted map, the answers it was fitted to, and the penalty.
    lapse_of : (m,) array of float, optional
        The lapse of each answer's rater.
    n_draws, rng
    dispersion
        Answers count for this many times less, as by a quasi-likelihood.
    effort
        Maps are annealed for up to so many times as many answers.
    prior
        What features say, where the map was fitted with them.
    """
    different = collect_choices(statements, keep_rows=True)
    lapses = np.full(len(statements), model.lapse) if lapse_of is None else lapse_of
    lapses = np.maximum(lapses, _LEAST_LAPSE)
    choices, lapse = _in_classes(different, lapses)
    if len(choices) <= effort * _MOST_DIFFERENT:
        return _annealed(choices, lapse, model, n_draws, rng, dispersion, prior)
    if model.embedding.size > MOST_COORDINATES:
        return None
    return _laplace(choices, lapse, model, l2, n_draws, rng, dispersion, prior)


def _in_classes(different: Choices, lapses: FloatArray) -> tuple[Choices, FloatArray]:
    """Different answers of raters who lapse about as often, and their mean lapse."""
    assert different.row is not None
    codes, place = np.unique(2 * different.row + (lapses > _CARELESS), return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    triples = different.triples[codes // 2]
    found = Choices(triples, count, different.kind, different.n_objects, place)
    return found, np.bincount(place, lapses) / count


def _annealed(
    choices: Choices,
    lapse: FloatArray,
    model: ChoiceModel,
    n_draws: int,
    rng: np.random.Generator,
    dispersion: float,
    prior: FeaturePrior | None,
) -> FloatArray:
    from trilens.maps import _kernels

    n = len(model.embedding)
    codes = [pair_code(i, j, n) for i, j in sides(choices.kind, choices.triples)]
    pairs, numbers = number_pairs(codes, n)
    chosen_from = np.ascontiguousarray(np.stack(numbers, axis=1))
    starts, rows = _of_each(choices.triples, n)
    pair_starts, own_pairs = _of_each(np.stack([pairs.first, pairs.second], axis=1), n)
    together = np.zeros((0, 0)) if prior is None else np.ascontiguousarray(prior.precision)

    def walk(X: FloatArray, count: int, each: int, counts: float) -> tuple[FloatArray, float]:
        """Draws if answers count for so much, and what the last makes of all of them."""
        out = np.empty((count, *X.shape))
        told = _kernels.slice_chain(
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
        return out, told / dispersion

    # from anywhere: a start at the fitted map would stay in its part
    size = np.sqrt((model.embedding**2).mean())
    maps = max(size, _SPREAD[0]) * rng.standard_normal((_MAPS, *model.embedding.shape))
    counts = min(1.0, _FIRST_ANSWERS * n * dispersion / float(choices.weight.sum()))
    told = np.array([walk(X, 1, _LAST_ROUNDS, counts)[1] for X in maps])
    while counts < 1:
        following = _next_stage(told, counts)
        chance = _chances(told, following - counts)
        # systematic resampling: as evenly as whole numbers of copies can be
        at = (rng.random() + np.arange(_MAPS)) / _MAPS
        maps = maps[np.minimum(np.searchsorted(chance.cumsum(), at), _MAPS - 1)]
        counts = following
        told = np.array([walk(X, 1, _ROUNDS, counts)[1] for X in maps])
    maps = maps[rng.permutation(_MAPS)]  # neighbours may be copies of one
    parts = np.bincount(np.arange(n_draws) % _MAPS, minlength=_MAPS).tolist()
    drawn = [
        walk(X, part, max(_LAST_ROUNDS // part, 1), 1.0)[0]
        for X, part in zip(maps, parts, strict=True)
        if part
    ]
    found = np.concatenate(drawn)
    # answers do not tell which way a map is turned: as the fitted one is
    U, _, V = np.linalg.svd(np.swapaxes(found, 1, 2) @ model.embedding)
    return np.asarray(found @ (U @ V))


def _of_each(objects: Int32Array, n: int) -> tuple[IntArray, IntArray]:
    """The rows in which each object is: those of i are ``rows[starts[i]:starts[i + 1]]``."""
    ids = objects.ravel()
    order = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[order], np.arange(n + 1)).astype(np.int64)
    return starts, (order // objects.shape[1]).astype(np.int64)


def _next_stage(told: FloatArray, counts: float) -> float:
    """For how much answers count next: as much as leaves enough maps in the running."""

    def leaves_enough(following: float) -> bool:
        left = 1 / (_chances(told, following - counts) ** 2).sum()
        return bool(left >= _LEFT * len(told))

    low, high = counts, 1.0
    if leaves_enough(high):
        return high
    while high - low > 1e-3 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if leaves_enough(middle) else (low, middle)
    return high


def _chances(told: FloatArray, more: float) -> FloatArray:
    """Of each map to be kept, if the answers count for so much more."""
    chance = np.exp(more * (told - told.max()))
    return np.asarray(chance / chance.sum())


def _laplace(
    choices: Choices,
    lapse: FloatArray,
    model: ChoiceModel,
    l2: float,
    n_draws: int,
    rng: np.random.Generator,
    dispersion: float,
    prior: FeaturePrior | None,
) -> FloatArray:
    from scipy.linalg import solve_triangular

    X = model.embedding
    with one_blas_thread():
        root = np.linalg.cholesky(_curvature(choices, lapse, model, l2, dispersion, prior))
        moved = solve_triangular(
            root, rng.standard_normal((n_draws, len(root))).T, lower=True, trans="T"
        )
    return np.asarray(X + moved.T.reshape(n_draws, *X.shape), dtype=np.float64)


def place_covariance(
    statements: Statements,
    model: ChoiceModel,
    l2: float,
    lapse_of: FloatArray | None,
    prior: FeaturePrior | None = None,
) -> FloatArray:
    """How the places of all objects may be off together, (n d, n d), by Laplace's method.

    Parameters
    ----------
    statements, model, l2, lapse_of, prior
        As for `draw_maps`.
    """
    choices = collect_choices(statements, keep_rows=True)
    lapses = np.full(len(statements), model.lapse) if lapse_of is None else lapse_of
    choices, lapse = _in_classes(choices, np.maximum(lapses, _LEAST_LAPSE))
    with one_blas_thread():
        H = _curvature(choices, lapse, model, l2, 1.0, prior)
        return np.asarray(np.linalg.inv(H), dtype=np.float64)


def _curvature(
    choices: Choices,
    lapse: FloatArray,
    model: ChoiceModel,
    l2: float,
    dispersion: float,
    prior: FeaturePrior | None,
) -> FloatArray:
    """The expected curvature of -log posterior; shifts and turns of the whole are held."""
    X = model.embedding
    with likelihood(choices, model.length, model.alpha, 1, "rows") as f:
        H = f.information(X, lapse) / dispersion
    free = moves_of_the_whole(X, turns=True)
    H += 1e3 * np.trace(H) / len(H) * (free @ free.T)
    add_penalty(H, max(l2, _NO_L2), prior)
    return H


def depths_of(maps: FloatArray, model: ChoiceModel) -> FloatArray:
    """The depth of each object on each of many maps, over all triples; (draws, n)."""
    from scipy.spatial.distance import pdist, squareform

    from trilens.maps import _kernels
    from trilens.maps.pairs import lengths

    n = maps.shape[1]
    of_one = (n - 1) * (n - 2) // (1 if model.kind == "closer" else 2)
    add = _kernels.rank_shares if model.kind == "closer" else _kernels.triangle_shares
    out = np.zeros((len(maps), n))
    for X, own in zip(maps, out, strict=True):
        v, _ = lengths(pdist(X, "sqeuclidean"), model.length, model.alpha)
        u = sign(model.kind) * (v - v.mean())
        # answers that are as good as certain need not be more so
        u *= min(1.0, ODDS_RANGE / max(float(np.ptp(u)), 1e-300))
        add(squareform(np.exp(u)), own)
    out /= of_one
    return 1 - out if model.kind == "odd" else out
