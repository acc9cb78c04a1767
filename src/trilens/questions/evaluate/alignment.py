"""A model's vectors after a linear map, learned from answers about other objects."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray, Progress
from trilens.kinds import n_answers, sides, sign
from trilens.maps.descent import minimise, one_blas_thread
from trilens.maps.likelihood import collect_choices, likelihood, object_order
from trilens.questions.evaluate.predictions import Metric, Predictions, unit_vectors, vectors_for
from trilens.statements import Statements

#: Groups of objects: more of them leave more to learn from, and are more expensive.
_GROUPS = 7
#: Principal axes of the vectors that the map takes in, and dimensions that it gives.
_TAKEN, _GIVEN = 200, 30
#: Penalties of what the map changes, by the squared factor of the vectors, strongest first.
_PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
#: Parts that try all penalties; the others try none that is weaker than the next after the best.
_PILOTS = 7
#: Answers that a map is fitted to at most, for each of its objects and in all.
_MOST_EACH, _MOST = 100, 20_000
_ITERATIONS, _TOLERANCE = 60, 1e-4
_LAPSE = 0.1
#: Thousands of evaluations: from so many answers on it pays to load the compiled loops.
_COMPILED_FROM = 1000


def by_aligned_embedding(
    statements: Statements,
    embedding: Any,
    metric: Metric,
    seed: int = 0,
    progress: Progress | None = None,
) -> Predictions:
    """By the distances of vectors after a linear map, fitted to other answers and objects.

    The objects fall into groups. For every three groups a map is fitted to the answers that name
    none of their objects, and predicts those that name no others. So every answer is predicted by
    a map that knows neither the answer nor any of its three objects. The map is drawn towards the
    vectors as they are, by a penalty on what it changes. For each part of the answers the penalty
    is the one that predicts the other parts best. With ``cosine`` vectors are made equally long
    first.
    """
    X, by_name = vectors_for(statements, embedding)
    if metric == "cosine":
        X = unit_vectors(statements, X)
    F = _principal(X, np.unique(statements.triples))
    groups = _groups(statements, seed)
    m, c = len(statements), n_answers(statements.kind)
    scores = np.zeros((len(_PENALTIES) + 1, m, c), dtype=np.float32)
    part_of = np.full(m, -1)
    of_answer = groups[statements.triples]
    loss: list[FloatArray] = []
    tried = len(_PENALTIES)
    threes = list(combinations(range(int(groups.max()) + 1), 3))
    with one_blas_thread():
        for number, held in enumerate(threes):
            if progress is not None:
                progress(number / len(threes))
            named = np.isin(of_answer, held)
            rows = np.flatnonzero(named.all(axis=1) & (part_of < 0))
            if not len(rows):
                loss.append(np.zeros(len(scores)))
                continue
            part_of[rows] = number
            others = statements.take(~named.any(axis=1))
            asked, triples = np.unique(statements.triples[rows], return_inverse=True)
            maps = _maps(others, F, asked, np.random.default_rng([seed, 11, number]), tried)
            ends = sides(statements.kind, triples.reshape(-1, 3))
            for at, Y in enumerate(maps):
                far = [np.sqrt(((Y[i] - Y[j]) ** 2).sum(axis=1)) for i, j in ends]
                scores[at, rows] = sign(statements.kind) * np.stack(far, axis=1)
            loss.append(-_log_chance(scores[:, rows]).sum(axis=1))
            if number + 1 == _PILOTS:
                tried = min(int(np.sum(loss, axis=0).argmin()) + 1, tried)
    losses = np.array(loss)[:, : tried + 1]
    best = (losses.sum(axis=0) - losses).argmin(axis=1)
    chosen = scores[best[part_of], np.arange(m)].astype(np.float64)
    return Predictions(chosen, False, by_name)


def _principal(X: FloatArray, used: AnyArray) -> FloatArray:
    """The vectors on their widest axes, centered, of mean squared length 1."""
    centred = X - X[used].mean(axis=0)
    few = centred[used]
    if len(few) <= few.shape[1]:
        values, left = np.linalg.eigh(few @ few.T)
        axes = few.T @ (left / np.sqrt(np.maximum(values, 1e-300)))
    else:
        values, axes = np.linalg.eigh(few.T @ few)
    kept = np.flatnonzero(values > 1e-10 * max(float(values[-1]), 1e-300))[::-1][:_TAKEN]
    F: FloatArray = centred @ axes[:, kept]
    size = float((F[used] ** 2).sum(axis=1).mean())
    return F / np.sqrt(size) if size > 0 else F


def _groups(statements: Statements, seed: int) -> IntArray:
    """The group of each object, in whatever order they are numbered."""
    n = statements.n_objects
    many = min(_GROUPS, n)
    order = object_order(statements._names, n)
    found = np.empty(n, dtype=np.int64)
    found[order] = np.random.default_rng([seed, 12]).permutation(n) % many
    return found


def _maps(
    answers: Statements, F: FloatArray, asked: AnyArray, rng: np.random.Generator, tried: int
) -> list[FloatArray]:
    """The vectors of some objects after the maps of each penalty, that of no change first."""
    n, k = F.shape
    d = min(k, _GIVEN)
    as_they_are = F[:, :d]
    if len(answers) == 0 or d == 0:
        return [as_they_are[asked]] * (tried + 1)
    seen = np.unique(answers.triples)
    most = max(_MOST_EACH * len(seen), _MOST)
    if len(answers) > most:
        answers = answers.take(np.sort(rng.choice(len(answers), most, replace=False)))
    lapse = np.array([_LAPSE])
    compiled = len(answers) > _COMPILED_FROM
    with likelihood(collect_choices(answers), compiled=compiled) as f:
        factors = 2.0 ** np.arange(-3, 8)
        factor = float(factors[np.argmin([f(a * as_they_are, lapse)[0] for a in factors])])
        start = factor * np.eye(k, d)
        found, W, G, H = [factor * as_they_are[asked]], start, F[seen], F[asked]
        for penalty in _PENALTIES[:tried]:

            def loss(W: FloatArray, held: float = penalty / factor**2) -> tuple[float, FloatArray]:
                places = np.zeros((n, d))
                places[seen] = G @ W
                value, slope, _ = f(places, lapse)
                change = W - start
                return (
                    value + held * float((change**2).sum()),
                    G.T @ slope[seen] + 2 * held * change,
                )

            W = minimise(loss, W, _ITERATIONS, _TOLERANCE, memory=10).X
            found.append(H @ W)
    return found


def _log_chance(scores: AnyArray) -> FloatArray:
    """The logarithm of the probability of each answer, the first one; over the last axis."""
    top = scores.max(axis=-1, keepdims=True)
    odds = np.exp((scores - top).astype(np.float64))
    share = odds[..., 0] / odds.sum(axis=-1)
    return np.asarray(np.log((1 - _LAPSE) * share + _LAPSE / scores.shape[-1]))
