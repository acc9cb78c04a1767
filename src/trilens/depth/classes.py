"""Depth with respect to each class: the feature map of Algorithm 3."""

from __future__ import annotations

from trilens._typing import AnyArray, FloatArray
from trilens.counts import ClassCounts, count_classes
from trilens.depth.lens import ratio
from trilens.errors import LabelError
from trilens.statements import StatementsLike


def class_depth(
    statements: StatementsLike | ClassCounts, y: AnyArray | None = None, n_classes: int = 0
) -> FloatArray:
    """Estimated lens depth of every object with respect to every class, line 1 of Algorithm 3.

    Parameters
    ----------
    statements : Statements, (m, 3) array, or ClassCounts
        Of kind ``central``.
    y : (n_objects,) array of int
        The class of each object, 0 to ``n_classes - 1``; -1 where it is unlabelled.

    Returns
    -------
    (n_objects, n_classes) array of float
        0 where no statement compares the object with two labelled objects of the class.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1, -1])
    >>> class_depth([[4, 0, 1], [0, 1, 4], [2, 3, 4]], y, n_classes=2).tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.5, 0.0]]
    """
    if not isinstance(statements, ClassCounts):
        if y is None:
            raise LabelError("the depth within classes needs y, the class of each object")
        statements = count_classes(statements, y, n_classes)
    return ratio(statements.singled, statements.appears)
