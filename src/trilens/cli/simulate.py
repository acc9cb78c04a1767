"""`trilens simulate`."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from trilens.cli.options import json_option, seed_option
from trilens.cli.progress import bar
from trilens.cli.tables import note, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from trilens.simulate import Points
    from trilens.statements import Statements


_SHARE = click.FloatRange(min=0, max=1)


@click.command("simulate")
@click.option(
    "--shape",
    type=click.Choice(["gauss", "mixture", "moons"]),
    default="gauss",
    show_default=True,
    help="Where the objects lie: N(0, I), Gaussians 3 apart in a row, or two moons.",
)
@click.option(
    "-n",
    "--n-objects",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Objects, without the outliers.",
)
@click.option(
    "--dim",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Dimension (moons lie in the plane).",
)
@click.option(
    "--components",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Gaussians of the mixture.",
)
@click.option(
    "--spread",
    type=click.FloatRange(min=0),
    default=0.05,
    show_default=True,
    help="Noise about the moons.",
)
@click.option(
    "--outliers",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Objects added far out.",
)
@click.option(
    "--statements",
    type=click.IntRange(min=0),
    help="How many questions are asked; by default every one once.",
)
@click.option(
    "--kind",
    type=click.Choice(["central", "odd", "closer"]),
    default="central",
    show_default=True,
    help="What is asked.",
)
@click.option(
    "--sampling",
    type=click.Choice(["uniform", "replacement", "sampling2"]),
    default="uniform",
    show_default=True,
    help="Uniform without or with replacement, or the paper's Sampling II.",
)
@click.option(
    "--error-rate",
    type=_SHARE,
    default=0.0,
    show_default=True,
    help="Share of wrong answers (Noise model I); with --raters the careful ones' mean.",
)
@click.option(
    "--noise-param",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Noise on the dissimilarities, in their standard deviations (Noise model II).",
)
@click.option(
    "--ties",
    type=click.Choice(["random", "drop"]),
    default="random",
    show_default=True,
    help="Break ties at random, or leave such questions out.",
)
@click.option("--raters", type=click.IntRange(min=1), help="Raters who differ, answering in turn.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    help="With --raters: a survey of so many rounds as the paper made its own.",
)
@click.option(
    "--careless",
    type=_SHARE,
    default=0.1,
    show_default=True,
    help="Share of the raters who answer at random.",
)
@seed_option
@click.option("-o", "--output", metavar="OUT", required=True, help="Statement file, or -.")
@click.option(
    "--truth",
    metavar="OUT.csv",
    help="Labels and coordinates; by default beside OUT, with the ending .truth.csv.",
)
@json_option
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
    seed: int,
    output: str,
    truth: str | None,
    as_json: bool,
    **answers: Any,
) -> None:
    """Write statements about simulated objects, and the truth beside them.

    The ending of OUT says the format: .csv, .tsv, .txt, .parquet, .arrow, .jsonl, .npz.

    \b
    Example: trilens simulate --shape moons -n 200 --statements 50000 --error-rate 0.1 -o moons.csv
    Writes moons.csv and moons.truth.csv (object, label, coordinates).
    """
    import numpy as np

    from trilens.files import atomic_write, write_statements
    from trilens.simulate import (
        ask_raters,
        ask_survey,
        draw_raters,
        far_outliers,
        stream_statements,
    )

    layout, planting, people, asking = np.random.default_rng(seed).spawn(4)
    points = _points(shape, n_objects, dim, components, spread, layout)
    if outliers:
        points = far_outliers(points, outliers, planting)
    names = [str(i) for i in range(1, len(points) + 1)]
    if truth is None and output != "-":
        truth = os.path.splitext(output.removesuffix(".gz"))[0] + ".truth.csv"
    if truth is not None and os.path.realpath(truth) == os.path.realpath(output):
        raise click.UsageError("--truth and --output are the same file; name two.")
    if rounds is not None and (raters is None or statements is not None):
        raise click.UsageError("--rounds goes with --raters, and without --statements")
    test = None
    if raters is not None:
        crowd = draw_raters(raters, answers.pop("error_rate"), careless, people)
        asked: dict[str, Any] = {"random_state": asking, "names": names, **answers}
        if rounds is None:
            given = ask_raters(points, crowd, statements, **asked)
        else:
            if asked.pop("sampling") != "uniform":
                raise click.UsageError("--rounds draws uniformly for each rater")
            within = 0 if answers["kind"] == "closer" else 10
            survey = ask_survey(points, crowd, rounds, test_within=within, **asked)
            given = survey.statements
            test = [names[i] for i in survey.test] if within else None
    written = 0

    def parts() -> Iterator[Statements]:
        nonlocal written
        with bar("asking") as progress:
            for part in (
                stream_statements(
                    points,
                    statements,
                    random_state=asking,
                    names=names,
                    progress=progress,
                    **answers,
                )
                if raters is None
                else [given]
            ):
                written += len(part)
                yield part

    # the truth appears when the statements are written, and not without them
    with nullcontext() if truth is None else atomic_write(truth) as file:
        if file is not None:
            file.write(_truth(points, names))
        write_statements(parts(), output)
    facts = {
        "statements": written,
        "objects": len(names),
        "kind": answers["kind"],
        "outliers": [names[i] for i in points.outliers],
        "test": test,
        "output": output,
        "truth": truth,
    }
    # on standard output the statements themselves go out: nothing may be mixed with them
    if as_json and output != "-":
        print_json(facts)
    else:
        beside = "" if truth is None else f"; the truth: {truth}"
        beside += "" if test is None else f"; the test question: {','.join(test)}"
        note(f"{written:,} statements about {len(names):,} objects: {output}{beside}")


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
