"""Fitting a map to answers in memory: what is chosen, the places, and what raters differ in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import one_of, real_number, threads_of, whole_number, wrong
from trilens._typing import FloatArray, Progress
from trilens.errors import ParameterError, StatementError
from trilens.kinds import n_answers
from trilens.maps.descent import (
    AnswerPart,
    Start,
    descend,
    fit_choices,
    given_start,
    one_blas_thread,
    part_of,
    penalised,
    preconditioner,
    prepare_start,
    principal_axes,
    without_unseen,
)
from trilens.maps.device import open_device
from trilens.maps.features import FeaturePrior, Features, with_prior
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.maps.map import Map, check_components
from trilens.maps.pairs import Length
from trilens.maps.rater_fit import ROUNDS, FittedPlaces, choose_weights, fit_raters
from trilens.maps.rater_weights import RaterWeights
from trilens.maps.raters import estimate_lapses, group_raters
from trilens.maps.selection import HeldOutScores, MapSettings, Shares, alpha_of, select
from trilens.statements import Statements

_RATERS = ("one", "weights", "auto")
#: How far a map may be from the best one, in log-likelihood, where many are fitted to compare one
#: with them.
_NEARLY = 0.01


@dataclass(frozen=True, eq=False)
class How:
    """How a map is to be fitted, as for `ChoiceMap`; what is None is found by the evidence."""

    n_components: int | None = None
    l2: float | None = None
    length: Length = "distance"
    lapses: Literal["raters", "one"] | float = "raters"
    raters: Literal["one", "weights", "auto"] = "one"
    feature_share: float | Mapping[str, float] | None = None
    #: (n_objects, n_components).
    init: ArrayLike | None = None
    max_iter: int = 1000
    tol: float = 1e-6
    n_jobs: int | None = None
    device: str | None = None

    def check(self, n_objects: int) -> None:
        """Refuse what cannot be fitted to so many objects."""
        if self.n_components is not None:
            check_components(self.n_components, n_objects)
        if self.l2 is not None:
            real_number("l2", self.l2, 0)
        one_of("length", self.length, ("distance", "student"))
        if not isinstance(self.lapses, str):
            real_number("lapses", self.lapses, 0, 1)
        elif self.lapses not in ("raters", "one"):
            raise wrong("lapses", self.lapses, "'raters', 'one' or a share from 0 to 1")
        one_of("raters", self.raters, _RATERS)
        whole_number("max_iter", self.max_iter, least=1)
        real_number("tol", self.tol, 0)
        threads_of(self.n_jobs)
        open_device(self.device)  # not only once everything else is chosen
        if self.init is not None:
            if self.n_components is None:
                raise ParameterError(
                    "n_components must be a number where init is an array",
                    parameter="n_components",
                )
            given_start("ChoiceMap", self.init, (n_objects, self.n_components))

    def shares_of(self, features: Features) -> Shares | None:
        """The share of each block of features, checked; None where they are to be chosen."""
        given, names = self.feature_share, features.names
        if given is None:
            return None
        if isinstance(given, Mapping):
            strange = [name for name in given if name not in names]
            if strange:
                raise ParameterError(
                    f"feature_share names {strange[0]!r}; the blocks of features are "
                    f"{', '.join(names)}",
                    parameter="feature_share",
                )
            shares = [real_number("feature_share", x, 0, 1) for x in given.values()]
            by_name = dict(zip(given, shares, strict=True))
            found = tuple(by_name.get(name, 0.0) for name in names)
        elif len(names) > 1:
            raise wrong("feature_share", given, f"'cv' or a dict for {', '.join(names)}")
        else:
            found = (real_number("feature_share", given, 0, 1),)
        if sum(found) > 1:
            raise wrong("feature_share", given, "of a sum of at most 1")
        return found


@dataclass(frozen=True, eq=False)
class Raters:
    """What the answers tell about single raters."""

    #: The share of careless answers of each rater; empty without raters.
    lapses: dict[object, float] = field(default_factory=dict)
    #: Of each the 95 % credible interval.
    intervals: dict[object, tuple[float, float]] = field(default_factory=dict)
    #: Where every rater weighs the dimensions.
    weights: RaterWeights | None = None
    #: What weights gain in log-likelihood per held-out answer, and its standard
    #: error.
    gain: tuple[float, float] | None = None
    #: Whether raters are called as in the answers; of files too large to hold they are numbers.
    named: bool = True

    @property
    def by_name(self) -> Raters:
        """The same, of raters whose names are known."""
        return self if self.named else Raters()


@dataclass(frozen=True, eq=False)
class Placed:
    """What was fitted."""

    map: Map
    settings: MapSettings
    raters: Raters
    #: Of the answers, without penalties.
    log_likelihood: float
    n_iter: int
    converged: bool


def fit_statements(
    statements: Statements,
    weights: FloatArray | None,
    features: Features | None,
    how: How,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Placed:
    """The map of statements whose rows and objects are in an order of their own.

    Parameters
    ----------
    statements : Statements
        At least one.
    weights : (m,) array of float, optional
        How often each statement counts.
    features : Features, optional
        Of the objects in the same order.
    how : How
        Its ``init``, too, has the objects in this order.
    """
    gain = None
    with one_blas_thread():
        first = progress if how.raters == "one" else part_of(progress, 0.0, 0.4)
        chosen = _choose(statements, weights, features, how, rng, part_of(first, 0.0, 0.7))
        prior = None if features is None else features.prior(chosen.shares)
        found = _fit_places(statements, weights, how, chosen, prior, rng, first)
        if how.raters != "one":
            found, gain = _fit_weights(statements, weights, how, found, prior, rng, progress)
    chosen = found.settings
    fitted = Map(
        # weights give the axes a meaning
        principal_axes(found.fit.X) if found.weights is None else found.fit.X,
        found.lapse,
        statements.kind,
        chosen.length,
        alpha_of(chosen.n_components),
        statements._names,
    )
    own = found.lapses
    raters = Raters(
        {} if own is None else own.by_name,
        {} if own is None else own.intervals,
        found.weights,
        gain,
    )
    return Placed(
        fitted, chosen, raters, found.log_likelihood, found.fit.n_iter, found.fit.converged
    )


def fit_near(statements: Statements, model: Map, l2: float) -> Map:
    """The map of answers that were drawn from another one: near that one, in a few steps.

    How the loss bends is known there, by the information of the answers.
    """
    choices, share = collect_choices(statements), np.array([model.lapse])
    start = without_unseen(model.X, statements.triples)
    # compiled, however few the answers are: such maps are fitted by the hundred
    with one_blas_thread(), likelihood(choices, model.length, model.alpha, 1, compiled=True) as f:
        every = AnswerPart(f, np.arange(len(choices)), 1.0)
        bend = preconditioner(every, len(choices), start, share, l2)
        found = descend(penalised(f, start.shape, l2, share), start, bend, _NEARLY)
    return model.at(principal_axes(found.X))


def _choose(
    statements: Statements,
    weights: FloatArray | None,
    features: Features | None,
    how: How,
    rng: np.random.Generator,
    progress: Progress | None,
) -> MapSettings:
    shares = None if features is None else how.shares_of(features)
    known = features is None or shares is not None
    if how.n_components is not None and how.l2 is not None and known:
        return MapSettings(
            how.n_components, how.l2, how.length, HeldOutScores({}), None, shares or ()
        )
    return select(
        statements,
        weights,
        n_components=how.n_components,
        l2=how.l2,
        length=how.length,
        rng=rng,
        n_threads=threads_of(how.n_jobs),
        progress=progress,
        features=features,
        shares=shares,
    )


def _fit_places(
    statements: Statements,
    weights: FloatArray | None,
    how: How,
    chosen: MapSettings,
    prior: FeaturePrior | None,
    rng: np.random.Generator,
    progress: Progress | None,
) -> FittedPlaces:
    """The fit of all statements."""
    d, l2, evidence = chosen.n_components, chosen.l2, chosen.evidence
    known = not isinstance(how.lapses, str)
    groups = group_raters(statements) if how.lapses == "raters" else None
    choices = collect_choices(
        statements, weights, keep_rows=groups is not None, keep_repeats=groups is not None
    )
    fit = partial(fit_choices, max_iter=how.max_iter, tol=how.tol)
    with likelihood(
        choices, chosen.length, alpha_of(d), threads_of(how.n_jobs), device=how.device
    ) as answers:
        f = with_prior(answers, prior)
        if how.init is not None:
            given = np.array(how.init, dtype=np.float64)
            start = Start(f.standard(without_unseen(given, statements.triples)))
        elif evidence is not None:
            start = Start(evidence.X)
        else:
            start = prepare_start(statements, f, d, l2, rng)
        lapse = start.lapse if evidence is None else evidence.lapse
        if not isinstance(how.lapses, str):
            lapse = float(how.lapses)
        found = fit(
            f,
            start.X,
            lapse,
            l2,
            fixed_lapse=known or evidence is not None,
            progress=part_of(progress, 0.7, 0.2),
        )
        lapse = float(found.lapse[0])
        if groups is None:
            value = -f(found.X, found.lapse)[0]
            return FittedPlaces(chosen, replace(found, X=f.places(found.X)), lapse, None, value)
        for _ in range(ROUNDS):
            X = f.places(found.X)
            attentive = Map(X, 0.0, choices.kind, chosen.length, alpha_of(d))
            shares = estimate_lapses(
                attentive.chosen(statements.triples),
                groups.of,
                np.ones(len(statements)) if weights is None else weights,
                groups.names,
                n_answers(choices.kind),
            )
            own = choices.spread(np.append(shares.mean, lapse)[groups.of])
            found = fit(f, found.X, own, l2, fixed_lapse=True)
        value = -f(found.X, np.array([lapse]))[0]
        found = replace(found, X=f.places(found.X))
    return FittedPlaces(chosen, found, lapse, shares, value)


def _fit_weights(
    statements: Statements,
    weights: FloatArray | None,
    how: How,
    found: FittedPlaces,
    prior: FeaturePrior | None,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[FittedPlaces, tuple[float, float] | None]:
    """The map with raters' weights, and what they gain where it was asked.

    The one without where the answers do not ask for weights.
    """
    groups = group_raters(statements)
    if groups is None or len(groups) < 2:
        if how.raters == "auto":
            return found, None
        raise StatementError(
            "raters='weights' needs the answers of two raters or more, and "
            f"{'no rater is known' if groups is None else 'there is one'}; give raters with "
            "the statements, or take raters='one'"
        )
    gain, chosen, X = None, found.settings, found.fit.X
    if how.raters == "auto" or how.n_components is None:
        part = part_of(progress, 0.4, 0.4)
        weighing = choose_weights(statements, weights, chosen, found.lapse, how, prior, rng, part)
        gain = weighing.gain, weighing.error
        if how.raters == "auto" and not weighing.asked_for:
            return found, gain
        scores = HeldOutScores(weighing.scores) if weighing.scores else chosen.scores
        chosen = replace(chosen, n_components=weighing.n_components, scores=scores)
    start = None
    if X.shape[1] == chosen.n_components:
        start = principal_axes(X) if how.init is None else X
    return fit_raters(
        statements, weights, groups, chosen, start, found.lapse, how, prior, rng
    ), gain
