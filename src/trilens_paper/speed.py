"""Running times (the paper's "10 to 141 seconds against 0.01")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens.simulate import gaussian
from trilens.statements import Statements
from trilens_paper.framework.experiment import Experiment, Measure, Point, Seeds
from trilens_paper.framework.figures import new_figure
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import (
    NOT_RUN,
    Claim,
    Finding,
    above,
    at_least,
    in_times,
    quorum,
)
from trilens_paper.ingredients.grids import N_POINTS
from trilens_paper.ingredients.methods import (
    ALG1,
    CROWD_MEDIAN,
    EMBEDDINGS,
    LENS_MAP,
    clocked,
    clocked_often,
    depths,
    embeddings,
    lens_map,
    statements_of,
    warm,
)
from trilens_paper.paper import SECONDS
from trilens_paper.words import ABOUT_LENS_MAP, EMBEDDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CPU = "CPU seconds"
CBLEARN = "cblearn"


def measure_speed(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """CPU seconds of every method for all statements about 100 points, compiled code warm."""
    from trilens.exact import dissimilarities

    warm()
    D = dissimilarities(gaussian(N_POINTS, 2, seeds.rng("points")).points)
    S = statements_of(D, point, seeds)
    odd = statements_of(D, point, seeds, kind="odd")
    for method, given in ((ALG1, S), (CROWD_MEDIAN, odd)):
        _, cpu = clocked_often(lambda given=given: depths(given))  # type: ignore[misc]
        yield Measure(method, CPU, cpu)
    for method, _, cpu in embeddings(S, 2, seeds):
        yield Measure(method, CPU, cpu)
    _, cpu = lens_map(S, 2)
    yield Measure(LENS_MAP, CPU, cpu, cpu=cpu)
    for method, fit in rivals(S, seeds):
        _, cpu = clocked(fit)
        yield Measure(method, CPU, cpu)


def rivals(S: Statements, seeds: Seeds) -> Iterator[tuple[str, Callable[[], Any]]]:
    """cblearn's embeddings of the same triplets, one start each, where cblearn is installed."""
    if find_spec(CBLEARN) is None:
        return
    from importlib import import_module

    embedding = import_module(f"{CBLEARN}.embedding")
    triplets = S.to_triplets()
    for name in EMBEDDINGS:
        starts = {"n_init": 1} if name == "SOE" else {}  # the others have one in any case
        estimator = getattr(embedding, name.replace("-", "").upper())
        model = estimator(n_components=2, random_state=seeds.integer(name), **starts)
        yield f"{CBLEARN} {name}", lambda model=model: model.fit(triplets)  # type: ignore[misc]


def _ratio(results: Results) -> Finding:
    """Run by run, the time of each embedding by that of Algorithm 1."""
    found = {}
    for name in EMBEDDINGS:
        ratios = _logs(results, name).minus(_logs(results, ALG1))
        if not len(ratios):
            return NOT_RUN
        verdict = at_least(ratios, np.log(1000)).verdict
        text = f"{np.exp(ratios.mean()):.0f} times ({best(results, name):.3f} s)"
        found[name] = Finding(text, verdict)
    counted = quorum(found)
    text = f"{ALG1} {best(results, ALG1):.4f} s; {counted.ours}"
    return Finding(text, counted.verdict)


def _logs(results: Results, method: str) -> Results:
    return results.where(method=method, metric=CPU).mapped(lambda row: np.log(row["value"]))


def _order(results: Results) -> Finding:
    """SOE the quickest embedding, t-STE the slowest."""
    found = {}
    for slow, quick in (("GNMDS", "SOE"), ("STE", "SOE"), ("t-STE", "GNMDS"), ("t-STE", "STE")):
        ratios = _logs(results, slow).minus(_logs(results, quick))
        found[f"{slow} by {quick}"] = in_times(ratios, above(ratios), 1)
    return quorum(found)


