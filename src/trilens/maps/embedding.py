"""Ordinal embeddings: coordinates whose distances agree with the statements.

`SOE`, `GNMDS`, `STE` and `TSTE` minimize four objectives (`trilens.maps.comparison_loss`) by
L-BFGS. The objectives have local minima and no closed form, so the start matters; by default
it is the lens map, which has one.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import (
    check_progress,
    generator,
    real_number,
    threads_of,
    whole_number,
    wrong,
)
from trilens._typing import FloatArray, Progress, RandomState
from trilens.errors import StatementError
from trilens.kinds import Kind
from trilens.maps.comparison_loss import ComparisonLoss, Objective, comparison_loss
from trilens.maps.comparisons import ComparisonsLike, as_comparisons, violations
from trilens.maps.descent import (
    Minimum,
    best_scale,
    fill_flat_columns,
    given_start,
    minimise,
    one_blas_thread,
    part_of,
)
from trilens.maps.estimator import MapEstimator
from trilens.maps.likelihood import object_order
from trilens.maps.map import check_components
from trilens.statements import Statements
from trilens.statements.comparisons import Comparisons

Init: TypeAlias = Literal["lensmap", "random"] | ArrayLike
#: Beyond, the squares overflow.
_MARGINS = (1e-100, 1e100)

_Embedding = TypeVar("_Embedding", bound="_OrdinalEmbedding")


@dataclass(eq=False, repr=False)
class _OrdinalEmbedding(MapEstimator):
    """What the four estimators share."""

    n_components: int = 2
    _: KW_ONLY
    n_init: int = 1
    init: Init = "lensmap"
    max_iter: int = 1000
    tol: float = 1e-6
    random_state: RandomState = 0
    n_jobs: int | None = None
    kind: Kind | None = None

    @abstractmethod
    def _objective(self) -> Objective:
        """The objective, with its constants checked."""

    def fit(
        self, S: ComparisonsLike, y: object = None, *, progress: Progress | None = None
    ) -> Self:
        """Find coordinates.

        Parameters
        ----------
        S : Statements, a table, (m, 3) array, Comparisons or (m, 4) array of int
            Statements of any kind; an array of three columns needs ``kind``. SOE and GNMDS also
            take comparisons d(A,B) < d(C,D).
        y
            None, labels of the objects for a later step of a Pipeline, or positions of answers:
            see `ChoiceMap.fit`.
        progress
            Called with the share of the work that is done at most; silent by default.
        """
        name = type(self).__name__
        data: Statements | Comparisons = self._to_fit(S, y)
        for parameter in ("n_init", "max_iter"):
            whole_number(f"{name}: {parameter}", getattr(self, parameter), least=1)
        threads = threads_of(self.n_jobs)
        check_progress(progress)
        real_number(f"{name}: tol", self.tol, 0)
        comparisons = as_comparisons(data)
        if len(comparisons) == 0:
            raise StatementError(f"{name} needs at least one statement; there are none")
        check_components(self.n_components, comparisons.n_objects)
        best: Minimum | None = None
        objective = self._objective()
        with one_blas_thread(), comparison_loss(objective, comparisons, threads) as evaluate:
            rngs = generator(self.random_state).spawn(self.n_init)
            for i, rng in enumerate(rngs):
                X = self._start(data, "random" if i else self.init, evaluate, rng)
                # L-BFGS stalls at kinks; without them it comes close, or to 0, first.
                stages = [objective] if objective.is_smooth else [objective.smooth(), objective]
                part = 1 / (self.n_init * len(stages))
                for k, stage in enumerate(stages):
                    found = minimise(
                        evaluate.of(stage),
                        X,
                        self.max_iter,
                        self.tol,
                        part_of(progress, (i * len(stages) + k) * part, part),
                        stage.enough,
                    )
                    X = found.X
                if best is None or found.loss < best.loss:
                    best = found
            assert best is not None
            self.embedding_ = best.X - best.X.mean(axis=0)
            self.violations_ = violations(self.embedding_, comparisons)
        self.names_ = data._names
        self.kind_ = None if isinstance(data, Comparisons) else data.kind
        self._find_unknown(np.bincount(comparisons.rows.ravel(), minlength=data.n_objects))
        self.loss_ = best.loss
        self.loss_history_ = best.history
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged
        if progress is not None:
            progress(1.0)
        self._tell_doubts()
        return self

    def _start(
        self,
        data: Statements | Comparisons,
        init: Init,
        evaluate: ComparisonLoss,
        rng: np.random.Generator,
    ) -> FloatArray:
        shape = (data.n_objects, self.n_components)
        if not isinstance(init, str):
            return given_start(type(self).__name__, init, shape)
        if init not in ("lensmap", "random"):
            allowed = f"'lensmap', 'random' or an array of shape {shape}"
            raise wrong(f"{type(self).__name__}: init", init, allowed)
        order = object_order(data._names, data.n_objects)
        # The lens map counts statements about triples; for other comparisons there is none.
        if init == "random" or isinstance(data, Comparisons):
            X = np.empty(shape)
            X[order] = evaluate.objective.spread * rng.standard_normal(shape)
            return X
        from trilens.maps.lens_map import LensMap

        X = np.array(LensMap(n_components=self.n_components).fit(data).embedding_)
        X[order] = fill_flat_columns(X[order], rng)
        return best_scale(evaluate, X)


#: What the four embeddings share, for the place in their docstrings that names it.
_SHARED = """\
    n_components : int
        Dimensions, at most the number of objects minus one.
    n_init : int
        Starts; the embedding with the least loss is kept. The first is ``init``, the others
        are random.
    init : {"lensmap", "random"} or (n_objects, n_components) array of float
        The first start: the lens map, stretched to the least loss (comparisons d(A,B) < d(C,D)
        have no lens map and start at random), normal coordinates, or given ones.
    max_iter : int
        Iterations of L-BFGS for each start.
    tol : float
        Stop when the loss falls by less than this share per iteration.
    random_state : int, Generator, RandomState or None
    n_jobs : int, optional
        Threads; by default, and with -1, one per core. The answer does not depend on it.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays of three columns, which do not tell: cblearn's triplets
        (anchor, near, far) are ``"closer"``. Statements and tables tell it.

    Attributes
    ----------
    kind_ : {"central", "odd", "closer"} or None
        What was asked. An array that the fitted map is given is of this kind. None for
        comparisons d(A,B) < d(C,D).
    embedding_ : (n_objects, n_components) float64
        Centered coordinates.
    loss_ : float
        The sum over comparisons, at the embedding.
    loss_history_ : (n_iter_ + 1,) float64
        The loss at the start and after each iteration.
    n_iter_ : int
    converged_ : bool
        Whether the search ended before ``max_iter``.
    violations_ : float
        The share of similarity triplets (anchor, near, far) with d(anchor, near) >= d(anchor, far).
