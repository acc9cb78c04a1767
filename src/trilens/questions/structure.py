"""What `cluster` says of the shape: whether it is a cloud, a line, a ring, arms or groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray
from trilens.maps.fitted import Fit
from trilens.maps.geometry import procrustes
from trilens.maps.support import Reason
from trilens.questions.cluster.spectral import in_order_of_appearance
from trilens.questions.cluster.suggest import (
    Examined,
    MapAlongAxes,
    divide,
    examine,
    examined,
    have_gaps,
    numbered,
)
from trilens.questions.shapes import LEAST_OBJECTS, Fitted, fit_shapes
from trilens.words import about_aside, about_shape

Name: TypeAlias = Literal["cloud", "line", "ring", "arms", "groups", "groups in groups"]

#: Other maps that the answers allow, where there are any.
_Drawn: TypeAlias = Callable[[], FloatArray] | None
#: Two levels of groups: those of the upper one are so many times as far apart.
_TWO_LEVELS = 1.8
#: The share of objects that smaller groups have in one of the larger ones.
_WITHIN = 0.95
#: A group is divided further into at most so many.
_MOST_INNER = 5
#: The share of the maps that the answers allow which lies beyond either end of an interval, and
#: by how much that is widened (measured; see docs/claims.md).
_TAIL, _WIDER = 0.025, 1.2


@dataclass(frozen=True)
class Structure(Tabular):
    """The shape that the objects form.

    Attributes
    ----------
    shape : str
        "cloud", "line", "ring", "arms", "groups" or "groups in groups". "cloud" is what is said
        unless something else stands out from chance.
    sentence : str
        What that means.
    names : tuple of str
        The objects.
    position : (n,) array or None
        Of each object along a line, from 0 to 1; on a ring, in degrees; on its arm, from 0
        where the arms meet to 1 at the end.
    part : (n,) array of int or None
        Which arm or group each object is in, from 0 on.
    inner : (n,) array of int or None
        Of groups in groups, which of the smaller ones.
    p_value : float or None
        How often a cloud without groups falls into parts so clear; None where it is not told.
    scores : dict of str to float
        How much better than the best cloud each shape describes the map: in log-likelihood,
        less a penalty for its parameters. Empty where no shape was looked for.
    caution : str or None
        What the answers cannot tell.
    low, high : (n,) arrays or None
        A 95 % interval of each position along a line or around a ring, by the maps that the
        answers allow. Objects whose intervals do not overlap are in this order; how far apart
        objects lie is told less well, since few answers compare long ways. Along a line they may
        lie outside 0 to 1, and around a ring outside 0 to 360.
    """

    shape: Name
    sentence: str
    names: tuple[str, ...] = field(repr=False)
    position: FloatArray | None = field(repr=False)
    part: IntArray | None = field(repr=False)
    inner: IntArray | None = field(repr=False)
    p_value: float | None
    scores: dict[str, float] = field(repr=False)
    caution: str | None
    low: FloatArray | None = field(default=None, repr=False)
    high: FloatArray | None = field(default=None, repr=False)

    def among(self, rank: IntArray) -> Structure:
        """The same shape with the objects in another order: that of rank i comes i-th."""
        moved: dict[str, Any] = {}
        for name in _PER_OBJECT:
            value = getattr(self, name)
            moved[name] = None if value is None else value[rank]
        return replace(self, names=tuple(self.names[i] for i in rank.tolist()), **moved)

    @property
    def order(self) -> tuple[str, ...] | None:
        """The objects as they follow each other along a line or around a ring."""
        if self.shape not in ("line", "ring") or self.position is None:
            return None
        along = np.argsort(self.position, kind="stable")
        return tuple(self.names[i] for i in along[~np.isnan(self.position[along])])

    def _headline(self) -> str:
        return self.sentence

    def columns(self) -> dict[str, Sequence[Any]]:
        """What is known of each object; arms and groups are counted from 1."""
        found: dict[str, Sequence[Any]] = {"object": self.names}
        if self.part is not None:
            name = "arm" if self.shape == "arms" else "group"
            found[name] = _numbers(self.part)
        if self.inner is not None:
            found["inner group"] = _numbers(self.inner)
        if self.position is not None:
            found[_POSITION[self.shape]] = _known(self.position)
        if self.low is not None and self.high is not None:
            found |= {"from": _known(self.low), "to": _known(self.high)}
        return found

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens structure --json`` prints them."""
        facts: dict[str, Any] = {
            "shape": self.shape,
            "sentence": self.sentence,
            "p_value": self.p_value,
            "scores": self.scores,
            "caution": self.caution,
        }
        if self.order is not None:
            facts["order"] = list(self.order)
        if self.part is not None:
            name = "arm" if self.shape == "arms" else "group"
            facts[name] = dict(zip(self.names, self.part.tolist(), strict=True))
        if self.inner is not None:
            facts["inner_group"] = dict(zip(self.names, self.inner.tolist(), strict=True))
        if self.position is not None:
            values = _known(self.position)
            facts[_POSITION[self.shape]] = dict(zip(self.names, values, strict=True))
        if self.low is not None and self.high is not None:
            ends = zip(_known(self.low), _known(self.high), strict=True)
            facts["interval"] = dict(zip(self.names, map(list, ends), strict=True))
        return facts


