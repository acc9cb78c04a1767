"""The objects of statements as scikit-learn's samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trilens._parameters import shown
from trilens._typing import IntArray
from trilens.errors import ParameterError
from trilens.statements.columns import as_array
from trilens.statements.value import Statements


@dataclass(frozen=True, eq=False, repr=False)
class Objects:
    """Some of the objects, with all the statements: what has one label each.

    Statements and labels are of different numbers, so scikit-learn cannot divide them
    together. It can divide the objects: a part of them has a part of the labels, and the
    statements about all objects stay at hand, as they are when labels are to be learned.

    Parameters
    ----------
    statements : Statements
    ids : (n,) array of int
        By default all objects.
    features : optional
        Of all objects of the statements; see `with_features`.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from trilens import MapClassifier
    >>> from trilens.simulate import mixture, simulate_statements
    >>> points = mixture(40, means=[[0, 0], [9, 0]], random_state=0)
    >>> S = simulate_statements(points, 2000, random_state=1)
    >>> model = MapClassifier(map="lensmap", n_components=2, random_state=0)
    >>> float(cross_val_score(model, S.objects, points.labels, cv=4).mean()) > 0.9
    True
    """

    statements: Statements
    ids: IntArray = None  # type: ignore[assignment]
    features: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.statements, Statements):
            raise ParameterError(f"expected Statements, got {shown(self.statements)}")
        n = self.statements.n_objects
        ids = np.arange(n) if self.ids is None else as_array(self.ids, "ids")
        sound = ids.ndim == 1 and (ids.size == 0 or ids.dtype.kind in "iu")
        if not sound or (len(ids) and not 0 <= ids.min() <= ids.max() < n):
            raise ParameterError(f"ids must be whole numbers from 0 to {n - 1}")
        object.__setattr__(self, "ids", ids.astype(np.int64))

    def with_features(self, features: Any) -> Objects:
        """The same objects with features of all of them, however scikit-learn divides them.

        A map of a part of the objects is made of all statements, and of all features.

        Parameters
        ----------
        features : array, table or dict
            As `ChoiceMap.fit` takes them: a row for each object of the statements, or by name.

        Examples
        --------
        >>> from sklearn.model_selection import cross_val_score
        >>> from trilens import MapClassifier
        >>> from trilens.simulate import mixture, simulate_statements
        >>> points = mixture(20, means=[[0, 0], [9, 0]], random_state=0)
        >>> S = simulate_statements(points, 300, random_state=1)
        >>> X = S.objects.with_features(points.points)
        >>> float(cross_val_score(MapClassifier(), X, points.labels, cv=2).mean()) > 0.9
        True
        """
        return replace(self, features=features)

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.statements.names[i] for i in self.ids.tolist())

    @property
    def shape(self) -> tuple[int, int]:
        """One column: scikit-learn divides into parts what has a shape."""
        return len(self.ids), 1

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Objects({len(self):,} of the {self.statements.n_objects:,} of {self.statements!r})"

    def __getitem__(self, rows: Any) -> Objects:
        """The objects at a slice, a mask or a list of positions."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        try:
            return replace(self, ids=np.atleast_1d(self.ids[rows]))
        except IndexError:
            raise IndexError(f"objects go from 0 to {len(self) - 1:,}") from None
