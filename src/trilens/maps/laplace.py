"""The lapse and the penalty by the evidence, and how far the answers tell, by Laplace's method.

A map with many coordinates follows its answers also where they are wrong, and so takes some of
the lapses for attentive answers: the lapse that maximizes the likelihood together with the map is
too small. The evidence is the likelihood with the coordinates integrated out, here by Laplace's
method about the best map for each share L and penalty l2,

    log E(L, l2) = -loss(L, l2) - log det H / 2 + n d log(2 l2) / 2,

H being the Fisher information of the coordinates plus the penalty's curvature. Its maximum is
nearly unbiased, and the shares whose evidence is within 1.92 of it are a 95 % interval.

Up to a thousand coordinates H is factored. Beyond, it is the blocks B of each object's own
coordinates, and log det H = log det B + tr log(B^-1/2 H B^-1/2); the latter matrix is near the
identity, and stochastic Lanczos quadrature (Ubaru, Chen and Saad, 2017) finds the trace from its
products with a few vectors. What is left to chance is the same at every share and penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from trilens._parameters import threads_of
from trilens._typing import FloatArray
from trilens.calibration import (
    CARELESS_IN_PLACES,
    CARELESS_IN_PLACES_UP_TO,
    DROP_OF_FEW_QUESTIONS,
    EVIDENCE_DROP,
    LEAST_PENALTY,
    LEAST_PENALTY_OF_FEW_ANSWERS,
    MOST_PENALTY,
)
from trilens.maps.descent import (
    ATTENTIVE,
    LAPSED,
    LEAST_BENT,
    START_LAPSE,
    Loss,
    Preconditioner,
    descend,
    fit_choices,
    one_blas_thread,
)
from trilens.maps.features import FeaturePrior, with_prior
from trilens.maps.likelihood import (
    Likelihood,
    Products,
    collect_choices,
    likelihood,
    row_order,
)
from trilens.maps.rater_weights import weighed_likelihood
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.maps.fitted import Fit

#: Coordinates whose information is formed and factored as a whole.
MOST_COORDINATES = 1000
#: At most so many answers are looked at, or so many for each object, but no more than the last.
_MOST_ANSWERS, _MOST_EACH, _MOST_OF_ALL = 50_000, 150, 2_000_000
_COARSE = (1e-4, 0.03, 0.1, 0.25, 0.45, 0.65, 0.85, 0.98)
#: How far a map may be from the best one for a share, in log-likelihood (the evidence is off by
#: much more, since the determinant is not largest there), and steps towards it; the same where the
#: evidence is only to be compared with that in other dimensions.
_NEARLY, _MOST_STEPS = 5e-4, 150
_NEARLY_ROUGHLY, _MOST_STEPS_ROUGHLY = 0.03, 40
#: So much more for each coordinate beyond so many.
_NEARLY_EACH, _NEARLY_EACH_ROUGHLY, _MANY_COORDINATES = 5e-6, 2e-4, 20_000
#: Turns of the search for a top that is not looked at closely, and for one that is; shares closer
#: than this part of half the interval are one.
_TOPS, _TURNS, _CLOSE = 2, 3, 0.1
#: So many shares about the top must lie on a smooth curve, to this.
_LEAST_SHARES, _SMOOTH = 5, 0.4
#: Roughly, shares are tried in steps of a factor.
_LESS = 0.7
#: By how much the evidence may rise for each coordinate with a share that is not that of the
#: dimensions beside.
_PER_COORDINATE = 0.05
#: A penalty is the best one where another could raise the evidence by less than this. The first
#: step towards it is at least and at most so long, as a logarithm, and so many are made.
_SAME, _LEAST_STEP, _LONGEST_STEP, _MOST_PENALTIES = 0.2, 0.3, 2.3, 8
#: Penalties as near as this, as logarithms, are one.
_SAME_L2 = 0.01
#: The same for each coordinate, where it is only to be compared with that in other dimensions.
_SAME_EACH = 3e-3
#: Stands for no penalty, where the place of an object that nobody was asked about is unknown.
NO_L2 = 1e-6
#: Vectors by which traces are estimated: so many, or fewer where these have more numbers in all.
_PROBES, _LEAST_PROBES, _PROBE_NUMBERS = 4, 2, 40_000
#: Dimensions up to which a map is stretched in all directions, to find the best one.
_MOST_STRETCHED = 10
#: Steps of Lanczos; it stops where two more of them change the logarithm by less than this.
_LANCZOS, _STILL = 40, 0.1


def enough_answers(n_objects: int) -> int:
    """More answers are not needed to choose."""
    return min(max(_MOST_ANSWERS, _MOST_EACH * n_objects), _MOST_OF_ALL)


def at_most(
    most: int, statements: Statements, weights: FloatArray | None, rng: np.random.Generator
) -> tuple[Statements, FloatArray | None]:
    """A random part of very many statements."""
    if len(statements) <= most:
        return statements, weights
    drawn = rng.choice(len(statements), most, replace=False, shuffle=False)
    rows = np.sort(row_order(statements)[drawn])
    return statements.take(rows), None if weights is None else weights[rows]


# ---- how the loss bends -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curvature:
    """The Fisher information of places plus the curvature of their penalty, H."""

    #: Of H in the coordinates of the prior.
    log_det: float
    #: 2 l2 times the trace of its inverse there: coordinates that the answers say nothing about.
    unknown: float
    #: (n d, n d) or (n, d, d): H in the places, as a whole or its blocks of each object.
    H: FloatArray
    #: (n d, k): beside blocks: moves of many objects together that bend less than the blocks say,
    #: each as long as to bend by 1.
    together: FloatArray | None = None

    def preconditioner(self, shape: tuple[int, ...], more: float) -> Preconditioner:
        """With so much more in every direction, and without any in which nothing bends."""
        H = self.H.copy()
        diagonal = np.einsum("...ii->...i", H)
        diagonal += more + LEAST_BENT * float(np.median(diagonal))
        return Preconditioner(H, shape, self.together)


def curvature(
    f: Likelihood, prior: FeaturePrior | None, X: FloatArray, share: FloatArray, l2: float
) -> Curvature:
    """How the loss of places bends.

    Parameters
    ----------
    f : Likelihood
        Of the places.
    prior : FeaturePrior, optional
        Of the places.
    X : (n, d) array of float
        Places.
    """
    if X.size <= MOST_COORDINATES:
        return _factored(f, prior, X, share, l2)
    return _by_products(f, prior, X, share, l2)


def _factored(
    f: Likelihood, prior: FeaturePrior | None, X: FloatArray, share: FloatArray, l2: float
) -> Curvature:
    from scipy.linalg import solve_triangular

    H = f.information(X, share)
    add_penalty(H, l2, prior)
    lower = np.linalg.cholesky(H)
    log_det = 2 * float(np.log(np.diag(lower)).sum())
    V = probes(X.shape, 4 * _PROBES)
    if prior is not None:
        log_det += X.shape[1] * prior.log_volume
        V = prior.roots(V.reshape(len(X), -1)).reshape(V.shape)
    solved = solve_triangular(lower, V.reshape(X.size, -1), lower=True, check_finite=False)
    return Curvature(log_det, 2 * l2 * float((solved**2).sum()) / V.shape[2], H)


def _by_products(
    f: Likelihood, prior: FeaturePrior | None, X: FloatArray, share: FloatArray, l2: float
) -> Curvature:
    n, d = X.shape
    own = f.information(X, share, whole=False)
    held = np.ones(n) if prior is None else prior.own_precision
    diagonal = np.einsum("nii->ni", own)
    diagonal += 2 * l2 * held[:, None]
    # Shifts and turns of the whole map bend by the penalty alone, far less than the rest. They are
    # lifted to where that is, which adds to the determinant what is known.
    axes, span, _ = np.linalg.svd(_moves_of_the_whole(X, turns=f.turns_freely), full_matrices=False)
    free = axes[:, span > 1e-9 * span[0]]
    lifted = free if prior is None else prior.solved(free.reshape(n, -1)).reshape(free.shape)
    size = np.sqrt(np.median(diagonal)) / np.linalg.norm(lifted, axis=0)
    lifted, free = lifted * size, free * size
    added = float(np.linalg.slogdet(np.eye(len(size)) + lifted.T @ free / (2 * l2))[1])
    W = lifted.reshape(n, d, -1)
    blocks = own + W @ W.transpose(0, 2, 1)
    lower = np.linalg.cholesky(blocks)
    inverse = np.linalg.inv(lower)
    times = f.products(X, share)

    def bent(U: FloatArray) -> FloatArray:
        """H U."""
        pull = U if prior is None else prior.solved(U.reshape(n, -1)).reshape(U.shape)
        return np.asarray(times(U) + 2 * l2 * pull)

    def product(V: FloatArray) -> FloatArray:
        """B^-1/2 H B^-1/2, with what was lifted."""
        U = inverse.transpose(0, 2, 1) @ V
        lift = lifted @ (lifted.T @ U.reshape(n * d, -1))
        return np.asarray(inverse @ (bent(U) + lift.reshape(U.shape)))

    count = int(np.clip(_PROBE_NUMBERS // X.size, _LEAST_PROBES, _PROBES))
    log_rest, inverse_rest = _quadrature(product, probes(X.shape, count))
    log_det = 2 * float(np.log(np.einsum("nii->ni", lower)).sum()) + log_rest - added
    if prior is not None:
        log_det += d * prior.log_volume
    known = 2 * l2 * float((held * (inverse**2).sum(axis=(1, 2))).sum()) * inverse_rest
    unknown = min(known + len(size), float(X.size))
    stretches = _stretches(X)
    H = stretches.T @ bent(stretches.reshape(n, d, -1)).reshape(n * d, -1)
    stretches = stretches @ np.linalg.inv(np.linalg.cholesky(0.5 * (H + H.T))).T
    return Curvature(log_det, unknown, own, stretches)


def _stretches(X: FloatArray) -> FloatArray:
    """(n d, k): how places move if the map is stretched, in many dimensions along axes only."""
    n, d = X.shape
    few = d <= _MOST_STRETCHED
    ways = list(combinations_with_replacement(range(d), 2)) if few else [(a, a) for a in range(d)]
    moves = np.zeros((n, d, len(ways)))
    for k, (a, b) in enumerate(ways):
        moves[:, a, k] += X[:, b]
        moves[:, b, k] += X[:, a]
    return moves.reshape(n * d, -1)


def _quadrature(product: Products, V: FloatArray) -> tuple[float, float]:
    """tr log M, and tr M^-1 by the number of coordinates, by stochastic Lanczos quadrature.

    M has 1 on its diagonal: what its first power adds to the logarithm is 0, and need not be
    estimated.

    Parameters
    ----------
    product
        M times vectors.
    V : (n, d, K) array
        Of +1 and -1.
    """
    size, K = V[:, :, 0].size, V.shape[2]
    now, before = V / np.sqrt(size), np.zeros_like(V)
    T = np.zeros((K, _LANCZOS, _LANCZOS))
    length = np.zeros(K)
    found = last = (np.inf, np.inf)
    for step in range(_LANCZOS):
        new = product(now) - length * before
        T[:, step, step] = along = np.einsum("ndk,ndk->k", new, now)
        new -= along * now
        nodes, axes = np.linalg.eigh(T[:, : step + 1, : step + 1])
        nodes, share = np.maximum(nodes, 1e-9), axes[:, 0] ** 2
        first = T[:, 0, 0] - 1.0
        last, found = (
            found,
            (
                size * float(((share * np.log(nodes)).sum(axis=1) - first).mean()),
                float(((share / nodes).sum(axis=1) + first).mean()),
            ),
        )
        length = np.sqrt(np.einsum("ndk,ndk->k", new, new))
        if abs(found[0] - last[0]) < _STILL or step + 1 == _LANCZOS or (length < 1e-9).any():
            break
        T[:, step, step + 1] = T[:, step + 1, step] = length
        now, before = new / length, now
    return found


def probes(shape: tuple[int, ...], count: int) -> FloatArray:
    """(n, d, count): vectors of +1 and -1, always the same ones."""
    n, d = shape
    return np.random.default_rng([n, d]).choice([-1.0, 1.0], (n, d, count))


# ---- the evidence -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """What the evidence says."""

    #: Where it is largest.
    lapse: float
    l2: float
    #: Of the share, at 95 %.
    interval: tuple[float, float]
    #: (n, d): the best map there.
    X: FloatArray
    #: The evidence; maps in different dimensions can be compared by it.
    value: float
    #: Coordinates per answer.
    few: float

    def with_careless(self) -> Evidence:
        """With the careless answers that the places may have taken for their own."""
        low, high = self.interval
        lapse = careless(self.lapse, self.few)
        return replace(self, lapse=lapse, interval=(low, careless(high, self.few)))


def careless(share: float, few: float) -> float:
    """The share of careless answers where the evidence of ``closer`` answers finds this one.

    Parameters
    ----------
    few
        Coordinates per answer.

    Examples
    --------
    >>> [round(careless(share, 0.05), 2) for share in (0.2, 0.4, 0.52)]
    [0.2, 0.41, 0.55]
    """
    times = CARELESS_IN_PLACES * max(0.0, 1.0 - (few / CARELESS_IN_PLACES_UP_TO) ** 2)
    true = share
    for _ in range(2):
        # with still fewer attentive answers it was not measured
        each = min(few / max(1.0 - true, 1e-9) ** 2, 1 / 3)
        true = share + times * each**3
    return min(true, 1.0)


@dataclass(frozen=True, eq=False)
class _Point:
    """The evidence for a share and a penalty."""

    l2: float
    value: float
    #: Of the value in the logarithm of the penalty, as if the information did not change with the
    #: map.
    slope: float
    #: (n, d): places.
    X: FloatArray


@dataclass
class Surface:
    """The evidence of shares, each with its best penalty, computed once."""

    likelihood: Likelihood
    #: (n, d): coordinates to start from.
    start: FloatArray
    #: Where the penalty starts; with ``fixed_l2`` what it is.
    l2: float
    fixed_l2: bool = False
    #: By the share.
    points: dict[float, _Point] = field(default_factory=dict)
    #: What was known roughly.
    _known: dict[float, _Point] = field(default_factory=dict)
    #: By how much the slopes are wrong, and how they fall.
    _lean: tuple[float, float] | None = None
    _bent: tuple[Curvature, float] | None = None

    def __post_init__(self) -> None:
        self.few = self.start.size / max(float(self.likelihood.weight.sum()), 1e-300)
        per_question = self.start.size / max(self.likelihood.n_questions, 1)
        self.drop = EVIDENCE_DROP * (1 + DROP_OF_FEW_QUESTIONS * per_question)
        if not self.fixed_l2:
            self.least_l2 = max(LEAST_PENALTY, LEAST_PENALTY_OF_FEW_ANSWERS * self.few)
            self.l2 = float(np.clip(self.l2, self.least_l2, MOST_PENALTY))
        #: Whether it is only to be compared with that in other dimensions, where it is expensive.
        self.roughly = self.start.size > MOST_COORDINATES
        self._places = self.likelihood.of_places()
        self._map = self.likelihood.places(self.start)

    # -- where the evidence is known --

    def at(self, lapse: float) -> float:
        """The evidence of a share with its best penalty, and with the weak prior of the share."""
        if lapse not in self.points:
            self.points[lapse] = self._best(lapse)
        return self.points[lapse].value

    def _best(self, lapse: float) -> _Point:
        """The best penalty for a share: by MacKay's (1992) fixed point, and then by the secant.

        The fixed point takes the information for one that does not change with the penalty. How
        far that leads astray two penalties tell; shares that are near have it in common. Where no
        penalty would make the share the best one, none is looked for.
        """
        now = self._evaluate(lapse, self._guess(lapse), self._map_near(lapse))
        if self.fixed_l2:
            return now
        tried, top = [now], max((point.value for point in self.points.values()), default=-np.inf)
        for _ in range(_MOST_PENALTIES):
            step, gain = self._step(now)
            l2 = float(np.clip(now.l2 * np.exp(step), self.least_l2, MOST_PENALTY))
            step = float(np.log(l2 / now.l2))
            if self._lean is not None and (gain < self._same or now.value + 2 * gain < top):
                tried.append(self._moved(now, step))
                break
            if min(abs(np.log(l2 / point.l2)) for point in tried) < _SAME_L2:
                break
            new = self._evaluate(lapse, l2, now.X)
            self._learn(now, new)
            now = new
            tried.append(now)
        return max(tried, key=lambda point: point.value)

    def _guess(self, lapse: float) -> float:
        """The penalty of a share, by those of the shares beside it."""
        known = self.points or self._known
        if not known:
            return self.l2
        shares = sorted(known)
        l2 = np.log([known[share].l2 for share in shares])
        return float(np.exp(np.interp(lapse, shares, l2)))

    @property
    def _same(self) -> float:
        """How much evidence does not matter."""
        return _SAME_EACH * self.start.size if self.roughly else _SAME

    @property
    def left_open(self) -> float:
        """How close the evidence of other dimensions must come for a closer look at both."""
        return self._same if self.roughly else 0.0

    def _step(self, now: _Point) -> tuple[float, float]:
        """How far the best penalty is, as a logarithm, and what it gains."""
        if self._lean is not None:
            error, fall = self._lean
            step = (now.slope - error) / fall
            gain = 0.5 * (now.slope - error) ** 2 / fall
            return float(np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)), gain
        breadth = now.l2 * self._penalty(now.X)
        ratio = max(1.0 + now.slope / max(breadth, 1e-300), 1e-9)
        step = float(np.clip(np.log(ratio), -_LONGEST_STEP, _LONGEST_STEP))
        if abs(step) < _LEAST_STEP:
            step = _LEAST_STEP if step > 0 else -_LEAST_STEP
        return step, np.inf

    def _learn(self, one: _Point, two: _Point) -> None:
        """How wrong the slopes are, by those of two penalties and what the evidence did."""
        step = float(np.log(two.l2 / one.l2))
        error = 0.5 * (one.slope + two.slope) - (two.value - one.value) / step
        fall = -(two.slope - one.slope) / step
        least = 0.1 * two.l2 * self._penalty(two.X)
        self._lean = error, max(fall, least, 1e-3)

    def _moved(self, point: _Point, step: float) -> _Point:
        """A point with a penalty so near that the evidence there is known."""
        if self._lean is None:
            return point
        error, fall = self._lean
        value = point.value + (point.slope - error) * step - 0.5 * fall * step * step
        return replace(point, l2=float(point.l2 * np.exp(step)), value=max(value, point.value))

    def _evaluate(self, lapse: float, l2: float, start: FloatArray) -> _Point:
        share = np.array([lapse])
        if self._bent is None:
            self._bent = curvature(self._places, self._prior, start, share, l2), l2
        known, of = self._bent
        more = 2 * (l2 - of) if self._prior is None else 2 * max(l2 - of, 0.0)
        bend = known.preconditioner(start.shape, more)
        size = start.size
        beyond = max(size - _MANY_COORDINATES, 0)
        limits = (_NEARLY + _NEARLY_EACH * beyond, _MOST_STEPS)
        if self.roughly:
            limits = (_NEARLY_ROUGHLY + _NEARLY_EACH_ROUGHLY * beyond, _MOST_STEPS_ROUGHLY)
        found = descend(self._loss(share, l2), start, bend, *limits)
        bent = curvature(self._places, self._prior, found.X, share, l2)
        self._bent = bent, l2
        prior = LAPSED * np.log(lapse) + ATTENTIVE * np.log1p(-lapse)
        value = prior - found.loss - 0.5 * bent.log_det + 0.5 * size * np.log(2 * l2)
        slope = 0.5 * (size - bent.unknown) - l2 * self._penalty(found.X)
        return _Point(l2, float(value), float(slope), found.X)

    def _loss(self, share: FloatArray, l2: float) -> Loss:
        def loss(X: FloatArray) -> tuple[float, FloatArray]:
            value, slope, _ = self._places(X, share)
            pull = X if self._prior is None else self._prior.solved(X)
            return value + l2 * float((pull * X).sum()), slope + 2 * l2 * pull

        return loss

    def _penalty(self, X: FloatArray) -> float:
        return float(((X if self._prior is None else self._prior.solved(X)) * X).sum())

    @property
    def _prior(self) -> FeaturePrior | None:
        prior: FeaturePrior | None = self.likelihood.prior
        return prior

    def _map_near(self, lapse: float) -> FloatArray:
        """Where the best map of a share may be, by those of the two nearest shares."""
        known = self.points or self._known
        if not known:
            return self._map
        one, *others = sorted(known, key=lambda share: abs(share - lapse))
        if not others:
            return known[one].X
        part = (lapse - one) / (others[0] - one)
        return known[one].X + max(part, -1.0) * (known[others[0]].X - known[one].X)

    def learn_from(self, other: Surface) -> None:
        """Take the errors of the slopes for those in other dimensions, where little is asked."""
        if self.roughly and other._lean is not None:
            error, fall = other._lean
            part = self.start.size / other.start.size
            self._lean = part * error, part * fall

    # -- the search --

    def begin(self) -> float:
        """Fit the start together with the share; the share."""
        found = fit_choices(
            self.likelihood, self.start, START_LAPSE, self.l2, max_iter=60, tol=3e-6
        )
        self._map = self.likelihood.places(found.X)
        return float(found.lapse[0])

    def walk(self, first: float) -> None:
        """Over a coarse grid, from a share on, until the evidence is far down on both sides."""
        start = int(np.searchsorted(_COARSE[:-1], first))
        top = self.at(_COARSE[start])
        for step in (1, -1):
            k = start + step
            while 0 <= k < len(_COARSE):
                value = self.at(_COARSE[k])
                if value < top - self.drop:
                    break
                top, k = max(top, value), k + step

    def climb(self, share: float, to_beat: float = -np.inf) -> None:
        """From a share on downwards, or else upwards, as long as the evidence rises.

        Other shares are not tried where they could not make the evidence larger than ``to_beat``.
        """
        share = float(np.clip(share, _COARSE[0], _COARSE[-1]))
        if self.at(share) <= to_beat - _PER_COORDINATE * self.start.size:
            return
        for side in (-1, 1):
            now, far = share, min(2 * self._usual_error(share), (1 - _LESS) * share)
            while True:
                new = float(np.clip(now + side * far, max(_LESS * now, _COARSE[0]), _COARSE[-1]))
                if new == now or self.at(new) <= self.at(now):
                    break
                now, far = new, 2 * far
            if now != share:
                break

    def _usual_error(self, share: float) -> float:
        """Three standard errors of a share that could be seen."""
        return 3 * float(np.sqrt(max(share, 0.02) * (1 - share) * self.few / self.start.size))

    def refine(self) -> None:
        """Look for the top, and for where the evidence is below it by the drop."""
        if self.roughly:
            best = self.top()
            self._known, self.points, self.roughly = self.points, {}, False
            self._lean = None
            self.at(best)
        self._enclose()
        for _ in range(_TURNS):
            top, half = self.top(), self._width()
            if not self._try((top, top - half, top + half), _CLOSE * half):
                break
        for _ in range(_TURNS):
            if not self._try(self.within(), _CLOSE * self._width()):
                break
        self._agree()

    def _agree(self) -> None:
        """Start shares near the top from the best map, where some have not found as good a one."""
        shares, values = self.profile()
        near = values > values.max() - 2 * self.drop
        if near.sum() < _LEAST_SHARES:
            return
        x, y = shares[near], values[near]
        x = (x - x.mean()) / np.ptp(x)
        if np.abs(np.polyval(np.polyfit(x, y, 3), x) - y).max() < _SMOOTH:
            return
        best = self.points[float(shares[values.argmax()])]
        for share in shares[near].tolist():
            new = self._evaluate(share, self.points[share].l2, best.X)
            self.points[share] = max(self.points[share], new, key=lambda point: point.value)

    def _enclose(self) -> None:
        """Try shares farther and farther from the best one, until the evidence has fallen."""
        for side in (-1, 1):
            far = self._usual_error(max(self.points, key=self.at))
            while True:
                shares, values = self.profile()
                k = 0 if side < 0 else -1
                at_end = shares[k] in (_COARSE[0], _COARSE[-1])
                if at_end or values[k] < values.max() - self.drop:
                    break
                self.at(float(np.clip(shares[k] + side * far, _COARSE[0], _COARSE[-1])))
                far *= 2

    def _try(self, shares: tuple[float, ...], close: float) -> bool:
        """The evidence of shares, but for those near one that is known; whether there was any."""
        many = len(self.points)
        for lapse in shares:
            tried, _ = self.profile()
            if np.abs(tried - lapse).min() > close and _COARSE[0] <= lapse <= _COARSE[-1]:
                self.at(float(lapse))
        return len(self.points) > many

    def told(self) -> Evidence:
        """What is known."""
        for _ in range(0 if self.roughly else _TOPS):
            if not self._try((self.top(),), _CLOSE * self._width()):
                break
        lapse = self.top()
        X = self.likelihood.standard(self._map_near(lapse))
        value = float(self._fine()[1].max())
        return Evidence(lapse, self._guess(lapse), self.within(), X, value, self.few)

    def profile(self) -> tuple[FloatArray, FloatArray]:
        """The shares that were tried, and the evidence of each."""
        shares = sorted(self.points)
        return np.array(shares), np.array([self.at(share) for share in shares])

    def top(self) -> float:
        """The share with the largest evidence."""
        return self._parabola()[0]

    def _width(self) -> float:
        """How far from the top the evidence has fallen by the drop, by the parabola about it."""
        _, bent = self._parabola()
        low, high = self.within()
        return (high - low) / 2 if bent >= 0 else float(np.sqrt(-self.drop / bent))

    def _parabola(self) -> tuple[float, float]:
        """The top of the parabola through the best share and its neighbors; how it bends.

        Of many shares near the top, the parabola that is nearest to all.
        """
        shares, values = self.profile()
        k = int(values.argmax())
        if k in (0, len(shares) - 1):
            return float(shares[k]), 0.0
        beside = np.abs(np.arange(len(shares)) - k) <= 1
        near = beside | (values > values[k] - self.drop)
        x, y = shares[near] - shares[k], values[near] - values[k]
        size = float(np.ptp(x))
        bent, slope, _ = np.polyfit(x / size, y, 2, w=np.exp(np.maximum(y / self.drop, -3.0)))
        if bent >= 0:
            return float(shares[k]), 0.0
        top = shares[k] - size * slope / (2 * bent)
        low, high = shares[beside].min(), shares[beside].max()
        return float(np.clip(top, low, high)), float(bent / size**2)

    def within(self) -> tuple[float, float]:
        """The shares whose evidence is at most by the drop below the largest."""
        fine, values = self._fine()
        kept = fine[values >= values.max() - self.drop]
        low = 0.0 if kept[0] <= 2 * _COARSE[0] else float(kept[0])
        return low, float(kept[-1])

    def _fine(self) -> tuple[FloatArray, FloatArray]:
        from scipy.interpolate import PchipInterpolator

        shares, values = self.profile()
        if len(shares) == 1:
            return shares, values
        fine = np.unique(np.concatenate([np.linspace(0, 1, 1001)[1:-1], shares]))
        fine = fine[(fine >= shares[0]) & (fine <= shares[-1])]
        return fine, PchipInterpolator(shares, values)(fine)


def maximise_evidence(likelihood: Likelihood, X: FloatArray, l2: float) -> Evidence:
    """The lapse and the penalty with the largest evidence, from coordinates to start from."""
    surface = Surface(likelihood, X, l2)
    surface.walk(surface.begin())
    surface.refine()
    return surface.told()


def lapse_interval(fitted: Fit) -> tuple[float, float]:
    """The 95 % interval of the lapse, about a fitted map, with raters' weights where there are any.

    Of very many statements, by a random part.
    """
    model, most = fitted.map, enough_answers(fitted.n_objects)
    part = at_most(most, fitted.sample, fitted.weights, np.random.default_rng(0))
    threads = threads_of(fitted.how.n_jobs)
    with one_blas_thread(), _seen(fitted, *part, threads, fitted.prior) as (f, scale):
        X = f.standard(model.X * scale)
        surface = Surface(f, X, max(fitted.settings.l2, NO_L2), fixed_l2=True)
        surface.climb(model.lapse)
        surface.refine()
        low, high = surface.within()
    # a share that was fitted together with the map may lie a little below
    return min(low, model.lapse), max(high, model.lapse)


def add_penalty(H: FloatArray, l2: float, prior: FeaturePrior | None) -> None:
    """Add the curvature of the penalty of places, (n d, n d), to that of the likelihood."""
    if prior is None:
        H[np.diag_indices(len(H))] += 2 * l2
        return
    n = len(prior.own)
    own = H.reshape(n, len(H) // n, n, len(H) // n)
    for k in range(own.shape[1]):
        own[:, k, :, k] += 2 * l2 * prior.precision


def _moves_of_the_whole(X: FloatArray, *, turns: bool, sizes: bool = False) -> FloatArray:
    """(n d, k): the moves of a map about which answers say nothing.

    Shifts, with ``turns`` the map's turns too, and with ``sizes`` its growth.
    """
    n, d = X.shape
    moves = [np.tile(axis, (n, 1)) for axis in np.eye(d)]
    if sizes:
        moves.append(X)
    for a, b in combinations(range(d if turns else 0), 2):
        turn = np.zeros((n, d))
        turn[:, a], turn[:, b] = X[:, b], -X[:, a]
        moves.append(turn)
    return np.array(moves).reshape(len(moves), n * d).T


def hold_still(H: FloatArray, X: FloatArray, *, turns: bool = True, sizes: bool = False) -> None:
    """Keep the curvature from letting the map move as a whole; see `_moves_of_the_whole`."""
    free = np.linalg.qr(_moves_of_the_whole(X, turns=turns, sizes=sizes))[0]
    H += 1e3 * np.trace(H) / len(H) * (free @ free.T)


def posterior_curvature(
    f: Likelihood,
    X: FloatArray,
    lapse: FloatArray,
    l2: float,
    prior: FeaturePrior | None,
    dispersion: float = 1.0,
) -> FloatArray:
    """The expected curvature of -log posterior, (n d, n d); shifts and turns are held."""
    H = f.information(X, lapse) / dispersion
    hold_still(H, X, turns=f.turns_freely)
    add_penalty(H, max(l2, NO_L2), prior)
    return H


def place_errors(fitted: Fit) -> FloatArray:
    """The covariance of each place, (n, d, d): by the information of the answers and the penalty.

    Without what would shift or turn the whole map; raters' weights tell how it lies.
    """
    model, (n, d) = fitted.map, fitted.map.X.shape
    with one_blas_thread(), _seen(fitted, fitted.sample, fitted.weights, 1) as (f, scale):
        lapse, l2 = np.array([model.lapse]), fitted.settings.l2
        H = posterior_curvature(f, model.X * scale, lapse, l2, fitted.prior)
        errors = np.asarray(np.linalg.inv(H), dtype=np.float64).reshape(n, d, n, d)
    return np.asarray(errors[np.arange(n), :, np.arange(n)] / np.multiply.outer(scale, scale))


@contextmanager
def _seen(
    fitted: Fit,
    statements: Statements,
    weights: FloatArray | None,
    n_threads: int | None,
    prior: FeaturePrior | None = None,
) -> Iterator[tuple[Likelihood, FloatArray]]:
    """The likelihood of coordinates times a scale, and the scale; 1 without raters' weights."""
    model, raters = fitted.map, fitted.raters.weights
    if raters is None:
        choices = collect_choices(statements, weights)
        with likelihood(choices, model.length, model.alpha, n_threads) as f:
            yield with_prior(f, prior), np.ones(model.n_components)
        return
    rows, R = raters.rows_of(statements), len(raters.names)
    with weighed_likelihood(
        statements, weights, rows, R, model.length, model.alpha, n_threads, prior
    ) as weighed:
        yield weighed.levelled(raters.stretch)