def _known(values: FloatArray) -> list[float | None]:
    """None for an object that stands apart, and so lies nowhere on the shape."""
    return [None if np.isnan(value) else value for value in values.tolist()]


def _numbers(part: IntArray) -> list[str]:
    """Arms and groups, counted from 1."""
    return ["unassigned" if i < 0 else str(i + 1) for i in part.tolist()]


#: What is told of each object.
_PER_OBJECT = ("position", "part", "inner", "low", "high")
#: What a position is called.
_POSITION = {"line": "position", "ring": "angle", "arms": "outwards"}


def structure_of(fitted: Fit) -> Structure:
    """The shape of a fit's map; of a fit in the order of its own."""
    if not fitted.support:
        return _untold(fitted.support.reason, fitted.names)
    if fitted.n_objects < LEAST_OBJECTS:
        return _untold("few objects", fitted.names)
    found = examined(fitted)
    inside, names = found.inside, fitted.names
    made = _named(
        replace(found, labels=found.labels[inside]),
        tuple(names[i] for i in inside.tolist()),
        lambda: fitted.draws[:, inside],
    )
    return made if len(inside) == len(names) else _with_aside(made, names, inside)


def _with_aside(made: Structure, names: tuple[str, ...], inside: IntArray) -> Structure:
    """With the objects that stand apart: they are in no part, and have no position."""
    among: dict[str, Any] = {}
    for name in _PER_OBJECT:
        value = getattr(made, name)
        if value is not None:
            missing = -1 if name in ("part", "inner") else np.nan
            among[name] = np.full(len(names), missing, dtype=value.dtype)
            among[name][inside] = value
    aside = tuple(name for i, name in enumerate(names) if i not in set(inside.tolist()))
    sentence = f"{made.sentence} {about_aside(aside)}"
    return replace(made, names=names, sentence=sentence, **among)


def structure_of_map(
    coordinates: FloatArray,
    errors: FloatArray | None = None,
    kind: str = "odd",
    *,
    names: tuple[str, ...] | None = None,
    random_state: int = 0,
) -> Structure:
    """The shape of a map.

    Parameters
    ----------
    coordinates : (n, d) array
    errors : (n, d, d) array, optional
        How far each place may be off, as covariances.
    kind : str
        Of the statements, for the caution.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> structure_of_map(np.c_[rng.uniform(0, 9, 40), 0.1 * rng.normal(size=40)]).shape
    'line'
    """
    n = len(coordinates)
    names = tuple(map(str, range(n))) if names is None else names
    if n < LEAST_OBJECTS:
        return _untold("few objects", names)
    found = examine(coordinates, errors, kind, random_state=random_state)
    return _named(found, names, None)


