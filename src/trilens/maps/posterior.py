"""Maps that the answers allow: draws from the posterior of a choice map.

The likelihood of answers does not mind which questions were asked, nor how often: what the
answers leave open, these draws show. Where answers are few for the coordinates, or come from few
questions, the maps that explain them fill a region with corners; a chain walks through it that
moves object by object and finds the sharpness of the answers as it goes. Where they are many, the
region is an ellipsoid, that of the Fisher information (Laplace's method).
"""

from __future__ import annotations

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.kinds import sign
from trilens.maps.choice_model import ChoiceModel
from trilens.maps.features import FeaturePrior
from trilens.maps.fit import one_blas_thread
from trilens.maps.laplace import add_penalty, moves_of_the_whole
from trilens.maps.likelihood import Choices, collect_choices, likelihood
from trilens.maps.pairs import ODDS_RANGE
from trilens.statements import Statements

#: Coordinates whose information is factored.
MOST_COORDINATES = 3000
#: Looks at an answer that a chain may take, those that a move of one object takes about, and
#: the rounds below which a chain tells too little.
_WORK, _LOOKS, _LEAST_ROUNDS = 10_000_000, 7, 500
_MOST_ROUNDS = 1000
#: The share of the rounds before the first draw.
_WARM = 0.5
#: Chains, each from afar.
_CHAINS = 4
#: By how much less answers count in the first stage of these, and the number of stages.
_HEAT, _STAGES = 20.0, 12
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
        Chains may take so many times as long.
    prior
        What features say, where the map was fitted with them.
    """
    different = collect_choices(statements, keep_rows=True)
    lapses = np.full(len(statements), model.lapse) if lapse_of is None else lapse_of
    lapses = np.maximum(lapses, _LEAST_LAPSE)
    choices, lapse = _in_classes(different, lapses)
    rounds = int(effort * _WORK / (3 * len(choices) * _LOOKS))
    if rounds >= _LEAST_ROUNDS:
        rounds = min(rounds, _MOST_ROUNDS)
        return _chain(choices, lapse, model, n_draws, rng, dispersion, rounds, prior)
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


def _chain(
    choices: Choices,
    lapse: FloatArray,
    model: ChoiceModel,
    n_draws: int,
    rng: np.random.Generator,
    dispersion: float,
    rounds: int,
    prior: FeaturePrior | None,
) -> FloatArray:
    from trilens.maps import _kernels

    ids = choices.triples.ravel()
    order = np.argsort(ids, kind="stable")
    n = len(model.embedding)
    starts: IntArray = np.searchsorted(ids[order], np.arange(n + 1)).astype(np.int64)
    rows = (order // 3).astype(np.int64)
    rounds //= _CHAINS
    together = np.zeros((0, 0)) if prior is None else np.ascontiguousarray(prior.precision)
    draws = []
    for part in np.array_split(np.arange(n_draws), _CHAINS):
        if not len(part):
            continue
        X = np.array(model.embedding, dtype=np.float64, order="C")

        def walk(count: int, each: int, heat: float = 1.0, X: FloatArray = X) -> FloatArray:
            out = np.empty((count, *X.shape))
            _kernels.slice_chain(
                X,
                choices.triples,
                choices.weight / (dispersion * heat),
                lapse,
                starts,
                rows,
                _kernels.LENGTHS[model.length],
                model.alpha,
                sign(choices.kind),
                choices.kind != "closer",
                _SPREAD,
                together,
                max(each, 1),
                rng,
                out,
            )
            return out

        # from afar: the answers count for little at first, so that no region is out of reach
        for heat in np.geomspace(_HEAT, 1.0, _STAGES):
            walk(1, int(rounds * _WARM / _STAGES), float(heat))
        draws.append(walk(len(part), int(rounds * (1 - _WARM)) // len(part)))
    return np.concatenate(draws)


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
