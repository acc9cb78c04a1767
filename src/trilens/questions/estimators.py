"""Questions about the objects of statements, as scikit-learn's estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils import Tags

from trilens._parameters import wrong
from trilens._typing import IntArray, RandomState
from trilens.errors import ParameterError, option
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.estimator import of_statements
from trilens.maps.features import FeaturesLike, features_for
from trilens.maps.fitted import fit
from trilens.maps.map import warn_of_unmentioned
from trilens.statements import Kind, Statements, StatementsLike
from trilens.statements.value import refuse_answers, statements_to_fit


class LabelsObjects(ABC):
    """A mixin: fitted to statements, ``labels_`` says something of every object."""

    labels_: IntArray

    def __sklearn_tags__(self) -> Tags:
        return of_statements(super().__sklearn_tags__())  # type: ignore[misc]

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from statements."""

    def fit_predict(self, X: StatementsLike, y: Any = None, **parameters: Any) -> IntArray:
        """Fit, and give the label of every object; parameters as for `fit`."""
        return self.fit(X, y, **parameters).labels_


class AsksMap(LabelsObjects):
    """A mixin: what a question finds on a map, which is fitted or named."""

    map: str | ChoiceMap
    random_state: RandomState
    kind: Kind | None
    kind_: Kind

    def fit(
        self, X: StatementsLike, y: Any = None, *, features: FeaturesLike | None = None
    ) -> Self:
        """Ask about the objects of statements; ``features`` as in `trilens.fit`."""
        X, features = features_for(X, features)
        statements = statements_to_fit(X, self.kind, self)
        refuse_answers(y, X, statements)
        self._ask(*self._data(statements, features))
        self.kind_ = statements.kind
        return self

    def _data(self, statements: Statements, features: FeaturesLike | None) -> tuple[Any, str]:
        """What is asked about, and by which method."""
        if isinstance(self.map, ChoiceMap):
            fitted = clone(self.map).fit(statements, features=features)
            fitted.tell_doubts()
            return fitted.fit_, "choice"
        if not isinstance(self.map, str):
            raise wrong("map", self.map, "the name of a method, or a ChoiceMap")
        if features is None:
            warn_of_unmentioned(statements, "what is said of them means nothing")
            return statements, self.map
        if self.map not in ("auto", "choice"):
            raise ParameterError(
                f"features serve the choice map; {option('method', self.map)} takes none",
                parameter="features",
            )
        return fit(statements, features=features, random_state=self.random_state), "choice"

    @abstractmethod
    def _ask(self, data: Any, method: str) -> None:
        """Ask, and keep what was found."""
