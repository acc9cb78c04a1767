"""Features of the objects: vectors that say, before any answer, which places are likely.

Every place is a linear part of the features and a remainder of its own, x = W f + r. With normal
priors of W and r that is a prior of the places themselves: those of objects with similar features
vary together. Their covariance is 1 / (2 l2) times

    C = sum over blocks b of share_b F_b F_b' + (1 - sum of the shares) I,

where every block is centered and scaled to a mean squared length of 1, so that ``share_b`` is the
share of the map's spread that the block explains beforehand. An object without a block has no
row there, and the share on its own diagonal instead: nothing is known, and its place stays as free
as before. Coordinates z with x = A z, A A' = C, have the penalty l2 z'z that a map without features
has, and everything that fits such a map fits this one (`FeaturedLikelihood`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import plain, shown
from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.errors import ParameterError
from trilens.maps.likelihood import Likelihood, LikelihoodAround
from trilens.maps.pairs import pointing
from trilens.statements import Objects
from trilens.statements.columns import counts_up, numbers_or_text

#: What users give: (n, q) numbers in the order of the objects, a table or a dict by name, or a dict
#: of several of these, the blocks.
FeaturesLike: TypeAlias = Any

#: The name of the only block.
ONE_BLOCK = "features"
#: Objects up to which more columns than objects, or sparse ones, are held as scalar products.
_MOST_PRODUCTS = 10_000
#: Numbers that a block may have in memory.
_MOST_NUMBERS = 1_000_000_000
#: What the column of names may be called in a table; it may hold numbers.
_NAME_COLUMNS = ("object", "objects", "name", "names", "id")
#: The least share of the remainder: the places stay a little free.
_LEAST_OWN = 1e-6
#: Names that a message lists.
_FEW = 5


@dataclass(frozen=True, eq=False)
class Block:
    """Vectors of the objects, standardized."""

    #: (n, q), dense or sparse: as given; 0 where an object has none. The center is not yet
    #: subtracted.
    rows: Any
    #: (n,): which objects have a vector.
    known: BoolArray
    #: (q,): the mean over those.
    centre: FloatArray
    #: What the centered vectors are multiplied with: their mean squared length is then 1. 0 for
    #: vectors that are all the same.
    scale: float

    @classmethod
    def of(cls, rows: Any, known: BoolArray) -> Block:
        """Center, and scale to a mean squared length of 1."""
        count = max(int(known.sum()), 1)
        centre = np.asarray(rows.sum(axis=0), dtype=np.float64).ravel() / count
        squares = (
            rows.multiply(rows).sum() if _is_sparse(rows) else np.einsum("ij,ij->", rows, rows)
        )
        spread = float(squares) / count - float(centre @ centre)
        largest = max(float(np.abs(rows).max()) if rows.shape[1] else 0.0, 1e-300)
        if spread <= 1e-12 * largest**2:  # they tell no object from another
            return cls(rows, np.zeros_like(known), centre, 0.0)
        return cls(rows, known, centre, spread**-0.5)

    def products(self, others: Any, known: BoolArray) -> FloatArray:
        """(n, k): the scalar products of the standardized vectors with other raw ones."""
        raw = self.rows @ others.T
        if _is_sparse(raw):
            raw = raw.toarray()
        own = np.asarray(self.rows @ self.centre).ravel()
        theirs = np.asarray(others @ self.centre).ravel()
        found = np.asarray(raw, dtype=np.float64) - own[:, None] - theirs
        found += float(self.centre @ self.centre)
        return np.asarray(self.scale**2 * found * self.known[:, None] * known)

    @cached_property
    def factor(self) -> FloatArray:
        """(n, k) with k at most n: its rows have the same scalar products as the vectors."""
        n, q = self.rows.shape
        if not _is_sparse(self.rows) and q <= n:
            centred: FloatArray = (self.rows - self.centre) * self.scale
            return centred * self.known[:, None]
        values, axes = np.linalg.eigh(self.products(self.rows, self.known))
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        return np.asarray(axes[:, kept] * np.sqrt(values[kept]))

    def take(self, ids: IntArray) -> Block:
        """The block of some of the objects, standardized as it is."""
        found = Block(self.rows[ids], self.known[ids], self.centre, self.scale)
        # a part of what is known already is cheaper than the same anew
        if "factor" in self.__dict__:
            object.__setattr__(found, "factor", self.factor[ids])
        return found


@dataclass(frozen=True, eq=False)
class Features:
    """Blocks of vectors of the same objects."""

    #: Of the blocks.
    names: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def known(self) -> BoolArray:
        """(n,): which objects have a vector in any block."""
        found: BoolArray = np.logical_or.reduce([block.known for block in self.blocks])
        return found

    def take(self, ids: IntArray) -> Features:
        """The features of some of the objects, in the order given."""
        return Features(self.names, tuple(block.take(ids) for block in self.blocks))

    def reordered(self, order: IntArray) -> Features:
        """The same features of all objects in another order, the same to the last digit.

        Sums in another order are rounded in another way, so they are made anew.
        """
        blocks = (Block.of(block.rows[order], block.known[order]) for block in self.blocks)
        return Features(self.names, tuple(blocks))

    def extended(self, new: Features | None, count: int) -> Features:
        """With new objects after the others, standardized as these; without features if None."""
        blocks = []
        for i, block in enumerate(self.blocks):
            q = block.rows.shape[1]
            sparse = _is_sparse(block.rows)
            if new is not None:
                rows, known = new.blocks[i].rows, new.blocks[i].known
            else:
                rows, known = np.zeros((count, q)), np.zeros(count, dtype=np.bool_)
            if sparse:
                from scipy.sparse import csr_array, vstack

                together = vstack([block.rows, csr_array(rows)], format="csr")
            else:
                together = np.vstack([block.rows, rows.toarray() if _is_sparse(rows) else rows])
            both = np.concatenate([block.known, known])
            blocks.append(Block(together, both, block.centre, block.scale))
        return Features(self.names, tuple(blocks))

    def prior(self, shares: Sequence[float]) -> FeaturePrior | None:
        """What the features say beforehand; None where their shares are 0."""
        if not any(shares):
            return None
        return FeaturePrior.of(self, tuple(float(share) for share in shares))


@dataclass(frozen=True, eq=False)
class FeaturePrior:
    """C = A A' of the shares, with A = D^(1/2) (I + U (sqrt(1 + s^2) - 1) U')."""

    features: Features
    #: Of the blocks.
    shares: tuple[float, ...]
    #: (n,): D: the part of the prior variance that no other object shares.
    own: FloatArray
    #: (n, k): U, orthonormal.
    axes: FloatArray
    #: (k,): s.
    spread: FloatArray

    @classmethod
    def of(cls, features: Features, shares: tuple[float, ...]) -> FeaturePrior:
        """Of blocks and their shares."""
        own = np.full(len(features.known), max(1.0 - sum(shares), _LEAST_OWN))
        parts = []
        for block, share in zip(features.blocks, shares, strict=True):
            own += share * ~block.known
            if share:
                parts.append(np.sqrt(share) * block.factor)
        G = np.hstack(parts) / np.sqrt(own)[:, None]
        n, k = G.shape
        if k <= n:
            values, right = np.linalg.eigh(G.T @ G)
            kept = values > 1e-12 * max(float(values[-1]), 1e-300)
            axes = G @ (right[:, kept] / np.sqrt(values[kept]))
        else:
            values, axes = np.linalg.eigh(G @ G.T)
            kept = values > 1e-12 * max(float(values[-1]), 1e-300)
            axes = axes[:, kept]
        return cls(features, shares, own, np.ascontiguousarray(axes), np.sqrt(values[kept]))

    def places(self, Z: FloatArray) -> FloatArray:
        """X = A Z."""
        return np.sqrt(self.own)[:, None] * self._stretched(Z, np.sqrt(1 + self.spread**2))

    def slopes(self, G: FloatArray) -> FloatArray:
        """A' G: the slopes in Z of those in X."""
        return self._stretched(np.sqrt(self.own)[:, None] * G, np.sqrt(1 + self.spread**2))

    def standard(self, X: FloatArray) -> FloatArray:
        """Z = A^-1 X."""
        return self._stretched(X / np.sqrt(self.own)[:, None], (1 + self.spread**2) ** -0.5)

    def roots(self, V: FloatArray) -> FloatArray:
        """A'^-1 V: if V are drawn with covariance I, these are with C^-1."""
        root = np.sqrt(self.own)[:, None]
        return self._stretched(V, (1 + self.spread**2) ** -0.5) / root

    def solved(self, X: FloatArray) -> FloatArray:
        """C^-1 X."""
        root = np.sqrt(self.own)[:, None]
        return self._stretched(X / root, 1 / (1 + self.spread**2)) / root

    @cached_property
    def precision(self) -> FloatArray:
        """C^-1, (n, n)."""
        return self.solved(np.eye(len(self.own)))

    @property
    def own_precision(self) -> FloatArray:
        """(n,): the diagonal of C^-1."""
        less = 1 / (1 + self.spread**2) - 1
        return np.asarray((1 + (self.axes**2) @ less) / self.own)

    @property
    def log_volume(self) -> float:
        """log det C."""
        return float(np.log(self.own).sum() + np.log1p(self.spread**2).sum())

    @cached_property
    def matrix(self) -> FloatArray:
        """A, (n, n)."""
        return self.places(np.eye(len(self.own)))

    def information(self, H: FloatArray) -> FloatArray:
        """A' H A: that of Z where H is that of the places, (n d, n d).

        Of (n, d, d) as if the answers told the places of different objects apart.
        """
        n = len(self.own)
        if H.ndim == 3 and n > _MOST_PRODUCTS:  # by their own part alone: A is too large to hold
            spread = np.sqrt(1 + self.spread**2) - 1
            own = self.own * (1 + (self.axes**2) @ spread) ** 2
            return np.asarray(own[:, None, None] * H)
        A = self.matrix
        if H.ndim == 3:
            return np.asarray(np.tensordot((A**2).T, H, axes=1))
        d = len(H) // n
        left = np.tensordot(A.T, H.reshape(n, d, n, d), axes=1)
        both = np.tensordot(left, A, axes=(2, 0)).transpose(0, 1, 3, 2)
        return np.ascontiguousarray(both).reshape(n * d, n * d)

    def widest(self, d: int) -> FloatArray | None:
        """(n, d): the directions in Z in which the places vary most; None if these are fewer."""
        if len(self.spread) < d:
            return None
        chosen = np.argsort(-self.spread, kind="stable")[:d]
        axes = self.axes[:, chosen] * self.spread[chosen]
        return np.asarray(axes * pointing(axes))

    def linear_part(self, X: FloatArray) -> FloatArray:
        """W f of every object, the part of X that the features explain."""
        remainder = (max(1.0 - sum(self.shares), _LEAST_OWN)) * self.solved(X)
        for block, share in zip(self.features.blocks, self.shares, strict=True):
            remainder += share * (self.solved(X) * ~block.known[:, None])
        return X - remainder

    def among(self, ids: IntArray) -> FeaturePrior:
        """The prior of some of the objects."""
        return FeaturePrior.of(self.features.take(ids), self.shares)

    def _stretched(self, Y: FloatArray, by: FloatArray) -> FloatArray:
        return np.asarray(Y + self.axes @ ((by - 1)[:, None] * (self.axes.T @ Y)))


