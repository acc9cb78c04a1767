"""What `cluster` says of the shape: whether it is a cloud, a line, a ring, arms or groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from trilens._tabular import Tabular, facts, plain
from trilens._typing import FloatArray, IntArray
from trilens.ask import per_object
from trilens.maps.fitted import Fit
from trilens.maps.geometry import procrustes, some_of
from trilens.maps.support import Reason
from trilens.questions.clouds import MapAlongAxes
from trilens.questions.cluster.suggest import (
    Examined,
    divide,
    examined,
    group_names,
    have_gaps,
    numbered,
)
from trilens.questions.labels import in_order_of_appearance
from trilens.questions.shapes import LEAST_OBJECTS, Fitted, Shape, Shapes, fit_shapes, is_straight
from trilens.words import about_groups, about_shape, about_structure

Name: TypeAlias = Literal["cloud", "line", "ring", "arms", "groups", "groups in groups"]

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
    names : tuple of str
        The objects.
    p_value : float or None
        How often a cloud without groups falls into parts so clear; None where it is not told.
    scores : dict of str to float
        How much better than the best cloud each shape describes the map: in log-likelihood,
        less a penalty for its parameters. Empty where no shape was looked for.
    notes : tuple of str
        Codes of what the answers cannot tell; ``caution`` says them.
    reason : str or None
        The code of why no shape can be named.
    unassigned : tuple of str
        The objects that stand apart, and so lie nowhere on the shape.
    position : (n,) array or None
        Of each object along a line, from 0 to 1; on a ring, in degrees; on its arm, from 0
        where the arms meet to 1 at the end. NaN for what is unassigned.
    part : (n,) array of int or None
        Which arm or group each object is in, from 0 on; -1 for what is unassigned.
    inner : (n,) array of int or None
        Of groups in groups, which of the smaller ones.
    low, high : (n,) arrays or None
        A 95 % interval of each position along a line or around a ring, by the maps that the
        answers allow. Objects whose intervals do not overlap are in this order; how far apart
        objects lie is told less well, since few answers compare long ways. Along a line they may
        lie outside 0 to 1, and around a ring outside 0 to 360.
    bent : bool
        Whether a line is.
    """

    shape: Name
    names: tuple[str, ...] = field(repr=False)
    p_value: float | None = None
    scores: dict[str, float] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    reason: Reason | None = None
    unassigned: tuple[str, ...] = ()
    position: FloatArray | None = field(default=None, repr=False)
    part: IntArray | None = field(default=None, repr=False)
    inner: IntArray | None = field(default=None, repr=False)
    low: FloatArray | None = field(default=None, repr=False)
    high: FloatArray | None = field(default=None, repr=False)
    bent: bool = False

    def among(self, rank: IntArray) -> Structure:
        """The same shape with the objects in another order: that of rank i comes i-th."""
        return replace(self, **per_object(self, rank, "names", *_PER_OBJECT))

    @property
    def sentence(self) -> str:
        """What the shape means."""
        return about_structure(self)

    @property
    def caution(self) -> str | None:
        """What the answers cannot tell; None where nothing needs to be said."""
        return about_groups(None, self.notes) if self.reason is None else about_shape(self.reason)

    @property
    def has_groups(self) -> bool:
        """Whether the objects form groups, or groups in groups."""
        return self.shape in ("groups", "groups in groups")

    @property
    def order(self) -> tuple[str, ...] | None:
        """The objects as they follow each other along a line or around a ring."""
        if self.shape not in ("line", "ring") or self.position is None:
            return None
        along = np.argsort(self.position, kind="stable")
        return tuple(self.names[i] for i in along[~np.isnan(self.position[along])])

    def _headline(self) -> str:
        return self.sentence

    @property
    def _of_each(self) -> dict[str, FloatArray | IntArray]:
        """What is known of each object, by what it is called."""
        called = {
            "arm" if self.shape == "arms" else "group": self.part,
            "inner_group": self.inner,
            _POSITION.get(self.shape, ""): self.position,
        }
        return {name: values for name, values in called.items() if values is not None}

    def columns(self) -> dict[str, Sequence[Any]]:
        """What is known of each object; arms and groups are counted from 1."""
        found: dict[str, Sequence[Any]] = {"object": self.names}
        for name, values in self._of_each.items():
            whole = values.dtype.kind == "i"
            told = group_names(values.astype(np.int64)) if whole else plain(values)
            found[name.replace("_", " ")] = told
        if self.low is not None:
            found |= {"from": plain(self.low), "to": plain(self.high)}
        return found

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens structure --json`` prints them."""
        told = facts(self, "shape", "sentence", "p_value", "scores", "caution")
        if self.order is not None:
            told |= facts(self, "order")
        if self.bent:
            told |= facts(self, "bent")
        of_each: dict[str, Any] = dict(self._of_each)
        if self.low is not None and self.high is not None:
            of_each["interval"] = np.c_[self.low, self.high]
        for name, values in of_each.items():
            told[name] = dict(zip(self.names, plain(values), strict=True))
        return told


#: What is told of each object.
_PER_OBJECT = ("position", "part", "inner", "low", "high")
#: What a position is called.
_POSITION = {"line": "position", "ring": "angle", "arms": "outwards"}


def structure_of(fitted: Fit) -> Structure:
    """The shape of a fit's map; of a fit in the order of its own."""
    return described(examined(fitted), fitted.names, lambda: fitted.draws)


