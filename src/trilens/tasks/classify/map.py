"""`MapClassifier`: an ordinary classifier on the coordinates of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilens._parameters import generator, one_of, shown, whole_number
from trilens._typing import FloatArray, IntArray
from trilens.counts import PairCounts, count_pairs
from trilens.errors import ParameterError
from trilens.maps.geometry import rescaled
from trilens.maps.registry import MAPS, make_map
from trilens.statements import Statements
from trilens.tasks.classify.labels import Labels
from trilens.tasks.classify.transduction import (
    TransductiveClassifier,
    alike,
    nearest_labelled,
)
from trilens.tasks.classify.tuning import chosen_parameters, cross_validated, tuned_classifier
from trilens.tasks.error_rate import known_error_rate
from trilens.tasks.method import MOST_STATEMENTS, check_model
from trilens.tasks.model import AnswerModel, answer_model

#: Dimensions that cross-validation chooses from, as far as there are objects for them.
DIMENSIONS = (2, 5, 10, 20)
#: Maps of answers drawn anew on which neighbours are looked for.
_COPIES, _FEWER_COPIES = 20, 5


class MapClassifier(TransductiveClassifier):
    """Classification on the coordinates of a map, for statements of any kind.

    The map uses every statement, also those about unlabelled objects; the classifier then
    learns from the coordinates of the labelled ones, rescaled to diameter 2.

    Parameters
    ----------
    classifier : None, str or scikit-learn classifier
        ``"knn"`` (the default), ``"svm-linear"`` or ``"svm-gauss"``, tuned over the paper's grid
        by up to 10-fold cross-validation; any other classifier is fitted as it is.
    n_components : "cv", "gap", int or sequence of int
        The dimensions of the map. For the choice map ``"cv"`` leaves them to the map, which
        looks at answers alone and at no label; for the others it takes the one of 2, 5, 10 and
        20 with the best cross-validated accuracy (of equals the smallest). A sequence names
        the candidates; ``"gap"`` as in `LensMap`.
    map : {"choice", "lensmap", "soe", "ste", "tste", "gnmds"}
        Where the coordinates come from.
    model : AnswerModel, optional
        The choice map of the same statements, where it has been fitted already.
    shrinkage, error_rate, power
        Of `LensMap`; the other maps do not use them. ``error_rate="estimate"`` takes what
        `trilens.reliability` finds.
    random_state : int, Generator or None
        For the folds of the cross-validation, and the start of the other maps.

    Attributes
    ----------
    transduction_ : (n_objects,) array
        A label for every object; that of a labelled one is as given.
    classes_ : (K,) array
    embedding_ : (n_objects, n_components_) float64
    n_components_ : int
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

    def __init__(
        self,
        classifier: Any = None,
        n_components: Any = "cv",
        *,
        map: str = "lensmap",
        model: AnswerModel | None = None,
        shrinkage: float = 1.0,
        error_rate: Any = 0.0,
        power: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.n_components = n_components
        self.map = map
        self.model = model
        self.shrinkage = shrinkage
        self.error_rate = error_rate
        self.power = power
        self.random_state = random_state

    def _prepare(self, statements: Statements) -> None:
        one_of("map", self.map, MAPS)
        check_model(self.model, statements)
        rng = generator(self.random_state)
        self._seed, map_seed = (int(part) for part in rng.integers(2**31, size=2))
        self.error_rate_ = known_error_rate(self.error_rate, statements, map_seed, self.model)
        if self.map == "choice" and isinstance(self.n_components, str):
            if self.n_components != "cv":
                raise ParameterError(
                    f"n_components is {shown(self.n_components)}; of the choice map it must be "
                    f"'cv' or whole numbers from 1 on"
                )
            model = self.model or answer_model(statements, map_seed)
            self._maps = [rescaled(model.map.embedding_)]
            self._answers = model
            return
        given: Any = statements
        if isinstance(self.counts_, PairCounts):
            if self.map != "lensmap":
                raise ParameterError(f"{self.map} needs the statements; counts serve lensmap")
            given = self.counts_
        elif self.map == "lensmap":
            given = count_pairs(statements)
        self._maps = [
            rescaled(self._map(d, map_seed).fit(given).embedding_)
            for d in self._candidates(statements.n_objects)
        ]

    def _learn(self, labels: Labels) -> IntArray:
        labelled = labels.labelled
        codes = labels.codes[labelled]
        classifier = "knn" if self.classifier is None else self.classifier
        found = []
        self.cv_scores_ = {}
        for points in self._maps:
            model = tuned_classifier(classifier, points[labelled], codes, self._seed)
            score = 0.0
            if len(self._maps) > 1:
                score = cross_validated(model, points[labelled], codes, self._seed)
                self.cv_scores_[points.shape[1]] = score
            found.append((score, points, model))
        # of equally good ones the first, in the fewest dimensions
        _, self.embedding_, self.classifier_ = max(found, key=lambda each: each[0])
        self.n_components_ = int(self.embedding_.shape[1])
        self.chosen_parameters_ = {
            **chosen_parameters(classifier, self.classifier_),
            "map": self.map,
            "n_components": self.n_components_,
        }
        everywhere = labels.codes.copy()
        unlabelled = everywhere < 0
        if unlabelled.any():
            everywhere[unlabelled] = self.classifier_.predict(self.embedding_[unlabelled])
        return everywhere

    def _agreeing(self, labels: Labels, objects: IntArray, k: int) -> FloatArray:
        maps = [self.embedding_]
        if hasattr(self, "_answers"):
            # a place on the map that other answers would not confirm contradicts nothing
            known = self._answers.statements
            copies = self._answers.map.bootstrap(
                known, _COPIES if len(known) <= MOST_STATEMENTS else _FEWER_COPIES
            )
            maps = [copy.embedding for copy in copies]
        found = [alike(points, labels, objects, k) for points in maps]
        return np.asarray(np.mean(found, axis=0))

    def _neighbours(self, labels: Labels, k: int) -> IntArray:
        # on all maps: the one that was taken may have been chosen by the labels
        found = [nearest_labelled(points, labels, labels.labelled, k) for points in self._maps]
        return np.hstack(found)

    def _candidates(self, n_objects: int) -> list[Any]:
        if isinstance(self.n_components, str):
            if self.n_components == "cv":
                return [d for d in DIMENSIONS if d < n_objects] or [max(n_objects - 1, 1)]
            if self.n_components == "gap" and self.map == "lensmap":
                return ["gap"]
            raise ParameterError(
                f"n_components is {shown(self.n_components)}; it must be 'cv', whole numbers "
                f"from 1 on, or 'gap' for the lens map"
            )
        several = (
            isinstance(self.n_components, Sequence) or getattr(self.n_components, "ndim", 0) == 1
        )
        listed = self.n_components if several else [self.n_components]
        if not len(listed):
            raise ParameterError("n_components names no candidates; give at least one")
        return sorted(whole_number("n_components", d, least=1) for d in listed)

    def _map(self, n_components: Any, seed: int) -> Any:
        of_lens_map = {
            "shrinkage": self.shrinkage,
            "error_rate": self.error_rate_,
            "power": self.power,
        }
        parameters = of_lens_map if self.map == "lensmap" else {}
        return make_map(self.map, n_components, seed, **parameters)


#: The name it had while the lens map was the only one.
LensMapClassifier = MapClassifier
