"""Places of new objects on a fitted map, whose own objects stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray
from trilens.answers import AnswersLike
from trilens.errors import ParameterError, StatementError
from trilens.maps.descent import minimise, one_blas_thread
from trilens.maps.features import Features, FeaturesLike, read_new_features
from trilens.maps.laplace import NO_L2
from trilens.maps.likelihood import collect_choices, likelihood, object_order, row_order
from trilens.maps.support import support_of_answers
from trilens.statements import Statements, as_statements
from trilens.statements.value import COLUMNS

if TYPE_CHECKING:
    from trilens.maps.fitted import Fit

#: Coordinates up to which new objects are told together how sure their places are.
_TOGETHER = 1000
#: Places of the map that a new object is tried at first.
_TRIED = 2000


@dataclass(frozen=True, eq=False)
class Places(Tabular):
    """Where new objects lie.

    Attributes
    ----------
    names : tuple of str
    coordinates : (k, d) float64
    covariance : (k, d, d) float64
        Of the error of each place, if those of the map's own objects are known.
    answers : (k,) int64
        How many answers each place is from.
    """

    names: tuple[str, ...]
    coordinates: FloatArray = field(repr=False)
    covariance: FloatArray = field(repr=False)
    answers: IntArray = field(repr=False)

    @property
    def errors(self) -> FloatArray:
        """(k, d): the standard error of every coordinate."""
        return np.asarray(np.sqrt(np.einsum("kdd->kd", self.covariance)))

    def columns(self) -> dict[str, Sequence[Any]]:
        """The objects, their coordinates and standard errors, and their answers."""
        axes = enumerate(self.coordinates.T, start=1)
        errors = enumerate(self.errors.T, start=1)
        return {
            "object": self.names,
            **{f"x{i}": axis for i, axis in axes},
            **{f"error{i}": axis for i, axis in errors},
            "answers": self.answers,
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens place --json`` prints them."""
        rows = zip(self.names, self.coordinates, self.covariance, self.answers, strict=True)
        return {
            "places": [
                {
                    "object": name,
                    "coordinates": place.tolist(),
                    "covariance": covariance.tolist(),
                    "answers": int(answers),
                }
                for name, place, covariance, answers in rows
            ]
        }


@dataclass(frozen=True, eq=False)
class NewObjects:
    """Objects that are not on a map, and what is known about them."""

    names: tuple[str, ...]
    #: The answers that name one of them; their ids follow those of the map's objects.
    statements: Statements | None
    #: Of the new objects alone, standardized as those of the map.
    features: Features | None


def new_objects(M: Fit, answers: AnswersLike | None, features: FeaturesLike | None) -> NewObjects:
    """What answers and features say about objects that the map does not have."""
    S = None if answers is None else as_statements(answers, M.map.kind)
    n = len(M.map.X)
    on_map = {name: i for i, name in enumerate(M.map.names or map(str, range(n)))}
    if S is None and features is None:
        raise ParameterError("place needs answers about new objects, or their features")
    told = None
    if features is not None:
        if M.features is None or M.prior is None:
            why = "was fitted without features" if M.features is None else "does not use features"
            raise ParameterError(
                f"the map {why}, so that they say nothing about places; give answers about the "
                "new objects",
                parameter="features",
            )
        told = read_new_features(features, M.features)
    names: list[str] = []
    if S is not None:
        names = [name for name in S.names if name not in on_map]
        if not names:
            raise ParameterError(
                f"all {S.n_objects:,} objects of the statements are on the map already"
            )
        if len(S) == 0:
            raise StatementError("there are no answers; place needs some about the new objects")
    called = None if told is None else told[0]
    if told is not None and called is None:
        rows = len(told[1].known)
        if S is None:
            numbered = list(on_map) == [str(i) for i in range(n)]
            names = [str(n + i) if numbered else f"new {i + 1}" for i in range(rows)]
        elif rows != len(names):
            raise ParameterError(
                f"features have {rows:,} rows for {len(names):,} new objects "
                f"({', '.join(names[:5])}); give one for each, or give them by name",
                parameter="features",
            )
        called = tuple(names)
    for name in called or ():
        if name not in on_map and name not in names:
            names.append(name)
    if not names:
        raise ParameterError("all objects of the features are on the map already")
    new = None
    if told is not None and called is not None:
        row_of = {name: i for i, name in enumerate(called)}
        at = np.array([row_of.get(name, -1) for name in names], dtype=np.int64)
        new = told[1].take(np.maximum(at, 0))
        blocks = (replace(block, known=block.known & (at >= 0)) for block in new.blocks)
        new = replace(new, blocks=tuple(blocks))
    return NewObjects(tuple(names), None if S is None else _about(S, names, on_map), new)