class FeaturedLikelihood(LikelihoodAround):
    """The likelihood in the coordinates Z of a prior, which are penalized as a map without is.

    Parameters
    ----------
    answers : Likelihood
        Of the places.
    """

    prior: FeaturePrior

    def __init__(self, answers: Likelihood, prior: FeaturePrior) -> None:
        self._answers, self.prior = answers, prior
        self.choices, self.weight = answers.choices, answers.weight
        self.on_device = answers.on_device
        self.length, self.alpha = answers.length, answers.alpha

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        loss, slope, of_lapse = self._answers(self.prior.places(X), lapse)
        return loss, self.prior.slopes(slope), of_lapse

    def information(self, X: FloatArray, lapse: FloatArray, *, whole: bool = True) -> FloatArray:
        H = self._answers.information(self.prior.places(X), lapse, whole=whole)
        return self.prior.information(H)

    def of_places(self) -> Likelihood:
        return self._answers

    def part(self, rows: IntArray) -> Likelihood:
        return FeaturedLikelihood(self._answers.part(rows), self.prior)


def with_prior(answers: Likelihood, prior: FeaturePrior | None) -> Likelihood:
    """The likelihood in the coordinates of a prior, or as it is without one."""
    return answers if prior is None else FeaturedLikelihood(answers, prior)


