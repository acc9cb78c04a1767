"""What the classifiers share: they label the objects that they were fitted on."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from trilens._typing import AnyArray
from trilens.statements import Statements


class TransductiveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose `fit` leaves ``statements_`` and ``transduction_``."""

    statements_: Statements
    transduction_: AnyArray

    def predict(self, objects: ArrayLike | Sequence[str] | None = None) -> AnyArray:
        """The labels of ``objects`` (ids or names), or of all of them."""
        check_is_fitted(self, "transduction_")
        if objects is None:
            return self.transduction_
        return self.transduction_[self.statements_.object_ids(objects)]
