"""Running times (the paper's "10 to 141 seconds against 0.01")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trilens.simulate import gaussian
from trilens.statements import Statements
from trilens_paper.framework.experiment import Experiment, Measure, Point, Seeds
from trilens_paper.framework.figures import new_figure
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import NOT_RUN, Claim, Finding
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
        _, clock = clocked_often(lambda given=given: depths(given))  # type: ignore[misc]
        yield Measure(method, CPU, clock.cpu, clock=clock)
    for method, _, clock in embeddings(S, 2, seeds):
        yield Measure(method, CPU, clock.cpu, clock=clock)
    _, clock = lens_map(S, 2)
    yield Measure(LENS_MAP, CPU, clock.cpu, clock=clock)
    for method, fit in rivals(S, seeds):
        _, clock = clocked(fit)
        yield Measure(method, CPU, clock.cpu, clock=clock)


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


def best(results: Results, method: str) -> float:
    """The least of the runs: the others were disturbed."""
    return float(results.where(method=method, metric=CPU).values.min())


def _ratio(results: Results) -> Finding:
    if not len(results.where(method=ALG1)):
        return NOT_RUN
    ratios = {name: best(results, name) / best(results, ALG1) for name in EMBEDDINGS}
    text = ", ".join(f"{name} {ratio:.0f}" for name, ratio in ratios.items())
    return Finding(text, "agrees" if min(ratios.values()) >= 100 else "differs")


def _beside_cblearn(results: Results) -> Finding:
    if not len(results.where(method=f"{CBLEARN} SOE")):
        return NOT_RUN
    found = {n: (best(results, f"{CBLEARN} {n}"), best(results, n)) for n in EMBEDDINGS}
    text = ", ".join(
        f"{name} {theirs:.2f} s, {theirs / ours:.0f} times ours"
        for name, (theirs, ours) in found.items()
    )
    slower = any(ours > theirs for theirs, ours in found.values())
    return Finding(text, "differs" if slower else "agrees")


def _seconds(method: str) -> Callable[[Results], Finding]:
    def judge(results: Results) -> Finding:
        if not len(results.where(method=method)):
            return NOT_RUN
        seconds = best(results, method)
        text = f"{seconds:.4f} s (best of {results.runs})"
        return Finding(text, "agrees" if seconds <= SECONDS.get(method, 141.0) else "differs")

    return judge


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
            "An embedding takes orders of magnitude longer than Algorithm 1.",
            "1000 (SOE) to 14,100 (t-STE) times",
            "every embedding at least 100 times",
            _ratio,
            why="The embeddings here take tenths of a second where the paper's took 10 to 141 "
            "seconds (compiled loops, L-BFGS); Algorithm 1 gained less.",
        ),
        *(
            Claim(
                f"{method}: CPU seconds for all statements.",
                f"{SECONDS[method]} s" if method in SECONDS else "10 to 141 s",
                "at most the paper's (another machine, ten years later)",
                _seconds(method),
            )
            for method in (ALG1, CROWD_MEDIAN, *EMBEDDINGS)
        ),
        Claim(
            "Added: the embeddings of cblearn on the same statements, from one start.",
            "-",
            "ours no slower; judged where cblearn is installed",
            _beside_cblearn,
        ),
    ),
    figure=_figure,
    notes=(
        "Best of the runs, CPU seconds of one thread; loading and compiling are not counted.",
        "The paper: 10 s (SOE) to 141 s (t-STE) against 0.01 s for Algorithm 1 and Crowd-Median, "
        "Matlab and R on a laptop of 2015. It gives no figures for GNMDS and STE.",
    ),
)
