"""A tiny experiment, for the tests of the runner; also run as a program that gets killed.

``python tests/tiny_experiment.py FOLDER PROCESSES`` does it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from trilens_paper.framework.experiment import Experiment, Measure, Point, Seeds
from trilens_paper.framework.figures import Curves, curve_figure
from trilens_paper.framework.runner import run
from trilens_paper.framework.verdicts import Claim, at_most, below
from trilens_paper.ingredients.methods import clocked, statements_of


def measure(point: Point, seeds: Seeds) -> Iterator[Measure]:
    from trilens.exact import dissimilarities
    from trilens.lens import lens_depth
    from trilens.simulate import gaussian

    D = dissimilarities(gaussian(12, 2, seeds.rng("points")).points)
    S = statements_of(D, point, seeds)
    depth, cpu = clocked(lambda: lens_depth(S))
    yield Measure("deepest", "depth", float(depth.max()), cpu=cpu)
    yield Measure("least deep", "depth", float(depth.min()), k=3, sigma=0.5)
    yield Measure("chance", "depth", float(seeds.rng("chance").random()), item=7)


TINY = Experiment(
    name="tiny",
    title="Depths of twelve points",
    paper="no paper",
    drawn="12 points",
    asked="20 to 100 statements",
    spoiled="Noise model I",
    compared="two objects",
    grid=(
        *(Point(n_statements=m, error_rate=e) for m in (20, 50, 100) for e in (0.0, 0.3)),
        Point(n_statements=30, sampling="sampling2", most_runs=2),
        Point(n_statements=220, costly=True),
    ),
    runs=3,
    measure=measure,
    claims=(
        Claim(
            "The deepest is deeper than the least deep.",
            "of course",
            "below beyond 2 se",
            lambda r: below(r.differences("least deep", "deepest", sampling="uniform")),
            main="Deepest first",
        ),
        Claim(
            "No object has a depth of more than a tenth.",
            "it is not so",
            "at most 0.1",
            lambda r: at_most(r.where(method="deepest", sampling="uniform").per_run(), 0.1),
            why="It is a claim that fails.",
        ),
        Claim(
            "The least deep has no answers at all.",
            "-",
            "depth at most -0.1",
            lambda r: at_most(r.where(method="least deep", sampling="uniform").per_run(), -0.1),
        ),
    ),
    figure=lambda r: curve_figure(r, [Curves("depth", {"sampling": "uniform"}, "depth")]),
)


def kills_itself(point: Point, seeds: Seeds) -> Iterator[Measure]:
    os._exit(1)
    yield Measure("never", "never", 0.0)


if __name__ == "__main__":
    from tiny_experiment import TINY as IMPORTED

    run([IMPORTED], Path(sys.argv[1]), processes=int(sys.argv[2]))
