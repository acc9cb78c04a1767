"""Do raters see the same things: whether they differ, how, and who is like whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens import words
from trilens._parameters import seed_of, wrong
from trilens._tabular import AsDict, Tabular, facts, plain, records
from trilens._typing import BoolArray, FloatArray, IntArray, RandomState
from trilens.agreement import to_power
from trilens.ask import Data, is_enough, statements_of, with_fit
from trilens.calibration import COMPARED_ANSWERS, COMPARED_RATERS, RATER_PERMUTATIONS
from trilens.errors import ParameterError, option
from trilens.kinds import chance
from trilens.maps.fitted import Fit, fit
from trilens.maps.held_out import QUICKLY, Chances, folds_of, held_out, parts_of
from trilens.maps.likelihood import in_own_order
from trilens.maps.map import Map, predicted
from trilens.maps.raters import RaterGroups, group_raters
from trilens.questions.clouds import LEVEL, p_value
from trilens.questions.compare_groups import plane_of
from trilens.questions.medoid import medoid
from trilens.questions.reliability.affinity import Excess
from trilens.questions.reliability.raters import (
    FOLDS,
    by_number,
    can_hold_out,
    hold_out,
    looked_at,
    weighed,
)
from trilens.statements import Kind, Statements
from trilens.statements.combine import questions

#: Raters without groups, drawn to compare with.
_DRAWN = 399
#: A group of raters has at least so many; and at most so many groups are sought.
_LEAST_GROUP, _MOST_GROUPS = 3, 4
#: The powers to which a map's odds are taken, and the lapses, that a rater may have.
_SHARPNESS = np.array([0.15, 0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 2.0])
_LAPSES = np.linspace(0.0, 1.0, 21)
#: Parts of the questions that are held out in turn.
_FOLDS = 4
#: Of so many raters, those with the most answers, it is asked how well they predict themselves.
_MOST_SELF = 60
#: Objects that are named at either end of a dimension.
_NAMED = 2


@dataclass(frozen=True)
class RaterGroup(AsDict):
    """Raters who see alike, and differ from the others."""

    raters: tuple[str, ...]
    answers: int
    #: What is most central by the answers of the group; ``candidates`` are all that it may be.
    medoid: str | None
    candidates: tuple[str, ...]
    #: (n, 2): a map of the group's answers, aligned with the map of all; None where they are too
    #: few.
    plane: FloatArray | None = field(repr=False)


@dataclass(frozen=True)
class Dimension(AsDict):
    """A dimension of the map that raters weigh differently."""

    #: The standard deviation of the logarithms of the raters' weights; 0 where all are alike.
    spread: float
    #: The objects at either end.
    low: tuple[str, ...]
    high: tuple[str, ...]


@dataclass(frozen=True)
class Individuals(Tabular):
    """How raters differ.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    raters : tuple of str
        Those who are compared: with 20 answers or more.
    answers : (R,) array of int
    left_out : tuple of str
    p_value : float
        How often raters who see alike would differ as much; see Notes of `individuals`.
    differ : bool
        Whether that is at most 0.05.
    coordinates : (R, 2) array
        A picture of the raters: the nearer, the more alike.
    group : (R,) array of int
        0 for all where there are no groups.
    groups : tuple of RaterGroup
        Empty where there are none.
    groups_p_value : float or None
        How often raters without groups would fall into parts as tight; None where raters do not
        differ, or are too few to be divided.
    dimensions : tuple of Dimension
        In the order of the map's; empty where raters do not differ.
    weights : (R, d) array or None
        What each rater multiplies the dimensions by.
    predicted : dict of (R,) arrays
        The share of each rater's answers that is predicted by maps that have not seen the
        answers: ``pooled``, one map of all raters' answers to other questions; ``others``, one of
        the other raters' answers; ``own``, one of the rater's own answers to other questions;
        ``weights``, as ``pooled``, but with weights of the dimensions for each rater. NaN where
        that was not tried; empty where it was not asked for.
    chance : float
    objects : tuple of str
    plane : (n, 2) array
        The map of all answers.
    """

    kind: Kind
    raters: tuple[str, ...]
    answers: IntArray
    left_out: tuple[str, ...]
    p_value: float
    differ: bool
    coordinates: FloatArray = field(repr=False)
    group: IntArray = field(repr=False)
    groups: tuple[RaterGroup, ...]
    groups_p_value: float | None
    dimensions: tuple[Dimension, ...]
    weights: FloatArray | None = field(repr=False)
    predicted: dict[str, FloatArray] = field(repr=False)
    chance: float
    objects: tuple[str, ...] = field(repr=False)
    plane: FloatArray = field(repr=False)

    @property
    def mean_predicted(self) -> dict[str, float | None]:
        """The means of ``predicted`` over the raters; None where that was not tried."""
        known = {name: own[np.isfinite(own)] for name, own in self.predicted.items()}
        return {name: float(own.mean()) if len(own) else None for name, own in known.items()}

    def _headline(self) -> str:
        return self.sentences()[0]

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each rater."""
        found: dict[str, Sequence[Any]] = {
            "rater": list(self.raters),
            "answers": self.answers.tolist(),
        }
        if self.groups:
            found["group"] = (self.group + 1).tolist()
        for name, shares in self.predicted.items():
            if np.isfinite(shares).any():
                found[f"predicted_{name}"] = plain(shares)
        found["x"], found["y"] = (axis.tolist() for axis in self.coordinates.T)
        if self.weights is not None:
            for d, own in enumerate(self.weights.T):
                found[f"weight_{d + 1}"] = own.tolist()
        return found

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, as ``trilens individuals --json`` prints them."""
        return {
            **facts(self, "kind", "differ", "p_value", "groups", "groups_p_value", "dimensions"),
            "predicted": self.mean_predicted,
            "chance": self.chance,
            "raters": records(self.columns()),
            **facts(self, "left_out", "objects"),
            "map": plain(self.plane),
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """What was found, in words."""
        return list(words.individuals(self))


def individuals(
    answers: Data, *, predict: bool = True, random_state: RandomState = 0
) -> Individuals:
    """Whether raters differ in what they see, on what, and who is like whom.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        By four raters or more with 20 answers or more.
    predict : bool
        Whether to find out how well each rater's answers are predicted, which takes most of
        the time.

    Notes
    -----
    **Whether they differ.** A map of all answers, with a sharpness and a share of lapses for each
    rater, says what is expected. The sum over raters of what each one's answers have in common
    beyond that (`trilens.questions.reliability.affinity`) is compared with that after exchanging
    the answers' raters, between answers to the same question where several raters were asked
    it. So raters who differ in nothing but care are alike.

    **Groups.** Raters are placed by what their answers have in common beyond the expected
    (classical scaling). There are groups if raters fall into parts that are tighter than those
    of all but 5 % of raters without groups (`divide_raters`).

    Examples
    --------
    >>> from trilens.simulate import study
    >>> found = individuals(study(n_statements=4000).statements)
    >>> found.differ, len(found.raters)
    (False, 40)
    """
    seed = seed_of(random_state)
    if not isinstance(predict, (bool, np.bool_)):
        raise wrong("predict", predict, "True or False")
    source, known = with_fit(answers)
    given = statements_of(source, "individuals")
    _raters(given)  # refuses, before anything is fitted
    if not is_enough(given):
        raise ParameterError(
            f"raters cannot be compared by {len(given):,} answers about {given.n_objects:,} "
            f"objects: four objects or more are needed, and enough answers for a map of them"
        )
    fitted = fit(given, random_state=seed) if known is None else known
    inner, back = fitted.canonical
    every = in_own_order(given)[0]
    names, rater, left_out = _raters(every)
    S = every.take(rater >= 0) if (rater < 0).any() else every
    rater = rater[rater >= 0]
    found = Excess(S, rater, len(names), expected_of_raters(S, rater, len(names), inner.map))
    rng = np.random.default_rng([seed, 41])
    by_chance = found.permuted_totals(_exchangeable(S, rater), RATER_PERMUTATIONS, rng)
    p = p_value(float(np.trace(found.affinity)), by_chance)
    differ = p <= LEVEL
    alike = likeness(found.affinity, np.bincount(rater, minlength=len(names)))
    group, groups_p = divide_raters(alike, rng) if differ else (None, None)
    coordinates = scaled(alike, 2)
    divided = group is not None and groups_p is not None and groups_p <= LEVEL
    if group is None or not divided:
        group = np.zeros(len(names), dtype=np.int64)
    dimensions, weights = _dimensions(S, rater, inner) if differ else ((), None)
    return Individuals(
        kind=given.kind,
        raters=tuple(names),
        answers=np.bincount(rater, minlength=len(names)),
        left_out=tuple(left_out),
        p_value=p,
        differ=differ,
        coordinates=coordinates,
        group=group,
        groups=_groups(S, rater, names, group, inner, back, seed) if divided else (),
        groups_p_value=groups_p,
        dimensions=dimensions,
        weights=weights,
        predicted={
            **_predicted(S, rater, len(names), inner, seed, weights=differ),
            "others": _by_others(every, names, inner, seed),
        }
        if predict
        else {},
        chance=chance(given.kind),
        objects=given.names,
        plane=inner.plane[back],
    )


def can_compare(statements: Statements) -> bool:
    """Whether there are enough raters with enough answers."""
    known = group_raters(statements)
    return known is not None and bool(_have_enough(known).sum() >= COMPARED_RATERS)


def _have_enough(known: RaterGroups) -> BoolArray:
    """Which raters gave enough answers."""
    return np.bincount(known.of[known.of >= 0], minlength=len(known)) >= COMPARED_ANSWERS


def _raters(statements: Statements) -> tuple[list[str], IntArray, list[str]]:
    """Those with enough answers, which of them gave each answer (or -1), and the others."""
    known = group_raters(statements)
    if known is None:
        raise ParameterError(
            f"individuals needs to know who gave each answer; add a column called rater, or name "
            f"the column with {option('columns', 'rater=COLUMN')}",
            parameter="answers",
        )
    enough = _have_enough(known)
    if enough.sum() < COMPARED_RATERS:
        raise ParameterError(
            f"individuals needs {COMPARED_RATERS} raters or more with {COMPARED_ANSWERS} answers "
            f"or more, and there {'is' if enough.sum() == 1 else 'are'} {int(enough.sum())} "
            f"(of {len(known):,} in all); ask more people, or each of them more questions",
            parameter="answers",
        )
    new = np.where(enough, np.cumsum(enough) - 1, -1)
    of = np.where(known.of >= 0, new[known.of], -1)
    texts = [str(name) for name in known.names]
    return (
        [name for name, own in zip(texts, enough, strict=True) if own],
        of,
        [name for name, own in zip(texts, enough, strict=True) if not own],
    )


def expected_of_raters(
    statements: Statements, rater: IntArray, n_raters: int, model: Map
) -> FloatArray:
    """The probability of each answer by one map, as sharply and as attentively as each rater."""
    attentive = replace(model, lapse=0.0).probabilities(statements)
    c = attentive.shape[1]
    best = np.full(n_raters, -np.inf)
    found = np.empty_like(attentive)
    for power in _SHARPNESS:
        P = to_power(attentive, power)
        for lapse in _LAPSES:
            mixed = (1 - lapse) * P + lapse / c
            value = np.bincount(rater, np.log(mixed[:, 0]), n_raters)
            better = value > best
            best = np.where(better, value, best)
            rows = better[rater]
            found[rows] = mixed[rows]
    return found


def _exchangeable(statements: Statements, rater: IntArray) -> IntArray:
    """Parts of the answers between which raters can be exchanged if all see alike.

    A question that several raters were asked is a part; the others together are one.
    """
    keys = questions(statements)[0]
    pairs = np.unique(keys * (int(rater.max()) + 1) + rater)
    asked = np.bincount(pairs // (int(rater.max()) + 1))
    return np.where(asked[keys] > 1, keys + 1, 0)


def likeness(affinity: FloatArray, answers: IntArray) -> FloatArray:
    """(R, R): inner products of what raters see differently from all, on the average."""
    G = affinity / np.outer(answers, answers)
    share = answers / answers.sum()
    middle = share @ G
    return np.asarray(G - middle[:, None] - middle[None] + float(share @ middle))


def scaled(alike: FloatArray, dimension: int) -> FloatArray:
    """Coordinates with about these inner products: classical scaling (Torgerson, 1952)."""
    values, axes = np.linalg.eigh(alike)
    X = np.zeros((len(alike), dimension))
    d = min(dimension, len(alike))
    X[:, :d] = (axes[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))[:, :d]
    largest = np.abs(X).argmax(axis=0)
    return X * np.where(X[largest, np.arange(dimension)] < 0, -1.0, 1.0)


def divide_raters(
    alike: FloatArray, rng: np.random.Generator
) -> tuple[IntArray | None, float | None]:
    """The best division into groups, and how often raters without groups have one as good.

    Raters without groups are spread over an arc and seen from the side, which is denser at its
    ends: so are raters who weigh the dimensions differently, since beyond some weight nothing
    changes any more. Evenly spread ones fall into parts less readily, and Gaussian ones still
    less.
    """
    R = len(alike)
    numbers = range(2, min(_MOST_GROUPS, R // _LEAST_GROUP) + 1)
    if not numbers:
        return None, None
    best: tuple[float, float, IntArray | None] = (1.0, 0.0, None)
    for number in numbers:
        X = scaled(alike, number - 1)
        parts, loose = _parts(X, number)
        if parts is None:
            continue
        drawn = np.array([1 - _parts(rng.beta(0.5, 0.5, (R, 1)), number)[1] for _ in range(_DRAWN)])
        p = p_value(1 - loose, drawn)
        beyond = (1 - loose - drawn.mean()) / max(drawn.std(), 1e-12)
        if (p, -beyond) < best[:2]:
            best = p, -beyond, parts
    p, _, parts = best
    return parts, min(1.0, p * len(numbers))


def _parts(X: FloatArray, number: int) -> tuple[IntArray | None, float]:
    """Parts of three or more by Ward's method, mended by k-means, and the share within them."""
    from scipy.cluster.hierarchy import fcluster, linkage

    labels = fcluster(linkage(X, "ward"), number, "maxclust").astype(np.int64) - 1
    for _ in range(20):
        sizes = np.bincount(labels, minlength=number)
        if sizes.min() < _LEAST_GROUP:
            return None, 1.0
        centres = np.stack([X[labels == k].mean(axis=0) for k in range(number)])
        new = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
    if np.bincount(labels, minlength=number).min() < _LEAST_GROUP:
        return None, 1.0
    total = float(((X - X.mean(axis=0)) ** 2).sum())
    if total == 0.0:
        return None, 1.0
    within = sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in range(number))
    return labels, float(within / total)


