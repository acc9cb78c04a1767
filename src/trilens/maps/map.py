"""A map as a model of answers: how likely each one is, and the depth that follows from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import generator, is_whole, whole_number, wrong
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from trilens.errors import (
    KindError,
    ParameterError,
    UnmentionedObjectsWarning,
    callers_level,
    parameter_name,
)
from trilens.kinds import Kind, n_answers, sides, sign, wrong_by_chance
from trilens.maps.pairs import ODDS_RANGE, Length, lengths, squared
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.names import ids_among, is_integer

Names: TypeAlias = tuple[str, ...] | None

#: Statements whose probabilities are formed at a time.
_CHUNK = 1 << 17
#: Up to so many triples the depth is the mean over all of them.
_ALL_TRIPLES = 200_000_000
#: Up to so many objects numpy is fast enough for that, and nothing waits for a compiler.
_NUMPY_OBJECTS = 128
#: Triples that are drawn where there are more: each tells of one object.
_DRAWN_TRIPLES = 20_000_000


@dataclass(frozen=True, eq=False)
class ModelDepth:
    """Depth by the model.

    Attributes
    ----------
    depth : (n,) float64
        What the depth of each object would be if every question were asked very often.
    error : (n,) float64
        Its standard error because not all triples were looked at; 0 where all were.
    n_triples : int
        The triples that each object's depth is a mean over.
    """

    depth: FloatArray
    error: FloatArray
    n_triples: int


@dataclass(frozen=True, eq=False)
class Map:
    """A map: coordinates and a share of careless answers, which give every answer a probability.

    Attributes
    ----------
    X : (n, d) float64
    lapse : float
        The share of answers that are given without looking.
    kind : {"central", "odd", "closer"}
    length : {"distance", "student"}
    alpha : float
        Degrees of freedom of the Student length.
    names : tuple of str or None
        Of the objects; None where they have only ids.

    Examples
    --------
    >>> line = Map(np.array([[0.0], [1.0], [3.0]]), 0.0, "central")
    >>> line.probabilities([[1, 0, 2]]).round(2).tolist()
    [[0.67, 0.24, 0.09]]
    """

    X: FloatArray
    lapse: float
    kind: Kind
    length: Length = "distance"
    alpha: float = 1.0
    names: tuple[str, ...] | None = None

    @property
    def n_objects(self) -> int:
        """How many objects the map has."""
        return len(self.X)

    @property
    def n_components(self) -> int:
        """How many dimensions the map has."""
        return int(self.X.shape[1])

    def at(self, X: FloatArray) -> Map:
        """The same model with its objects in other places."""
        return replace(self, X=X)

    def among(self, order: IntArray, names: tuple[str, ...] | None) -> Map:
        """The same map with its objects in another order: object ``order[i]`` comes i-th."""
        return replace(self, X=self.X[order], names=names)

    @property
    def error_rate(self) -> float:
        """The share of answers that are wrong because they are lapses."""
        return self.lapse * wrong_by_chance(self.kind)

    def probabilities(self, statements: StatementsLike) -> FloatArray:
        """The probability of each possible answer, the given one first: `ChoiceMap.predict_proba`.

        (m, 3) float64 for statements of the kind of the model, for ``closer`` (m, 2).
        """
        return self.chances(self.triples_of(statements))

    def chosen(self, triples: AnyArray) -> FloatArray:
        """The probability of the answer that was given; see `chances`."""
        return self.chances(triples)[:, 0]

    def triples_of(self, statements: StatementsLike) -> AnyArray:
        """The ids of statements, checked against the model."""
        given = as_statements(statements, self.kind)
        if given.kind != self.kind:
            raise KindError(
                f"the map was fitted to statements of kind {self.kind}, and says nothing about "
                f"how questions of kind {given.kind} are answered; fit one to those, or, for an "
                f"array, give Statements(array, kind={self.kind!r})"
            )
        if given.n_objects > len(self.X):
            raise ParameterError(
                f"the statements are about {given.n_objects:,} objects, but the map has "
                f"{len(self.X):,}"
            )
        return given.triples

    def slopes(self, triples: AnyArray, lapse: float | FloatArray | None = None) -> FloatArray:
        """The slope of -log P of each answer in the logarithm of the odds of each side.

        Parameters
        ----------
        triples : (m, 3) array of int
        lapse : float or (m,) array, optional
            Of each answer's rater, where that is known.

        Returns
        -------
        (m, 2 or 3) array
            The side that was chosen first.
        """
        attentive = replace(self, lapse=0.0).chances(triples)
        share = self.lapse if lapse is None else lapse
        chosen = (1 - share) * attentive[:, 0]
        attended = chosen / (chosen + share / attentive.shape[1])
        attentive[:, 0] -= 1.0
        attentive *= np.asarray(attended)[:, None]
        return attentive

    def score(
        self,
        triples: AnyArray,
        lapse: float | FloatArray | None = None,
        slopes: FloatArray | None = None,
    ) -> tuple[IntArray, FloatArray]:
        """How each answer pulls at the places of its objects: the slope of its -log likelihood.

        Parameters
        ----------
        triples, lapse
            As for `slopes`.
        slopes : (m, 2 or 3) array, optional
            In place of those, where something other than the map says what is expected.

        Returns
        -------
        ids : (k m,) array of int
            Of objects; the answers come in their order, as often as they have ends of sides.
        force : (k m, d) array
        """
        pull = self.slopes(triples, lapse) if slopes is None else slopes
        ids: list[AnyArray] = []
        found: list[FloatArray] = []
        for side, (i, j) in enumerate(sides(self.kind, triples)):
            _, slope = lengths(squared(self.X, i, j), self.length, self.alpha)
            way = self.X[i] - self.X[j]
            force = (2 * sign(self.kind) * pull[:, side] * slope)[:, None] * way
            ids += [i, j]
            found += [force, -force]
        return np.concatenate(ids).astype(np.int64), np.concatenate(found)

    def depth(self, n_triples: int | None = None, random_state: RandomState = 0) -> ModelDepth:
        """The depth of every object that the model expects of attentive answers.

        For ``central`` the lens depth: the share of the pairs of others between which the
        object is called most central. For ``odd`` one minus the share in which it is called
        the odd one. For ``closer`` the rank centrality: the share of the comparisons with
        another object that it wins as the nearer one to an anchor. Lapses are left out;
        they draw the depths together and do not change their order.

        Parameters
        ----------
        n_triples : int, optional
            The mean is over so many triples for each object, drawn at random and the same for
            all, so that objects are compared on equal terms. By default all triples, or a
            part of them beyond about 1000 objects.
        random_state
            For the draw.
        """
        n = len(self.X)
        if n < 3:
            raise ParameterError(f"depth needs three objects or more; the map has {n}")
        of_one = (n - 1) * (n - 2) // (1 if self.kind == "closer" else 2)
        if n_triples is not None:
            wanted = whole_number("n_triples", n_triples, least=1)
        else:
            wanted = of_one if n * of_one <= 3 * _ALL_TRIPLES else max(1000, _DRAWN_TRIPLES // n)
        if wanted < of_one or n > 20_000:
            shares, error = self.drawn_shares(wanted, generator(random_state))
        else:
            shares, error, wanted = self._all_shares() / of_one, np.zeros(n), of_one
        return ModelDepth(1 - shares if self.kind == "odd" else shares, error, wanted)

    def chances(self, triples: AnyArray) -> FloatArray:
        """The probability of each possible answer, the given one first, without any checks."""
        out = np.empty((len(triples), n_answers(self.kind)))
        for start in range(0, len(triples), _CHUNK):
            part = slice(start, start + _CHUNK)
            ends = sides(self.kind, triples[part])
            # a row for each side: numpy is slow at reducing rows of three
            squares = np.stack([squared(self.X, i, j) for i, j in ends])
            u = sign(self.kind) * lengths(squares, self.length, self.alpha)[0]
            u -= u.max(axis=0)
            np.exp(u, out=u)
            u /= u.sum(axis=0)
            out[part] = u.T
        out *= 1 - self.lapse
        out += self.lapse / out.shape[1]
        return out

    def _all_shares(self) -> FloatArray:
        """The sum, over all triples with an object, of the probability that it is chosen."""
        u = self.log_odds()
        if np.ptp(u) <= ODDS_RANGE:
            return shares_of(u, self.kind)
        from scipy.spatial.distance import squareform

        # exponentials of all would overflow: triangle by triangle
        return _summed(squareform(u), self.kind, _softmax_first)

    def log_odds(self) -> FloatArray:
        """The logarithms of the odds of choosing each pair, as `scipy.spatial.distance.pdist`."""
        from scipy.spatial.distance import pdist

        v, _ = lengths(pdist(self.X, "sqeuclidean"), self.length, self.alpha)
        return sign(self.kind) * v

    def drawn_shares(
        self, n_pairs: int, rng: np.random.Generator, who: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Mean shares over pairs of others that are the same for all objects, and their errors.

        Parameters
        ----------
        n_pairs
        rng
        who : (k,) int64, optional
            The objects that are meant; by default all.
        """
        from trilens.maps import _kernels

        n = len(self.X)
        j = rng.integers(n, size=n_pairs)
        k = (j + rng.integers(1, n, size=n_pairs)) % n
        who = np.arange(n) if who is None else who
        mean, square = np.empty(len(who)), np.empty(len(who))
        _kernels.drawn_shares(
            np.ascontiguousarray(self.X, dtype=np.float64),
            who,
            j,
            k,
            _kernels.LENGTHS[self.length],
            self.alpha,
            self.kind == "closer",
            float(sign(self.kind)),
            mean,
            square,
        )
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0) / n_pairs)