def _about(S: Statements, names: Sequence[str], on_map: dict[str, int]) -> Statements:
    """The statements that name a new object, with ids after those of the map's."""
    number = on_map | {name: len(on_map) + i for i, name in enumerate(names)}
    ids = np.array([number[name] for name in S.names], dtype=np.int64)
    triples = ids[S.triples]
    rows = np.flatnonzero((triples >= len(on_map)).any(axis=1))
    if not len(rows):
        raise StatementError(
            f"no answer is about the new objects ({', '.join(names[:5])}); place needs some"
        )
    columns = {name: getattr(S, name) for name in COLUMNS}
    known: dict[str, Any] = {
        name: column[rows] for name, column in columns.items() if column is not None
    }
    return Statements(triples[rows].astype(np.int32), len(number), kind=S.kind, **known)


def find_places(M: Fit, new: NewObjects) -> Places:
    """The likeliest places of new objects, and how sure they are."""
    k, d = len(new.names), M.map.n_components
    l2 = max(M.settings.l2, NO_L2)
    mean, spread, drawn = _expected(M, new)
    answers = np.zeros(k, dtype=np.int64)
    if new.statements is None:
        own = np.diag(spread)[:, None, None] / (2 * l2) * np.eye(d)
        return Places(new.names, mean, own + drawn, answers)
    model, S, n = M.map, new.statements, len(M.map.X)
    everything = np.vstack([model.X, mean])
    model.at(everything).triples_of(S)
    answers = np.bincount(S.triples.ravel(), minlength=n + k)[n:].astype(np.int64)
    precision: FloatArray = np.asarray(2 * l2 * np.linalg.inv(spread), dtype=np.float64)
    seen, triples = np.unique(S.triples, return_inverse=True)
    inner = Statements(
        triples.reshape(S.triples.shape).astype(np.int32), len(seen), kind=S.kind, raters=S.raters
    )
    moving = np.flatnonzero(seen >= n)
    which = seen[moving] - n
    lapse_of = M.lapse_of(inner)
    choices = collect_choices(inner, keep_rows=True, keep_repeats=True)
    lapse = choices.spread(lapse_of)
    X = everything[seen]
    with one_blas_thread(), likelihood(choices, model.length, model.alpha, 1) as f:

        def loss(Y: FloatArray) -> tuple[float, FloatArray]:
            X[moving] = Y[which]
            value, slope, _ = f(X, lapse)
            pull = precision @ (Y - mean)
            pull_of = pull.copy()
            pull_of[which] += slope[moving]
            return value + 0.5 * float(((Y - mean) * pull).sum()), pull_of

        start = _starts(M, S, lapse_of, mean, precision)
        found = min(
            (minimise(loss, at, 200, 1e-7) for at in (start, mean)), key=lambda each: each.loss
        )
        X[moving] = found.X[which]
        whole = X.size <= _TOGETHER
        H = f.information(X, lapse, whole=whole)
    covariance: Any
    if whole:
        at = (moving[:, None] * d + np.arange(d)).ravel()
        bent = np.kron(precision, np.eye(d))
        to = (which[:, None] * d + np.arange(d)).ravel()
        bent[np.ix_(to, to)] += H[np.ix_(at, at)]
        errors = np.linalg.inv(bent).reshape(k, d, k, d)
        covariance = errors[np.arange(k), :, np.arange(k)]
    else:
        own = np.zeros((k, d, d))
        own[which] = H[moving]
        covariance = np.linalg.inv(own + np.diag(precision)[:, None, None] * np.eye(d))
    return Places(new.names, found.X, np.asarray(covariance), answers)