def described(
    found: Examined, names: tuple[str, ...], draws: Callable[[], FloatArray] | None = None
) -> Structure:
    """What was found of the shape of a map, for people.

    ``draws`` gives other maps that the answers allow, (draws, n, d).

    Examples
    --------
    >>> from trilens.questions.cluster.suggest import examine
    >>> rng = np.random.default_rng(0)
    >>> X = np.c_[rng.uniform(0, 9, 40), 0.1 * rng.normal(size=40)]
    >>> described(examine(X), tuple(map(str, range(40)))).shape
    'line'
    """
    told, inside = found.suggestion, found.inside
    shape, why = told.shape, told.reason
    if why is None and len(names) < LEAST_OBJECTS and shape != "groups":
        why = "few objects"
    elif why is None and found.map is None:
        why = "same places"
    apart = tuple(names[i] for i in np.flatnonzero(found.labels < 0))
    if why is not None or found.map is None:
        return Structure("cloud", names, reason=why, unassigned=apart)
    within = tuple(names[i] for i in inside.tolist())
    made = Structure(shape, within, told.p_value, found.shapes.scores, told.notes)
    moved = None if draws is None else lambda: draws()[:, inside]
    if shape == "groups":
        labels = numbered(found.labels[inside], made.names)
        made = _of_groups(made, found.map, found.shapes, labels)
    elif shape == "line":
        made = _of_line(made, found.map, found.shapes.fits, moved)
    elif shape == "ring":
        made = _of_ring(made, found.map, found.shapes.fits["ring"], moved)
    elif shape == "arms":
        made = _of_arms(made, found.map, found.shapes.fits["arms"])
    # what stands apart is in no part, and has no position
    among: dict[str, Any] = {}
    for name in _PER_OBJECT:
        value = getattr(made, name)
        if value is not None:
            missing = -1 if name in ("part", "inner") else np.nan
            among[name] = np.full(len(names), missing, dtype=value.dtype)
            among[name][inside] = value
    return replace(made, names=names, unassigned=apart, bent=found.bent, **among)


def _of_line(
    made: Structure,
    map_: MapAlongAxes,
    fits: Mapping[Shape, Fitted],
    drawn: Callable[[], FloatArray] | None,
) -> Structure:
    curved = not is_straight(map_.points, map_.errors)

    def along(points: FloatArray) -> FloatArray:
        return _along(points, fits["line"]) if curved else points[:, 0]

    raw = along(map_.every)
    low, high = raw.min(), raw.max()
    # either end could come first: the first object lies in the first half
    if raw[0] - low > (high - low) / 2:
        low, high = high, low
    position = (raw - low) / (high - low)
    if drawn is not None:
        moved = (_places(drawn, map_, along) - raw) / (high - low)
        made = _with_ends(made, position, moved)
    return replace(made, position=position)


def _along(points: FloatArray, curve: Fitted, closed: float | None = None) -> FloatArray:
    """Where the points lie on a curve through knots: at the nearest place of it, (n,).

    A curve that ends where it began ends at ``closed``.
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


def _of_ring(
    made: Structure, map_: MapAlongAxes, ring: Fitted, drawn: Callable[[], FloatArray] | None
) -> Structure:
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
    return replace(made, position=angle)


def _of_arms(made: Structure, map_: MapAlongAxes, arms: Fitted) -> Structure:
    near = arms.near(map_.every, map_.variances)
    each = near @ (arms.part[:, None] == np.arange(len(arms.weights)))
    part = numbered(each.argmax(axis=1), made.names)
    return replace(made, position=near @ arms.along, part=part)


def _of_groups(made: Structure, map_: MapAlongAxes, shapes: Shapes, labels: IntArray) -> Structure:
    inner = _divided(map_, labels)
    if inner is None:
        inner = _finer(map_, shapes, labels)
    if inner is not None:
        inner = numbered(inner, made.names)
    else:
        outer = _joined(map_.every, labels)
        if outer is not None:
            labels, inner = numbered(outer, made.names), labels
    shape: Name = "groups" if inner is None else "groups in groups"
    return replace(made, shape=shape, part=labels, inner=inner)


def _divided(map_: MapAlongAxes, labels: IntArray) -> IntArray | None:
    """The groups within groups, where groups describe one of them better than all else."""
    found, number = labels.copy(), int(labels.max()) + 1
    for group in range(number):
        members = np.flatnonzero(labels == group)
        members = members[some_of(len(members), 200)]
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
        inside = shapes.members(map_.every[every] @ axes.T, map_.variances[every])
        if not have_gaps(map_.every[every], in_order_of_appearance(inside)):
            continue
        found[every[inside > 0]] = found.max() + inside[inside > 0]
    return None if (found == labels).all() else found


def _finer(map_: MapAlongAxes, shapes: Shapes, labels: IntArray) -> IntArray | None:
    """More groups, where these describe the map better and divide at least two of the groups."""
    if shapes.n_groups <= labels.max() + 1:
        return None
    near = shapes.members(map_.every, map_.variances)
    table = np.zeros((shapes.n_groups, int(labels.max()) + 1))
    np.add.at(table, (near, labels), 1)
    outer = table.argmax(axis=1)
    if table.max(axis=1).sum() < _WITHIN * len(labels) or (np.bincount(outer) > 1).sum() < 2:
        return None
    if not have_gaps(map_.every, in_order_of_appearance(near)):
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
