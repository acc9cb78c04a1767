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
    """One point of an experiment's grid."""

    #: The part of the figure or table that it belongs to.
    panel: str = ""
    #: 0 where the number is not a choice.
    n_statements: int = 0
    #: errorprob of Noise model I, noiseparam of Noise model II.
    error_rate: float = 0.0
    noise_param: float = 0.0
    sampling: str = "uniform"
    #: Of the embeddings.
    dim: int = 2
    #: Of the car data.
    collection: str = ""
    #: Left out unless the full grid is asked for.
    costly: bool = False
    #: Repeated at most so often.
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
    """One measured value of a cell."""

    method: str
    metric: str
    value: float
    #: Parameters of the method, where they are varied.
    k: int | None = None
    sigma: float | None = None
    #: The object that the value belongs to, where there is one for each.
    item: int | None = None
    #: The CPU seconds that the method took; 0 where they are not measured.
    cpu: float = 0.0


#: Does one cell; must be a function of a module, since it runs in another process.
MeasureCell: TypeAlias = Callable[[Point, Seeds], Iterable[Measure]]


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper."""

    name: str
    title: str
    #: Where it stands in the paper.
    paper: str
    #: The data; the statements about them; how these go wrong; the methods.
    drawn: str
    asked: str
    spoiled: str
    compared: str
    grid: tuple[Point, ...]
    #: Repetitions when none are asked for; the paper has 100 of nearly all.
    runs: int
    measure: MeasureCell
    claims: tuple[Claim, ...]
    figure: Callable[[Results], Figure]
    #: Loads the public data that the cells need, so that a missing file is noticed first.
    prepare: Callable[[], object] | None = None
    #: What the paper leaves open, and what was chosen.
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