def _expected(M: Fit, new: NewObjects) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where the features expect new objects, and how far they may be off.

    The latter in two parts: (k, k) by what the features leave open, times 1 / (2 l2), and
    (k, d, d) by the errors of the map's own places.
    """
    k, d, prior = len(new.names), M.map.n_components, M.prior
    if prior is None or new.features is None:
        return np.zeros((k, d)), np.eye(k), np.zeros((k, d, d))
    C = np.diag(np.full(k, max(1.0 - sum(prior.shares), 1e-6)))
    across = np.zeros((len(M.map.X), k))
    for block, own, share in zip(
        prior.features.blocks, new.features.blocks, prior.shares, strict=True
    ):
        C += np.diag(share * ~own.known)
        if share:
            C += share * own.products(own.rows, own.known)
            across += share * block.products(own.rows, own.known)
    weights = prior.solved(across)
    left = C - across.T @ weights
    left = (left + left.T) / 2 + 1e-9 * np.eye(k)
    drawn = np.einsum("nk,nab->kab", weights**2, M.place_cov)
    return np.asarray(weights.T @ M.map.X), left, np.asarray(drawn)


def _starts(
    M: Fit, S: Statements, lapse: FloatArray, mean: FloatArray, precision: FloatArray
) -> FloatArray:
    """For each new object the likeliest of the places of the map's own ones, and the expected."""
    n, model, start = len(M.map.X), M.map, mean.copy()
    tried = M.map.X[:: max(len(M.map.X) // _TRIED, 1)]
    alone = (S.triples >= n).sum(axis=1) == 1
    for i in range(len(mean)):
        rows = np.flatnonzero(alone & (S.triples == n + i).any(axis=1))
        if not len(rows):
            continue
        points = np.vstack([tried, mean[i]])
        attentive = replace(model, X=np.vstack([model.X, points]), lapse=0.0)
        # every answer about every place that the object might have
        triples = S.triples[rows].astype(np.int64)
        asked = np.repeat(triples[None], len(points), axis=0)
        own = n + np.arange(len(points))
        asked = np.where(asked == n + i, own[:, None, None], asked).reshape(-1, 3)
        chance = attentive.chosen(asked).reshape(len(points), len(rows))
        sides = 2 if model.kind == "closer" else 3
        chance = (1 - lapse[rows]) * chance + lapse[rows] / sides
        value = np.log(np.maximum(chance, 1e-300)).sum(axis=1)
        value -= 0.5 * precision[i, i] * ((points - mean[i]) ** 2).sum(axis=1)
        start[i] = points[int(value.argmax())]
    return start


def extended(M: Fit, new: NewObjects, placed: Places) -> Fit:
    """The fit with new objects at their places, and the answers about these beside its own."""
    inner, rank = M.canonical
    names = M.names + placed.names
    order = object_order(names, len(names))
    own = inner.sample if inner.rows_given is None else inner.rows_given
    rows = _together(own.subset(rank), new.statements, names, named=M.raters.named)
    in_time = rows.subset(order)
    by_answer = row_order(in_time)
    sample = in_time.take(by_answer)
    weights = None
    if inner.weights is not None:
        weights = np.ones(len(rows))
        weights[row_order(own)] = inner.weights
        weights = weights[by_answer]
    features = None
    if M.features is not None:
        features = M.features.extended(new.features, len(placed.names)).take(order)
    stored: dict[str, Any] = {
        "lapse_interval": M.lapse_interval,
        "kind_doubt": M.kind_doubt,
        "place_cov": np.concatenate([M.place_cov, placed.covariance])[order],
    }
    linked = support_of_answers(sample)
    if not linked or M.support.reason not in ("unasked objects", "unconnected objects"):
        stored["support"] = M.support if linked else linked
    found = replace(
        inner,
        map=replace(
            inner.map,
            X=np.vstack([M.map.X, placed.coordinates])[order],
            names=tuple(names[i] for i in order.tolist()),
        ),
        asked=sample.appearances,
        source=rows,
        statements=sample,
        sample=sample,
        features=features,
        weights=weights,
        passes=None,
        rows_given=None if inner.rows_given is None else in_time,
        stored=stored,
    )
    return found.among(rows, names, np.argsort(order))


def _together(
    own: Statements, new: Statements | None, names: tuple[str, ...], *, named: bool
) -> Statements:
    """The answers behind a map and those about new objects; not all columns are in both."""
    parts = [own] if new is None else [own, new]
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        given = [getattr(part, name) for part in parts]
        if all(column is None for column in given):
            continue
        if name == "questions" or (name == "raters" and not named):
            # of each file the screens, and the raters who have only numbers, are its own
            numbers = [
                np.arange(len(part)) if of is None else np.unique(of, return_inverse=True)[1]
                for of, part in zip(given, parts, strict=True)
            ]
            given = [numbers[0], *(each + len(own) for each in numbers[1:])]
        elif name == "raters" and own.raters is not None:
            kinds = {None if of is None else of.dtype.kind for of in given}
            if len(kinds) > 1:
                given = [
                    np.full(len(part), "") if of is None else of.astype(np.str_)
                    for of, part in zip(given, parts, strict=True)
                ]
        elif name == "chosen":
            given = [
                np.zeros(len(part), dtype=np.bool_) if of is None else of
                for of, part in zip(given, parts, strict=True)
            ]
        if all(column is not None for column in given):
            columns[name] = np.concatenate(given)
    triples = np.concatenate([part.triples for part in parts])
    return Statements(triples, len(names), names, own.kind, **columns)
