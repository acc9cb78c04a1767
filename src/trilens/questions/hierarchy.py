"""`hierarchy`: the objects as a tree, and which of its branches the answers support."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trilens._tabular import AsDict, Tabular, facts
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.ask import Data, Points, Question, ask, opened, register
from trilens.calibration import BRANCH_LEVEL
from trilens.errors import FormatError, ParameterError
from trilens.files.output import atomic_write, write_table
from trilens.maps.fitted import Fit
from trilens.maps.support import Reason, support_of_answers
from trilens.questions.distances import check_size, relative_distances
from trilens.questions.structure import Structure, structure_of
from trilens.words import about_tree

#: How branches are joined: of average, complete, single and Ward's linkage the one that finds
#: the most true branches (measured on fifteen kinds of studies).
_LINKAGE: Literal["average"] = "average"
#: Of more objects the support is not worked out, and neighbors in the drawing are not sought.
_MOST_SUPPORTED, _MOST_ORDERED = 1000, 500
#: What a tree can be written as, beside pictures.
TABLE_ENDINGS = (".csv", ".tsv", ".json", ".parquet")
NEWICK_ENDINGS = (".nwk", ".newick", ".tree")
#: What Newick uses itself.
_NEWICK_SIGNS = set(" \t\n\r()[]{}:;,'\"_/\\")


@dataclass(frozen=True)
class Branch(AsDict):
    """Objects that are joined in the tree before any other is."""

    objects: tuple[str, ...]
    #: The mean distance of the two parts that it was joined of; the mean of all pairs is 1.
    height: float
    #: The share of the maps that the answers allow on whose trees these objects are a branch.
    support: float | None
    #: Whether the answers support it, and the objects form groups at all.
    claimed: bool


@dataclass(frozen=True, eq=False)
class Hierarchy(Tabular):
    """A tree of the objects.

    Attributes
    ----------
    names : tuple of str
    linkage : (n - 1, 4) array
        As of `scipy.cluster.hierarchy`: every row joins two parts, at a height; objects are
        numbered from 0, and row i makes part n + i.
    support : (n - 1,) array or None
        Of each part; see `Branch`. None where the answers give no model, or of more than 1,000
        objects.
    structure : Structure or None
        The shape that the objects form; branches are claimed only of groups.
    reason : str or None
        The code of why nothing can be claimed.
    """

    names: tuple[str, ...] = field(repr=False)
    linkage: FloatArray = field(repr=False)
    support: FloatArray | None = field(repr=False)
    structure: Structure | None = field(repr=False)
    reason: Reason | None = None

    def among(self, rank: IntArray) -> Hierarchy:
        """The same tree with the objects in another order: that of rank i comes i-th."""
        n, tree = len(self.names), self.linkage.copy()
        order = np.argsort(rank)
        ends = tree[:, :2].astype(np.int64)
        tree[:, :2] = np.where(ends < n, order[np.minimum(ends, n - 1)], ends)
        return replace(
            self,
            names=tuple(self.names[i] for i in rank.tolist()),
            linkage=tree,
            structure=None if self.structure is None else self.structure.among(rank),
        )

    @property
    def branches(self) -> tuple[Branch, ...]:
        """Every branch of two objects or more, in the order of ``linkage``; the last is all."""
        n, found = len(self.names), []
        for i, members in enumerate(members_of(self.linkage)):
            support = None if self.support is None else float(self.support[i])
            supported = support is not None and support >= BRANCH_LEVEL and len(members) < n
            claimed = supported and _keeps_groups(self.structure, members)
            named = tuple(self.names[k] for k in members)
            found.append(Branch(named, float(self.linkage[i, 2]), support, claimed))
        return tuple(found)

    @property
    def claimed(self) -> tuple[Branch, ...]:
        """The branches that the answers support, the largest first."""
        return tuple(sorted((b for b in self.branches if b.claimed), key=lambda b: -len(b.objects)))

    @property
    def order(self) -> tuple[str, ...]:
        """The objects as they stand side by side in the tree."""
        from scipy.cluster.hierarchy import leaves_list

        return tuple(self.names[i] for i in leaves_list(self.linkage).tolist())

    @property
    def sentence(self) -> str:
        """What was found."""
        return about_tree(self)

    def _headline(self) -> str:
        return self.sentence

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each branch; parts are the name of an object, or a branch."""
        n, branches = len(self.names), self.branches
        called = [*self.names, *(f"branch {i}" for i in range(1, n))]
        first, second = ([called[i] for i in side] for side in self.linkage[:, :2].astype(int).T)
        return {
            "branch": list(range(1, n)),
            "size": [len(b.objects) for b in branches],
            "height": [b.height for b in branches],
            "support": [b.support for b in branches],
            "claimed": [b.claimed for b in branches],
            "part_1": first,
            "part_2": second,
            "objects": [json.dumps(list(b.objects), ensure_ascii=False) for b in branches],
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens hierarchy --json`` prints them."""
        return {
            "sentence": self.sentence,
            "shape": None if self.structure is None else self.structure.shape,
            "claimed": [list(branch.objects) for branch in self.claimed],
            **facts(self, "branches", "order"),
            "newick": self.newick(),
        }

    def newick(self) -> str:
        """The tree as text, for other programs: lengths, and supports as the names of branches.

        The way from one object to another along the tree is as long as the mean distance of the
        parts that they are joined in.

        >>> from trilens.statements import Statements
        >>> S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]], kind="central")
        >>> hierarchy(S).newick().count(",")
        3
        """
        n = len(self.names)
        text = [_newick_name(name) for name in self.names]
        height = [0.0] * n
        for i, (one, other, top, _) in enumerate(self.linkage.tolist()):
            inside = ",".join(
                f"{text[int(k)]}:{max(top - height[int(k)], 0.0) / 2:.6g}" for k in (one, other)
            )
            support = "" if self.support is None or i == n - 2 else f"{self.support[i]:.3g}"
            text.append(f"({inside}){support}")
            height.append(top)
            text[int(one)] = text[int(other)] = ""
        return f"{text[-1]};"

    def write(self, path: str | Path) -> None:
        """Write the tree: .nwk for other programs, or a table of its branches by the ending.

        A picture is drawn by `trilens.plots.tree`.
        """
        ending = Path(path).suffix.lower()
        if ending in NEWICK_ENDINGS:
            with atomic_write(path) as file:
                file.write(f"{self.newick()}\n".encode(errors="replace"))
        elif ending in TABLE_ENDINGS:
            write_table(self.columns(), path)
        else:
            known = ", ".join((*NEWICK_ENDINGS, *TABLE_ENDINGS))
            raise FormatError(f"{path}: unknown ending {ending or '(none)'}; use one of {known}")


def hierarchy(answers: Data, *, random_state: RandomState = 0) -> Hierarchy:
    """A tree of the objects, with the support of each of its branches.

    The tree joins what is nearest on the choice map, by the mean distance of the parts. A branch
    has the support of the maps drawn from the posterior: the share of them on whose trees the
    same objects are a branch. It is claimed from 0.95 on, if `structure` finds groups, or groups
    in groups; every cloud and every line can be drawn as a tree, and would mean nothing. How
    often claimed branches are right is measured in ``docs/claims.md``.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        About 3 to 5,000 objects.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> from trilens.simulate import Points, simulate_statements
    >>> rng = np.random.default_rng(0)
    >>> two = Points(rng.normal(size=(24, 2)) + 9 * (np.arange(24) < 12)[:, None], None)
    >>> found = hierarchy(simulate_statements(two, 1500, kind="odd", random_state=1))
    >>> [len(branch.objects) for branch in found.claimed[:2]]
    [12, 12]
    """
    given = opened(answers)
    check_size(given, "hierarchy")
    found: Hierarchy = ask(HIERARCHY, given, "auto", random_state)
    return found


def _of_fit(fitted: Fit) -> Hierarchy:
    n = fitted.n_objects
    tree = _tree(fitted.map.X)
    support = support_of(tree, fitted.draws) if n <= _MOST_SUPPORTED else None
    return Hierarchy(fitted.names, tree, support, structure_of(fitted), fitted.support.reason)


def _of_points(points: Points) -> Hierarchy:
    """Without a model of the answers: nothing is claimed."""
    reason = support_of_answers(points.statements).reason
    return Hierarchy(points.names, _tree(points.X), None, None, reason)


def _tree(X: FloatArray) -> FloatArray:
    n = len(X)
    if n < 3:
        raise ParameterError(
            f"a tree needs three objects or more, and there are {n}", parameter="answers"
        )
    return _joined(X, ordered=n <= _MOST_ORDERED)


def members_of(tree: FloatArray) -> list[list[int]]:
    """The objects of each part of a linkage, as they stand side by side."""
    n = len(tree) + 1
    parts: list[list[int]] = [[i] for i in range(n)]
    for one, other in tree[:, :2].astype(int).tolist():
        parts.append(parts[one] + parts[other])
    return parts[n:]


def support_of(tree: FloatArray, maps: FloatArray) -> FloatArray:
    """The share of maps on whose trees each part of a tree is a part too.

    >>> X = np.array([[0.0], [1.0], [5.0], [7.0]])
    >>> support_of(_joined(X), np.stack([X, X[[0, 2, 1, 3]]])).tolist()
    [0.5, 0.5, 1.0]
    """
    n = len(tree) + 1
    # a set of objects is known by the exclusive or of random numbers
    number = np.random.default_rng(20).integers(2**63, size=n).tolist()
    seen = Counter(key for X in maps for key in _keys(_joined(X), number))
    return np.array([seen[key] / len(maps) for key in _keys(tree, number)])


def _keys(tree: FloatArray, number: list[int]) -> list[int]:
    found = list(number)
    for one, other in tree[:, :2].astype(int).tolist():
        found.append(found[one] ^ found[other])
    return found[len(number) :]


def _joined(points: FloatArray, *, ordered: bool = False) -> FloatArray:
    from scipy.cluster.hierarchy import linkage

    return np.asarray(linkage(relative_distances(points), _LINKAGE, optimal_ordering=ordered))


def _keeps_groups(shape: Structure | None, members: list[int]) -> bool:
    """Whether a branch cuts no group: it holds all of each, none of it, or lies within it."""
    if shape is None or shape.part is None or not shape.has_groups:
        return False
    inside = np.zeros(len(shape.part), dtype=np.bool_)
    inside[members] = True
    for part in (shape.part, shape.part if shape.inner is None else shape.inner):
        groups = np.unique(part[members])
        groups = groups[groups >= 0]
        if len(groups) != 1 and not all(inside[part == group].all() for group in groups):
            return False
    return True


def _newick_name(name: str) -> str:
    plain = name and not _NEWICK_SIGNS & set(name)
    doubled = name.replace("'", "''")
    return name if plain else f"'{doubled}'"


HIERARCHY = register(Question("hierarchy", of_fit=_of_fit, of_points=_of_points))
