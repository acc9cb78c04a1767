"""What every map can do once it is fitted: coordinates, predicted answers, their share."""

from __future__ import annotations

import sys
import warnings
from abc import ABC
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, TransformerTags
from sklearn.utils.validation import check_is_fitted

from trilens._parameters import one_of, sample_weights
from trilens._sklearn import BaseEstimator
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.answers import AnswersLike
from trilens.errors import KindError, ParameterError, callers_level
from trilens.kinds import Kind, check_kind, n_answers, sides, sign
from trilens.maps.comparisons import ComparisonsLike, as_data, tells_kind, violations
from trilens.maps.map import Names, on_map, predicted, unmentioned
from trilens.maps.pairs import squared
from trilens.statements import Objects, Statements, as_statements
from trilens.statements.comparisons import Comparisons
from trilens.statements.names import ids_among
from trilens.statements.value import refuse_answers, statements_to_fit

#: Statements whose sides are measured at a time.
_CHUNK = 1 << 17


class MapEstimator(BaseEstimator, ABC):
    """A map of objects: fitted to statements, it gives coordinates and predicts answers.

    scikit-learn's samples are statements here, and what `transform` returns has a row for each
    object. To divide the objects instead, as labels need it, give ``S.objects``.
    """

    fit: Callable[..., Any]
    #: What an array was asked of; None where only statements, which tell it, are given.
    kind: Kind | None
    #: Of maps that are found step by step.
    max_iter: int
    embedding_: FloatArray
    #: The names of the objects; None where they have only ids.
    names_: Names
    #: What was asked; None for comparisons d(A,B) < d(C,D).
    kind_: Kind | None
    #: Whether comparisons d(A,B) < d(C,D) without a common object are served.
    _takes_comparisons: ClassVar[bool] = False
    #: The objects of which nothing is known; None where there are none.
    _unknown: BoolArray | None = None

    def fit_transform(self, S: Any, y: object = None, **parameters: Any) -> FloatArray:
        """Find coordinates and return them, (n_objects, n_components); parameters as for `fit`."""
        self.fit(S, y, **parameters)
        part = isinstance(S, Objects)
        return self._output(self.embedding_, None) if not part else self.transform(S)

    def transform(self, S: AnswersLike | None = None) -> FloatArray:
        """The coordinates of the objects of statements, (n_objects, n_components).

        Parameters
        ----------
        S : Statements, a table, ``S.objects``, or (m, 3) array, optional
            Whose objects are meant: by name where there are names. What the statements say
            changes nothing, and an object that the map does not know is refused. By default
            all objects of the map.
        """
        check_is_fitted(self)
        ids = np.arange(len(self.embedding_)) if S is None else self._ids_of(S)
        return self._output(self.embedding_[ids], ids)

    def predict(self, S: AnswersLike) -> IntArray:
        """Which answer the map gives to the questions of statements.

        Parameters
        ----------
        S : Statements, a table, or (m, 3) array
            An array is of the kind that was fitted, ``kind_``.

        Returns
        -------
        (m,) int64
            0 where it is the answer that was given; 1 or 2 where it is the one with the second
            or the third object of the statement in its place (``closer``: 1 where the far one
            is nearer). Of equally good answers the first.
        """
        return np.asarray(self._judged(S).argmax(axis=1))

    def score(self, S: ComparisonsLike, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the answers that the map predicts; of k equally good ones each counts 1/k.

        Of comparisons d(A,B) < d(C,D) the share that the coordinates fulfill.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, Comparisons or (m, 4) array of int
            An array of three columns is of the kind that was fitted, ``kind_``.
        y
            As in `fit`.
        sample_weight : (m,) array of float, optional
            How often each statement counts.
        """
        check_is_fitted(self)
        data = self._answered(S, y, self._kind_of_arrays)
        if isinstance(data, Comparisons):
            if sample_weight is not None:
                raise ParameterError("comparisons have no sample_weight", parameter="sample_weight")
            n = len(self.embedding_)
            ids = ids_among(data._names, data.n_objects, self.names_, n, "on the map")
            return 1 - violations(self.embedding_ if ids is None else self.embedding_[ids], data)
        weights = sample_weights(sample_weight, len(data))
        right = predicted(self._judged(data))
        return float(np.average(right, weights=weights)) if len(right) else float("nan")

    @property
    def _kind_of_arrays(self) -> Kind | None:
        """Of which kind arrays are that a fitted map is given."""
        return getattr(self, "kind_", None) or self.kind

    def _to_fit(self, S: Any, y: Any) -> Any:
        """What a fit is given; see `_answered`."""
        if self.kind is not None:
            check_kind(self.kind)
        data = self._answered(S, y, self.kind)
        if not isinstance(data, Comparisons):
            return statements_to_fit(data, self.kind, self)
        if not self._takes_comparisons:
            raise KindError(
                f"{type(self).__name__} takes statements about three objects, not comparisons "
                f"d(A,B) < d(C,D); use SOE or GNMDS"
            )
        return data

    def _answered(self, S: Any, y: Any, kind: Kind | None) -> Statements | Comparisons:
        """Statements of a known kind, or comparisons.

        Where the rows of an array are questions, ``y`` holds the position of each answer.
        """
        told = tells_kind(S)
        data = as_data(S, kind)
        bare = self.kind is not None and not told and len(data) > 0
        if bare and isinstance(data, Statements) and are_positions(y, data):
            return Statements.from_responses(S, y, kind)
        refuse_answers(y, S, data)
        return data

    def _judged(self, S: Any) -> FloatArray:
        """How much speaks for each answer: `_preferences`, equal where an object is unknown."""
        check_is_fitted(self)
        data = self._answered(S, None, self._kind_of_arrays)
        if isinstance(data, Comparisons):
            raise KindError(f"{type(self).__name__} predicts answers about three objects")
        known = self._known(data)
        found = self._preferences(known)
        if self._unknown is not None:
            found[self._unknown[known.triples].any(axis=1)] = 1 / found.shape[1]
        return found

    def _doubts(self) -> Iterator[Warning]:
        """What is to be said of a fit."""
        if not getattr(self, "converged_", True):
            yield ConvergenceWarning(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations, before "
                f"it had converged; give a larger max_iter, or a larger tol"
            )
        if self._unknown is not None:
            yield unmentioned(
                self._unknown,
                self.names_,
                "their places mean nothing, and answers about them are predicted as by chance",
            )

    def _tell_doubts(self) -> None:
        """Warn whoever asked for the fit, unless it was another part of this package."""
        if asked_from_outside(self):
            self.tell_doubts()

    def tell_doubts(self) -> None:
        """Warn of what is doubtful in a fit, at the line that called trilens."""
        for doubt in self._doubts():
            warnings.warn(doubt, stacklevel=callers_level())

    def _find_unknown(self, appearances: IntArray) -> None:
        """Note the objects of which nothing is known, by how many answers are about each."""
        unknown = np.asarray(appearances == 0)
        self._unknown = unknown if unknown.any() else None

    def set_output(self, *, transform: str | None = None) -> Self:
        """What coordinates come as, scikit-learn's way.

        Not by its mixin, which takes the rows of a table of statements for those of the output.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            A pandas DataFrame has the names of the objects as its index.
        """
        if transform is not None:
            one_of("transform", transform, ("default", "pandas", "polars"))
            self._sklearn_output_config = {"transform": transform}
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = of_statements(super().__sklearn_tags__())
        tags.transformer_tags = TransformerTags()
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """The names of the coordinates: x1, x2, ..."""
        check_is_fitted(self)
        names = [f"x{i}" for i in range(1, self.embedding_.shape[1] + 1)]
        return np.array(names, dtype=object)

    def _output(self, found: FloatArray, ids: IntArray | None) -> FloatArray:
        """Coordinates; as scikit-learn's ``set_output`` asks, with the objects as the index."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        wanted = asked or get_config()["transform_output"]
        if wanted == "polars":
            import polars as pl

            table: Any = pl.DataFrame(found, schema=self.get_feature_names_out().tolist())
            return table  # type: ignore[no-any-return]
        if wanted != "pandas":
            return found
        import pandas as pd

        ids = np.arange(len(found)) if ids is None else ids
        named = ids if self.names_ is None else [self.names_[i] for i in ids.tolist()]
        index = pd.Index(named, name="object")
        frame: Any = pd.DataFrame(found, index=index, columns=self.get_feature_names_out())
        return frame  # type: ignore[no-any-return]

    def _ids_of(self, S: AnswersLike) -> IntArray:
        whole = S.statements if isinstance(S, Objects) else as_statements(S)
        of_map = self._numbers(whole)
        ids = np.arange(whole.n_objects) if of_map is None else of_map
        return ids[S.ids] if isinstance(S, Objects) else ids

    def _known(self, statements: Statements) -> Statements:
        """The statements with the map's own ids."""
        return on_map(statements, self.names_, len(self.embedding_))

    def _numbers(self, statements: Statements) -> IntArray | None:
        """The map's id of each object of statements; None where they are the same."""
        return ids_among(
            statements._names,
            statements.n_objects,
            self.names_,
            len(self.embedding_),
            "on the map",
        )

    def _preferences(self, statements: Statements) -> FloatArray:
        """How much speaks for each possible answer; column 0 is the one that was given."""
        X, kind = self.embedding_, statements.kind
        out = np.empty((len(statements), n_answers(kind)))
        for start in range(0, len(statements), _CHUNK):
            ends = sides(kind, statements.triples[start : start + _CHUNK])
            squares = np.stack([squared(X, i, j) for i, j in ends], axis=1)
            out[start : start + _CHUNK] = sign(kind) * squares
        return out


def of_statements(tags: Tags) -> Tags:
    """scikit-learn's tags of an estimator whose input is statements, not points in columns."""
    tags.input_tags.two_d_array = False
    tags.input_tags.categorical = tags.input_tags.string = True
    return tags


def asked_from_outside(estimator: Any) -> bool:
    """Whether the method of an estimator that runs was not called by this package itself."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_locals.get("self") is estimator:
        frame = frame.f_back
    return not str(frame.f_globals.get("__name__", "")).startswith("trilens")


def are_positions(y: Any, statements: Statements) -> bool:
    """Whether ``y`` holds the position of each answer, rather than a label of each object."""
    return y is not None and statements.kind != "closer" and np.shape(y) == (len(statements),)


def neg_log_loss(estimator: Any, S: AnswersLike, y: Any = None, sample_weight: Any = None) -> float:
    """The mean log-likelihood of answers under a fitted map: a scorer for scikit-learn.

    For ``scoring=`` of `cross_val_score`, `GridSearchCV` and others, where ``S`` are statements.
    The string ``"neg_log_loss"`` needs questions and answers apart: see `ChoiceMap.fit`.

    Parameters
    ----------
    estimator : ChoiceMap
        A fitted one, also as the last step of a `Pipeline` or the best one of a search.
    S : Statements, a table, or (m, 3) array
    y
        None, or positions of answers: see `ChoiceMap.fit`.
    sample_weight : (m,) array of float, optional
        How often each statement counts.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from trilens import ChoiceMap
    >>> from trilens.simulate import study
    >>> S = study().statements
    >>> found = cross_val_score(ChoiceMap(2, l2=0.1), S, cv=2, scoring=neg_log_loss)
    >>> bool((found > np.log(1 / 3)).all())
    True
    """
    model = estimator
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        model = model.steps[-1][1] if hasattr(model, "steps") else model.best_estimator_
    if not isinstance(model, MapEstimator) or not hasattr(model, "predict_proba"):
        raise ParameterError(
            f"{type(model).__name__} gives no probabilities of answers; ChoiceMap does, and every "
            f"map has score()"
        )
    check_is_fitted(model)
    data = model._answered(S, y, model._kind_of_arrays)
    if len(data) == 0:
        raise ParameterError("there is no answer to score; give at least one")
    given = model.predict_proba(data)[:, 0]
    logs = np.log(np.maximum(given, np.finfo(np.float64).eps))  # as scikit-learn does
    return float(np.average(logs, weights=sample_weights(sample_weight, len(logs))))
