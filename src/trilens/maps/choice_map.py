"""The choice map: coordinates from a model of how answers are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import whole_number
from trilens._typing import FloatArray, Progress, RandomState
from trilens.errors import ParameterError, StatementError
from trilens.maps._choice_fit import (
    START_LAPSE,
    fit_choices,
    lens_start,
    principal_axes,
    without_unseen,
)
from trilens.maps._choices import collect_choices, likelihood
from trilens.maps._minimise import one_blas_thread
from trilens.maps._pairs import Length
from trilens.maps.choice_model import ChoiceModel, ModelDepth
from trilens.statements import Statements, StatementsLike, as_statements

#: Gives the model of a refit with one weight for each statement.
Refit: TypeAlias = Callable[[ArrayLike], ChoiceModel]


class ChoiceMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Coordinates that make the answers likely."""

    def __init__(
        self,
        n_components: int | Literal["cv"] = "cv",
        *,
        l2: float | Literal["cv"] = "cv",
        length: Length | Literal["cv"] = "distance",
        lapses: Literal["raters", "one"] | float = "raters",
        init: Literal["lensmap"] | ArrayLike = "lensmap",
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomState = 0,
        n_threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.l2 = l2
        self.length = length
        self.lapses = lapses
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(
        self,
        S: StatementsLike,
        y: object = None,
        *,
        weights: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find coordinates."""
        statements = as_statements(S)
        given = check_weights(weights, len(statements))
        if len(statements) == 0:
            raise StatementError("ChoiceMap needs at least one statement; there are none")
        rng = np.random.default_rng(self.random_state)
        d = 2 if self.n_components == "cv" else int(self.n_components)
        l2 = 0.01 if self.l2 == "cv" else float(self.l2)
        alpha = float(max(d - 1, 1))
        choices = collect_choices(statements, given)
        with one_blas_thread(), likelihood(choices, self.length, alpha, self.n_threads) as f:
            if isinstance(self.init, str):
                start = lens_start(statements, f, d, rng)
            else:
                start = without_unseen(np.array(self.init, dtype=np.float64), statements.triples)
            found = fit_choices(
                f, start, START_LAPSE, l2, max_iter=self.max_iter, tol=self.tol, progress=progress
            )
        self.model_ = ChoiceModel(
            principal_axes(found.X), float(found.lapse[0]), statements.kind, self.length, alpha
        )
        self.embedding_ = self.model_.embedding
        self.n_components_ = d
        self.l2_ = l2
        self.lapse_ = self.model_.lapse
        self.error_rate_ = self.model_.error_rate
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        return self

    def fit_transform(
        self,
        S: StatementsLike,
        y: object = None,
        *,
        weights: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> FloatArray:
        """Find coordinates and return them, (n_objects, n_components_)."""
        return self.fit(S, y, weights=weights, progress=progress).embedding_

    def predict_proba(self, S: StatementsLike) -> FloatArray:
        """The probability of each possible answer, as `ChoiceModel.probabilities`."""
        check_is_fitted(self)
        return self.model_.probabilities(S)

    def score(self, S: StatementsLike, y: object = None) -> float:
        """The share of the answers that the map predicts; a tie counts by its chance."""
        return predicted_share(self.predict_proba(S))

    def depth(self, n_triples: int | None = None, random_state: RandomState = 0) -> ModelDepth:
        """Depth by the model, as `ChoiceModel.depth`."""
        check_is_fitted(self)
        return self.model_.depth(n_triples, random_state)

    @contextmanager
    def refitting(
        self, S: StatementsLike, *, max_iter: int = 100, tol: float = 1e-5
    ) -> Iterator[Refit]:
        """Quick refits to the same statements with other weights, from the fitted map.

        The dimensions, ``l2_`` and the length stay as they are.

        Examples
        --------
        >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
        >>> M = ChoiceMap(1).fit(S)
        >>> with M.refitting(S) as refit:
        ...     [refit(weights).embedding.shape for weights in ([1, 2, 0, 1], [0, 0, 3, 1])]
        [(4, 1), (4, 1)]
        """
        check_is_fitted(self)
        statements, model = as_statements(S), self.model_
        choices = collect_choices(statements, keep_rows=True)
        with (
            one_blas_thread(),
            likelihood(choices, model.length, model.alpha, self.n_threads) as prepared,
        ):

            def refit(weights: ArrayLike) -> ChoiceModel:
                given = check_weights(weights, len(statements))
                assert given is not None
                f = prepared.weighing(choices.weights_of(given))
                found = fit_choices(
                    f, model.embedding, model.lapse, self.l2_, max_iter=max_iter, tol=tol
                )
                return ChoiceModel(
                    found.X, float(found.lapse[0]), model.kind, model.length, model.alpha
                )

            yield refit

    def bootstrap(
        self,
        S: StatementsLike,
        n_copies: int = 60,
        *,
        by_rater: bool = True,
        random_state: RandomState = 0,
        progress: Progress | None = None,
    ) -> list[ChoiceModel]:
        """Models refitted to statements drawn anew, or to raters drawn anew with all they said."""
        statements = as_statements(S)
        whole_number("n_copies", n_copies, least=1)
        rng = np.random.default_rng(random_state)
        models = []
        with self.refitting(statements) as refit:
            for i in range(n_copies):
                models.append(refit(resampled_weights(statements, by_rater, rng)))
                if progress is not None:
                    progress((i + 1) / n_copies)
        return models


def check_weights(weights: ArrayLike | None, m: int) -> FloatArray | None:
    """One finite weight of 0 or more for each statement, not all 0."""
    if weights is None:
        return None
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (m,):
        raise ParameterError(f"weights have shape {given.shape}; there are {m:,} statements")
    wrong = ~(np.isfinite(given) & (given >= 0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ParameterError(f"the weight of statement {row} is {given[row]}; it must be 0 or more")
    if m and not given.any():
        raise ParameterError("all weights are 0; at least one statement must count")
    return given


def predicted_share(probabilities: FloatArray) -> float:
    """The share of rows whose first entry is the largest; of k equal ones each counts 1 / k."""
    best = probabilities.max(axis=1, keepdims=True) == probabilities
    return float((best[:, 0] / best.sum(axis=1)).mean()) if len(best) else float("nan")


def resampled_weights(
    statements: Statements, by_rater: bool, rng: np.random.Generator
) -> FloatArray:
    """How often each statement occurs when as many are drawn anew, or as many raters."""
    m = len(statements)
    if not by_rater or statements.raters is None:
        return np.bincount(rng.integers(m, size=m), minlength=m).astype(np.float64)
    _, rater = np.unique(statements.raters, return_inverse=True)
    n = int(rater.max()) + 1
    drawn = np.bincount(rng.integers(n, size=n), minlength=n)
    return drawn[rater].astype(np.float64)
