"""Points recovered from all their statements (the conjecture of the paper's Section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import FloatArray
from trilens.experiments.framework.experiment import Experiment, Measure, Point, Seeds
from trilens.experiments.framework.figures import new_figure
from trilens.experiments.framework.results import Results
from trilens.experiments.framework.verdicts import Claim, at_most, below
from trilens.experiments.ingredients.methods import (
    LENS_MAP,
    clocked,
    embeddings,
    lens_map,
    statements_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_POINTS = 100
FROM_MAP = "SOE from the lens map"
RESIDUAL = "residual"


def aligned(found: FloatArray, truth: FloatArray) -> FloatArray:
    """``found`` moved onto ``truth`` by the best similarity transformation (Procrustes).

    Parameters
    ----------
    found, truth : (n, d) float64

    Returns
    -------
    (n, d) float64

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> turned = 3 * square[:, ::-1] + 7
    >>> bool(np.allclose(aligned(turned, square), square))
    True
    """
    from scipy.linalg import orthogonal_procrustes

    centre = truth.mean(axis=0)
    X = found - found.mean(axis=0)
    turn, scale = orthogonal_procrustes(X, truth - centre)
    moved: FloatArray = X @ turn * (scale / (X**2).sum()) + centre
    return moved


def measure_recovery(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """100 points uniform in a disc, all statements, embedded and moved back."""
    from trilens.exact import dissimilarities
    from trilens.maps.registry import make_map

    rng = seeds.rng("points")
    radius, angle = np.sqrt(rng.random(N_POINTS)), 2 * np.pi * rng.random(N_POINTS)
    truth = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    S = statements_of(dissimilarities(truth), point, seeds)
    found = list(embeddings(S, 2, seeds))
    model = make_map("soe", 2, seeds.integer(FROM_MAP), n_threads=1)
    found.append((FROM_MAP, *clocked(lambda: model.fit_transform(S))))
    found.append((LENS_MAP, *lens_map(S, 2)))
    spread = np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
    if seeds.run == 0:
        yield from _coordinates("truth", truth)
    for method, X, clock in found:
        moved = aligned(X, truth)
        off = np.sqrt(((moved - truth) ** 2).sum(axis=1))
        yield Measure(method, RESIDUAL, float(np.sqrt((off**2).mean()) / spread), clock=clock)
        yield Measure(method, "largest residual", float(off.max() / spread))
        if seeds.run == 0:
            yield from _coordinates(method, moved)


def _coordinates(method: str, X: FloatArray) -> Iterator[Measure]:
    for item, (x, y) in enumerate(X):
        yield Measure(method, "x", float(x), item=item)
        yield Measure(method, "y", float(y), item=item)


def _figure(results: Results) -> Figure:
    from trilens.plots.style import ACCENT, PALETTE, bare

    methods = [m for m in results.levels("method") if m != "truth"]
    figure, axes = new_figure(2, 3, (2.5, 2.5))
    first = results.where(run=0)

    def plane(method: str) -> FloatArray:
        return np.column_stack([first.where(method=method, metric=c).values for c in "xy"])

    truth = plane("truth")
    for ax, method in zip(axes, methods, strict=False):
        X = plane(method)
        ax.scatter(truth[:, 0], truth[:, 1], s=22, facecolors="none", edgecolors=PALETTE[0])
        ax.scatter(X[:, 0], X[:, 1], s=6, color=ACCENT)
        residual = results.where(method=method, metric=RESIDUAL).values.mean()
        ax.set_title(f"{method}: {residual:.3f}", fontsize="small")
        bare(ax)
    figure.supxlabel("rings: the points; dots: recovered, after Procrustes", fontsize="medium")
    return figure


RECOVERY = Experiment(
    name="recovery",
    title="Points recovered from all their statements",
    paper="Section 7, the figure of the conjecture",
    drawn="100 points uniform in a disc",
    asked="all 161,700 statements",
    spoiled="not at all",
    compared="SOE, from a random start and from the lens map; GNMDS, STE, t-STE; lens map",
    grid=(Point(n_statements=161_700),),
    runs=5,
    measure=measure_recovery,
    claims=(
        Claim(
            "SOE recovers the points almost perfectly, up to a similarity transformation.",
            "almost perfectly",
            "RMS residual at most 0.02 of the RMS spread (mean - 2 se)",
            lambda r: at_most(r.where(method="SOE", metric=RESIDUAL).per_run(), 0.02, 4),
        ),
        Claim(
            "Added: so it does from the lens map.",
            "-",
            "RMS residual at most 0.02 of the RMS spread (mean - 2 se)",
            lambda r: at_most(r.where(method=FROM_MAP, metric=RESIDUAL).per_run(), 0.02, 4),
        ),
        Claim(
            "Added: the lens map alone, in closed form, is coarser.",
            "-",
            "SOE below it beyond 2 se",
            lambda r: below(r.where(metric=RESIDUAL).differences("SOE", LENS_MAP)),
        ),
    ),
    figure=_figure,
    notes=(
        "The paper does not say how its points are distributed. Residuals are in units of the "
        "root mean squared distance of the points from their mean.",
        "A random start can end in a local minimum; such a run counts like any other.",
    ),
)
