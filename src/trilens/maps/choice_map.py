"""The choice map: coordinates from a model of how answers are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import (
    check_progress,
    generator,
    one_of,
    real_number,
    sample_weights,
    threads_of,
    whole_number,
    wrong,
)
from trilens._typing import FloatArray, IntArray, Progress, RandomState
from trilens.answers import Answers, AnswersLike
from trilens.depth import LEAST_RATERS
from trilens.errors import KindError, ParameterError, StatementError
from trilens.kinds import Kind, n_answers, n_questions, wrong_by_chance
from trilens.maps.choice_model import ChoiceModel, ModelDepth, ResampledModels
from trilens.maps.comparisons import Comparisons, violations, weighted_violations
from trilens.maps.device import is_on_device, open_device
from trilens.maps.estimator import (
    NOT_STREAMED,
    MapEstimator,
    check_components,
    refuse_for_streams,
)
from trilens.maps.features import (
    FeaturePrior,
    Features,
    FeaturesLike,
    read_features,
    with_prior,
)
from trilens.maps.fit import (
    ChoiceFit,
    Start,
    fit_choices,
    given_start,
    one_blas_thread,
    part_of,
    prepare_start,
    principal_axes,
    without_unseen,
)
from trilens.maps.laplace import lapse_interval, place_errors
from trilens.maps.likelihood import (
    Likelihood,
    collect_choices,
    in_order,
    likelihood,
    object_order,
    row_order,
)
from trilens.maps.pairs import Length
from trilens.maps.rater_fit import FittedRaters, choose_weights, fit_raters
from trilens.maps.rater_weights import RaterWeights, weighed_likelihood
from trilens.maps.raters import estimate_lapses, group_raters
from trilens.maps.selection import HeldOutScores, MapSettings, Shares, alpha_of, select
from trilens.statements import Statements, as_statements
from trilens.statements.combine import questions
from trilens.statements.value import same_kind

if TYPE_CHECKING:
    from trilens.files.source import PathLike
    from trilens.maps.places import Places
    from trilens.maps.streamed import StreamedMap

#: Gives the model that fits when each statement has another weight.
Refit: TypeAlias = Callable[[ArrayLike], ChoiceModel]

#: Alternations of the map and the raters' lapses; the second changes little.
_ROUNDS = 2
_RATERS = ("one", "weights", "auto")
#: What a map by passes over files does not tell.
_NOT_OF_STREAMS = ("l2_", "log_likelihood_", "n_iter_", "converged_")


@dataclass(eq=False, repr=False)
class ChoiceMap(MapEstimator):
    """Coordinates under which the answers are likely, for every kind of statement.

    Every statement compares sides of a triangle. With l(A) the length of the side opposite A,
    and L the lapse, the share of answers that are given without looking, the model is

    - ``central``: P(A) = (1 - L) exp(l(A)) / (exp(l(A)) + exp(l(B)) + exp(l(C))) + L / 3;
    - ``odd``: the same with exp(-l);
    - ``closer``, anchor A: P(B) = (1 - L) exp(-|AB|) / (exp(-|AB|) + exp(-|AC|)) + L / 2.

    The scale of the map says how sharply attentive answers follow the distances: they err
    where two sides are nearly as long. Lapses err anywhere. So the model tells the two apart,
    and knows its own error rate.

    The coordinates maximise the likelihood less ``l2`` times the sum of their squares (L-BFGS
    from the lens map; for ``odd`` and ``closer`` from a rough fit in three more dimensions).
    What is ``"cv"`` is chosen by the evidence, the likelihood with the coordinates integrated
    out: see Notes.

    Parameters
    ----------
    n_components : int or "cv"
        Dimensions, at most the number of objects minus one.
    l2 : float or "cv"
        Weight of the sum of squared coordinates. A float makes the fit quick: the lapse
        is then fitted together with the map, and is too small where answers are few for the
        coordinates.
    length : {"distance", "student"}
        The length of a side: the distance, or t-STE's (alpha + 1) / 2 log(1 + distance^2 / alpha)
        with alpha = n_components - 1, and at least 1. The latter can be better for few
        ``closer`` answers about many objects.
    lapses : {"raters", "one"} or float
        A lapse for each rater, where raters are known; one for all; or a known one.
    raters : {"one", "weights", "auto"}
        Whether raters see the same map (``"one"``), or each rater weighs its dimensions
        differently and has a sharpness of their own (``"weights"``). ``"auto"`` takes weights
        where held-out answers ask for them, and the map without elsewhere. See Notes.
    feature_share : "cv", float or dict
        With features, the share of the map's spread that they are expected to explain, from 0 to
        1; of several blocks a dict by their names, with a sum of at most 1. ``"cv"`` takes what
        predicts answers best, and 0 where features do not help.
    init : "lensmap" or (n_objects, n_components) array of float
        Where to start. An array needs a whole number of ``n_components``.
    max_iter : int
        Iterations of L-BFGS for the last fit.
    tol : float
        Stop when the loss falls by less than this share per iteration.
    random_state : int, Generator or None
        For the folds, and for axes that the lens map leaves flat.
    n_jobs : int, optional
        Threads; by default, and with -1, one per core. The answer does not depend on it.
    device : str, optional
        ``"cuda"`` or ``"cuda:1"``: fit on an NVIDIA GPU by PyTorch (the extra ``torch``), which
        pays from about 100,000 answers on; ``"torch"``: the same on the processor. By default,
        or with ``"cpu"``, by the compiled loops, without PyTorch. What is chosen by the
        evidence is chosen on the processor.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell: cblearn's triplets (anchor, near, far) are
        ``"closer"``. Statements and tables tell it.

    Attributes
    ----------
    embedding_ : (n_objects, n_components_) float64
        Centred, the widest axis first. Objects that no statement names are in the middle, or where
        their features expect them.
    kind_ : {"central", "odd", "closer"}
        What was asked. An array that the fitted map is given is of this kind.
    n_components_ : int
    l2_ : float
    length_ : str
    cv_scores_ : dict
        The log-likelihood per held-out answer for each number of dimensions that was tried, each
        with its own best penalty and lapse; empty where none was. It checks the choice, and is
        computed when it is first asked for.
    lapse_ : float
        The share of answers that are given without looking.
    error_rate_ : float
        The share of answers that are wrong because they are lapses: 2/3 ``lapse_``, and 1/2 of
        it for ``closer``.
    error_rate_interval_ : (float, float)
        At 95 %; computed when it is first asked for, where the fit has not needed it.
    place_errors_ : (n_objects, n_components_, n_components_) float64
        The covariance of the error of each object's place; computed when it is first asked for.
    rater_lapses_ : dict
        The lapse of each rater; empty without raters.
    rater_lapse_intervals_ : dict
        Of each lapse the 95 % credible interval.
    raters_ : {"one", "weights"}
        What was fitted.
    rater_weights_ : dict
        What each rater multiplies each dimension by, (n_components_,) arrays; the geometric mean
        over raters is 1 in every dimension. Empty for ``"one"``.
    rater_sharpness_ : dict
        What each rater multiplies all dimensions by besides. Empty for ``"one"``.
    rater_spread_ : (n_components_,) float64
        The standard deviation of the logarithms of the weights, as it was learnt; 0 for ``"one"``.
    rater_gain_ : (float, float) or None
        What weights gain: the log-likelihood per held-out answer beyond that of raters who differ
        in sharpness alone, and its standard error; None where it was not asked.
    feature_shares_ : dict
        With features, the share of each block, by its name (``"features"`` for the only one); 0
        for what does not help. Empty without features.
    feature_gain_ : (float, float) or None
        What features gain: the logarithm of the evidence per answer beyond that of the map
        without, and 0. None where it was not asked.
    features_ : Features or None
        The features themselves, as they were read.
    linear_part_ : (n_objects, n_components_) float64
        With features, what they explain of the coordinates; 0 without.
    log_likelihood_ : float
        Of the answers, without penalties.
    violations_ : float
        The share of similarity triplets (anchor, near, far) with d(anchor, near) >= d(anchor, far);
        computed when it is first asked for.
    model_ : ChoiceModel
        The coordinates and the lapse as a value of their own.
    n_iter_ : int
    converged_ : bool
        Whether the last fit ended before ``max_iter``.
    streamed_ : StreamedMap or None
        How the map was made, where it was by passes over files.

    Notes
    -----
    Answers in files that are too large to hold (`Answers`) are never read whole: up to 10 million
    of them make a start, and a few passes over the files move every object to where its own
    answers are likeliest. One question in twenty is kept aside, to choose the dimensions
    and to say how well answers are predicted (``streamed_.predicted``). Such a map has no
    penalty, no rater's own lapses, no intervals and no bootstrap.

    Folds are by question: all answers about the same three objects are held out together, or
    they would leak. Where six raters or more are known, a fold is a third of the raters, and
    the questions that they answered are left out of the training too, so that answers of
    new raters to new questions are predicted; unless that left less than half of the answers to
    learn from. From 50,000 answers on one part is held out.

    The dimensions, the penalty and the lapse maximise the evidence, at every size; in simulated
    studies it finds the dimensions from fewer answers than held-out ones do. At most 150 answers
    per object are looked at (but 50,000 at least); of very many an eighth may then ask for more
    dimensions. See `trilens.maps.laplace`.

    With features f every place is W f + r, a linear part and a remainder of its own, with normal
    priors: see `trilens.maps.features`. Features are centred, and each block is scaled to a mean
    squared length of 1; nothing else is done to single columns. The shares of the blocks are
    chosen with the penalty and the dimensions, by the evidence. If the map
    with features is not better than the one without, the latter is kept, and ``feature_shares_``
    are 0. Objects that no statement names are placed by their features.

    With weights a rater sees every coordinate in dimension d multiplied by the rater's sharpness
    and weight. Their logarithms have normal priors about 0 whose spreads are learnt and may be 0,
    so that raters with few answers stay near the others. The axes then have a meaning, and are
    left as they are: turning such a map would make it fit worse. `predict_proba` and `score` use
    the weights and the lapse of the rater of each statement, and those of the population (all
    weights 1) for raters that the map does not know; depth, bootstrap and place errors are about
    the population's map. The number of dimensions is chosen anew, by held-out answers of the same
    raters to other questions; it is often larger. ``"auto"`` takes weights if they gain more than
    three standard errors over a map whose raters differ in sharpness alone. On a line a weight is
    a sharpness, and the weights are all 1.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> S = study().statements
    >>> M = ChoiceMap().fit(S)
    >>> M.n_components_, round(M.error_rate_, 2)
    (3, 0.18)
    >>> M.predict_proba(S).shape
    (8000, 3)
    """

    n_components: int | Literal["cv"] = "cv"
    _: KW_ONLY
    l2: float | Literal["cv"] = "cv"
    length: Length = "distance"
    lapses: Literal["raters", "one"] | float = "raters"
    raters: Literal["one", "weights", "auto"] = "one"
    feature_share: Literal["cv"] | float | Mapping[str, float] = "cv"
    init: Literal["lensmap"] | ArrayLike = "lensmap"
    max_iter: int = 1000
    tol: float = 1e-6
    random_state: RandomState = 0
    n_jobs: int | None = None
    device: str | None = None
    kind: Kind | None = None

    def fit(
        self,
        S: AnswersLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        features: FeaturesLike | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find coordinates.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, or Answers
            Statements of any kind; an array needs ``kind``. Answers in files that are too
            large to hold are mapped by passes over the files; see Notes.
        y
            None, or labels of the objects for a later step of a Pipeline. Of an array whose rows
            are the objects as they were shown (``kind`` being central or odd), the position of
            each chosen object: 0, 1 or 2, as `Statements.to_choices` gives both. scikit-learn's
            scorers take them, such as ``scoring="neg_log_loss"``.
        sample_weight : (m,) array of float, optional
            How often each statement counts: 2 is as if it stood there twice, 0 leaves it out.
            That holds exactly where ``n_components`` and ``l2`` are numbers; what is chosen from
            the answers, as with ``"cv"``, may differ.
        features : array, table or dict, optional
            Vectors of the objects: (n_objects, q) numbers, dense or sparse, in the order of the
            objects; a pandas, polars or Arrow table with the names of the objects as its index or
            in a column; or a dict from name to vector. A dict whose values are two-dimensional
            (arrays, tables, dicts of vectors) holds several blocks, each with a share of its own.
            An object that has no row, or NaN in it, is placed by its answers alone.
        progress
            Called with the share of the work that is done at most; silent by default.
        """
        if isinstance(S, Answers) and S.streamed:
            return self._stream(S, sample_weight, features, progress)
        statements = self._to_fit(S, y)
        if isinstance(statements, Comparisons):
            raise KindError(
                "ChoiceMap takes statements about three objects, not comparisons "
                "d(A,B) < d(C,D); use SOE or GNMDS"
            )
        self._check(statements)
        check_progress(progress)
        given = sample_weights(sample_weight, len(statements))
        if given is not None and (given == 0).any():
            statements, given = statements.take(given > 0), given[given > 0]
        rng = generator(self.random_state)
        ordered, weighing, order = in_order(statements, given)
        read = told = None
        if features is not None:
            told = read_features(features, statements._names, statements.n_objects)
            read = told.take(order)
        with one_blas_thread():
            first = progress if self.raters == "one" else part_of(progress, 0.0, 0.4)
            chosen = self._choose(ordered, weighing, read, rng, part_of(first, 0.0, 0.7))
            start = None if isinstance(self.init, str) else np.array(self.init, np.float64)[order]
            prior = None if read is None else read.prior(chosen.shares)
            found, lapse, value, raters = self._fit(
                ordered, weighing, start, chosen, prior, rng, first
            )
            weighed, gain = self._fit_raters(
                ordered, weighing, chosen, prior, found, lapse, rng, progress
            )
        if weighed is not None:
            chosen, found, raters = weighed.settings, weighed.fit, weighed.by_name()
            lapse, value = weighed.lapse, weighed.log_likelihood
        X = np.empty_like(found.X)
        X[order] = principal_axes(found.X) if weighed is None else found.X
        alpha = alpha_of(chosen.n_components)
        self.model_ = ChoiceModel(X, lapse, statements.kind, chosen.length, alpha)
        self.embedding_ = X
        self.names_ = statements._names
        self.n_components_ = chosen.n_components
        self.l2_ = chosen.l2
        self.length_ = chosen.length
        self._scores = chosen.scores
        self.lapse_ = lapse
        self.error_rate_ = self.model_.error_rate
        self._interval = None if chosen.evidence is None else chosen.evidence.interval
        self._errors: FloatArray | None = None
        self._violations: float | None = None
        self._fitted_to = statements, given
        self.rater_lapses_, self.rater_lapse_intervals_ = raters
        self._tell_raters(None if weighed is None else weighed.raters, gain)
        self._tell_features(told, chosen.shares, chosen.gain)
        self.log_likelihood_ = value
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.streamed_: StreamedMap | None = None
        known = None if told is None or self._prior is None else told.known
        self._find_unknown(statements.appearances, known)
        if progress is not None:
            progress(1.0)
        self._tell_doubts()
        return self

    def __sklearn_tags__(self) -> Tags:
        # of questions: to scikit-learn's scorers an answer is one of two or three classes
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    @property
    def kind_(self) -> Kind:  # type: ignore[override]
        """The kind that was fitted, and that an array is of."""
        check_is_fitted(self)
        return self.model_.kind

    @property
    def classes_(self) -> IntArray:
        """The answers that the columns of `predict_proba` stand for: 0, 1, 2, or 0, 1."""
        return np.arange(n_answers(self.kind_))

    def _stream(
        self,
        answers: Answers,
        sample_weight: ArrayLike | None,
        features: FeaturesLike | None,
        progress: Progress | None,
    ) -> Self:
        """Fit by passes over files."""
        from trilens.maps.streamed import stream_map

        refuse_for_streams(
            self, {"l2": "cv", "length": "distance", "lapses": "raters", "init": "lensmap"}
        )
        if sample_weight is not None:
            raise ParameterError(
                f"sample_weight is not available: {NOT_STREAMED}", parameter="sample_weight"
            )
        if features is not None:
            raise ParameterError(
                f"features are not available: {NOT_STREAMED}", parameter="features"
            )
        one_of("ChoiceMap: raters", self.raters, _RATERS)
        if self.raters == "weights":
            raise ParameterError(
                "ChoiceMap: raters='weights' cannot be fitted to answers that are too large to "
                "hold in memory; take raters='one', or fit the map to read_statements(...)",
                parameter="raters",
            )
        wanted: Any = None if _is_cv(self.n_components) else self.n_components
        found = stream_map(
            answers,
            wanted,
            random_state=self.random_state,
            n_threads=threads_of(self.n_jobs),
            progress=progress,
        )
        same_kind(self.kind, found.counts.kind, self)
        for name in _NOT_OF_STREAMS:
            self.__dict__.pop(name, None)
        assert found.lapse is not None
        self._unknown = None
        self.model_ = ChoiceModel(found.embedding, found.lapse, found.counts.kind)
        self.embedding_ = found.embedding
        self.names_ = found.counts.known_names
        self.n_components_ = found.embedding.shape[1]
        self.length_ = "distance"
        self.lapse_, self.error_rate_ = found.lapse, self.model_.error_rate
        self._scores = HeldOutScores({})
        self.rater_lapses_, self.rater_lapse_intervals_ = {}, {}
        self._tell_raters(None, None)
        self._tell_features(None, (), None)
        self.streamed_ = found
        return self

    def _tell_features(
        self, features: Features | None, shares: Shares, gain: tuple[float, float] | None
    ) -> None:
        """The attributes about features."""
        names = () if features is None else features.names
        self.features_ = features
        self._prior = None if features is None else features.prior(shares)
        self.feature_shares_ = dict(zip(names, shares or (0.0,) * len(names), strict=True))
        self.feature_gain_ = gain

    def like(self, n_components: int | Literal["cv"], **parameters: Any) -> ChoiceMap:
        """A map to be fitted with the same shares of features; give it ``features_``."""
        if self.feature_shares_:
            parameters["feature_share"] = self.feature_shares_
        return ChoiceMap(n_components, **parameters)

    @property
    def linear_part_(self) -> FloatArray:
        """What the features explain of the coordinates, (n_objects, n_components_)."""
        check_is_fitted(self)
        if self._prior is None:
            return np.zeros_like(self.embedding_)
        return self._prior.linear_part(self.embedding_)

    def _tell_raters(self, raters: RaterWeights | None, gain: tuple[float, float] | None) -> None:
        """The attributes about raters who differ."""
        self.rater_gain_ = gain
        self._raters = raters
        self.raters_: Literal["one", "weights"] = "one" if raters is None else "weights"
        self.rater_weights_: dict[object, FloatArray] = {}
        self.rater_sharpness_: dict[object, float] = {}
        self.rater_spread_ = np.zeros(self.n_components_)
        if raters is not None:
            self.rater_weights_ = dict(zip(raters.names, raters.weights, strict=True))
            self.rater_sharpness_ = dict(zip(raters.names, raters.sharpness.tolist(), strict=True))
            self.rater_spread_ = raters.spread

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _NOT_OF_STREAMS and vars(self).get("streamed_") is not None:
                raise AttributeError(f"ChoiceMap has no {name}: {NOT_STREAMED}")
            return super().__getattribute__(name)  # raises what it raised before

    def reordered(self, S: Statements, order: IntArray) -> ChoiceMap:
        """The same map for the same statements with their objects in another order.

        Parameters
        ----------
        S : Statements
            About the objects in the new order.
        order : (n,) array of int
            The id that each object of ``S`` has on this map.
        """
        if self._answers_of_fit("another order")[1] is not None:
            raise ParameterError("a map of weighted statements cannot be reordered")
        found = copy(self)
        found.embedding_ = self.embedding_[order]
        found.model_ = replace(self.model_, embedding=found.embedding_)
        found.names_ = S._names
        found._errors, found._fitted_to = None, (S, None)
        found._unknown = None if self._unknown is None else self._unknown[order]
        if self.features_ is not None:
            shares = () if self._prior is None else self._prior.shares
            found._tell_features(self.features_.take(order), shares, self.feature_gain_)
        return found

    def among(self, S: Statements) -> ChoiceMap:
        """The same map with the objects of statements, by name; itself where these are the same."""
        order = self._numbers(S)
        return self if order is None else self.reordered(S, order)

    def _answers_of_fit(self, wanted: str) -> tuple[Statements, FloatArray | None]:
        """The statements that were fitted and their weights."""
        check_is_fitted(self)
        if self.streamed_ is not None:
            raise ParameterError(f"{wanted} is not available: {NOT_STREAMED}")
        return self._fitted_to

    @property
    def error_rate_interval_(self) -> tuple[float, float]:
        """The 95 % interval of the error rate."""
        fitted_to = self._answers_of_fit("error_rate_interval_")
        if self._interval is None:
            statements, weights, order = in_order(*fitted_to)
            model = replace(self.model_, embedding=self.embedding_[order])
            prior = None if self._prior is None else self._prior.among(order)
            self._interval = lapse_interval(
                statements, weights, model, self.l2_, threads_of(self.n_jobs), self._raters, prior
            )
        share = wrong_by_chance(self.model_.kind)
        low, high = self._interval
        return low * share, high * share

    @property
    def cv_scores_(self) -> dict[int, float]:
        """The log-likelihood per held-out answer for each number of dimensions that was tried."""
        check_is_fitted(self)
        return self._scores.all()

    def best_score(self, enough: float = np.inf) -> float:
        """The largest of ``cv_scores_``, or one that is large enough; -inf where there is none."""
        check_is_fitted(self)
        return self._scores.best(enough)

    @property
    def violations_(self) -> float:
        """The share of similarity triplets that the map violates, by ``sample_weight``."""
        statements, weights = self._answers_of_fit("violations_")
        if self._violations is None and weights is not None:
            self._violations = weighted_violations(self.embedding_, statements, weights)
        elif self._violations is None:
            self._violations = violations(self.embedding_, statements)
        return self._violations

    @property
    def place_errors_(self) -> FloatArray:
        """How far the place of each object may be off, (n_objects, d, d) covariances.

        By the Fisher information of the answers; what would shift or turn the whole map is left
        out. With thirty answers for each coordinate they are about right, apart from the scale of
        the map; with five they are two to four times too small. Beyond 1000 coordinates the other
        objects' places are taken as known, which makes them smaller still.

        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> M.place_errors_.shape
        (4, 1, 1)
        """
        fitted_to = self._answers_of_fit("place_errors_")
        if self._errors is None:
            self._errors = place_errors(
                *fitted_to, self.model_, self.l2_, self._raters, self._prior
            )
            self._errors.flags.writeable = False
        return self._errors

    def predict_proba(self, S: AnswersLike) -> FloatArray:
        """The probability of each possible answer to the questions of statements.

        Parameters
        ----------
        S : Statements, a table, or (m, 3) array
            Of the kind that was fitted.

        Returns
        -------
        (m, 3) float64, for ``closer`` (m, 2)
            Column 0 is the answer that was given, the others those with the second and the
            third object of the statement in its place (``closer``: the far one in the near
            one's place). All equal where nothing is known of one of the objects.
        """
        return self._judged(S)

    def _preferences(self, statements: Statements) -> FloatArray:
        if self._raters is not None:
            return self._raters.probabilities(self.model_, statements)
        return self.model_.probabilities(statements)

    def depth(self, n_triples: int | None = None, random_state: RandomState = 0) -> ModelDepth:
        """Depth by the model, see `ChoiceModel.depth`."""
        check_is_fitted(self)
        return self.model_.depth(n_triples, random_state)

    @contextmanager
    def refitting(
        self, S: AnswersLike, *, max_iter: int = 100, tol: float = 1e-5
    ) -> Iterator[Refit]:
        """Quick refits to statements with other weights, from the fitted map.

        The dimensions, the penalty, the length and the raters' lapses stay as they are.

        Parameters
        ----------
        S : Statements or (m, 3) array of int
        max_iter, tol
            When a refit ends.

        Yields
        ------
        callable
            Takes (m,) weights, gives a `ChoiceModel`. Its axes are near those of the map.

        Examples
        --------
        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> with M.refitting(S) as refit:
        ...     [refit(weights).embedding.shape for weights in ([1, 2, 0, 1], [0, 0, 3, 1])]
        [(4, 1), (4, 1)]
        """
        self._answers_of_fit("a refit")
        whole_number("max_iter", max_iter, least=1)
        real_number("tol", tol, 0)
        statements, model = as_statements(S, self.kind_), self.model_
        model.triples_of(statements)
        if len(statements) == 0 or statements.n_objects != len(model.embedding):
            raise ParameterError(
                f"a refit needs statements about the {len(model.embedding):,} objects of the map, "
                f"got {len(statements):,} about {statements.n_objects:,}"
            )
        with one_blas_thread(), self._prepared(statements) as (prepared, scale, own):
            # The map's own share is nearly unbiased, one fitted with the map would not be.
            fixed = self.l2 == "cv" or own is not None or not isinstance(self.lapses, str)

            def refit(weights: ArrayLike) -> ChoiceModel:
                given = sample_weights(weights, len(statements))
                assert given is not None
                found = fit_choices(
                    prepared.weighing(prepared.choices.weights_of(given)),
                    prepared.standard(model.embedding * scale),
                    model.lapse if own is None else own,
                    self.l2_,
                    fixed_lapse=fixed,
                    max_iter=max_iter,
                    tol=tol,
                )
                share = model.lapse if fixed else float(found.lapse[0])
                X = prepared.places(found.X) / scale
                return ChoiceModel(X, share, model.kind, model.length, model.alpha)

            yield refit

    @contextmanager
    def _prepared(
        self, statements: Statements
    ) -> Iterator[tuple[Likelihood, float | FloatArray, FloatArray | None]]:
        """The likelihood of coordinates times a scale, the scale, and the lapse of each answer.

        The latter is None where all have the same.
        """
        model, raters = self.model_, self._raters
        if raters is not None:
            rows, R = raters.rows_of(statements), len(raters.names)
            with weighed_likelihood(
                statements,
                None,
                rows,
                R,
                model.length,
                model.alpha,
                threads_of(self.n_jobs),
                self._prior,
            ) as f:
                yield *f.levelled(raters.stretch), np.append(raters.lapses, model.lapse)[f.rater]
            return
        lapse_of, own = self._known_lapses(statements), None
        choices = collect_choices(statements, keep_rows=True, keep_repeats=lapse_of is not None)
        if lapse_of is not None:
            own = np.empty(len(choices))
            own[choices.row] = lapse_of
        with likelihood(choices, model.length, model.alpha, threads_of(self.n_jobs)) as prepared:
            yield with_prior(prepared, self._prior), 1.0, own

    def bootstrap(
        self,
        S: AnswersLike,
        n_copies: int = 60,
        *,
        by_rater: bool = True,
        max_answers: int | None = None,
        max_iter: int = 100,
        random_state: RandomState = 0,
        progress: Progress | None = None,
    ) -> ResampledModels:
        """Models refitted to answers drawn anew with replacement, as many as there are.

        Where few questions were answered many times, as with one list for all, questions are
        drawn with all their answers: other raters with the same list would say the same.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, or Answers
            What the map was fitted to.
        n_copies : int
        by_rater : bool
            Draw raters with all their answers, where eight or more raters are known; and where
            questions are drawn, raters as well.
        max_answers : int, optional
            Draw only about so many where there are more (the m out of n bootstrap; Bickel, Götze
            and van Zwet, 1997); ``shrink`` of the result says what deviations are then worth.
        max_iter : int
            Iterations of each refit, which starts from the map.
        random_state
        progress
            Called with the share of the copies that is done.

        Examples
        --------
        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> M.bootstrap(S, 10).embeddings.shape
        (10, 4, 1)
        """
        self._answers_of_fit("a bootstrap")
        statements = as_statements(S, self.kind_)
        whole_number("n_copies", n_copies, least=1)
        whole_number("max_iter", max_iter, least=1)
        check_progress(progress)
        if not isinstance(by_rater, (bool, np.bool_)):
            raise wrong("by_rater", by_rater, "True or False")
        if max_answers is not None:
            whole_number("max_answers", max_answers, least=1)
        draw = _Resampling.of(statements, bool(by_rater), max_answers)
        rng = generator(random_state)
        models, drawn = [], []
        with ExitStack() as held:
            refit = None
            if draw.shrink == 1.0:
                refit = held.enter_context(self.refitting(statements, max_iter=max_iter))
            for i in range(n_copies):
                rows = draw.rows(rng)
                drawn.append(rows)
                if refit is not None:
                    models.append(refit(np.bincount(rows, minlength=len(statements))))
                else:
                    with self.refitting(statements.take(rows), max_iter=max_iter) as alone:
                        models.append(alone(np.ones(len(rows))))
                if progress is not None:
                    progress((i + 1) / n_copies)
        return ResampledModels(tuple(models), tuple(drawn), draw.shrink, draw.n_raters)

    def posterior(
        self,
        S: AnswersLike,
        n_draws: int = 200,
        *,
        dispersion: float = 1.0,
        effort: float = 1.0,
        random_state: RandomState = 0,
    ) -> FloatArray | None:
        """Maps that the answers allow, drawn from the posterior, see `trilens.maps.posterior`.

        They are turned as the fitted map is; the answers do not tell which way.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, or Answers
            What the map was fitted to.
        n_draws : int
        dispersion : float
            Answers count for this many times less.
        effort : float
            Up to 950 different answers the draws reach maps that differ much from the fitted
            one; with more effort, up to so many times as many.
        random_state

        Returns
        -------
        (n_draws, n_objects, n_components_) array of float, or None
            None where answers are many and coordinates more than 3000, which would be too dear;
            `bootstrap` serves there.

        Examples
        --------
        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> M.posterior(S, 10).shape
        (10, 4, 1)
        """
        from trilens.maps.posterior import draw_maps

        self._answers_of_fit("a posterior")
        statements = as_statements(S, self.kind_)
        whole_number("n_draws", n_draws, least=1)
        real_number("dispersion", dispersion, 1)
        real_number("effort", effort, 1)
        self.model_.triples_of(statements)
        return draw_maps(
            statements,
            self.model_,
            self.l2_,
            self._known_lapses(statements),
            n_draws,
            generator(random_state),
            dispersion,
            effort,
            self._prior,
        )

    def place_covariance(self, S: AnswersLike) -> FloatArray:
        """How the places of all objects may be off together, (n d, n d), by Laplace's method.

        The blocks of its diagonal are about `place_errors_`. Raters' weights are not used.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, or Answers
            What the map was fitted to.

        Examples
        --------
        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> ChoiceMap(1, l2=0.1, kind="central").fit(S).place_covariance(S).shape
        (4, 4)
        """
        from trilens.maps.posterior import MOST_COORDINATES, place_covariance

        self._answers_of_fit("a covariance")
        statements = as_statements(S)
        self.model_.triples_of(statements)
        if self.embedding_.size > MOST_COORDINATES:
            raise ParameterError(
                f"the map has {self.embedding_.size:,} coordinates; their covariance is too dear "
                f"beyond {MOST_COORDINATES:,}"
            )
        lapses = self._known_lapses(statements)
        return place_covariance(statements, self.model_, self.l2_, lapses, self._prior)

    def place(
        self, S: AnswersLike | None = None, *, features: FeaturesLike | None = None
    ) -> Places:
        """Where new objects lie, by answers about them, by their features, or by both.

        The objects of the map stay where they are; a new place is the likeliest one, as a fit of
        everything would find it if the others did not move. Raters' lapses are used where the map
        knows them, their weights are not.

        Parameters
        ----------
        S : Statements, a table or (m, 3) array, optional
            Answers of the kind of the map that name new objects, beside those of the map. Several
            new objects in one answer are placed together. Answers about objects of the map alone
            are passed over.
        features : array, table or dict, optional
            Vectors of new objects, as `fit` takes them: by name, or in the order of the new
            objects. They are standardised as those of the fit were.

        Returns
        -------
        Places

        Examples
        --------
        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> found = M.place([[1, 0, 4], [2, 1, 4], [3, 1, 4]])
        >>> found.names, found.coordinates.shape, found.covariance.shape
        (('4',), (1, 1), (1, 1, 1))
        """
        from trilens.maps.places import find_places, new_objects

        check_is_fitted(self)
        given = None if S is None else as_statements(S, self.kind_)
        return find_places(self, new_objects(self, given, features))

    def extend(
        self, S: AnswersLike | None = None, *, features: FeaturesLike | None = None
    ) -> ChoiceMap:
        """A map that has new objects too, at the places that `place` finds; parameters as there.

        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> M.extend([[1, 0, 4], [2, 1, 4], [3, 1, 4]]).embedding_.shape
        (5, 1)
        """
        from trilens.maps.places import find_places, new_objects

        self._answers_of_fit("a larger map")
        given = None if S is None else as_statements(S, self.kind_)
        new = new_objects(self, given, features)
        placed = find_places(self, new)
        found = copy(self)
        found.embedding_ = np.vstack([self.embedding_, placed.coordinates])
        found.model_ = replace(self.model_, embedding=found.embedding_)
        names = self.names_ or tuple(str(i) for i in range(len(self.embedding_)))
        whole = Statements(
            np.empty((0, 3), np.int32),
            len(found.embedding_),
            names=[*names, *placed.names],
            kind=self.model_.kind,
        )
        found.names_ = whole._names
        found._interval = (self.error_rate_interval_, self._interval)[1]
        found._violations = self.violations_
        found._errors = np.concatenate([self.place_errors_, placed.covariance])
        found._fitted_to = whole, None
        if self._unknown is not None:
            found._unknown = np.append(self._unknown, np.zeros(len(placed.names), np.bool_))
        if self.features_ is not None:
            shares = () if self._prior is None else self._prior.shares
            more = self.features_.extended(new.features, len(placed.names))
            found._tell_features(more, shares, self.feature_gain_)
        return found

    def save(self, path: PathLike) -> None:
        """Write the map to a file that `trilens.load_map` reads; it appears whole or not at all.

        Parameters
        ----------
        path : path
            The file is a numpy archive whatever its ending; ``map.npz`` is a good name. It has the
            coordinates, their errors, names and features, and no answers.
        """
        from trilens.maps.map_file import save_map

        check_is_fitted(self)
        save_map(self, path)

    def lapse_of(self, S: Statements) -> FloatArray:
        """The lapse of the rater of each statement, (m,); that of all where it is not known."""
        known = self._known_lapses(S)
        return np.full(len(S), self.lapse_) if known is None else known

    def _check(self, statements: Statements) -> None:
        if len(statements) == 0:
            raise StatementError("ChoiceMap needs at least one statement; there are none")
        n = statements.n_objects
        d = check_components(self.n_components, n, "cv")
        if not _is_cv(self.l2):
            real_number("ChoiceMap: l2", self.l2, 0)
        one_of("ChoiceMap: length", self.length, ("distance", "student"))
        if not isinstance(self.lapses, str):
            real_number("ChoiceMap: lapses", self.lapses, 0, 1)
        elif self.lapses not in ("raters", "one"):
            raise wrong("ChoiceMap: lapses", self.lapses, "'raters', 'one' or a share from 0 to 1")
        one_of("ChoiceMap: raters", self.raters, _RATERS)
        whole_number("ChoiceMap: max_iter", self.max_iter, least=1)
        real_number("ChoiceMap: tol", self.tol, 0)
        threads_of(self.n_jobs)
        if is_on_device(self.device):
            open_device(str(self.device))  # not only once everything else is chosen
        if isinstance(self.init, str):
            if self.init != "lensmap":
                raise wrong("ChoiceMap: init", self.init, "'lensmap' or an array")
        elif d is None:
            raise ParameterError(
                "ChoiceMap: n_components must be a number where init is an array",
                parameter="n_components",
            )
        else:
            given_start("ChoiceMap", self.init, (n, d))

    def _choose(
        self,
        statements: Statements,
        weights: FloatArray | None,
        features: Features | None,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> MapSettings:
        shares = None if features is None else self._given_shares(features)
        d = None if _is_cv(self.n_components) else int(self.n_components)
        l2 = None if _is_cv(self.l2) else float(self.l2)
        known = features is None or shares is not None
        if d is not None and l2 is not None and known:
            return MapSettings(d, l2, self.length, HeldOutScores({}), None, shares or ())
        return select(
            statements,
            weights,
            n_components=d,
            l2=l2,
            length=self.length,
            rng=rng,
            n_threads=threads_of(self.n_jobs),
            progress=progress,
            features=features,
            shares=shares,
        )

    def _given_shares(self, features: Features) -> Shares | None:
        """The share of each block, checked; None where they are to be chosen."""
        given, names = self.feature_share, features.names
        if _is_cv(given):
            return None
        if isinstance(given, Mapping):
            strange = [name for name in given if name not in names]
            if strange:
                raise ParameterError(
                    f"ChoiceMap: feature_share names {strange[0]!r}; the blocks of features are "
                    f"{', '.join(names)}",
                    parameter="feature_share",
                )
            shares = [real_number("ChoiceMap: feature_share", x, 0, 1) for x in given.values()]
            by_name = dict(zip(given, shares, strict=True))
            found = tuple(by_name.get(name, 0.0) for name in names)
        elif len(names) > 1:
            raise wrong("ChoiceMap: feature_share", given, f"'cv' or a dict for {', '.join(names)}")
        else:
            found = (real_number("ChoiceMap: feature_share", given, 0, 1),)
        if sum(found) > 1:
            raise wrong("ChoiceMap: feature_share", given, "of a sum of at most 1")
        return found

    def _fit(
        self,
        statements: Statements,
        weights: FloatArray | None,
        init: FloatArray | None,
        chosen: MapSettings,
        prior: FeaturePrior | None,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> tuple[
        ChoiceFit, float, float, tuple[dict[object, float], dict[object, tuple[float, float]]]
    ]:
        """The fit of all statements as places, the lapse, its likelihood, raters' own."""
        d, l2, evidence = chosen.n_components, chosen.l2, chosen.evidence
        known = not isinstance(self.lapses, str)
        groups = group_raters(statements) if self.lapses == "raters" else None
        choices = collect_choices(
            statements, weights, keep_rows=groups is not None, keep_repeats=groups is not None
        )
        fit = partial(fit_choices, max_iter=self.max_iter, tol=self.tol)
        with likelihood(
            choices, chosen.length, alpha_of(d), threads_of(self.n_jobs), device=self.device
        ) as answers:
            f = with_prior(answers, prior)
            if init is not None:
                start = Start(f.standard(without_unseen(init, statements.triples)))
            elif evidence is not None:
                start = Start(evidence.X)
            else:
                start = prepare_start(statements, f, d, l2, rng)
            lapse = start.lapse if evidence is None else evidence.lapse
            if known:
                lapse = float(self.lapses)
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
                return replace(found, X=f.places(found.X)), lapse, value, ({}, {})
            assert choices.row is not None
            for _ in range(_ROUNDS):
                X = f.places(found.X)
                model = ChoiceModel(X, 0.0, choices.kind, chosen.length, alpha_of(d))
                shares = estimate_lapses(
                    model.chosen(statements.triples),
                    groups.of,
                    np.ones(len(statements)) if weights is None else weights,
                    len(groups),
                    n_answers(choices.kind),
                )
                own = np.empty(len(choices))
                own[choices.row] = np.append(shares.mean, lapse)[groups.of]
                found = fit(f, found.X, own, l2, fixed_lapse=True)
            value = -f(found.X, np.array([lapse]))[0]
            found = replace(found, X=f.places(found.X))
        return found, lapse, value, shares.by_name(groups.names)

    def _fit_raters(
        self,
        statements: Statements,
        weights: FloatArray | None,
        chosen: MapSettings,
        prior: FeaturePrior | None,
        found: ChoiceFit,
        lapse: float,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> tuple[FittedRaters | None, tuple[float, float] | None]:
        """The map with raters' weights, and what they gain where it was asked.

        None where weights are not wanted, or not asked for by the answers.
        """
        if self.raters == "one":
            return None, None
        groups = group_raters(statements)
        if groups is None or len(groups) < 2:
            if self.raters == "auto":
                return None, None
            raise StatementError(
                "ChoiceMap: raters='weights' needs the answers of two raters or more, and "
                f"{'no rater is known' if groups is None else 'there is one'}; give raters with "
                "the statements, or take raters='one'"
            )
        d = None if _is_cv(self.n_components) else int(self.n_components)
        gain = None
        if self.raters == "auto" or d is None:
            told = choose_weights(
                statements,
                weights,
                chosen,
                n_components=d,
                lapse=lapse,
                rng=rng,
                n_threads=threads_of(self.n_jobs),
                progress=part_of(progress, 0.4, 0.4),
                prior=prior,
            )
            gain = told.gain, told.error
            if self.raters == "auto" and not told.asked_for:
                return None, gain
            scores = HeldOutScores(told.scores) if told.scores else chosen.scores
            chosen = replace(chosen, n_components=told.n_components, scores=scores)
        start = None
        if found.X.shape[1] == chosen.n_components:
            start = principal_axes(found.X) if isinstance(self.init, str) else found.X
        weighed = fit_raters(
            statements,
            weights,
            groups,
            chosen,
            start,
            lapse,
            rng=rng,
            known_lapse=not isinstance(self.lapses, str),
            own_lapses=self.lapses == "raters",
            learn_l2=_is_cv(self.l2),
            max_iter=self.max_iter,
            tol=self.tol,
            n_threads=threads_of(self.n_jobs),
            prior=prior,
        )
        return weighed, gain

    def _known_lapses(self, statements: Statements) -> FloatArray | None:
        """The lapse of each statement's rater, where the fit had raters."""
        groups = group_raters(statements) if self.rater_lapses_ else None
        if groups is None:
            return None
        own = [self.rater_lapses_.get(name, self.lapse_) for name in groups.names]
        lapses: FloatArray = np.append(own, self.lapse_)[groups.of]
        return lapses


#: Answers to a question from which on questions are drawn.
_REPEATED = 2.0
#: Fewer questions say too little about questions.
_LEAST_QUESTIONS = 30


@dataclass(frozen=True, eq=False)
class _Resampling:
    """What is drawn anew: statements one by one, or raters or questions with all their answers.

    Attributes
    ----------
    order : (m,) int64
        The statements in an order of their own, `row_order`.
    of_rater : tuple of int64 arrays, or None
        The statements of each rater; None where statements are drawn.
    alone : (k,) int64
        The statements whose rater is not known, where raters are drawn.
    n_drawn : int
        Statements, raters or questions that a draw has.
    question : (m,) int64 or None
        The number of the question of each statement, where questions are drawn.
    """

    order: IntArray
    of_rater: tuple[IntArray, ...] | None
    alone: IntArray
    n_drawn: int
    question: IntArray | None = None

    @classmethod
    def of(cls, statements: Statements, by_rater: bool, most: int | None) -> _Resampling:
        """As many as there are, or so many that about ``most`` statements are drawn.

        Fewer than `LEAST_RATERS` raters say too little about raters: statements are drawn then.
        """
        order, m = row_order(statements), len(statements)
        groups = group_raters(statements) if by_rater else None
        raters = 0 if groups is None else len(groups)
        question = _repeated_questions(statements)
        of_rater: tuple[IntArray, ...] | None = None
        alone, units = order[:0], m
        if groups is not None and raters >= LEAST_RATERS:
            order = order[np.argsort(groups.of[order], kind="stable")]
            ends = np.searchsorted(groups.of[order], range(raters))
            alone, *parts = np.split(order, ends)
            of_rater, units = tuple(parts), raters
        drawn = units
        if most is not None and m > most:
            least = 1 if of_rater is None else LEAST_RATERS
            drawn = max(round(units * most / m), least)
        if question is not None:
            # raters are drawn as many as there are, and questions so that answers are not too many
            questions = int(question.max()) + 1
            drawn = questions
            if most is not None and m > most:
                drawn = max(round(questions * most / m), _LEAST_QUESTIONS)
        return cls(order, of_rater, alone, drawn, question)

    @property
    def n_raters(self) -> int:
        """Raters that are drawn from; 0 where statements are."""
        return 0 if self.of_rater is None else len(self.of_rater)

    @property
    def n_units(self) -> int:
        """What there is to draw from: questions, raters or statements."""
        if self.question is not None:
            return int(self.question.max()) + 1
        return self.n_raters or len(self.order)

    @property
    def shrink(self) -> float:
        """The root of the share of what there is that a draw has."""
        return float(np.sqrt(self.n_drawn / self.n_units))

    def rows(self, rng: np.random.Generator) -> IntArray:
        """The statements of a draw, with replacement.

        A rater who is drawn comes with all answers. Answers whose rater is not known are drawn
        one by one. Where questions are drawn, a statement comes as often as its question, times
        its rater (Owen and Eckles, 2012).
        """
        if self.question is not None:
            times = np.bincount(
                rng.integers(self.n_units, size=self.n_drawn), minlength=self.n_units
            )
            often = times[self.question[self.order]]
            if self.of_rater is not None:
                own = np.bincount(
                    rng.integers(self.n_raters, size=self.n_raters), minlength=self.n_raters
                )
                many = [len(part) for part in self.of_rater]
                often = often * np.r_[np.ones(len(self.alone), np.int64), np.repeat(own, many)]
            rows = np.repeat(self.order, often)
            return rows if len(rows) else self.order
        chosen = rng.integers(self.n_units, size=self.n_drawn)
        if self.of_rater is None:
            return self.order[chosen]
        parts = [self.of_rater[i] for i in chosen]
        if len(self.alone):
            many_alone = round(len(self.alone) * self.shrink**2)
            parts.append(self.alone[rng.integers(len(self.alone), size=many_alone)])
        return np.concatenate(parts)


def _repeated_questions(statements: Statements) -> IntArray | None:
    """The question of each statement, numbered by their objects, if few were asked many times.

    Not where there are hardly more: of few objects all questions are asked again and again.
    """
    n = statements.n_objects
    question, _, asked = questions(statements.subset(object_order(statements._names, n)))
    if len(asked) < _LEAST_QUESTIONS or len(statements) < _REPEATED * len(asked):
        return None
    return question if len(asked) < n_questions(statements.kind, n) / 2 else None


def _is_cv(value: Any) -> bool:
    return isinstance(value, str) and value == "cv"
