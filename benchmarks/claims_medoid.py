"""What is claimed about the medoid: how often it holds.

    python benchmarks/claims_medoid.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

Simulated studies with a known truth. Columns of the table: how often the 95 % set of
`medoid(S, "choice")` holds the object of the least total distance and the one of the highest
depth, its mean size, the mean size of the set by counting, the share of the objects whose depth
interval holds the expected centrality, and the relative error of the medoid by the model and by
counting. A study that is already in FILE is not run again.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass

import numpy as np

from claims_run import Row, run_studies
from trilens.exact import dissimilarities
from trilens.lens import centrality
from trilens.questions.intervals import depth_intervals
from trilens.questions.medoid import medoid, relative_error
from trilens.simulate import (
    Raters,
    ask_raters,
    distort,
    draw_raters,
    gaussian,
    simulate_statements,
)
from trilens.statements import KINDS, Kind, Statements, concatenate

#: Answers to a study of so many objects.
ANSWERS = {15: 300, 60: 2500, 200: 4000}
#: Noise on the distances that makes 10 % and 30 % of the answers wrong.
DISTORTION = {"central": (0.14, 0.55), "odd": (0.21, 0.72), "closer": (0.27, 1.15)}
#: How much raters differ in what an axis is worth to them (standard deviation of the logarithm).
TASTE = 0.7
N_RATERS = 20


@dataclass(frozen=True)
class Cell:
    """One sort of study."""

    kind: Kind
    n: int
    noise: str
    dim: int = 2

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.n}-{self.noise}" + (f"-{self.dim}d" if self.dim != 2 else "")


def cells() -> list[Cell]:
    """Those of the table: the cheap sizes in full, of 200 objects what is hardest."""
    found = []
    for kind in KINDS:
        for noise in ("I:0", "I:30", "II:30", "raters", "tastes", "guess"):
            found.append(Cell(kind, 15, noise))
        for noise in ("I:0", "I:30", "II:30", "raters"):
            found.append(Cell(kind, 60, noise))
        found.append(Cell(kind, 200, "I:10"))
    found += [
        Cell("central", 60, "II:10"),
        Cell("central", 60, "I:10", dim=5),
        Cell("closer", 60, "I:10", dim=5),
        Cell("central", 60, "guess"),
        Cell("central", 200, "raters"),
    ]
    return found


def true_depth(D: np.ndarray, kind: Kind) -> np.ndarray:
    """The centrality of each object when every question is asked and answered rightly."""
    n = len(D)
    depth = np.zeros(n)
    if kind == "closer":
        for own in D:  # the anchor's distances; itself it beats always, as nobody asks
            depth += (own[:, None] < own).sum(axis=1)
        return (depth - (n - 1)) / ((n - 1) * (n - 2))
    for x, own in enumerate(D):
        if kind == "central":
            wins = np.maximum(own[:, None], own) < D
        else:
            wins = np.minimum(own[:, None], own) > D
        wins[x] = wins[:, x] = False
        np.fill_diagonal(wins, False)
        depth[x] = wins.sum() / ((n - 1) * (n - 2))
    return 1 - depth if kind == "odd" else depth


def expected(depth: np.ndarray, error_rate: float, kind: Kind) -> np.ndarray:
    """Centrality with a share of wrong answers."""
    other = error_rate if kind == "closer" else error_rate / 2
    share = 1 - depth if kind == "odd" else depth
    share = share * (1 - error_rate) + (1 - share) * other
    return 1 - share if kind == "odd" else share


def simulated(
    cell: Cell, rng: np.random.Generator
) -> tuple[Statements, np.ndarray, np.ndarray, np.ndarray]:
    """Statements, true total distances and depths, and the centrality that is expected."""
    kind, m = cell.kind, ANSWERS[cell.n]
    at_random = 1 / 2 if kind == "closer" else 2 / 3
    points = gaussian(cell.n, cell.dim, rng)
    D = dissimilarities(points.points, "euclidean")
    total, depth = D.sum(axis=1), true_depth(D, kind)
    what, _, level = cell.noise.partition(":")
    if what in ("I", "guess"):
        rate = at_random if what == "guess" else int(level) / 100
        S = simulate_statements(points, m, kind, error_rate=rate, random_state=rng)
        return S, total, depth, expected(depth, rate, kind)
    if what == "II":
        noisy = distort(points, DISTORTION[kind][int(level) > 10], rng)
        noisy -= noisy.min()
        np.fill_diagonal(noisy, 0.0)
        return (
            simulate_statements(noisy, m, kind, random_state=rng),
            total,
            depth,
            true_depth(noisy, kind),
        )
    rounds = max(m // (2 * N_RATERS), 1)
    if what == "raters":
        raters = draw_raters(N_RATERS, 0.1, 0.15, rng)
        S = ask_raters(points, raters, m, kind, round_size=rounds, random_state=rng)
        return S, total, depth, expected(depth, 0.85 * 0.1 + 0.15 * at_random, kind)
    parts = []
    for who in range(N_RATERS):
        own = points.points * np.exp(TASTE * rng.standard_normal(cell.dim))
        one = Raters(np.array([0.1]), np.ones(1))
        part = ask_raters(own, one, m // N_RATERS, kind, random_state=rng)
        parts.append(Statements(part.triples, cell.n, kind=kind, raters=np.full(len(part), who)))
    total, depth, n_tastes = np.zeros(cell.n), np.zeros(cell.n), 300
    for _ in range(n_tastes):
        own = points.points * np.exp(TASTE * rng.standard_normal(cell.dim))
        D = dissimilarities(own, "euclidean")
        total += D.sum(axis=1) / n_tastes
        depth += true_depth(D, kind) / n_tastes
    return concatenate(parts), total, depth, expected(depth, 0.1, kind)


def one_study(cell: Cell, number: int) -> Row:
    """The facts of one study."""
    rng = np.random.default_rng([zlib.crc32(cell.name.encode()), number])
    S, total, depth, mean = simulated(cell, rng)
    start = time.process_time()
    found = medoid(S, "choice", random_state=number)
    seconds = time.process_time() - start
    inside = np.isin(np.arange(cell.n), [S.ids[name] for name in found.candidates])
    interval = depth_intervals(S)
    covered = (interval.low <= mean) & (mean <= interval.high)
    return {
        "cell": cell.name,
        "study": number,
        "holds_nearest": bool(inside[total.argmin()]),
        "holds_deepest": bool(inside[depth.argmax()]),
        "size": int(inside.sum()),
        "counted_size": int(interval.medoid_set.sum()),
        "intervals": float(covered.mean()),
        "error": relative_error(found.index, total),
        "counted_error": relative_error(int(centrality(S).argmax()), total),
        "close": len(found.close),
        "seconds": seconds,
    }


def show(found: list[Row]) -> None:
    """A Markdown table, a row for each cell."""
    print(
        "| answers | objects | noise | studies | holds the nearest | holds the deepest | size "
        "| size by counting | intervals | error | error by counting | CPU s |"
    )
    print("|" + "---|" * 12)
    for cell in CELLS.values():
        rows = [facts for facts in found if facts["cell"] == cell.name]
        if not rows:
            continue

        def mean(key: str, rows: list[Row] = rows) -> float:
            return float(np.mean([facts[key] for facts in rows]))

        noise = cell.noise + (f", {cell.dim} dimensions" if cell.dim != 2 else "")
        print(
            f"| {cell.kind} | {cell.n} | {noise} | {len(rows)} | {mean('holds_nearest'):.3f} "
            f"| {mean('holds_deepest'):.3f} | {mean('size'):.1f} | {mean('counted_size'):.1f} "
            f"| {mean('intervals'):.3f} | {mean('error'):.3f} | {mean('counted_error'):.3f} "
            f"| {mean('seconds'):.2f} |"
        )


CELLS = {cell.name: cell for cell in cells()}


def measure(job: tuple[str, int]) -> Row:
    name, study = job
    return one_study(CELLS[name], study)


if __name__ == "__main__":
    run_studies(__doc__ or "", CELLS, measure, show)