def _named(found: Examined, names: tuple[str, ...], drawn: _Drawn) -> Structure:
    if found.map is None:
        return _untold("same places", names)
    told, shape = found.suggestion, found.suggestion.shape
    made = Structure(
        "cloud",
        "The objects form one cloud: no line, ring, arms or groups stand out from chance.",
        names,
        None,
        None,
        None,
        told.p_value,
        found.shapes.scores,
        told.caution,
    )
    if shape == "groups":
        return _of_groups(made, found, numbered(found.labels, names))
    if shape == "line":
        return _of_line(made, found, drawn)
    if shape == "ring":
        return _of_ring(made, found.map, found.shapes.fits["ring"], drawn)
    if shape == "arms":
        return _of_arms(made, found.map, found.shapes.fits["arms"])
    return made


def _untold(why: Reason | None, names: tuple[str, ...]) -> Structure:
    said = about_shape(why or "few objects")
    sentence = f"{said[0].upper()}{said[1:]}."
    return Structure("cloud", sentence, names, None, None, None, None, {}, said)


def _of_line(made: Structure, found: Examined, drawn: _Drawn) -> Structure:
    assert found.map is not None
    map_, curve = found.map, found.shapes.curve == "line"

    def along(points: FloatArray) -> FloatArray:
        return _along(points, found.shapes.fits["line"]) if curve else points[:, 0]

    raw = along(map_.every)
    low, high = raw.min(), raw.max()
    # either end could come first: the first object lies in the first half
    if raw[0] - low > (high - low) / 2:
        low, high = high, low
    position = (raw - low) / (high - low)
    if drawn is not None:
        moved = (_places(drawn, map_, along) - raw) / (high - low)
        made = _with_ends(made, position, moved)
    first, last = (made.names[i] for i in (position.argmin(), position.argmax()))
    bent = "a bent line" if curve else "a line"
    sentence = f"The objects lie along {bent}, from {first} to {last}."
    return replace(made, shape="line", sentence=sentence, position=position)


def _along(points: FloatArray, curve: Fitted, closed: float | None = None) -> FloatArray:
    """Where the points lie on a curve through knots: at the nearest place of it, (n,).

    Parameters
    ----------
    closed : float, optional
        Where a curve that ends where it began ends.
    """
    order = np.argsort(curve.along, kind="stable")
    knots, at = curve.knots[order], curve.along[order]
    if closed is not None:
        knots, at = np.r_[knots, knots[:1]], np.append(at, at[0] + closed)
    step = np.diff(knots, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-300)
    share = np.clip(((points[:, None] - knots[:-1]) * step).sum(axis=2) / length, 0.0, 1.0)
    off = points[:, None] - knots[:-1] - share[:, :, None] * step
    nearest = (off**2).sum(axis=2).argmin(axis=1)
    own = share[np.arange(len(points)), nearest]
    return np.asarray(at[nearest] + own * np.diff(at)[nearest])