def _dimensions(
    statements: Statements, rater: IntArray, fitted: Fit
) -> tuple[tuple[Dimension, ...], FloatArray | None]:
    """The dimensions of a map that each rater weighs in their own way, and the weights."""
    if fitted.map.n_components < 2:
        return (), None
    seen = weighed(by_number(statements, rater), fitted)
    own = seen.raters.weights
    assert own is not None
    names, found = statements.names, []
    for spread, axis in zip(own.spread.tolist(), seen.map.X.T, strict=True):
        order = np.argsort(axis, kind="stable")
        low, high = order[:_NAMED], order[::-1][:_NAMED]
        found.append(Dimension(spread, tuple(names[i] for i in low), tuple(names[i] for i in high)))
    row = {name: i for i, name in enumerate(own.names)}
    return tuple(found), own.weights[[row[r] for r in range(int(rater.max()) + 1)]]


def _groups(
    statements: Statements,
    rater: IntArray,
    names: list[str],
    group: IntArray,
    fitted: Fit,
    back: IntArray,
    seed: int,
) -> tuple[RaterGroup, ...]:
    """Each group; ``back`` is the place of each object on the map."""
    found = []
    for g in range(int(group.max()) + 1):
        part = statements.take(group[rater] == g)
        plane, middle = None, None
        candidates: tuple[str, ...] = ()
        if is_enough(part):
            plane = plane_of(part, fitted)[back]
            most = medoid(part, random_state=seed)
            middle, candidates = most.name, tuple(most.candidates)
        found.append(
            RaterGroup(
                raters=tuple(name for name, own in zip(names, group, strict=True) if own == g),
                answers=len(part),
                medoid=middle,
                candidates=candidates,
                plane=plane,
            )
        )
    return tuple(found)


