"""Classification on the coordinates of a map."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import generator, is_whole, one_of, seed_of, shown, wrong
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.ask import is_enough
from trilens.counts import ClassCounts, LabelledPairCounts, PairCounts, count_pairs
from trilens.errors import ParameterError
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.estimator import MapEstimator, asked_from_outside
from trilens.maps.features import FeaturesLike, features_for
from trilens.maps.fitted import Fit, fit
from trilens.maps.geometry import rescaled
from trilens.maps.lens_map import LensMap
from trilens.maps.map import warn_of_unmentioned
from trilens.maps.registry import MAPS, make_map
from trilens.questions.classify.transductive import (
    ObjectsLike,
    TransductiveClassifier,
    alike,
    nearest_labelled,
    nothing_about,
)
from trilens.questions.classify.tuning import (
    candidates,
    chosen_parameters,
    cross_validated,
    tuned_classifier,
)
from trilens.questions.labels import ClassCodes, LabelsLike
from trilens.statements import Kind, Statements, StatementsLike

#: Dimensions that cross-validation chooses from, as far as there are objects for them.
DIMENSIONS = (2, 5, 10, 20)
#: Labeled objects that choose the parameters on a map; all of them are learned from.
_MOST_TUNED = 2000


def _gives_probabilities(classifier: MapClassifier) -> bool:
    """Whether the classifier on the map has probabilities; the error says which have."""
    chosen = getattr(classifier, "classifier_", classifier.classifier)
    if chosen is None or chosen == "knn" or hasattr(chosen, "predict_proba"):
        return True
    raise AttributeError(
        f"the classifier {shown(classifier.classifier)} gives no probabilities; take 'knn', or a "
        f"scikit-learn classifier that has predict_proba"
    )


@dataclass(eq=False, repr=False)
class MapClassifier(TransductiveClassifier):
    """Classification on the coordinates of a map, for statements of any kind.

    The map uses every statement, also those about unlabeled objects; the classifier then
    learns from the coordinates of the labeled ones, rescaled to diameter 2.

    Parameters
    ----------
    classifier : None, str or scikit-learn classifier
        ``"knn"`` (the default), ``"svm-linear"`` or ``"svm-gauss"``, tuned over the paper's grid
        by up to 10-fold cross-validation; any other classifier is fitted as it is.
    n_components : "cv", int or sequence of int
        The dimensions of the map. For the choice map ``"cv"`` leaves them to the map, which
        looks at answers alone and at no label; for the others it takes the one of 2, 5, 10 and
        20 with the best cross-validated accuracy (of equals the smallest). A sequence names
        the candidates.
    map : {"auto", "choice", "lensmap", "soe", "ste", "tste", "gnmds"} or map estimator
        Where the coordinates come from. ``"auto"``: as `trilens.classify` has it, the choice map
        where there are enough answers, and else the lens map. An estimator, such as
        ``SOE(3)``, is cloned; its dimensions are its own.
    random_state : int, Generator or None
        For the folds of the cross-validation, and the start of the other maps.
    kind : {"central", "odd", "closer"}, optional
        What was asked: required for arrays, which do not tell.

    Attributes
    ----------
    transduction_ : (n_objects,) array
        A label for every object; that of a labeled one is as given.
    classes_ : (K,) array
    kind_ : {"central", "odd", "closer"}
    map_ : str
        The map that was taken.
    embedding_ : (n_objects, n_components_) float64
    n_components_ : int
    fit_ : Fit or None
        The fit behind a choice map.
    error_rate_ : float or None
        The share of answers that are wrong by the choice map; None of the other maps.
    cv_scores_ : dict of int to float
        The cross-validated accuracy of each candidate; empty where there was no choice.
    chosen_parameters_ : dict
        The classifier, what its cross-validation chose, and ``n_components``.
    classifier_
        The fitted classifier.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> points = mixture(40, means=[[0, 0], [9, 0]], random_state=0)
    >>> S = simulate_statements(points, 2000, random_state=1)
    >>> y = points.labels.copy()
    >>> y[::2] = -1
    >>> model = MapClassifier(random_state=0).fit(S, y)
    >>> bool((model.transduction_ == points.labels).mean() > 0.9)
    True
    """

    classifier: Any = None
    n_components: Any = "cv"
    _: KW_ONLY
    map: str | MapEstimator = "auto"
    random_state: RandomState = 0
    kind: Kind | None = None

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, objects: ObjectsLike | None = None) -> FloatArray:
        """The probability of each class for some objects, (len(objects), K).

        That of ``classifier_`` at the object's place; 1 for the label of a labeled object.

        Parameters
        ----------
        objects
            As in `predict`.
        """
        check_is_fitted(self, "transduction_")
        ids = self._ids_of(objects)
        codes = self._labels.codes[ids]
        found = np.zeros((len(ids), len(self.classes_)))
        found[np.flatnonzero(codes >= 0), codes[codes >= 0]] = 1.0
        if (codes < 0).any():
            places = self.embedding_[ids[codes < 0]]
            found[np.ix_(codes < 0, self.classifier_.classes_)] = self.classifier_.predict_proba(
                places
            )
        return found

    def fit(
        self,
        X: Fit | StatementsLike | ClassCounts | LabelledPairCounts | PairCounts,
        y: LabelsLike,
        *,
        features: FeaturesLike | None = None,
    ) -> Self:
        """Learn from statements and the labels of some objects.

        Parameters
        ----------
        X : Fit, Statements, a table, (m, 3) array, ``S.objects`` or PairCounts
            Statements, or some of their objects: all others are then unlabeled. A fit is taken
            as it is. Counts of pairs suffice for the lens map.
        y : dict of labels by name, or (n_objects,) iterable
            Labels of any type; -1, None or NaN for an unlabeled object.
        features : array, table or dict, optional
            Vectors of all objects, for the choice map: see `ChoiceMap.fit`. Where objects are
            divided, as by cross-validation, they hang on these:
            ``S.objects.with_features(features)``.
        """
        data, self._features = features_for(X, features)
        self.fit_: Fit | None = None
        if not isinstance(X, Fit):
            return super().fit(data, y)
        if features is not None:
            raise ParameterError(
                "a fit has its own features; give them to tl.fit", parameter="features"
            )
        self.fit_ = X
        held = X.statements
        return super().fit(
            nothing_about(X.map.names, X.n_objects, X.map.kind) if held is None else held, y
        )

    def _prepare(self, statements: Statements) -> None:
        rng = generator(self.random_state)
        self._seed, map_seed = (int(part) for part in rng.integers(2**31, size=2))
        self.map_ = self._name_of_map(statements)
        self._fits: list[Fit] = []
        self.error_rate_: float | None = None
        counted = isinstance(self.counts_, PairCounts)
        if counted and not (self.map_ == "lensmap" or isinstance(self.map, LensMap)):
            raise ParameterError(f"{self.map_} needs the statements; counts suffice for lensmap")
        if self.map_ == "choice" or isinstance(self.map, ChoiceMap):
            if self.map_ == "choice" and is_whole(self.random_state):
                map_seed = seed_of(self.random_state)  # as `classify` has it
            self._fits = self._choice_maps(statements, map_seed)
            self._maps = [rescaled(each.map.X) for each in self._fits]
            return
        if self.fit_ is not None:
            raise ParameterError(
                f"a fit is a choice map; leave map={self.map_!r} out, or give the answers",
                parameter="map",
            )
        if self._features is not None:
            raise ParameterError(
                f"features are for the choice map, not for {self.map_}", parameter="features"
            )
        given: Any = self.counts_ if counted else statements
        if isinstance(self.map, MapEstimator):
            fitted: Any = clone(self.map)
            fitted.fit(given)
            fitted.tell_doubts()
            self._maps = [rescaled(fitted.embedding_)]
            return
        self._tell_of_unmentioned(statements)
        if self.map_ == "lensmap" and given is statements:
            given = count_pairs(statements)
        self._maps = [
            rescaled(make_map(self.map_, d, map_seed).fit(given).embedding_)
            for d in self._candidates(statements.n_objects)
        ]

    def _choice_maps(self, statements: Statements, seed: int) -> list[Fit]:
        """The fit that was given, or fits in every number of dimensions to choose from."""
        numbers: list[Any] = ["auto"]
        if isinstance(self.map, str) and not isinstance(self.n_components, str):
            numbers = self._candidates(statements.n_objects)
        elif self.n_components != "cv":
            raise ParameterError(
                f"n_components is {shown(self.n_components)}; of the choice map it must be "
                f"'cv' or whole numbers from 1 on"
            )
        if self.fit_ is not None:
            if isinstance(self.map, ChoiceMap) or numbers != ["auto"]:
                raise ParameterError(
                    "a fit has its own dimensions; leave map and n_components out, or give the "
                    "answers"
                )
            return [self.fit_]
        if isinstance(self.map, ChoiceMap):
            fitted = clone(self.map).fit(statements, features=self._features)
            fitted.tell_doubts()
            return [fitted.fit_]
        if self._features is None:
            self._tell_of_unmentioned(statements)
        return [
            fit(statements, features=self._features, n_components=d, random_state=seed)
            for d in numbers
        ]

    def _tell_of_unmentioned(self, statements: Statements) -> None:
        if asked_from_outside(self):
            warn_of_unmentioned(statements, "their labels mean nothing")

    def _name_of_map(self, statements: Statements) -> str:
        if isinstance(self.map, MapEstimator):
            if not (isinstance(self.n_components, str) and self.n_components == "cv"):
                raise ParameterError(
                    f"n_components is {shown(self.n_components)}, but the map has its own; leave "
                    f"it out, or give {type(self.map).__name__}({self.n_components!r})",
                    parameter="n_components",
                )
            return type(self.map).__name__
        one_of("map", self.map, ("auto", *MAPS))
        if self.map != "auto":
            return self.map
        if self.fit_ is not None or self._features is not None:
            return "choice"
        if isinstance(self.counts_, PairCounts) or not is_enough(statements):
            return "lensmap"
        return "choice"

    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        labelled = labels.labelled
        codes = labels.codes[labelled]
        classifier = "knn" if self.classifier is None else self.classifier
        some = self._tuned_by(codes)
        found = []
        self.cv_scores_ = {}
        for points in self._maps:
            X, y = points[labelled[some]], codes[some]
            model = tuned_classifier(classifier, X, y, self._seed)
            score = 0.0
            if len(self._maps) > 1:
                score = cross_validated(model, X, y, self._seed)
                self.cv_scores_[points.shape[1]] = score
            found.append((score, points, model))
        # of equally good ones the first, in the fewest dimensions
        best = max(range(len(found)), key=lambda i: found[i][0])
        _, self.embedding_, self.classifier_ = found[best]
        if self._fits:
            self.fit_, self.error_rate_ = self._fits[best], self._fits[best].error_rate
        if len(some) < len(labelled):
            self.classifier_.fit(self.embedding_[labelled], codes)
        self.n_components_ = int(self.embedding_.shape[1])
        self.chosen_parameters_ = {
            **chosen_parameters(classifier, self.classifier_),
            "map": self.map_,
            "n_components": self.n_components_,
        }
        everywhere = labels.codes.copy()
        asked = np.flatnonzero(everywhere < 0) if wanted is None else wanted
        if len(asked):
            everywhere[asked] = self.classifier_.predict(self.embedding_[asked])
        return everywhere

    def _tuned_by(self, codes: IntArray) -> IntArray:
        """The labeled objects that choose the parameters: all, or of very many some."""
        some = np.arange(len(codes))
        if len(codes) > _MOST_TUNED:
            rng = np.random.default_rng(self._seed)
            drawn = np.sort(rng.choice(len(codes), _MOST_TUNED, replace=False))
            if len(np.unique(codes[drawn])) > 1:
                return drawn
        return some

    def _agreeing(self, labels: ClassCodes, objects: IntArray, k: int) -> FloatArray:
        # a place on the map that the answers do not hold fast contradicts nothing
        maps = [self.embedding_] if self.fit_ is None else self.fit_.draws
        found = [alike(points, labels, objects, k) for points in maps]
        return np.asarray(np.mean(found, axis=0))

    def _neighbours(self, labels: ClassCodes, k: int) -> IntArray:
        # on all maps: the one that was taken may have been chosen by the labels
        found = [nearest_labelled(points, labels, labels.labelled, k) for points in self._maps]
        return np.hstack(found)

    def _candidates(self, n_objects: int) -> list[Any]:
        if isinstance(self.n_components, str):
            if self.n_components == "cv":
                return [d for d in DIMENSIONS if d < n_objects] or [max(n_objects - 1, 1)]
            raise wrong("n_components", self.n_components, "'cv' or whole numbers from 1 on")
        return sorted(candidates("n_components", self.n_components))