# ---- what users give ----------------------------------------------------------------------------


def features_for(X: Any, features: FeaturesLike | None) -> tuple[Any, FeaturesLike | None]:
    """The data of a fit, and its features: those given, or those that hang on its objects.

    scikit-learn would cut features to the rows of the objects that a fold learns from.
    """
    if not isinstance(X, Objects):
        return X, features
    if features is not None:
        raise _refused(
            "features of objects that scikit-learn may divide hang on the objects: give "
            "S.objects.with_features(features), and no features beside it"
        )
    return X.with_features(None), X.features


def read_features(given: FeaturesLike, names: Sequence[str] | None, n_objects: int) -> Features:
    """Features as users give them, in the order of the objects.

    Parameters
    ----------
    given
        (n, q) numbers, dense or sparse, in the order of the objects; a pandas, polars or Arrow
        table with the names as its index, in a column of text, or in one called object, name or
        id; a dict from name to vector. A dict whose values are two-dimensional holds blocks, each
        of which is one of these. Vectors with NaN are missing, as are those of names that are left
        out.
    names
        Of the objects; None where they have only ids, whose names are 0, 1, ...

    Examples
    --------
    >>> F = read_features({"a": [1.0, 2.0], "c": [3.0, 2.0]}, ["a", "b", "c"], 3)
    >>> F.names, F.known.tolist(), F.blocks[0].factor[:, 0].tolist()
    (('features',), [True, False, True], [-1.0, -0.0, 1.0])
    """
    if isinstance(given, Features):
        return given
    called = [str(i) for i in range(n_objects)] if names is None else list(names)
    parts = _blocks_of(given)
    blocks = []
    for name, part in parts.items():
        what = "features" if name == ONE_BLOCK and len(parts) == 1 else f"features {name!r}"
        blocks.append(Block.of(*_in_order(*_table(part, what), called, what)))
    return Features(tuple(parts), tuple(blocks))