def best(results: Results, method: str) -> float:
    """The least of the runs: the others were disturbed."""
    return float(results.where(method=method, metric=CPU).values.min())


def _beside_cblearn(results: Results) -> Finding:
    if not len(results.where(method=f"{CBLEARN} SOE")):
        return NOT_RUN
    found = {}
    for name in EMBEDDINGS:
        theirs = _logs(results, f"{CBLEARN} {name}")
        ratios = theirs.minus(_logs(results, name))
        text = f"{best(results, f'{CBLEARN} {name}'):.2f} s, {np.exp(ratios.mean()):.0f} times ours"
        found[name] = Finding(text, above(ratios).verdict)
    return quorum(found)


def _figure(results: Results) -> Figure:
    from trilens.plots.style import FAINT, PALETTE, plain

    figure, (ax,) = new_figure(1, 1, (6.5, 4))
    methods = sorted(results.levels("method"), key=lambda m: best(results, m))
    seconds = [best(results, m) for m in methods]
    rows = list(range(len(methods)))
    for label, colour in (("ours", PALETTE[0]), (CBLEARN, PALETTE[1])):
        bars = [row for row in rows if methods[row].startswith(CBLEARN) == (label == CBLEARN)]
        if bars:
            ax.barh(bars, [seconds[r] for r in bars], color=colour, height=0.6, label=label)
    paper = [(row, SECONDS[m]) for row, m in zip(rows, methods, strict=True) if m in SECONDS]
    ax.scatter(
        [s for _, s in paper], [row for row, _ in paper], color=FAINT, marker="D", label="paper"
    )
    ax.set_yticks(rows, methods)
    ax.set_xscale("log")
    ax.set_xlabel("CPU seconds, all 161,700 statements about 100 points")
    ax.legend(frameon=False, loc="lower right")
    plain(ax, grid="x")
    return figure


SPEED = Experiment(
    name="speed",
    title="Running times",
    paper="Section 6.1.1",
    drawn="100 points N(0, I) in 2 dimensions",
    asked="all 161,700 statements",
    spoiled="not at all",
    compared="every method, dimension 2; cblearn's embeddings where cblearn is installed",
    grid=(Point(n_statements=161_700),),
    runs=5,
    measure=measure_speed,
    claims=(
        Claim(
            "An embedding takes several orders of magnitude longer than Algorithm 1.",
            "lower by several orders of magnitude",
            "every embedding at least 1000 times, as much as in the paper (10 to 141 seconds "
            "against 0.01), all of mean ± 2 se of the logarithms",
            _ratio,
            why="The embeddings here take tenths of a second where the paper's took 10 to 141 "
            "seconds (compiled loops, L-BFGS); Algorithm 1 gained less.",
            main="Embeddings take several orders of magnitude longer",
            other_programs=True,
        ),
        Claim(
            "Of the embeddings SOE is the quickest and t-STE the slowest.",
            "between 10 seconds (when using the SOE algorithm) and 141 seconds (when using the "
            "t-STE algorithm)",
            "CPU seconds of GNMDS and STE above those of SOE, and below those of t-STE, beyond "
            "2 se",
            _order,
            why="Other code than the paper's: one compiled program in place of Matlab and R.",
            other_programs=True,
        ),
        Claim(
            "The embeddings of cblearn take longer on the same statements, from one start.",
            "-",
            "above ours beyond 2 se, all four; judged where cblearn is installed",
            _beside_cblearn,
        ),
    ),
    figure=_figure,
    notes=(
        "Seconds: best of the runs, CPU seconds of one thread; loading and compiling are not "
        "counted. Ratios: mean over the runs of the logarithm.",
        "The paper: 10 s (SOE) to 141 s (t-STE) against 0.01 s for Algorithm 1 and Crowd-Median, "
        "Matlab and R on a laptop of 2015. It gives no figures for GNMDS and STE.",
        EMBEDDED,
        ABOUT_LENS_MAP,
    ),
)
