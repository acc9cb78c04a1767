"""`trilens simulate`."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.options import AT_LEAST_0, AT_LEAST_1
from trilens.cli.output import Output, bar, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from trilens.simulate import Points
    from trilens.statements import Statements


_SHARE = click.FloatRange(min=0, max=1)


@options.command("simulate")
@options.choice(
    "--shape",
    ["gauss", "mixture", "moons"],
    "Where the objects lie: N(0, I), Gaussians in a row 3 apart, or two moons.",
)
@options.option(
    "-n", "--n-objects", type=AT_LEAST_1, default=100, help="Number of objects, without outliers."
)
@options.option(
    "--dim",
    "--n-components",
    "dim",
    type=AT_LEAST_1,
    default=2,
    help="Number of dimensions (moons always have two).",
)
@options.option(
    "--components", type=AT_LEAST_1, default=2, help="Number of Gaussians of the mixture."
)
@options.option(
    "--spread", type=click.FloatRange(min=0), default=0.05, help="Noise around the two moons."
)
@options.option("--outliers", type=AT_LEAST_0, default=0, help="Number of objects added far away.")
@click.option(
    "--statements",
    type=AT_LEAST_0,
    help="Number of questions to ask.",
    show_default="every question once",
)
@options.kind_option
@options.choice(
    "--sampling",
    ["uniform", "replacement", "sampling2"],
    "Draw the questions uniformly without or with replacement, or by the paper's Sampling II.",
)
@options.option(
    "--error-rate",
    type=_SHARE,
    default=0.0,
    help="Share of wrong answers (Noise model I); with --raters the mean of the careful ones.",
)
@options.option(
    "--noise-param",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Noise on the dissimilarities, in their standard deviations (Noise model II).",
)
@options.choice("--ties", ["random", "drop"], "Break ties at random, or leave such questions out.")
@click.option("--raters", type=AT_LEAST_1, help="Number of raters, who differ and answer in turn.")
@click.option(
    "--rounds",
    type=AT_LEAST_1,
    help="With --raters: simulate a survey of this many rounds, like the paper's own.",
)
@options.option(
    "--careless", type=_SHARE, default=0.1, help="Share of the raters who answer at random."
)
@options.seed_option
@options.output_options("Statement file to write, or - for CSV.", required=True)
@click.option(
    "--truth",
    type=options.WRITTEN,
    metavar="OUT.csv",
    help="File for labels and coordinates.",
    show_default="OUT with the ending .truth.csv",
)
def command(
    shape: str,
    n_objects: int,
    dim: int,
    components: int,
    spread: float,
    outliers: int,
    statements: int | None,
    raters: int | None,
    rounds: int | None,
    careless: float,
    random_state: int,
    truth: str | None,
    out: Output,
    **answers: Any,
) -> None:
    """Write answers about simulated objects.

    The truth is written to a second file. The ending of OUT determines the format: .csv, .tsv,
    .txt, .parquet, .arrow, .jsonl or .npz.

    \b
    Example: trilens simulate --shape moons -n 200 --statements 50000 --error-rate 0.1 -o moons.csv
    Writes moons.csv and moons.truth.csv (object, label, coordinates).
    """
    import numpy as np

    from trilens.files import atomic_write, write_statements
    from trilens.simulate import far_outliers, stream_statements

    assert out.path is not None
    layout, planting, people, asking = np.random.default_rng(random_state).spawn(4)
    points = _points(shape, n_objects, dim, components, spread, layout)
    if outliers:
        points = far_outliers(points, outliers, planting)
    names = [str(i) for i in range(1, len(points) + 1)]
    if truth is None and out.path != "-":
        truth = os.path.splitext(out.path.removesuffix(".gz"))[0] + ".truth.csv"
    if rounds is not None and (raters is None or statements is not None):
        raise click.UsageError("--rounds needs --raters and cannot be used with --statements")
    asked: dict[str, Any] = {"random_state": asking, "names": names, **answers}
    given, test = None, None
    if raters is not None:
        given, test = _ask_people(points, raters, careless, people, statements, rounds, asked)
    written = 0

    def parts() -> Iterator[Statements]:
        nonlocal written
        with bar("asking") as progress:
            for part in (
                stream_statements(points, statements, progress=progress, **asked)
                if given is None
                else [given]
            ):
                written += len(part)
                yield part

    # the truth appears when the statements are written, and not without them
    with nullcontext() if truth is None else atomic_write(truth) as file:
        if file is not None:
            file.write(_truth(points, names))
        write_statements(parts(), out.path)
    beside = "" if truth is None else f"; truth: {truth}"
    beside += "" if test is None else f"; test question: {','.join(test)}"
    facts = {
        "statements": written,
        "objects": len(names),
        "kind": answers["kind"],
        "outliers": [names[i] for i in points.outliers],
        "test": test,
        "output": out.path,
        "truth": truth,
    }
    said = f"{counted(written, 'statement')} about {counted(len(names), 'object')}"
    out.report(facts, f"{said}: {out.path}{beside}")


def _ask_people(
    points: Points,
    n_raters: int,
    careless: float,
    people: np.random.Generator,
    n_statements: int | None,
    rounds: int | None,
    asked: dict[str, Any],
) -> tuple[Statements, list[str] | None]:
    """The answers of raters who differ; of a survey in rounds also its test question."""
    from trilens.simulate import ask_raters, ask_survey, draw_raters

    names = asked["names"]
    crowd = draw_raters(n_raters, asked.pop("error_rate"), careless, people)
    if rounds is None:
        return ask_raters(points, crowd, n_statements, **asked), None
    if asked.pop("sampling") != "uniform":
        raise click.UsageError("--sampling cannot be used with --rounds, which draw uniformly")
    within = 0 if asked["kind"] == "closer" else 10
    survey = ask_survey(points, crowd, rounds, test_within=within, **asked)
    return survey.statements, [names[i] for i in survey.test] if within else None


def _points(
    shape: str,
    n: int,
    dim: int,
    components: int,
    spread: float,
    rng: np.random.Generator,
) -> Points:
    import numpy as np

    from trilens.simulate import gaussian, mixture, two_moons

    if shape == "gauss":
        return gaussian(n, dim, rng)
    if shape == "moons":
        return two_moons(n, spread, random_state=rng)
    means = np.zeros((components, dim))
    means[:, 0] = 3.0 * np.arange(components)
    return mixture(n, means, random_state=rng)


def _truth(points: Points, names: list[str]) -> bytes:
    lines = [["object", "label", *(f"x{j + 1}" for j in range(points.points.shape[1]))]]
    for name, label, place in zip(names, points.labels, points.points, strict=True):
        lines.append([name, "outlier" if label < 0 else str(label), *map(repr, place.tolist())])
    return "".join(",".join(line) + "\n" for line in lines).encode()