def read_new_features(
    given: FeaturesLike, features: Features
) -> tuple[tuple[str, ...] | None, Features]:
    """Features of new objects, and their names where they have any.

    They are standardized as the objects of the map were, by the block's own center and scale.
    """
    parts = _blocks_of(given)
    if len(parts) == len(features.names) == 1:  # the only block may be called otherwise
        parts = dict(zip(features.names, parts.values(), strict=True))
    if tuple(parts) != features.names:
        if set(parts) != set(features.names):
            raise _refused(
                f"the map was fitted with the features {', '.join(features.names)}; these are "
                f"{', '.join(parts)}"
            )
        parts = {name: parts[name] for name in features.names}
    names: list[str] | None = None
    found = []
    for (name, part), block in zip(parts.items(), features.blocks, strict=True):
        what = "features" if name == ONE_BLOCK else f"features {name!r}"
        called, rows = _table(part, what)
        if rows.shape[1] != block.rows.shape[1]:
            raise _refused(
                f"{what} have {rows.shape[1]:,} columns; the map was fitted with "
                f"{block.rows.shape[1]:,}"
            )
        names = called if names is None else names
        if names is not None and called is not None and called != names:
            rows, known = _by_name(called, rows, names, "features")
        else:
            rows, known = _checked(rows, "features")
        found.append(Block(rows, known & (block.scale > 0), block.centre, block.scale))
    if len({len(block.known) for block in found}) > 1:
        raise _refused("the blocks of features have different numbers of rows")
    return None if names is None else tuple(names), Features(features.names, tuple(found))


