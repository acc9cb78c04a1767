"""`trilens demo`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from trilens.cli.analyze import command as analyze_command
from trilens.cli.options import seed_option
from trilens.cli.tables import print_table

if TYPE_CHECKING:
    from pathlib import Path

    from trilens.simulate import Study


@click.command("demo")
@click.option(
    "-o", "--output", metavar="DIR", default="demo", show_default=True, help="Folder to write to."
)
@seed_option
def command(output: str, seed: int) -> None:
    """Run a simulated study from answers to report, beside the truth.

    Sixty drawn shapes in three groups, four of them unlike the rest; forty raters, of whom
    some answer at random.

    \b
    Example: trilens demo
    """
    from pathlib import Path

    from trilens.experiments.demo import compare_with_truth
    from trilens.formats import read_statements
    from trilens.simulate import study

    made = study(random_state=seed)
    S = made.statements
    click.echo(
        f"{len(S):,} answers of {len(made.raters)} raters, {made.raters.careless.sum()} of them "
        f"careless, about {S.n_objects} shapes\n"
    )
    folder = Path(output)
    write_study(made, folder)
    # the file's own order of the objects, so that the table and the report see the same
    read = read_statements(folder / "answers.csv")
    print_table(["", "found", "truth"], compare_with_truth(made, read, seed), left=3)
    page = folder / "report.html"
    analyze = [str(folder / "answers.csv"), "-o", str(page), "--labels", str(folder / "labels.csv")]
    analyze += ["--images", str(folder / "shapes"), "--title", "Sixty shapes", "--seed", str(seed)]
    click.echo(f"\ntrilens analyze {shlex.join(analyze)}")
    analyze_command.main(analyze, standalone_mode=False)
    click.echo(f"\nOpen the report: {page.resolve().as_uri()}")


def write_study(made: Study, folder: Path) -> None:
    """The answers, some of the labels, and pictures of the shapes."""
    from trilens.formats import write_statements, write_table
    from trilens.report import draw_stimuli

    folder.mkdir(parents=True, exist_ok=True)
    S = made.statements
    write_statements(S, folder / "answers.csv")
    shown = [(n, label) for n, label in zip(S.names, made.half_labelled(), strict=True) if label]
    write_table(
        {"object": [n for n, _ in shown], "label": [label for _, label in shown]},
        folder / "labels.csv",
    )
    draw_stimuli(made.points.points, folder / "shapes", S.names)