def _places(
    drawn: Callable[[], FloatArray], map_: MapAlongAxes, place: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Where the objects of each drawn map lie, (draws, n)."""
    return np.array([place(procrustes(each, map_.every)[0]) for each in drawn()])


def _with_ends(made: Structure, position: FloatArray, moved: FloatArray) -> Structure:
    """With an interval of each position, by how far it moves from map to map."""
    low, high = _WIDER * np.quantile(moved, [_TAIL, 1 - _TAIL], axis=0)
    return replace(made, low=position + np.minimum(low, 0.0), high=position + np.maximum(high, 0.0))


def _of_ring(made: Structure, map_: MapAlongAxes, ring: Fitted, drawn: _Drawn) -> Structure:
    def around(points: FloatArray) -> FloatArray:
        return np.degrees(_along(points, ring, 2 * np.pi))

    raw = around(map_.every)
    angle, turn = (raw - raw[0]) % 360, 1.0
    # either way round could come first: the second object is less than half-way round
    if angle[1] > 180:
        angle, turn = (360 - angle) % 360, -1.0
    if drawn is not None:
        moved = (_places(drawn, map_, around) - raw + 180) % 360 - 180
        made = _with_ends(made, angle, turn * moved)
    sentence = "The objects lie on a ring: there is no most central object."
    return replace(made, shape="ring", sentence=sentence, position=angle)


def _of_arms(made: Structure, map_: MapAlongAxes, arms: Fitted) -> Structure:
    near = _near(map_, arms)
    number = len(arms.weights)
    each = near @ (arms.part[:, None] == np.arange(number))
    part = each.argmax(axis=1)
    outwards = near @ arms.along
    middle = made.names[int(outwards.argmin())]
    sentence = f"The objects lie on {number} arms that meet near {middle}."
    part = numbered(part, made.names)
    return replace(made, shape="arms", sentence=sentence, position=outwards, part=part)


def _of_groups(made: Structure, found: Examined, labels: IntArray) -> Structure:
    assert found.map is not None
    made = replace(made, shape="groups", part=labels)
    number, sizes = int(labels.max()) + 1, np.bincount(labels)
    inner = _divided(found.map, labels)
    if inner is None:
        inner = _finer(found, labels)
    if inner is not None:
        inner = numbered(inner, made.names)
    else:
        outer = _joined(found.map.every, labels)
        if outer is not None:
            labels, inner = numbered(outer, made.names), labels
    if inner is None:
        said = ", ".join(map(str, sizes[:-1].tolist()))
        sentence = f"The objects form {number} groups, of {said} and {sizes[-1]} objects."
        return replace(made, sentence=sentence)
    number, smaller = int(labels.max()) + 1, int(inner.max()) + 1
    sentence = f"The objects form {number} groups, which fall into {smaller} smaller ones."
    return replace(made, shape="groups in groups", sentence=sentence, part=labels, inner=inner)


def _divided(map_: MapAlongAxes, labels: IntArray) -> IntArray | None:
    """The groups within groups, where groups describe one of them better than all else."""
    found, number = labels.copy(), int(labels.max()) + 1
    for group in range(number):
        members = np.flatnonzero(labels == group)
        # evenly through the objects
        members = members[np.unique(np.linspace(0, len(members) - 1, 200).astype(int))]
        if len(members) < LEAST_OBJECTS:
            continue
        points, errors = map_.every[members], map_.variances[members]
        axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
        points = points @ axes.T
        parts = [part.labels for part in divide(points, range(2, _MOST_INNER + 1))]
        shapes = fit_shapes(points, errors[:, None, None] * np.eye(points.shape[1]), parts)
        if shapes.groups <= 0:
            continue
        every = np.flatnonzero(labels == group)
        near = shapes.fits["groups"].near(map_.every[every] @ axes.T, map_.variances[every])
        inside = near.argmax(axis=1)
        if not have_gaps(map_.every[every], in_order_of_appearance(inside)):
            continue
        found[every[inside > 0]] = found.max() + inside[inside > 0]
    return None if (found == labels).all() else found


def _finer(found: Examined, labels: IntArray) -> IntArray | None:
    """More groups, where these describe the map better and divide at least two of the groups."""
    if found.map is None or "groups" not in found.shapes.fits:
        return None
    groups = found.shapes.fits["groups"]
    if len(groups.knots) <= labels.max() + 1:
        return None
    near = _near(found.map, groups).argmax(axis=1)
    table = np.zeros((len(groups.knots), int(labels.max()) + 1))
    np.add.at(table, (near, labels), 1)
    outer = table.argmax(axis=1)
    if table.max(axis=1).sum() < _WITHIN * len(labels) or (np.bincount(outer) > 1).sum() < 2:
        return None
    if not have_gaps(found.map.every, in_order_of_appearance(near)):
        return None
    return np.asarray(near, dtype=np.int64)


def _joined(points: FloatArray, labels: IntArray) -> IntArray | None:
    """Groups of the groups, where some are much farther apart than others."""
    from scipy.cluster.hierarchy import fcluster, linkage

    number = int(labels.max()) + 1
    if number < 3:
        return None
    centres = np.array([points[labels == group].mean(axis=0) for group in range(number)])
    tree = linkage(centres, "single")
    height = tree[:, 2]
    ratio = height[1:] / height[:-1]
    at = int(ratio.argmax())
    if ratio[at] < _TWO_LEVELS:
        return None
    outer = fcluster(tree, height[at], "distance") - 1
    return np.asarray(outer[labels], dtype=np.int64)


def _near(map_: MapAlongAxes, shape: Fitted) -> FloatArray:
    return shape.near(map_.every, map_.variances)