def _blocks_of(given: FeaturesLike) -> dict[str, Any]:
    """The blocks by name; of anything but a dict of two-dimensional values the only one."""
    if given is None or isinstance(given, (str, bytes)):
        raise _refused(
            f"features are {shown(given)}; give an (n_objects, q) array, a table or a dict by name "
            "(read a file with read_features)"
        )
    if not isinstance(given, Mapping):
        return {ONE_BLOCK: given}
    if not given:
        raise _refused("features are an empty dict")
    wide = {name: _is_wide(value) for name, value in given.items()}
    if all(wide.values()):
        return {str(name): value for name, value in given.items()}
    if any(wide.values()):
        some = next(name for name, is_wide in wide.items() if is_wide)
        other = next(name for name, is_wide in wide.items() if not is_wide)
        raise _refused(
            f"features are a dict of blocks (two-dimensional, as {some!r}) or of vectors by object "
            f"(one-dimensional, as {other!r}), not both"
        )
    return {ONE_BLOCK: given}


def _is_wide(value: Any) -> bool:
    """Whether a value of a dict is a block: a table, a matrix, or a dict of vectors."""
    if isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names"):
        return True
    shape = getattr(value, "shape", None)
    if shape is None:
        try:
            shape = np.shape(value)
        except (ValueError, TypeError):
            return False
    return len(shape) == 2


def _table(given: Any, what: str) -> tuple[list[str] | None, Any]:
    """The names of the rows, where they are given, and the rows, (n, q) float64 or sparse."""
    names: list[str] | None = None
    if _is_sparse(given):
        return None, given.tocsr().astype(np.float64)
    if isinstance(given, Mapping):
        names, given = [str(name) for name in given], list(given.values())
        lengths = {len(np.atleast_1d(plain(row))) for row in given}
        if len(lengths) > 1:
            raise _refused(
                f"{what}: the vectors have {min(lengths):,} to {max(lengths):,} numbers; all must "
                "have as many"
            )
        given = [np.atleast_1d(plain(row)) for row in given]
    elif hasattr(given, "columns") or hasattr(given, "column_names"):
        names, given = _of_frame(given, what)
    try:
        rows = np.asarray(plain(given))
    except (TypeError, ValueError):
        rows = np.empty(0, dtype=object)
    if rows.dtype.kind not in "biuf":
        raise _refused(f"{what} are {shown(given)}; they must be numbers, a row for each object")
    if rows.ndim == 1 and names is None:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise _refused(
            f"{what} have shape {rows.shape}; give a row for each object and a column or more"
        )
    if rows.size > _MOST_NUMBERS:
        raise _refused(
            f"{what} have {rows.shape[1]:,} columns for {len(rows):,} objects, too many to hold; "
            "give them as a scipy.sparse array, or reduced to a few hundred columns by "
            "sklearn.decomposition.TruncatedSVD"
        )
    return names, rows.astype(np.float64)


def _of_frame(given: Any, what: str) -> tuple[list[str] | None, Any]:
    """The names in a table and its numbers: of pandas by the index, or by a column of text."""
    named = None
    if hasattr(given, "iloc"):
        columns = {str(name): given.iloc[:, i] for i, name in enumerate(given.columns)}
        index = np.asarray(given.index)
        named = None if counts_up(index) else numbers_or_text(index).astype(str).tolist()
    else:
        called = list(getattr(given, "column_names", None) or given.columns)
        columns = {str(name): np.asarray(plain(given[name])) for name in called}
    numeric = [name for name, one in columns.items() if one.dtype.kind in "biuf"]
    texts = [name for name in columns if name not in numeric or _is_name(name)]
    by = next((name for name in texts if _is_name(name)), None)
    if by is None and named is None and len(texts) == 1:
        by = texts[0]
    rest = [name for name in texts if name != by]
    if rest:
        raise _refused(
            f"{what}: the columns {_listed(rest)} are no numbers; leave them out, or call the "
            "one with the objects' names object"
        )
    if by is not None:
        named = numbers_or_text(np.asarray(plain(columns.pop(by)))).astype(str).tolist()
    if not columns:
        raise _refused(f"{what} have no column of numbers")
    numbers = [np.asarray(plain(one), dtype=np.float64) for one in columns.values()]
    return named, np.column_stack(numbers)


