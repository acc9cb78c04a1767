"""Points recovered from all their statements (the conjecture of the paper's Section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import FloatArray
from trilens.maps.geometry import procrustes
from trilens_paper.framework.experiment import Experiment, Measure, Point, Seeds
from trilens_paper.framework.figures import new_figure
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import (
    NOT_RUN,
    Claim,
    Finding,
    at_least,
    at_most,
    below,
    quorum,
    shown,
)
from trilens_paper.ingredients.methods import (
    LENS_MAP,
    each_embedding,
    embeddings,
    lens_map,
    places,
    statements_of,
)
from trilens_paper.words import ABOUT_LENS_MAP, EMBEDDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_POINTS = 100
#: Panels with a number of points of their own.
GROWN = "n = "
FROM_MAP = "SOE from the lens map"
RESIDUAL, LARGEST, VIOLATED = "residual", "largest residual", "violated triplets"
#: How fast points come back: dimensions, and numbers of points.
DIMENSIONS, GROWING = (1, 2, 3, 5), (20, 40, 80, 160)


def in_ball(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """n points uniform in the unit ball."""
    direction = rng.standard_normal((n, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return np.asarray(direction * rng.random((n, 1)) ** (1 / dim))


def measure_growing(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """n points uniform in a ball, all statements, embedded by SOE and moved back."""
    from trilens.exact import dissimilarities
    from trilens.maps import violations
    from trilens.maps.registry import make_map

    truth = in_ball(int(point.panel.removeprefix(GROWN)), point.dim, seeds.rng("points"))
    S = statements_of(dissimilarities(truth), point, seeds)
    model = make_map("soe", point.dim, seeds.integer(FROM_MAP), n_jobs=1)
    X = model.fit_transform(S)
    off = np.linalg.norm(procrustes(X, truth)[0] - truth, axis=1)
    spread = np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
    yield Measure(FROM_MAP, RESIDUAL, float(np.sqrt((off**2).mean()) / spread))
    yield Measure(FROM_MAP, LARGEST, float(off.max() / spread))
    yield Measure(FROM_MAP, VIOLATED, violations(X, S))


def measure_recovery(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """Points, all statements about them, embedded and moved back."""
    if point.panel.startswith(GROWN):
        return measure_growing(point, seeds)
    return measure_disc(point, seeds)


def measure_disc(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """100 points uniform in a disc."""
    from trilens.exact import dissimilarities
    from trilens.maps.registry import make_map

    rng = seeds.rng("points")
    radius, angle = np.sqrt(rng.random(N_POINTS)), 2 * np.pi * rng.random(N_POINTS)
    truth = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    S = statements_of(dissimilarities(truth), point, seeds)
    found = [(name, X) for name, X, _ in embeddings(S, 2, seeds)]
    model = make_map("soe", 2, seeds.integer(FROM_MAP), n_jobs=1)
    found.append((FROM_MAP, model.fit_transform(S)))
    found.append((LENS_MAP, lens_map(S, 2)[0]))
    spread = np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
    if seeds.run == 0:
        yield from places("truth", truth)
    for method, X in found:
        moved = procrustes(X, truth)[0]
        off = np.sqrt(((moved - truth) ** 2).sum(axis=1))
        yield Measure(method, RESIDUAL, float(np.sqrt((off**2).mean()) / spread))
        yield Measure(method, LARGEST, float(off.max() / spread))
        if seeds.run == 0:
            yield from places(method, moved)


def _slopes(results: Results, dim: int) -> FloatArray:
    """Run by run, the log-log slope of the largest residual against the number of points."""
    mine = results.where(panel=lambda p: p.startswith(GROWN), dim=dim, metric=LARGEST)
    x = np.log(GROWING)
    found = []
    for run in mine.levels("run"):
        at = {row["panel"]: row["value"] for row in mine.where(run=run).rows}
        if len(at) == len(GROWING):
            y = np.log([max(at[f"{GROWN}{n}"], 1e-12) for n in GROWING])
            found.append(float(np.polyfit(x, y, 1)[0]))
    return np.array(found)


def _last(results: Results, dim: int) -> Results:
    return results.where(panel=f"{GROWN}{GROWING[-1]}", dim=dim)


def _comes_back(results: Results, dim: int) -> Finding:
    slopes = _slopes(results, dim)
    found = at_most(slopes, -0.5, 2)
    if found.verdict == "not judged":
        return NOT_RUN
    last = _last(results, dim)
    violated = last.where(metric=VIOLATED).values.mean()
    text = (
        f"n^{slopes.mean():.2f} ± {shown(slopes, 2).split(' ± ')[1].split(' ')[0]}, "
        f"{last.where(metric=LARGEST).values.mean():.3f} at {GROWING[-1]} "
        f"({100 * violated:.2f} % of the triplets violated)"
    )
    return Finding(text, found.verdict)


def _line_stays(results: Results) -> Finding:
    found = at_least(_last(results, 1).where(metric=LARGEST).per_run(), 0.2, 2)
    if found.verdict == "not judged":
        return NOT_RUN
    violated = _last(results, 1).where(metric=VIOLATED).values.mean()
    return Finding(
        f"{found.ours}, slope {_slopes(results, 1).mean():.2f}, {100 * violated:.2f} % of the "
        "triplets violated",
        found.verdict,
    )


def _figure(results: Results) -> Figure:
    from trilens.plots.style import ACCENT, PALETTE, bare, plain

    disc = results.where(panel="")
    methods = [m for m in disc.levels("method") if m != "truth"]
    figure, axes = new_figure(2, 4, (2.5, 2.5))
    first = disc.where(run=0)
    truth = first.plane("truth") if len(first) else np.empty((0, 2))
    for ax, method in zip(axes, methods, strict=False):
        X = first.plane(method)
        ax.scatter(truth[:, 0], truth[:, 1], s=22, facecolors="none", edgecolors=PALETTE[0])
        ax.scatter(X[:, 0], X[:, 1], s=6, color=ACCENT)
        residual = disc.where(method=method, metric=RESIDUAL).values.mean()
        ax.set_title(f"{method}: {residual:.3f}", fontsize="small")
        bare(ax)
    for ax, metric in zip(axes[6:], (LARGEST, RESIDUAL), strict=True):
        for dim, colour in zip(DIMENSIONS, PALETTE, strict=False):
            grown = results.where(dim=dim, metric=metric)
            means = {n: grown.where(panel=f"{GROWN}{n}").values for n in GROWING}
            means = {n: values for n, values in means.items() if len(values)}
            if means:
                y = [values.mean() for values in means.values()]
                ax.plot(list(means), y, marker="o", color=colour, label=f"m = {dim}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xticks(GROWING, [str(n) for n in GROWING])
        ax.minorticks_off()
        ax.set_title(f"{metric}, SOE", fontsize="small")
        ax.set_xlabel("points", fontsize="small")
        plain(ax, grid="y")
    if axes[6].lines:
        axes[6].legend(frameon=False, fontsize="small")
    figure.supxlabel("rings: the points; dots: recovered, after Procrustes", fontsize="medium")
    return figure


RECOVERY = Experiment(
    name="recovery",
    title="Points recovered from all their statements",
    paper="Section 7, the figure of the conjecture",
    drawn="100 points uniform in a disc; 20 to 160 uniform in a ball of 1, 2, 3 and 5 dimensions",
    asked="all statements",
    spoiled="not at all",
    compared="SOE, from a random start and from the lens map; GNMDS, STE, t-STE; lens map. Growing "
    "numbers of points: SOE from the lens map, in the dimension of the points",
    grid=(
        Point(n_statements=161_700),
        *(
            Point(panel=f"{GROWN}{n}", dim=dim, n_statements=n * (n - 1) * (n - 2) // 6)
            for dim in DIMENSIONS
            for n in GROWING
        ),
    ),
    runs=5,
    measure=measure_recovery,
    claims=(
        Claim(
            "An embedding recovers the points almost perfectly, up to a similarity transformation.",
            "an algorithm for ordinal embedding is able to almost perfectly recover",
            "RMS residual at most 0.02 of the RMS spread, one of the four embeddings (the paper "
            "does not name its algorithm)",
            each_embedding(
                lambda r, name: at_most(
                    r.where(panel="", method=name, metric=RESIDUAL).per_run(), 0.02, 4
                ),
                1,
            ),
            main="An embedding recovers the points almost perfectly",
        ),
        Claim(
            "The conjecture: in two dimensions and more the largest residual goes to 0 with the "
            "number of points.",
            "Conjecture",
            "log-log slope of the largest residual against 20, 40, 80, 160 points at most -0.5, "
            "m = 2, 3 and 5",
            lambda r: quorum({f"m = {dim}": _comes_back(r, dim) for dim in (2, 3, 5)}),
        ),
        Claim(
            "On the line the points do not come back: statements tell the order alone.",
            "only depends on the order of the data points",
            "largest residual of 160 points on the line at least 0.2 of the RMS spread",
            _line_stays,
        ),
        Claim(
            "SOE recovers the points from the lens map as its start, too.",
            "-",
            "RMS residual at most 0.02 of the RMS spread",
            lambda r: at_most(
                r.where(panel="", method=FROM_MAP, metric=RESIDUAL).per_run(), 0.02, 4
            ),
        ),
        Claim(
            "The lens map alone, in closed form, is coarser.",
            "-",
            "SOE below it beyond 2 se",
            lambda r: below(r.where(panel="", metric=RESIDUAL).differences("SOE", LENS_MAP)),
        ),
    ),
    figure=_figure,
    notes=(
        "The paper does not say how its points are distributed. Residuals are in units of the "
        "root mean squared distance of the points from their mean.",
        "A random start can end in a local minimum; such a run counts like any other.",
        "The conjecture is about embeddings that preserve every statement; those found here "
        "violate the share of triplets that is shown.",
        EMBEDDED,
        ABOUT_LENS_MAP,
    ),
)
