"""An experiment as data: what is drawn, asked, spoiled and compared, over which grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from trilens_paper.framework.verdicts import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trilens_paper.framework.results import Results


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of an experiment's grid.

    Attributes
    ----------
    panel : str
        The part of the figure or table that it belongs to.
    n_statements : int
        0 where the number is not a choice.
    error_rate, noise_param : float
        errorprob of Noise model I, noiseparam of Noise model II.
    sampling : str
        As in `trilens.simulate.simulate_statements`.
    dim : int
        Of the embeddings.
    collection : str
        Of the car data.
    costly : bool
        Left out unless the full grid is asked for.
    most_runs : int or None
        Repeated at most so often.
    """

    panel: str = ""
    n_statements: int = 0
    error_rate: float = 0.0
    noise_param: float = 0.0
    sampling: str = "uniform"
    dim: int = 2
    collection: str = ""
    costly: bool = False
    most_runs: int | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What defines the point, and stands in the table of results."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("costly", "most_runs")
        }

    @property
    def key(self) -> str:
        """The fields as one line: the same for the same point, whatever else is in the grid."""
        return " ".join(f"{name}={value}" for name, value in self.fields.items())


@dataclass(frozen=True)
class Seeds:
    """The random numbers of one cell; every purpose has a stream of its own.

    They depend on the experiment, the grid point and the repetition, and on nothing else:
    neither on the number of processes nor on which other cells there are.

    >>> seeds = Seeds("tiny", Point(n_statements=5), 0)
    >>> seeds.integer("SOE") == Seeds("tiny", Point(n_statements=5), 0).integer("SOE")
    True
    >>> seeds.integer("SOE") == seeds.integer("STE")
    False
    """

    experiment: str
    point: Point
    run: int

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator for one purpose: ``"points"``, ``"statements"``, a method's name."""
        words = [self.experiment, self.point.key, purpose]
        entropy = [*(crc32(word.encode()) for word in words), self.run]
        return np.random.default_rng(np.random.SeedSequence(entropy))

    def integer(self, purpose: str) -> int:
        """A seed below 2^31 for what does not take a generator."""
        return int(self.rng(purpose).integers(2**31))


@dataclass(frozen=True)
class Measure:
    """One measured value of a cell.

    Attributes
    ----------
    method, metric : str
    value : float
    k, sigma : float or None
        Parameters of the method, where they are varied.
    item : int or None
        The object that the value belongs to, where there is one for each.
    cpu : float
        The CPU seconds that the method took; 0 where they are not measured.
    """

    method: str
    metric: str
    value: float
    k: int | None = None
    sigma: float | None = None
    item: int | None = None
    cpu: float = 0.0


#: Does one cell; must be a function of a module, since it runs in another process.
MeasureCell: TypeAlias = Callable[[Point, Seeds], Iterable[Measure]]


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper.

    Attributes
    ----------
    name, title : str
    paper : str
        Where it stands in the paper.
    drawn, asked, spoiled, compared : str
        The data; the statements about them; how these go wrong; the methods.
    grid : tuple of Point
    runs : int
        Repetitions when none are asked for; the paper has 100 of nearly all.
    measure : callable
        Does one cell.
    claims : tuple of Claim
    figure : callable
        Results to a figure.
    prepare : callable or None
        Loads the public data that the cells need, so that a missing file is noticed first.
    notes : tuple of str
        What the paper leaves open, and what was chosen.
    """

    name: str
    title: str
    paper: str
    drawn: str
    asked: str
    spoiled: str
    compared: str
    grid: tuple[Point, ...]
    runs: int
    measure: MeasureCell
    claims: tuple[Claim, ...]
    figure: Callable[[Results], Figure]
    prepare: Callable[[], object] | None = None
    notes: tuple[str, ...] = ()

    def cells(self, runs: int | None = None, full: bool = False) -> Iterator[Cell]:
        """The cells of ``runs`` repetitions, without the costly points unless ``full``."""
        wanted = self.runs if runs is None else runs
        for point in self.grid:
            if point.costly and not full:
                continue
            most = wanted if point.most_runs is None else min(wanted, point.most_runs)
            for run in range(most):
                yield Cell(self.name, point, run)


@dataclass(frozen=True)
class Cell:
    """What one process does at a time: one repetition at one point of the grid."""

    experiment: str
    point: Point
    run: int

    @property
    def key(self) -> str:
        return f"{self.experiment} {self.point.key} run={self.run}"

    def measured(self, measure: MeasureCell) -> list[dict[str, Any]]:
        """The rows of the table of results that this cell gives.

        Values have five digits and times three, so that a journal of many of them stays small.
        """
        head = {"experiment": self.experiment, **self.point.fields, "run": self.run}
        rows = []
        for found in measure(self.point, Seeds(self.experiment, self.point, self.run)):
            rows.append(
                head
                | {
                    "method": found.method,
                    "k": found.k,
                    "sigma": found.sigma,
                    "item": found.item,
                    "metric": found.metric,
                    "value": float(f"{found.value:.5g}"),
                    "cpu_seconds": float(f"{found.cpu:.3g}"),
                }
            )
        return rows