def shares_of(u: FloatArray, kind: Kind) -> FloatArray:
    """The sum, over all triples with an object, of the probability that it is chosen.

    Parameters
    ----------
    u : (n (n - 1) / 2,) array
        The logarithms of the pairs' odds, within a range whose exponentials can be formed.
    """
    from scipy.spatial.distance import squareform

    odds = squareform(np.exp(u - u.mean()))
    if len(odds) <= _NUMPY_OBJECTS:
        with np.errstate(invalid="ignore"):  # an object beside itself
            return _summed(odds, kind, lambda first, *others: first / (first + sum(others)))
    from trilens.maps import _kernels

    sums = np.zeros(len(odds))
    (_kernels.rank_shares if kind == "closer" else _kernels.triangle_shares)(odds, sums)
    return sums


def _summed(W: FloatArray, kind: Kind, share: Callable[..., FloatArray]) -> FloatArray:
    """The sums of `shares_of`, by a function of the chosen pair and the others beside it."""
    sums = np.empty(len(W))
    for x, own in enumerate(W):
        found = share(own[:, None], W) if kind == "closer" else share(W, own[:, None], own) / 2
        found[x] = found[:, x] = 0.0
        np.fill_diagonal(found, 0.0)
        sums[x] = found.sum()
    return sums


