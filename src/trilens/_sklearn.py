"""scikit-learn's base classes, with types.

It has none itself: a class that inherits from it would have every attribute, and a misspelt one
would pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    class BaseEstimator:
        """Parameters, by their names."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """What every classifier has."""

        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        """What everything that divides objects into groups has."""

        def __sklearn_tags__(self) -> Any: ...

    class OutlierMixin:
        """What every detector of outliers has."""

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, OutlierMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "ClusterMixin", "OutlierMixin"]