def _predicted(
    statements: Statements,
    rater: IntArray,
    n_raters: int,
    fitted: Fit,
    seed: int,
    *,
    weights: bool,
) -> dict[str, FloatArray]:
    """The share of each rater's answers that maps without sight of them predict."""
    fold = parts_of(questions(statements)[0], _FOLDS, np.random.default_rng([seed, 42]))
    by_rater = by_number(statements, rater)
    d = fitted.map.n_components
    right = {name: np.full(len(statements), np.nan) for name in ("pooled", "own", "weights")}

    def pooled(seen: BoolArray) -> Chances:
        return fitted.refit(by_rater.take(seen), lapse="one", **QUICKLY).probabilities

    right["pooled"] = predicted(held_out(by_rater, folds_of(fold), pooled))
    if weights and d > 1:
        right["weights"] = predicted(
            held_out(
                by_rater,
                folds_of(fold),
                lambda seen: weighed(by_rater.take(seen), fitted, **QUICKLY).probabilities,
            )
        )
    answers = np.bincount(rater, minlength=n_raters)
    for r in np.argsort(-answers, kind="stable")[:_MOST_SELF].tolist():
        rows = np.flatnonzero(rater == r)
        alone = by_rater.take(rows)

        def own(seen: BoolArray, alone: Statements = alone) -> Chances:
            return fitted.refit(
                alone.take(seen), n_components=min(d, 2), lapse="one", max_iter=60, tol=1e-4
            ).probabilities

        right["own"][rows] = predicted(held_out(alone, folds_of(fold[rows]), own))
    return {name: _shares(shares, rater, n_raters) for name, shares in right.items()}


def _by_others(given: Statements, names: list[str], fitted: Fit, seed: int) -> FloatArray:
    """By a map of the other raters' answers, as `trilens.reliability` says it."""
    if not can_hold_out(given):
        return np.full(len(names), np.nan)
    rows = looked_at(given, seed)
    every, rater = np.unique(np.asarray(given.raters), return_inverse=True)
    right = hold_out(given.take(rows), rater[rows], fitted, seed, folds=FOLDS[0]).right
    shares = _shares(right, rater[rows], len(every))
    place = {str(name): i for i, name in enumerate(every.tolist())}
    return shares[[place[name] for name in names]]


def _shares(right: FloatArray, rater: IntArray, n_raters: int) -> FloatArray:
    known = ~np.isnan(right)
    count = np.bincount(rater[known], minlength=n_raters)
    hits = np.bincount(rater[known], right[known], n_raters)
    return np.asarray(np.divide(hits, count, out=np.full(n_raters, np.nan), where=count > 0))
