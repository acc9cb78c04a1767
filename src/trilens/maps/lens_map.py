"""The lens map: coordinates in closed form from the pair counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from trilens._parameters import generator, real_number
from trilens._typing import FloatArray, RandomState
from trilens.answers import Answers, AnswersLike
from trilens.counts import Counted, PairCounts, count_pairs
from trilens.errors import ParameterError, StatementError
from trilens.kinds import chance, sign
from trilens.maps.estimator import MapEstimator
from trilens.maps.likelihood import object_order
from trilens.maps.map import Names, check_components
from trilens.maps.pairs import pointing
from trilens.maps.passes import Passes, product, total
from trilens.maps.scaling import SMOOTHED_OBJECTS, check_power, lens_scaling, usual_power
from trilens.statements import Kind, Statements, as_statements
from trilens.statements.value import same_kind

#: By passes, vectors beside those that are wanted: they make the others come sooner.
_MORE = 8
#: What is rarely asked about has at least this share of the usual weight, lest chance place it far.
_LIKE_OTHERS = 0.1
#: The passes are done when the eigenvalues change by less than this share in one, or after so many.
_SETTLED, _PASSES = 2e-4, 16


@dataclass(eq=False, repr=False)
class LensMap(MapEstimator):
    """Coordinates of objects from statements of any kind, in closed form.

    The share V(i, j) of the statements about i and j that single out the third object
    estimates how much of the data lies in Lens(i, j), and grows with the distance of i and j.
    So V is a noisy dissimilarity, and classical scaling of it gives coordinates for the price
    of counting. ``odd`` and ``closer`` statements have such a share too; see
    `pair_dissimilarity`.

    Up to 4096 objects V is first replaced by the nearest matrix of rank d + 2, see `smooth`.
    Beyond, the map is computed from the pairs that were asked about alone: one Lanczos step
    costs one pass over them, so a million objects are no obstacle.

    Parameters
    ----------
    n_components : int
        The number of dimensions d, at most n_objects - 1.
    shrinkage : float
        How many guessed statements each pair starts with.
    error_rate : float
        The known share of wrong answers (Noise model I).
    power : float or "auto"
        The squared distance is V ** power. The share of the data in a lens grows as the
        distance to the power d, which makes 2 / d right; ``"auto"`` is that, but at least 1/2
        and at most 1.
    random_state : int, Generator or None
        For the start of the Lanczos iterations.
    kind : {"central", "odd", "closer"}, optional
        What was asked: required for arrays, which do not tell.

    Attributes
    ----------
    embedding_ : (n_objects, n_components_) float64
        Centered; a coordinate whose eigenvalue is not positive is 0 for every object.
    eigenvalues_ : (n_components_,) float64
        The largest first, as they are: also negative ones.
    explained_variance_ratio_ : (n_components_,) float64
        The share of each in the sum of all eigenvalues; negative ones count as 0 here.
    n_components_ : int
    power_ : float
    kind_ : {"central", "odd", "closer"}
        What was asked. An array that the fitted map is given is of this kind.
    n_objects_ : int
    counts_ : PairCounts
        What `partial_fit` adds to. Where the map was made by passes over files, ``counts_``,
        ``power_`` and ``explained_variance_ratio_`` are not there.

    Examples
    --------
    >>> S = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3], [2, 1, 4], [3, 2, 4], [2, 0, 4]]
    >>> line = LensMap(n_components=1, kind="central").fit_transform(S)[:, 0]
    >>> np.argsort(line * np.sign(line[4])).tolist()
    [0, 1, 2, 3, 4]
    """

    n_components: int = 2
    _: KW_ONLY
    shrinkage: float = 1.0
    error_rate: float = 0.0
    power: float | Literal["auto"] = "auto"
    random_state: RandomState = 0
    kind: Kind | None = None

    def fit(self, S: AnswersLike | PairCounts, y: object = None) -> LensMap:
        """Find coordinates.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, Answers, or PairCounts
            The pairs of large files are counted as they are read. Of more than 4096 objects in
            such files no pairs are counted: the map is found by passes over the files.
        y
            None, or labels of the objects for a later step of a Pipeline; answers are refused.
        """
        pairs, names = self._counted(S, y)
        if pairs is None:
            assert isinstance(S, Answers)
            return self._stream(S)
        same_kind(self.kind, pairs.kind, self)
        n = pairs.n_objects
        if n < 2:
            raise StatementError(
                f"a map of {n} object{'s' * (n != 1)} has no distances; "
                f"give statements about at least three objects"
            )
        check_components(self.n_components, n)
        d = int(self.n_components)
        own = not (isinstance(self.power, str) and self.power == "auto")
        power: Any = self.power if own else usual_power(d)
        check_power(power)
        start = np.empty(n)
        start[object_order(names, n)] = generator(self.random_state).standard_normal(n)
        found = lens_scaling(
            pairs, d, float(power), start, shrinkage=self.shrinkage, error_rate=self.error_rate
        )
        self.embedding_ = found.coordinates
        self.eigenvalues_ = found.eigenvalues
        self.explained_variance_ratio_ = np.clip(found.eigenvalues, 0, None) / found.trace
        self.n_components_ = d
        self.power_ = float(power)
        self.n_objects_ = n
        self.counts_ = pairs
        self.names_, self.kind_ = names, pairs.kind
        self._find_unknown(np.asarray(pairs.appears.sum(axis=1)))
        self._tell_doubts()
        return self

    def _counted(self, S: AnswersLike | PairCounts, y: object) -> tuple[PairCounts | None, Names]:
        """The counts of pairs, None where these are too many, and the names of the objects."""
        if isinstance(S, PairCounts):
            return S, None
        if isinstance(S, Answers) and (S.in_counts or S.streamed):
            if S.streamed and S.count().n_objects > SMOOTHED_OBJECTS:
                return None, None
            found = S.count(pairs=True)
            return found.pairs, found.known_names
        given: Statements = self._to_fit(S, y)
        return count_pairs(given), given._names

    def _stream(self, answers: Answers) -> LensMap:
        """Fit by passes over files of very many objects."""
        for name, default in (("error_rate", 0.0), ("power", "auto")):
            if getattr(self, name) != default:
                raise ParameterError(
                    f"LensMap: {name} cannot be chosen for answers that are too large to hold in "
                    "memory; leave it out, or fit the map to read_statements(...)",
                    parameter=name,
                )
        check_components(self.n_components, answers.count().n_objects)
        self.embedding_, self.eigenvalues_, counts = stream_lens_map(
            answers,
            int(self.n_components),
            shrinkage=self.shrinkage,
            random_state=self.random_state,
        )
        same_kind(self.kind, counts.kind, self)
        for name in ("explained_variance_ratio_", "power_", "counts_"):
            self.__dict__.pop(name, None)
        self.n_objects_, self.n_components_ = self.embedding_.shape
        self.names_, self.kind_ = counts.known_names, counts.kind
        self._unknown = None
        return self

    def partial_fit(self, S: AnswersLike | PairCounts, y: object = None) -> LensMap:
        """As `fit` to all statements so far: those of `fit`, of earlier calls, and these."""
        if hasattr(self, "embedding_") and not hasattr(self, "counts_"):
            raise ParameterError(
                "partial_fit adds counts of pairs; this map was streamed from files that are too "
                "large to hold in memory; fit a map to read_statements(...), or to a random part "
                "of the answers"
            )
        before = self.kind_ if hasattr(self, "counts_") else self.kind
        more = S if isinstance(S, PairCounts) else count_pairs(as_statements(S, before))
        return self.fit(self.counts_ + more if hasattr(self, "counts_") else more)


def stream_lens_map(
    answers: Answers | Statements,
    n_components: int,
    *,
    shrinkage: float = 1.0,
    random_state: RandomState = 0,
) -> tuple[FloatArray, FloatArray, Counted]:
    """The lens map by passes over answers, for objects too many for a matrix of their pairs.

    Coordinates, (n, d): centered, the widest axis first; their eigenvalues; the counts per object.

    What its eigenvectors need is the product of its matrix with a few vectors, a sum over
    statements. The shares of a pair are not shrunk by how often it was asked about: each answer
    counts the same.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "line.csv"
    >>> rows = [f"{j},{i},{k}" for i in range(9) for j in range(i + 1, 9) for k in range(j + 1, 9)]
    >>> _ = file.write_text("\\n".join(rows))
    >>> line = stream_lens_map(Answers(file), 1)[0][:, 0]
    >>> np.argsort(line * np.sign(line[8])).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    shrinkage = real_number("shrinkage", shrinkage, positive=True)
    passes = Passes.over(answers, at_random=True)
    counts = passes.counts
    n, d = counts.n_objects, n_components
    # the shares of a pair that was asked about once, less the one of a pair that was not
    guess = chance(counts.kind)
    on, off = ((answer - guess) / (1 + shrinkage) for answer in (1.0, 0.0))
    # an object that was asked about often weighs as much as the others, as it does where shares
    # of pairs are looked at: the map is not that of what is popular
    seen = counts.appearances.astype(np.float64)
    root = np.sqrt(seen + _LIKE_OTHERS * seen.mean())[:, None].astype(np.float32)
    axis = root / np.linalg.norm(root)
    width = min(d + _MORE, n - 1)
    X = generator(random_state).standard_normal((n, width)).astype(np.float32)
    before = 0.0
    with passes.engine() as engine:
        for turn in range(_PASSES):
            X = np.linalg.qr(X - axis * (axis.T @ X))[0].astype(np.float32)
            added = total(engine, passes.parts, product, passes.plan, X / root, on, off)
            Y = -sign(counts.kind) * added / root
            Y -= axis * (axis.T @ Y)
            inner = X.T.astype(np.float64) @ Y.astype(np.float64)
            values, vectors = np.linalg.eigh((inner + inner.T) / 2)
            grown = float(np.abs(values[-d:]).sum())
            if turn + 1 == _PASSES or abs(grown - before) < _SETTLED * grown:
                break
            X, before = Y, grown
    values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
    points = X.astype(np.float64) @ vectors * np.sqrt(np.clip(values, 0, None)) / root
    points -= points.mean(axis=0)
    return points * pointing(points), values, counts
