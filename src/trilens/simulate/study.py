"""The built-in study: shapes with a known layout, raters of whom some are careless."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._parameters import generator, whole_number
from trilens._typing import IntArray, RandomState
from trilens.simulate.points import Points, with_outliers
from trilens.simulate.raters import Raters, ask_raters, draw_raters
from trilens.statements import Statements

#: What raters see of a shape, each about between 0 and 1.
DIMENSIONS = ("roundness", "elongation", "colour")
CLASSES = ("discs", "bars", "stars")
_MEANS = np.array([[0.85, 0.25, 0.35], [0.35, 0.85, 0.40], [0.25, 0.25, 0.75]])
_SPREAD = 0.09
#: Four shapes like no other: a pale ring, a dark thread, a glowing speck, a long lens.
_OUTLIERS = np.array([[1.7, -0.5, 1.3], [-0.8, 1.9, -0.4], [-0.7, -0.8, 1.8], [1.6, 1.7, 1.2]])


@dataclass(frozen=True, eq=False)
class Study:
    """A simulated study and the truth behind it.

    Parameters
    ----------
    statements : Statements
        With raters, rounds and seconds.
    points : Points
        The objects' places in the hidden `dimensions`; labels 0, 1, 2 for the classes and -1
        for the outliers.
    classes : tuple of str
        The names of the labels 0, 1, 2.
    medoid : int
        The object with the smallest total distance to all others.
    outliers : (4,) int64
    raters : Raters
    """

    statements: Statements
    points: Points
    classes: tuple[str, ...]
    medoid: int
    outliers: IntArray
    raters: Raters

    @property
    def labels(self) -> IntArray:
        """The class of each object; -1 for outliers."""
        return self.points.labels

    def half_labelled(self) -> list[str | None]:
        """The class of every second shape, None for the others and the outliers."""
        return [
            self.classes[label] if label >= 0 and i % 2 == 0 else None
            for i, label in enumerate(self.labels)
        ]


def study(
    n_objects: int = 60,
    n_statements: int = 8000,
    n_raters: int = 40,
    error_rate: float = 0.1,
    careless: float = 0.15,
    random_state: RandomState = 0,
) -> Study:
    """Sixty shapes of three classes, four of them like no other, judged by forty raters.

    Raters say which of three shapes is the most central, by their Euclidean distances in
    roundness, elongation and color; no question is asked twice.

    Parameters
    ----------
    n_objects : int
        At least 16: four outliers, the rest in three classes of about equal size.
    n_statements, n_raters : int
    error_rate : float
        Mean error rate of the careful raters.
    careless : float
        Share of the raters who answer at random.
    random_state

    Examples
    --------
    >>> S = study().statements
    >>> S
    Statements(8,000 statements about 60 objects, kind='central')
    >>> S.names[:3]
    ('shape-01', 'shape-02', 'shape-03')
    """
    from trilens.exact import medoid

    n_objects = whole_number("n_objects", n_objects, 16, 2**31 - 1)
    rng = generator(random_state)
    n_regular = n_objects - len(_OUTLIERS)
    labels = np.arange(n_regular) % len(CLASSES)
    regular = Points(
        _MEANS[labels] + _SPREAD * rng.standard_normal((n_regular, len(DIMENSIONS))), labels
    )
    ordered = with_outliers(regular, _OUTLIERS)
    # shuffled, because objects in the order of their classes would give the answer away
    order = rng.permutation(n_objects)
    shapes = Points(ordered.points[order], ordered.labels[order])
    width = len(str(n_objects))
    raters = draw_raters(n_raters, error_rate, careless, rng)
    statements = ask_raters(
        shapes,
        raters,
        n_statements,
        random_state=rng,
        names=[f"shape-{i:0{width}}" for i in range(1, n_objects + 1)],
    )
    centre = medoid(shapes.points, metric="euclidean")
    return Study(statements, shapes, CLASSES, centre, shapes.outliers, raters)