def _softmax_first(first: FloatArray, *others: FloatArray) -> FloatArray:
    top = reduce(np.maximum, others, first)
    chosen: FloatArray = np.exp(first - top)
    return chosen / (chosen + sum(np.exp(u - top) for u in others))


def on_map(statements: Statements, names: Names, n_objects: int) -> Statements:
    """Statements with the ids of a map; objects that it does not have are refused.

    Objects are the same where their names are: see `ids_among`.

    >>> on_map(Statements([["b", "a", "c"]], kind="odd"), ("a", "b", "c"), 3).triples.tolist()
    [[1, 0, 2]]
    """
    if statements._names is None and all(map(is_integer, names or ("",))):
        # ids are names here; those up to the largest need not all be on the map
        statements = statements.subset(np.unique(statements.triples))
    of_map = ids_among(statements._names, statements.n_objects, names, n_objects, "on the map")
    if of_map is None:
        return statements
    return Statements(
        of_map[statements.triples].astype(np.int32) if len(statements) else statements.triples,
        n_objects,
        kind=statements.kind,
        raters=statements.raters,
    )


def check_components(n_components: Any, n_objects: int, word: str | None = None) -> None:
    """Refuse what is no number of dimensions that the objects span, nor the word."""
    if word is not None and isinstance(n_components, str) and n_components == word:
        return
    allowed = "a whole number, 1 or more"
    if not is_whole(n_components) or n_components < 1:
        allowed = allowed if word is None else f"'{word}' or {allowed}"
        raise wrong("n_components", n_components, allowed)
    if n_components > n_objects - 1:
        raise ParameterError(
            f"{parameter_name('n_components')} is {n_components}, but {n_objects} objects span at "
            f"most {n_objects - 1} dimensions; take {n_objects - 1} or fewer",
            parameter="n_components",
        )


def unmentioned(unknown: BoolArray, names: Names, so: str) -> UnmentionedObjectsWarning:
    """What is to be said of objects that no answer is about."""
    ids = np.flatnonzero(unknown)
    named = [str(i) if names is None else names[i] for i in ids[:5].tolist()]
    many = f"{', '.join(named)}{', ...' if len(ids) > 5 else ''}"
    return UnmentionedObjectsWarning(
        f"no answer is about {len(ids):,} of the {len(unknown):,} objects ({many}); {so}"
    )


def warn_of_unmentioned(statements: Statements, so: str) -> None:
    """Warn, at the line that called trilens, of objects that no answer is about."""
    unknown = np.asarray(statements.appearances == 0)
    if len(statements) and unknown.any():
        warnings.warn(unmentioned(unknown, statements._names, so), stacklevel=callers_level())


def predicted(probabilities: FloatArray) -> FloatArray:
    """1 for each row whose first entry is the largest; 1 / k where it is one of k equal ones.

    NaN for a row of NaN.
    """
    best = probabilities == probabilities.max(axis=1, keepdims=True)
    share = best[:, 0] / np.maximum(best.sum(axis=1), 1)
    return np.where(np.isnan(probabilities[:, 0]), np.nan, share)