def _is_name(column: str) -> bool:
    return column.casefold() in _NAME_COLUMNS


def _in_order(
    names: list[str] | None, rows: Any, objects: list[str], what: str
) -> tuple[Any, BoolArray]:
    """The rows in the order of the objects, 0 for those without, and which have one."""
    n = len(objects)
    sparse = _is_sparse(rows)
    if (sparse or rows.shape[1] > n) and n > _MOST_PRODUCTS:
        raise _refused(
            f"{what} have {rows.shape[1]:,} columns for {n:,} objects; beyond {_MOST_PRODUCTS:,} "
            "objects reduce them to a few hundred dense columns first, for instance by "
            "sklearn.decomposition.TruncatedSVD"
        )
    if names is not None:
        return _by_name(names, rows, objects, what)
    if rows.shape[0] != n:
        raise _refused(
            f"{what} have {rows.shape[0]:,} rows for {n:,} objects; give one for each, in the "
            "order of the objects, or give them by name"
        )
    rows, known = _checked(rows, what)
    if not known.any():
        raise _refused(f"{what}: every row has NaN")
    return rows, known


def _by_name(
    names: list[str], rows: Any, objects: Sequence[str], what: str
) -> tuple[Any, BoolArray]:
    row_of: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in row_of:
            raise _refused(f"{what}: object {name!r} has two rows; give it one")
        row_of[name] = i
    at = np.array([row_of.get(name, -1) for name in objects], dtype=np.int64)
    if (at < 0).all():
        raise _refused(
            f"{what}: none of the {len(objects):,} objects ({_listed(objects)}) is among the "
            f"{len(names):,} names ({_listed(names)})"
        )
    asked = set(objects)
    strange = [name for name in names if name not in asked]
    missing = [name for name in objects if name not in row_of]
    if strange and missing:
        import warnings

        have = "has" if len(missing) == 1 else "have"
        are = "row is" if len(strange) == 1 else "rows are"
        warnings.warn(
            f"{what}: {len(missing):,} of {len(objects):,} objects {have} no features "
            f"({_listed(missing)}), and {len(strange):,} {are} of no object "
            f"({_listed(strange)}); check the names",
            stacklevel=2,
        )
    return _checked(rows[np.maximum(at, 0)], what, at >= 0)


def _checked(rows: Any, what: str, known: BoolArray | None = None) -> tuple[Any, BoolArray]:
    """Finite rows; those with NaN are missing, and 0."""
    known = np.ones(rows.shape[0], dtype=np.bool_) if known is None else known.copy()
    if _is_sparse(rows):
        bad = ~np.isfinite(rows.data)
        if bad.any():
            raise _refused(
                f"{what} have {int(bad.sum()):,} numbers that are NaN or infinite; a sparse array "
                "must have numbers"
            )
        return rows, known
    infinite = np.isinf(rows).any(axis=1)
    if (infinite & known).any():
        row = int(np.flatnonzero(infinite & known)[0])
        raise _refused(
            f"{what}: row {row} has an infinite number ({int(infinite.sum()):,} rows have); give "
            "numbers, or NaN for an object without features"
        )
    if rows.size and np.nanmax(np.abs(rows), initial=0.0) > 1e100:
        raise _refused(f"{what} have a number beyond 1e100; scale them down")
    known &= ~np.isnan(rows).any(axis=1)
    if not known.all():
        rows = np.where(known[:, None], rows, 0.0)
    return rows, known


def _refused(why: str) -> ParameterError:
    return ParameterError(why, parameter="features")


def _is_sparse(given: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(given))


def _listed(names: Sequence[str]) -> str:
    few = ", ".join(shown(name, 40) for name in list(names)[:_FEW])
    return few if len(names) <= _FEW else f"{few}, ..."
