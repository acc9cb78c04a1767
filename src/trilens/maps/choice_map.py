"""The choice map as a scikit-learn estimator: a face of `trilens.fit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import check_progress, wrong
from trilens._typing import BoolArray, FloatArray, IntArray, Progress, RandomState
from trilens.answers import Answers, AnswersLike
from trilens.errors import StatementError
from trilens.kinds import Kind, n_answers
from trilens.maps.estimator import MapEstimator
from trilens.maps.features import Features, FeaturesLike, features_for
from trilens.maps.fitted import Fit, fit_answers
from trilens.maps.fitting import How
from trilens.maps.map import ModelDepth, check_components
from trilens.maps.pairs import Length
from trilens.statements import Statements
from trilens.statements.value import same_kind

if TYPE_CHECKING:
    from trilens.maps.places import Places

T = TypeVar("T")


class _Learned(Generic[T]):
    """What the fit of a `ChoiceMap` has learned, as an attribute of the estimator."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, model: ChoiceMap, owner: type) -> T:
        if model is None:  # of the class itself
            return cast("T", self)
        found: T = attrgetter(self._name)(model._fit)
        return found


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

    The coordinates maximize the likelihood less ``l2`` times the sum of their squares (L-BFGS
    from the lens map; for ``odd`` and ``closer`` from a rough fit in three more dimensions).
    What is ``"cv"`` is chosen by the evidence, the likelihood with the coordinates integrated
    out, whatever the size: see Notes. It is `trilens.fit` as a scikit-learn estimator.

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
        ``"cuda"`` or ``"cuda:1"``: fit on an NVIDIA GPU (the extra ``gpu``), which pays from
        about 100,000 answers on. By default, or with ``"cpu"``, by the compiled loops.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell: cblearn's triplets (anchor, near, far) are
        ``"closer"``. Statements and tables tell it.

    Attributes
    ----------
    embedding_ : (n_objects, n_components_) float64
        Centered, the widest axis first. Objects that no statement names are in the middle, or where
        their features expect them.
    kind_ : {"central", "odd", "closer"}
        What was asked. An array that the fitted map is given is of this kind.
    n_components_ : int
    l2_ : float
    length_ : str
    cv_scores_ : dict
        The log-likelihood per held-out answer for each number of dimensions that was tried; empty
        where none was. It checks the choice, and is computed when it is first asked for.
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
        The lapse of each rater; empty without raters, and of files too large to hold.
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
        The standard deviation of the logarithms of the weights, as it was learned; 0 for ``"one"``.
    rater_gain_ : (float, float) or None
        What weights gain: the log-likelihood per held-out answer beyond that of raters who differ
        in sharpness alone, and its standard error; None where it was not asked.
    feature_shares_ : dict
        With features, the share of each block, by its name (``"features"`` for the only one); 0
        for what does not help. Empty without features.
    feature_gain_ : (float, float) or None
        What features gain: the logarithm of the ratio of the evidence per answer, and 0. None
        where it was not asked.
    features_ : Features or None
        The features themselves, as they were read.
    linear_part_ : (n_objects, n_components_) float64
        With features, what they explain of the coordinates; 0 without.
    log_likelihood_ : float
        Of the answers, without penalties.
    violations_ : float
        The share of similarity triplets (anchor, near, far) with d(anchor, near) >= d(anchor, far);
        computed when it is first asked for.
    fit_ : Fit
        What `trilens.fit` returns: every question takes it.
    n_iter_ : int
    converged_ : bool
        Whether the last fit ended before ``max_iter``.

    Notes
    -----
    Answers in files that are too large to hold (`Answers`) are never read whole: up to 10 million
    of them are fitted in memory, and a few passes over the files move every object to where all
    its answers are likeliest.

    The dimensions, the penalty and the lapse maximize the evidence. ``cv_scores_`` are by folds of
    questions: all answers about the same three objects are held out together, or they would leak.
    Where six raters or more are known, a fold is a third of the raters, and the questions that
    they answered are left out of the training too, so that answers of new raters to new questions
    are predicted; unless that left less than half of the answers to learn from.

    With features f every place is W f + r, a linear part and a remainder of its own, with normal
    priors: see `trilens.maps.features`. Features are centered, and each block is scaled to a mean
    squared length of 1; nothing else is done to single columns. The shares of the blocks are
    chosen with the penalty and the dimensions, by the evidence. If the map with features is not
    better than the one without, the latter is kept, and ``feature_shares_`` are 0. Objects that no
    statement names are placed by their features.

    With weights a rater sees every coordinate in dimension d multiplied by the rater's sharpness
    and weight. Their logarithms have normal priors about 0 whose spreads are learned and may be 0,
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
            large to hold are fitted as well; see Notes.
        y
            None, or labels of the objects for a later step of a Pipeline. Of an array whose rows
            are the objects as they were shown (``kind`` being central or odd), the position of
            each chosen object: 0, 1 or 2, as `Statements.to_choices` gives both. scikit-learn's
            scorers take them, such as ``scoring="neg_log_loss"``.
        sample_weight : (m,) array of float, optional
            How often each statement counts: 2 is exactly as if it stood there twice, 0 leaves it
            out. Weights that are no whole numbers count alike in the likelihood, though what is
            chosen from the answers, as with ``"cv"``, may differ a little.
        features : array, table or dict, optional
            Vectors of the objects: (n_objects, q) numbers, dense or sparse, in the order of the
            objects; a pandas, polars or Arrow table with the names of the objects as its index or
            in a column; or a dict from name to vector. A dict whose values are two-dimensional
            (arrays, tables, dicts of vectors) holds several blocks, each with a share of its own.
            An object that has no row, or NaN in it, is placed by its answers alone. Where objects
            are divided, as by cross-validation with labels, features hang on them:
            ``S.objects.with_features(features)``.
        progress
            Called with the share of the work that is done at most; silent by default.
        """
        check_progress(progress)
        S, features = features_for(S, features)
        data: Any = S
        if not (isinstance(S, Answers) and not S.held):
            data = self._to_fit(S, y)
            if len(data) == 0:
                raise StatementError("ChoiceMap needs at least one statement; there are none")
            check_components(self.n_components, data.n_objects, "cv")
        found = fit_answers(data, self._how(), features, sample_weight, self.random_state, progress)
        same_kind(self.kind, found.map.kind, self)
        self.fit_ = found
        self._tell_doubts()
        return self

    def _how(self) -> How:
        """The parameters, where what is None is to be chosen."""
        given = {each.name: getattr(self, each.name) for each in fields(How)}
        for name in ("n_components", "l2", "feature_share", "init"):
            word, other = ("lensmap", "an array") if name == "init" else ("cv", "a number")
            if isinstance(given[name], str):
                if given[name] != word:
                    raise wrong(f"ChoiceMap: {name}", given[name], f"'{word}' or {other}")
                given[name] = None
        return How(**given)

    def _doubts(self) -> Iterator[Warning]:
        yield from super()._doubts()
        if self.l2_ == 0:
            yield ConvergenceWarning(
                "ChoiceMap without a penalty (l2=0) has no limit to its size where answers do not "
                "contradict each other; give a small number, such as l2=0.01, or 'cv'"
            )

    def __sklearn_tags__(self) -> Tags:
        # of questions, which arrays can be: to scikit-learn's scorers an answer is one of two or
        # three classes
        tags = super().__sklearn_tags__()
        if self.kind is not None:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    @property
    def _fit(self) -> Fit:
        check_is_fitted(self)
        return self.fit_

    kind_ = _Learned[Kind]("map.kind")
    embedding_ = _Learned[FloatArray]("map.X")
    names_ = _Learned[tuple[str, ...] | None]("map.names")
    n_components_ = _Learned[int]("map.n_components")
    length_ = _Learned[Length]("map.length")
    lapse_ = _Learned[float]("map.lapse")
    error_rate_ = _Learned[float]("error_rate")
    error_rate_interval_ = _Learned[tuple[float, float]]("error_rate_interval")
    place_errors_ = _Learned[FloatArray]("place_cov")
    violations_ = _Learned[float]("violations")
    l2_ = _Learned[float]("settings.l2")
    feature_gain_ = _Learned[tuple[float, float] | None]("settings.gain")
    features_ = _Learned[Features | None]("features")
    rater_lapses_ = _Learned[dict[object, float]]("raters.by_name.lapses")
    rater_lapse_intervals_ = _Learned[dict[object, tuple[float, float]]]("raters.by_name.intervals")
    rater_gain_ = _Learned[tuple[float, float] | None]("raters.gain")
    log_likelihood_ = _Learned[float]("log_likelihood")
    n_iter_ = _Learned[int]("n_iter")
    converged_ = _Learned[bool]("converged")
    _unknown = _Learned[BoolArray | None]("unknown")

    @property
    def classes_(self) -> IntArray:
        """The answers that the columns of `predict_proba` stand for: 0, 1, 2, or 0, 1."""
        return np.arange(n_answers(self.kind_))

    @property
    def cv_scores_(self) -> dict[int, float]:
        """The log-likelihood per held-out answer for each number of dimensions that was tried."""
        return self._fit.settings.scores.all()

    @property
    def raters_(self) -> Literal["one", "weights"]:
        """What was fitted."""
        return "one" if self._fit.raters.weights is None else "weights"

    @property
    def rater_weights_(self) -> dict[object, FloatArray]:
        """What each rater multiplies each dimension by; empty for ``"one"``."""
        found = self._fit.raters.weights
        return {} if found is None else dict(zip(found.names, found.weights, strict=True))

    @property
    def rater_sharpness_(self) -> dict[object, float]:
        """What each rater multiplies all dimensions by besides; empty for ``"one"``."""
        found = self._fit.raters.weights
        return (
            {} if found is None else dict(zip(found.names, found.sharpness.tolist(), strict=True))
        )

    @property
    def rater_spread_(self) -> FloatArray:
        """The standard deviation of the logarithms of the weights."""
        found = self._fit.raters.weights
        return np.zeros(self.n_components_) if found is None else found.spread

    @property
    def feature_shares_(self) -> dict[str, float]:
        """The share of each block of features; empty without features."""
        if self._fit.features is None:
            return {}
        names = self._fit.features.names
        return dict(zip(names, self._fit.settings.shares or (0.0,) * len(names), strict=True))

    @property
    def linear_part_(self) -> FloatArray:
        """What the features explain of the coordinates, (n_objects, n_components_)."""
        prior = self._fit.prior
        return (
            np.zeros_like(self.embedding_) if prior is None else prior.linear_part(self.embedding_)
        )

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
        return self._fit.probabilities_by_id(statements)

    def depth(self, n_triples: int | None = None, random_state: RandomState = 0) -> ModelDepth:
        """Depth by the model, see `Map.depth`."""
        return self._fit.map.depth(n_triples, random_state)

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
            objects. They are standardized as those of the fit were.

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
        return self._fit.place(S, features=features)

    def extend(
        self, S: AnswersLike | None = None, *, features: FeaturesLike | None = None
    ) -> ChoiceMap:
        """A map that has new objects too, at the places that `place` finds; parameters as there.

        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1, l2=0.1, kind="central").fit(S)
        >>> M.extend([[1, 0, 4], [2, 1, 4], [3, 1, 4]]).embedding_.shape
        (5, 1)
        """
        found = copy(self)
        found.fit_ = self._fit.extend(S, features=features)
        return found
