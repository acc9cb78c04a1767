"""`fit`: one map of the answers, and everything that the questions ask of it.

Every question is a function of a `Fit`; the answers may be in memory or in files too large to
hold, few or very many. A fit has its rows and objects in an order of their own, in which random
numbers are drawn, so that the same answers say the same in any order; `Fit.among` puts the
objects into the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

import trilens
from trilens._parameters import (
    check_progress,
    generator,
    sample_weights,
    seed_of,
    threads_of,
    wrong,
)
from trilens._tabular import counted
from trilens._typing import (
    AnyArray,
    BoolArray,
    FloatArray,
    Int32Array,
    IntArray,
    Progress,
    RandomState,
)
from trilens.answers import Answers, AnswersLike, refuse_vast
from trilens.counts import Counted
from trilens.counts.central import is_path
from trilens.errors import FormatError, ParameterError, StatementError
from trilens.kinds import Kind, n_answers, wrong_by_chance
from trilens.maps.comparisons import violations, weighted_violations
from trilens.maps.descent import part_of
from trilens.maps.draws import (
    MOST_FACTORED,
    Sweep,
    draw_by_sums,
    draw_maps,
    place_covariance,
    sweep,
)
from trilens.maps.features import FeaturePrior, Features, FeaturesLike, read_features
from trilens.maps.fitting import How, Placed, Raters, fit_statements
from trilens.maps.kind import doubt_kind
from trilens.maps.laplace import NO_L2, lapse_interval, place_errors
from trilens.maps.likelihood import object_order, row_order
from trilens.maps.map import Map, on_map
from trilens.maps.passes import Passes, asked_below, sampled_rows, score, total
from trilens.maps.raters import group_raters, places_of_raters
from trilens.maps.selection import MapSettings
from trilens.maps.support import Support, are_enough, support_of
from trilens.statements import Statements, as_statements
from trilens.statements.columns import numbers_or_text
from trilens.statements.combine import side_pairs
from trilens.statements.reading import Reading
from trilens.study_design import Design, design
from trilens.words import against_the_map, little_to_conclude

if TYPE_CHECKING:
    from trilens.analysis import Analysis
    from trilens.files.source import PathLike
    from trilens.maps.places import Places
    from trilens.questions.classify.classes import Classification
    from trilens.questions.cluster.groups import Clusters
    from trilens.questions.distances import Distances
    from trilens.questions.graph import Graph
    from trilens.questions.hierarchy import Hierarchy
    from trilens.questions.individuals import Individuals
    from trilens.questions.medoid import Medoid
    from trilens.questions.next_questions import NextQuestions
    from trilens.questions.outliers import Outliers
    from trilens.questions.reliability import Reliability
    from trilens.questions.stopping import Stopping
    from trilens.shares import DepthIntervals

#: Of more statements a random part is fitted in memory; passes over all of them refine the map.
MOST_FITTED = 10_000_000
_MOST_PASSES = 4
#: A pass that moves places by less than this share of their standard errors is the last one.
_SETTLED = 0.1
#: Steps of a pass are no longer than this share of the map's breadth.
_LONGEST = 0.5
#: Draws from the posterior, of up to so many objects; the last number is for more.
_DRAWS = ((100, 200), (250, 100))
FEWER_DRAWS = 40
#: Of so many numbers (objects times dimensions) on there are fewer draws, at least these.
_MOST_NUMBERS, _LEAST_DRAWS = 40_000_000, 16
#: Answers by which the dispersion is told.
_DISPERSED = 300_000
#: Answers whose probabilities without them are looked at in all draws; of more, in fewer draws.
_LEFT_OUT_WORK, _LEAST_LEFT_OUT = 1_000_000, 20
#: A single answer does not weigh more than this in a draw without it.
_MOST_WEIGHT = 100.0
#: Objects that a notebook shows of a map.
_MOST_DRAWN = 2000

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Residual:
    """By how much each object was more central than the map expects of the same questions.

    Attributes
    ----------
    mean : (n,) array
        The counted centrality less the expected one, careless answers apart; 0 where an object
        has no answers.
    variance : (n,) array
        Of the mean if the map is right; infinite where an object has no answers.
    """

    mean: FloatArray
    variance: FloatArray


def _fact(axis: int | None = None) -> Callable[[Callable[[Fit], T]], cached_property[T]]:
    """What is worked out once, by the fit in the order of its own, unless a file has told it.

    Parameters
    ----------
    axis
        That of the objects, for what is said of each of them.
    """

    def of(compute: Callable[[Fit], T]) -> cached_property[T]:
        name = compute.__name__

        @wraps(compute)
        def fact(fitted: Fit) -> Any:
            if fitted.base is not None:
                known = getattr(fitted.base, name)
                return known if axis is None else np.take(known, fitted.canonical[1], axis)
            return fitted.stored[name] if name in fitted.stored else compute(fitted)

        return cached_property(fact)

    return of


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """One map of the answers; made by `trilens.fit`, or read by `trilens.load`.

    Every question takes a fit in place of answers, and is a method of it: ``F.medoid()`` is
    ``trilens.medoid(F)``. What is costly is worked out when it is first needed.

    Attributes
    ----------
    map : Map
        Names, coordinates ``X`` (centered, the widest axis first), kind, and the share of careless
        answers (``lapse``).
    asked : (n,) array of int
        How many answers name each object.
    source : Answers or Statements
        What was fitted.
    statements : Statements or None
        All answers; None where they are too large to hold.
    sample : Statements
        Those that the map was fitted to in memory: all of them up to ten million.
    how : How
        What was asked for.
    settings : MapSettings
        What was chosen: dimensions, penalty, length, shares of features.
    raters : Raters
        The share of careless answers of each rater, and their weights where these were fitted.
    features : Features or None
    weights : (m,) array or None
        How often each statement counts.
    log_likelihood : float
    n_iter : int
    converged : bool
    seed : int
    n_draws : int or None
        Maps that are drawn from the posterior; by default as many as the number of objects allows.
    """

    map: Map
    asked: IntArray
    source: Any
    statements: Statements | None
    sample: Statements
    how: How
    settings: MapSettings
    raters: Raters
    features: Features | None
    weights: FloatArray | None
    log_likelihood: float
    n_iter: int
    converged: bool
    seed: int
    n_draws: int | None = None
    passes: Passes | None = None
    rows_given: Statements | None = None
    stored: dict[str, Any] = field(default_factory=dict)
    base: Fit | None = None
    rank: IntArray | None = None

    # ---- the answers -----------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """What was asked."""
        return self.map.kind

    @property
    def names(self) -> tuple[str, ...]:
        """The objects."""
        return self.map.names or tuple(str(i) for i in range(self.map.n_objects))

    @property
    def n_objects(self) -> int:
        """How many objects there are."""
        return self.map.n_objects

    @_fact()
    def n_answers(self) -> int:
        """How many answers there are."""
        return len(self.sample) if self.passes is None else self.passes.counts.statements

    @property
    def is_of_few(self) -> bool:
        """Whether there are too few answers for a map, and nothing else to make one of."""
        return self.features is None and not are_enough(self.n_answers, self.n_objects)

    def among(self, statements: Statements | None, names: Any, rank: IntArray) -> Fit:
        """The same fit with the objects in the caller's order: that of rank i comes i-th."""
        if self.base is not None:
            raise ParameterError("a fit is put into an order once")
        if statements is None and (np.diff(rank) == 1).all():
            return self
        return replace(
            self,
            map=self.map.among(rank, names),
            asked=self.asked[rank],
            statements=statements,
            features=None if self.features is None else self.features.take(rank),
            base=self,
            rank=rank,
        )

    @property
    def canonical(self) -> tuple[Fit, IntArray]:
        """The fit with its objects in an order of their own, and the place of each object there."""
        if self.base is None or self.rank is None:
            return self, np.arange(self.n_objects)
        return self.base, self.rank

    @_fact()
    def kind_doubt(self) -> tuple[Kind | None, str] | None:
        """Where the kind was assumed, which other one fits the answers, and why; else None."""
        if not isinstance(self.source, Answers) or not self.source.kind_assumed:
            return None
        reading = self.source.known
        return (reading.fits, reading.doubt) if isinstance(reading, Reading) else (None, "")

    @_fact()
    def design(self) -> Design:
        """What was asked of whom."""
        # the order in which questions were asked tells whether answers led to them
        if self.rows_given is None:
            return design(self.sample, in_time=False)
        found = design(self.rows_given)
        return found if self.raters.named else replace(found, largest_rater=None)

    @_fact()
    def support(self) -> Support:
        """Whether claims about all objects can be made."""
        return support_of(self)

    # ---- the model -------------------------------------------------------------------------

    @property
    def error_rate(self) -> float:
        """The share of answers to clear questions that go against the map.

        With one map for all, those of raters who see the objects differently count among them;
        `trilens.reliability` sets such raters aside.
        """
        return self.map.error_rate

    @_fact()
    def lapse_interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of careless answers."""
        evidence = self.settings.evidence
        if evidence is not None and self.raters.weights is None:
            return evidence.interval
        return lapse_interval(self)

    @property
    def error_rate_interval(self) -> tuple[float, float]:
        """The 95 % interval of the error rate."""
        low, high = self.lapse_interval
        share = wrong_by_chance(self.map.kind)
        return low * share, high * share

    @cached_property
    def prior(self) -> FeaturePrior | None:
        """What features say of the places; None without features, or where they do not help."""
        return None if self.features is None else self.features.prior(self.settings.shares)

    def probabilities(self, statements: AnswersLike) -> FloatArray:
        """The probability of each possible answer, the one that was given first.

        Statements are about objects of this fit, found by their names, or by their ids where one of
        the two has no names; raters' weights are used where they were fitted.
        """
        given = as_statements(statements, self.map.kind)
        return self.probabilities_by_id(on_map(given, self.map.names, self.n_objects))

    def probabilities_by_id(self, statements: Statements) -> FloatArray:
        """`probabilities` of statements that have the ids of this fit, whatever their names."""
        if self.raters.weights is not None:
            return self.raters.weights.probabilities(self.map, statements)
        return self.map.probabilities(statements)

    def lapse_of(self, statements: Statements) -> FloatArray:
        """The lapse of the rater of each statement, (m,); that of all where it is not known."""
        groups = group_raters(statements) if self.raters.lapses else None
        if groups is None:
            return np.full(len(statements), self.map.lapse)
        known = [*self.raters.lapses.values(), self.map.lapse]
        places = [*places_of_raters(groups.names, list(self.raters.lapses)), -1]
        lapses: FloatArray = np.array(known)[places][groups.of]
        return lapses

    @cached_property
    def unknown(self) -> BoolArray | None:
        """The objects of which nothing is known; None where there are none."""
        found = np.asarray(self.asked == 0)
        if self.features is not None and self.prior is not None:
            found &= ~self.features.known
        return found if found.any() else None

    @_fact()
    def violations(self) -> float:
        """The share of similarity triplets (anchor, near, far) that the coordinates violate."""
        if self.weights is not None:
            return weighted_violations(self.map.X, self.sample, self.weights)
        return violations(self.map.X, self.sample)

    # ---- what the answers leave open -------------------------------------------------------

    @_fact()
    def dispersion(self) -> float:
        """How much more the answers vary from pair to pair than the model expects; about 1."""
        return pair_dispersion(self.map, self._dispersed)

    @_fact()
    def overdispersion(self) -> float:
        """By how many times less the answers count than independent ones would; at least 1.

        The largest of three: answers that share a pair, that are by one rater, or that are from
        one screen may pull together where the model leaves something out.
        """
        S = self._dispersed
        found = [1.0, self.dispersion]
        for clusters in (S.raters, S.questions):
            if clusters is not None:
                _, of = np.unique(clusters, return_inverse=True)
                lapse = self.lapse_of(S)
                found.append(cluster_dispersion(self.map, S, of.astype(np.int64), lapse))
        return max(found)

    @cached_property
    def _dispersed(self) -> Statements:
        """Answers by which the dispersion is told: all, or a part of very many."""
        S = self.sample
        if len(S) <= _DISPERSED:
            return S
        rng = np.random.default_rng([self.seed, 23])
        return S.take(np.sort(rng.choice(len(S), _DISPERSED, replace=False)))

    @_fact(axis=1)
    def draws(self) -> AnyArray:
        """Maps that the answers allow, (draws, n, d): see `trilens.maps.draws`."""
        rng = np.random.default_rng([self.seed, 29])
        drawn = draw_maps(self, self._usual_draws, rng)
        if drawn is not None:
            return drawn
        return draw_by_sums(self, self._passes, self._swept, rng)

    @property
    def _usual_draws(self) -> int:
        n, d = self.map.X.shape
        if self.n_draws is not None:
            return self.n_draws
        usual = next((draws for most, draws in _DRAWS if n <= most), FEWER_DRAWS)
        return int(min(usual, max(_MOST_NUMBERS // (n * (d + 1)), _LEAST_DRAWS)))

    @property
    def _passes(self) -> Passes:
        if self.passes is not None:
            return self.passes
        return Passes.over(self.sample, n_threads=threads_of(self.how.n_jobs))

    @cached_property
    def _swept(self) -> Sweep:
        """What one pass over all statements tells."""
        salt = int(np.random.default_rng([self.seed, 41]).integers(2**31))
        passes = self._passes
        with passes.engine() as engine:
            found: Sweep = total(
                engine, passes.parts, sweep, passes.plan, self.map, salt, self._usual_draws
            )
        return found

    @_fact(axis=0)
    def place_cov(self) -> FloatArray:
        """How far the place of each object may be off: covariances, (n, d, d).

        By the Fisher information of the answers and the penalty; what would shift or turn the
        whole map is left out. With thirty answers for each coordinate they are about right, apart
        from the scale of the map; with five they are two to four times too small.
        """
        n, d = self.map.X.shape
        if self.map.X.size > MOST_FACTORED:
            # the information of each place alone, and by how much the draws vary more
            l2 = max(self.settings.l2, NO_L2)
            own = np.ones(n) if self.prior is None else self.prior.own_precision
            blocks = self._swept.sums.information(d) + 2 * l2 * own[:, None, None] * np.eye(d)
            moved = _moved(self.draws, self.map.X) / np.sqrt(self.overdispersion)
            size = np.einsum("kni,nij,knj->", moved, blocks, moved) / (len(moved) * n * d)
            return np.asarray(np.linalg.inv(blocks) * max(float(size), 1.0))
        return place_errors(self)

    @cached_property
    def place_cov_of_all(self) -> FloatArray:
        """How the places of all objects may be off together, (n d, n d); raters' weights apart."""
        if self.map.X.size > MOST_FACTORED:
            raise ParameterError(
                f"the map has {self.map.X.size:,} coordinates; their covariance is too expensive "
                f"beyond {MOST_FACTORED:,}"
            )
        S = self.sample
        return place_covariance(S, self.map, self.settings.l2, self.lapse_of(S), self.prior)

    @property
    def residual(self) -> Residual:
        """By how much each object was more central than the map expects."""
        return Residual(*self.left_over)

    @_fact(axis=1)
    def left_over(self) -> FloatArray:
        """The mean and the variance of `residual`, (2, n)."""
        if self.map.X.size > MOST_FACTORED or self.n_answers > len(self.sample):
            found = _residual_of_sums(self._passes.counts, self.map, self._swept)
        else:
            found = _residual(self)
        return np.stack([found.mean, found.variance])

    @_fact(axis=0)
    def plane(self) -> FloatArray:
        """The map in two dimensions, to look at; (n, 2)."""
        plane = np.zeros((self.n_objects, 2))
        if self.map.n_components <= 2:
            plane[:, : self.map.n_components] = self.map.X
            return plane
        # what was chosen for the map serves the plane as well
        return self.refit(n_components=2).X

    @_fact(axis=0)
    def plane_cov(self) -> FloatArray:
        """How far the places in `plane` may be off: covariances, (n, 2, 2).

        By the maps that the answers allow; of more than two dimensions as the plane shows them.
        """
        moved = _moved(self.draws, self.map.X)
        shown = moved @ np.linalg.lstsq(self.map.X, self.plane, rcond=None)[0]
        return np.asarray(np.einsum("kni,knj->nij", shown, shown) / len(shown))

    # ---- other fits ------------------------------------------------------------------------

    def refit(
        self,
        statements: Statements | None = None,
        *,
        weights: ArrayLike | None = None,
        n_components: int | None = None,
        l2: float | None = None,
        lapse: float | Literal["one"] | None = None,
        start: FloatArray | None = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> Map:
        """The map of other answers, other weights or in other dimensions, as this one was chosen.

        The penalty, the length, the shares of features and the lapse stay as they are, where
        nothing else is said.

        Parameters
        ----------
        statements : Statements, optional
            About the objects of this fit; by default those that were fitted.
        weights : (m,) array, optional
        n_components : int, optional
        l2 : float, optional
        lapse : float or "one", optional
            ``"one"``: fitted anew, one for all raters.
        start : (n, n_components) array, optional
            Where to start; by default anew.
        """
        S = self.sample if statements is None else statements
        how = replace(
            self.how,
            n_components=n_components or self.map.n_components,
            l2=self.settings.l2 if l2 is None else l2,
            lapses=self.map.lapse if lapse is None else lapse,
            raters="one",
            feature_share=dict(zip(self.features.names, self.settings.shares, strict=True))
            if self.features is not None and self.settings.shares
            else None,
            init=start,
            max_iter=max_iter,
            tol=tol,
            device=None,
        )
        given = sample_weights(weights, len(S))
        used = self.features if self.settings.shares else None
        return fit_statements(S, given, used, how, np.random.default_rng(self.seed)).map

    def in_dimensions(self, d: int) -> Fit:
        """The fit of the same answers in so many dimensions, the rest chosen anew."""
        placed = fit_statements(
            self.sample,
            self.weights,
            self.features if self.settings.shares else None,
            replace(self.how, n_components=d, init=None),
            np.random.default_rng(self.seed),
        )
        return replace(self, **vars(placed), stored={})

    def place(
        self, answers: AnswersLike | None = None, *, features: FeaturesLike | None = None
    ) -> Places:
        """Where new objects lie: `ChoiceMap.place`."""
        from trilens.maps.places import find_places, new_objects

        return find_places(self, new_objects(self, answers, features))

    def extend(
        self, answers: AnswersLike | None = None, *, features: FeaturesLike | None = None
    ) -> Fit:
        """The fit with new objects at the places that `place` finds.

        Its answers are those of this fit and those that name a new object, and every question can
        be asked of it; what was chosen (dimensions, penalty, share of careless answers) stays.
        Of more answers than a fit holds in memory, it has those that the map was fitted to.
        """
        from trilens.maps.places import extended, find_places, new_objects

        new = new_objects(self, answers, features)
        return extended(self, new, find_places(self, new))

    # ---- files -----------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write the fit to a file that `trilens.load` reads; it appears whole or not at all.

        Parameters
        ----------
        path : path
            ``study.fit`` is a good name. The file holds the answers, where they are held in
            memory, and the map with all that the questions need.
        """
        from trilens.maps.fit_file import save_fit

        save_fit(self, path)

    # ---- the questions ---------------------------------------------------------------------

    def medoid(self, **parameters: Any) -> Medoid:
        """The most central object: `trilens.medoid`."""
        return trilens.medoid(self, **parameters)

    def depth_intervals(self, **parameters: Any) -> DepthIntervals:
        """How central each object is: `trilens.depth_intervals`."""
        return trilens.depth_intervals(self, **parameters)

    def outliers(self, n: int | None = None, **parameters: Any) -> Outliers:
        """The objects that fit the others least: `trilens.outliers`."""
        return trilens.outliers(self, n, **parameters)

    def cluster(self, n_clusters: int | None = None, **parameters: Any) -> Clusters:
        """The groups of the objects: `trilens.cluster`."""
        return trilens.cluster(self, n_clusters, **parameters)

    def classify(self, labels: Any, **parameters: Any) -> Classification:
        """The class of each object: `trilens.classify`."""
        return trilens.classify(self, labels, **parameters)

    def neighbors(self, **parameters: Any) -> Graph:
        """Which objects are neighbors: `trilens.neighbors`."""
        return trilens.neighbors(self, **parameters)

    def hierarchy(self, **parameters: Any) -> Hierarchy:
        """The tree of the objects: `trilens.hierarchy`."""
        return trilens.hierarchy(self, **parameters)

    def distances(self, **parameters: Any) -> Distances:
        """How far apart objects are: `trilens.distances`."""
        return trilens.distances(self, **parameters)

    def reliability(self, **parameters: Any) -> Reliability:
        """How good the answers are: `trilens.reliability`."""
        return trilens.reliability(self, **parameters)

    def individuals(self, **parameters: Any) -> Individuals:
        """Whether raters see the same things: `trilens.individuals`."""
        return trilens.individuals(self, **parameters)

    def next_questions(self, **parameters: Any) -> NextQuestions:
        """Which questions tell most: `trilens.next_questions`."""
        return trilens.next_questions(self, **parameters)

    def stopping(self, goal: Any, **parameters: Any) -> Stopping:
        """Whether the answers suffice: `trilens.stopping`."""
        return trilens.stopping(self, goal, **parameters)

    def analyze(self, **parameters: Any) -> Analysis:
        """Every question at once: `trilens.analyze`."""
        return trilens.analyze(self, **parameters)

    def _repr_html_(self) -> str:
        from html import escape

        plane = self.plane - self.plane.min(axis=0)
        size = max(float(plane.max()), 1e-300)
        dots = [
            f'<circle cx="{20 + 360 * x / size:.0f}" cy="{20 + 360 * y / size:.0f}" r="4">'
            f"<title>{escape(name)}</title></circle>"
            for name, (x, y) in zip(self.names, plane[:_MOST_DRAWN].tolist(), strict=False)
        ]
        return (
            f"<p>{escape(repr(self).splitlines()[0])}</p>"
            f'<svg width="400" height="400" role="img" aria-label="map of the objects" '
            f'fill="#31688e" fill-opacity="0.7">{"".join(dots)}</svg>'
        )

    def __repr__(self) -> str:
        dimensions = counted(self.map.n_components, "dimension")
        reason = "few answers" if self.n_answers < self.n_objects else self.support.reason
        if reason is None:
            said = f"{dimensions}; {against_the_map(self.error_rate, self.error_rate_interval)}"
        else:
            said = little_to_conclude(reason)
        return (
            f"Fit of {self.n_answers:,} {self.kind} answers about {self.n_objects:,} objects: "
            f"{said}\n"
            "ask it: F.medoid(), F.outliers(), F.cluster(), F.analyze(), F.save(path)"
        )


def fit(
    answers: Any,
    *,
    features: FeaturesLike | None = None,
    raters: Literal["auto", "one", "weights"] = "auto",
    n_components: int | Literal["auto"] = "auto",
    device: str | None = None,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Fit:
    """Fit one map to the answers, of which every question can then be asked.

    Parameters
    ----------
    answers : path, Answers, Statements, a table or (m, 3) array
        In memory, or in files too large to hold: the fit is the same.
    features : array, table or dict, optional
        Vectors of the objects: (n_objects, q) numbers, dense or sparse, in the order of the
        objects; a table with the names of the objects; or a dict from name to vector. A dict of
        tables holds several blocks, each with a share of its own.
    raters : {"auto", "one", "weights"}
        ``"auto"``: one map, and a share of careless answers for each rater where raters are
        known. ``"one"``: one such share for all. ``"weights"``: each rater also weighs the
        dimensions in their own way.
    n_components : int or "auto"
        Dimensions; by default as many as the evidence asks for.
    device : str, optional
        ``"cuda"`` or ``"cuda:1"``: fit on an NVIDIA GPU.
    random_state : int, Generator or None
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    Fit

    Examples
    --------
    >>> from trilens.simulate import study
    >>> F = fit(study().statements)
    >>> F.map.X.shape, round(F.error_rate, 2)
    ((60, 3), 0.18)
    >>> F.medoid().name in F.medoid().candidates
    True
    """
    if raters not in ("auto", "one", "weights"):
        raise wrong("raters", raters, "'auto', 'one' or 'weights'")
    how = How(
        n_components=None if isinstance(n_components, str) else n_components,
        lapses="one" if raters == "one" else "raters",
        raters="weights" if raters == "weights" else "one",
        device=device,
    )
    if isinstance(n_components, str) and n_components != "auto":
        raise wrong("n_components", n_components, "'auto' or a whole number, 1 or more")
    return fit_answers(answers, how, features, None, random_state, progress)


def fit_answers(
    answers: Any,
    how: How,
    features: FeaturesLike | None = None,
    weights: ArrayLike | None = None,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Fit:
    """`fit` with everything that can be asked for; see `How`."""
    check_progress(progress)
    if isinstance(answers, Fit):
        raise ParameterError("these answers have been fitted already; ask the fit itself")
    if is_path(answers) and not isinstance(answers, list):
        answers = Answers(answers)
    if isinstance(answers, Answers) and answers.in_counts:
        from trilens.maps.fit_file import is_fit

        if is_fit(answers.source):
            raise FormatError(f"{answers.source} is a fit already; read it with trilens.load")
        raise FormatError(
            f"{answers.source} holds counts; a fit needs the statements that were counted"
        )
    # all answers in the order of the fit, and the same in the order of time; None of files
    statements: Statements | None = None
    given, passes, threads = statements, None, threads_of(how.n_jobs)
    own: FloatArray | None = None
    if isinstance(answers, Answers) and not answers.held:
        _refuse_for_files(how, weights)
        how = replace(how, raters="one")
        passes = Passes.over(answers, n_threads=threads, progress=progress)
        progress = part_of(progress, 0.2, 0.8)
        names = passes.counts.known_names
        order = object_order(names, passes.counts.n_objects)
        passes = passes.among(order)
        asked = passes.counts.appearances
    else:
        given, own = _held(answers, weights)
        names, order = given._names, object_order(given._names, given.n_objects)
        rows = row_order(given)
        in_time = given if (np.diff(order) == 1).all() else given.subset(order)
        statements = in_time
        if (np.diff(rows) != 1).any():
            statements, own = in_time.take(rows), None if own is None else own[rows]
        asked = statements.appearances
        if len(statements) > MOST_FITTED:
            if own is not None:
                raise ParameterError(
                    f"sample_weight is for up to {MOST_FITTED:,} answers; there are {len(given):,}",
                    parameter="sample_weight",
                )
            passes = Passes.over(statements, n_threads=threads)
    if not asked.any():
        raise StatementError("a fit needs at least one statement; there are none")
    how.check(len(order))
    if how.init is not None:
        how = replace(how, init=np.asarray(how.init, dtype=np.float64)[order])
    read = None
    if features is not None:
        read = read_features(features, names, len(order)).reordered(order)
    sample = statements
    if passes is not None:
        share = MOST_FITTED / max(passes.counts.statements, 1)
        if statements is None:
            in_time = _sampled(passes, share)
        else:
            in_time = in_time.take(asked_below(share, in_time.triples.T))
        sample = in_time.take(row_order(in_time))
    assert sample is not None
    seed, rng = seed_of(random_state), generator(random_state)
    placed = fit_statements(sample, own, read, how, rng, progress)
    if statements is None:
        placed = replace(placed, raters=replace(placed.raters, named=False))
    if passes is not None and passes.counts.statements > len(sample):
        placed = replace(placed, map=_refined(passes, placed))
    if progress is not None:
        progress(1.0)
    found = Fit(
        **vars(placed),
        asked=asked,
        source=answers,
        statements=statements,
        sample=sample,
        how=how,
        features=read,
        weights=own,
        seed=seed,
        passes=passes,
        rows_given=in_time,
    )
    if given is not None and statements is given:
        return found
    return found.among(given, names, np.argsort(order))


def _held(answers: Any, weights: ArrayLike | None) -> tuple[Statements, FloatArray | None]:
    """Answers in memory, and weights that are not merely numbers of repeats."""
    if isinstance(answers, Answers):
        doubt_kind(answers)
    given = as_statements(answers)
    refuse_vast(given)
    own = sample_weights(weights, len(given))
    if own is not None and (own == 0).any():
        given, own = given.take(own > 0), own[own > 0]
    if own is not None and (own % 1 == 0).all() and own.sum() <= MOST_FITTED:
        given, own = given.take(np.repeat(np.arange(len(own)), own.astype(np.int64))), None
    return given, own


def _refuse_for_files(how: How, weights: ArrayLike | None) -> None:
    """Refuse what files that are too large to hold cannot have."""
    if weights is not None:
        raise ParameterError(
            "sample_weight needs answers that are held in memory; these files are too large",
            parameter="sample_weight",
        )
    if how.raters == "weights":
        raise ParameterError(
            "raters='weights' cannot be fitted to answers that are too large to hold in memory; "
            "leave it out, or fit a random part of the answers",
            parameter="raters",
        )


def _sampled(passes: Passes, share: float) -> Statements:
    """Some of the statements in files as they were asked; of a question all answers."""
    counts, names = passes.counts, passes.counts.known_names
    with passes.engine() as engine:
        found = total(engine, passes.parts, sampled_rows, passes.plan, share)
    return Statements(
        np.concatenate([rows for rows, _, _ in found]),
        counts.n_objects,
        names=names,
        kind=counts.kind,
        raters=_numbered([raters for _, raters, _ in found]),
        chosen=np.concatenate([chosen for _, _, chosen in found]),
    )


def _numbered(raters: list[tuple[AnyArray, Int32Array] | None]) -> AnyArray | None:
    """Raters of parts as numbers, which need less memory than names and are in their order."""
    known = [each for each in raters if each is not None]
    if len(known) < len(raters):
        return None
    names = numbers_or_text(np.concatenate([names for names, _ in known]))
    different, number = np.unique(names, return_inverse=True)
    of_part = np.split(number, np.cumsum([len(names) for names, _ in known])[:-1])
    who: AnyArray = np.concatenate(
        [own[place] for own, (_, place) in zip(of_part, known, strict=True)]
    )
    if different.dtype.kind not in "UO" or different[0] != "":
        return who
    # one who is not known has no number
    width = len(str(len(different)))
    texts = np.array(["", *(f"{i:0{width}}" for i in range(1, len(different)))])
    return np.asarray(texts[who])


def _refined(passes: Passes, placed: Placed) -> Map:
    """A map of some statements moved to where all of them are likeliest, by a few passes.

    Given all others, an object's place has a likelihood of its own, whose slope and information
    are sums over the statements that name it: a pass moves every object at once by a Newton step.
    """
    model, l2 = placed.map, max(placed.settings.l2, NO_L2)
    X, (n, d) = model.X, model.X.shape
    longest = _LONGEST * float(np.sqrt(X.var(axis=0).mean()))
    best, least = X, np.inf
    with passes.engine() as engine:
        for _ in range(_MOST_PASSES):
            sums = total(engine, passes.parts, score, passes.plan, model.at(X))
            loss = sums.loss + l2 * float((X**2).sum())
            if loss >= least:
                X = (X + best) / 2
                continue
            best, least = X, loss
            slope = sums.gradient(d) + 2 * l2 * X
            blocks = sums.information(d) + 2 * l2 * np.eye(d)
            move = np.linalg.solve(blocks, slope[:, :, None])[:, :, 0]
            if float((move * slope).sum()) < _SETTLED**2 * n * d:
                return model.at(X - move)
            length: FloatArray = np.sqrt((move**2).sum(axis=1, keepdims=True))
            X = X - move * np.minimum(1.0, longest / np.maximum(length, 1e-300))
    return model.at(X)


# ---- residuals and dispersion -------------------------------------------------------------------


def _residual(fitted: Fit) -> Residual:
    """By leaving each answer out: what maps expect of it as if it had not been given.

    Of draws from the posterior, each is weighted with one by the probability of the answer
    (leave-one-out by importance sampling; Gelfand, Dey and Chang, 1992).
    """
    S, maps = fitted.sample, fitted.draws
    m = max(len(S), 1)
    some = max(_LEFT_OUT_WORK // m, _LEAST_LEFT_OUT)
    maps = maps[:: max(len(maps) // some, 1)]
    expected, weights = np.zeros((m, n_answers(S.kind))), np.zeros(m)
    for X in maps:
        P = fitted.map.at(X).probabilities(S)
        weight = np.minimum(1 / np.maximum(P[:, 0], 1e-300), _MOST_WEIGHT)
        expected += weight[:, None] * P
        weights += weight
    return residual_of(expected / weights[:, None], S, fitted.map.lapse)


def residual_of(expected: FloatArray, statements: Statements, lapse: float) -> Residual:
    """By how much each object was more central than expected, and the variance of that.

    Parameters
    ----------
    expected : (m, 2 or 3) array
        The probability of each possible answer; rows of NaN are left out.
    lapse : float
        The share of careless answers, which draw all centralities together; the result is about
        the others.
    """
    n = statements.n_objects
    known = ~np.isnan(expected[:, 0])
    P = expected[known]
    ids = statements.triples[known][:, 3 - P.shape[1] :].ravel()
    more = -P
    more[:, 0] += 1.0
    if statements.kind == "odd":
        more *= -1.0
    spread = P * (1 - P)
    count = np.bincount(ids, minlength=n).astype(np.float64)
    divisor = np.maximum(count, 1e-9) * (1 - lapse)
    mean = np.bincount(ids, more.ravel(), n) / divisor
    variance = np.bincount(ids, spread.ravel(), n) / divisor**2
    variance[count == 0] = np.inf
    return Residual(mean, variance)


def _residual_of_sums(counts: Counted, model: Map, swept: Sweep) -> Residual:
    central = counts.central
    asked = central.appears.astype(np.float64)
    divisor = np.maximum(asked, 1e-9) * (1 - model.lapse)
    turn = -1.0 if model.kind == "odd" else 1.0
    mean = turn * (central.singled - swept.expected[:, 0]) / divisor
    variance = swept.expected[:, 1] / divisor**2
    variance[asked == 0] = np.inf
    mean[asked == 0] = 0.0
    return Residual(mean, variance)


def pair_dispersion(model: Map, statements: Statements) -> float:
    """The variance of the answers' pull on each pair, by that of independent answers.

    An answer pulls at the two or three pairs that it compares: the slope of its likelihood in
    their lengths. If the model is right, the pulls of different answers at the same pair are
    independent, and this is about 1. They pull together where something else bears on the
    pair: noise on the dissimilarities themselves (Noise model II), too few dimensions, a
    question that is asked and answered twice in the same way. Then coordinates vary more than
    draws tell, and variances are to be multiplied with this factor, as with the dispersion of
    a quasi-likelihood (McCullagh and Nelder, 1989, ch. 9).

    The fit has already given in to part of the pull, hence the correction for the number of
    coordinates.
    """
    pull = model.slopes(statements.triples)
    n, n_sides = statements.n_objects, pull.shape[1]
    together = np.bincount(side_pairs(statements).ravel(), pull.ravel())
    alone = float((pull**2).sum())
    if alone == 0.0:
        return 1.0
    d = model.n_components
    # more than half of the pairs' freedom is never taken for the coordinates'
    taken = min(n * d - d * (d + 1) / 2 + 1, len(together) / 2)
    left_of_answers = max(1 - taken / (len(statements) * (n_sides - 1)), 0.5)
    factor = left_of_answers / (1 - taken / len(together))
    return float((together**2).sum() / alone * factor)


def cluster_dispersion(
    model: Map, statements: Statements, cluster: IntArray, lapse: FloatArray
) -> float:
    """The variance of the answers' pull on the objects, by that of independent answers.

    As `pair_dispersion`, of clusters of answers: those of one rater, or from one screen.

    Parameters
    ----------
    cluster : (m,) array of int
    lapse : (m,) array
        Of the rater of each answer.
    """
    n = statements.n_objects
    at, force = model.score(statements.triples, lapse)

    def squares(of: IntArray) -> float:
        _, place = np.unique(np.tile(of, len(at) // len(of)) * n + at, return_inverse=True)
        return float(sum((np.bincount(place, axis) ** 2).sum() for axis in force.T))

    count = len(np.unique(cluster))
    alone = squares(np.arange(len(statements), dtype=np.int64))
    if count < 2 or alone == 0.0:
        return 1.0
    return squares(cluster) / alone * count / (count - 1)


def _moved(draws: AnyArray, X: FloatArray) -> FloatArray:
    """By how much drawn maps differ from one, whatever shifts, turns and scales them as a whole."""
    maps = draws - draws.mean(axis=1, keepdims=True)
    left, _, right = np.linalg.svd(np.swapaxes(maps, 1, 2) @ X)
    maps = maps @ (left @ right)
    size = (maps * X).sum(axis=(1, 2)) / np.maximum((maps**2).sum(axis=(1, 2)), 1e-300)
    return np.asarray(maps * size[:, None, None] - X)