"""


def _documented(Embedding: type[_Embedding]) -> type[_Embedding]:
    """Put what all embeddings share into the docstring of one of them."""
    assert Embedding.__doc__ is not None
    Embedding.__doc__ = Embedding.__doc__.replace("    (what all embeddings share)\n", _SHARED)
    return Embedding


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class SOE(_OrdinalEmbedding):
    """Soft ordinal embedding: sum of max(0, d_near + margin - d_far) ** 2.

    Distances are Euclidean and not squared.

    Parameters
    ----------
    margin : float
        By how much the far pair should be farther. It only sets the scale: with another margin
        the best coordinates are the same, stretched.
    (what all embeddings share)

    References
    ----------
    Y. Terada and U. von Luxburg. Local ordinal embedding. ICML 2014, equation (1).

    Examples
    --------
    >>> line = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
    >>> soe = SOE(n_components=1, init="random", kind="central").fit(line)
    >>> soe.embedding_.shape, soe.violations_
    ((4, 1), 0.0)
    """

    _takes_comparisons: ClassVar[bool] = True

    margin: float = 0.1

    def _objective(self) -> Objective:
        real_number("SOE: margin", self.margin, *_MARGINS)
        return Objective("distance", "squared hinge", margin=self.margin)


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class STE(_OrdinalEmbedding):
    """Stochastic triplet embedding: the likelihood of triplets under a Gaussian kernel.

    The answer "near" has the probability exp(-d_near^2) / (exp(-d_near^2) + exp(-d_far^2)).

    Parameters
    ----------
    l2 : float
        Weight of the sum of squared coordinates, added to the loss.
    (what all embeddings share)

    References
    ----------
    L. van der Maaten and K. Weinberger. Stochastic triplet embedding. MLSP 2012.

    Examples
    --------
    >>> line = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
    >>> ste = STE(n_components=1, init="random", l2=0.01, kind="central").fit(line)
    >>> ste.embedding_.shape, ste.violations_
    ((4, 1), 0.0)
    """

    l2: float = 0.0

    def _objective(self) -> Objective:
        real_number("STE: l2", self.l2, 0)
        return Objective("square", "logistic", l2=self.l2)


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class TSTE(_OrdinalEmbedding):
    """t-distributed stochastic triplet embedding: as `STE`, with a Student-t kernel.

    The Gaussian kernel gives way to (1 + d^2 / alpha) ** (-(alpha + 1) / 2), whose heavy tail
    pulls clusters together and forgives wrong answers.

    Parameters
    ----------
    l2 : float
        Weight of the sum of squared coordinates, added to the loss.
    alpha : float, optional
        Degrees of freedom; by default ``n_components - 1``, and at least 1.
    (what all embeddings share)

    References
    ----------
    L. van der Maaten and K. Weinberger. Stochastic triplet embedding. MLSP 2012: t-STE.

    Examples
    --------
    >>> line = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
    >>> tste = TSTE(n_components=1, init="random", l2=0.01, kind="central").fit(line)
    >>> tste.embedding_.shape, tste.violations_
    ((4, 1), 0.0)
    """

    alpha: float | None = None
    l2: float = 0.0

    def _objective(self) -> Objective:
        real_number("TSTE: l2", self.l2, 0)
        alpha = max(self.n_components - 1, 1) if self.alpha is None else self.alpha
        real_number("TSTE: alpha", alpha, positive=True)
        return Objective("student", "logistic", alpha=float(alpha), l2=self.l2)


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class GNMDS(_OrdinalEmbedding):
    """Generalised non-metric scaling: sum of max(0, d_near^2 + margin - d_far^2).

    Over coordinates, not over a kernel matrix, so the number of dimensions is given. The hinge
    has kinks at which L-BFGS stalls, so each start first descends on the squared hinge;
    ``loss_history_`` and ``n_iter_`` tell of the descent on the hinge itself.

    Parameters
    ----------
    margin : float
        By how much the far pair's squared distance should be larger; it only sets the scale.
    l2 : float
        Weight of the sum of squared coordinates, added to the loss.
    (what all embeddings share)

    References
    ----------
    S. Agarwal et al. Generalized non-metric multidimensional scaling. AISTATS 2007.

    Examples
    --------
    >>> line = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
    >>> gnmds = GNMDS(n_components=1, init="random", kind="central").fit(line)
    >>> gnmds.embedding_.shape, gnmds.violations_
    ((4, 1), 0.0)
    """

    _takes_comparisons: ClassVar[bool] = True

    margin: float = 1.0
    l2: float = 0.0

    def _objective(self) -> Objective:
        real_number("GNMDS: margin", self.margin, *_MARGINS)
        real_number("GNMDS: l2", self.l2, 0)
        return Objective("square", "hinge", margin=self.margin, l2=self.l2)
