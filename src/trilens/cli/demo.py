"""`trilens demo`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from trilens.cli import options
from trilens.cli.analyze import command as analyze_command
from trilens.cli.output import print_table

if TYPE_CHECKING:
    from pathlib import Path

    from trilens.simulate import Study
    from trilens.statements import Statements


@click.command("demo")
@options.option("-o", "--output", metavar="DIR", default="demo", help="Folder to write to.")
@options.seed_option
def command(output: str, random_state: int) -> None:
    """Run a simulated study from answers to report.

    Sixty drawn shapes in three groups, four of them unlike the others; forty raters, some of whom
    answer at random. What is found is compared with the truth.

    \b
    Example: trilens demo
    """
    from pathlib import Path

    from trilens.files import read_statements
    from trilens.simulate import study

    made = study(random_state=random_state)
    S = made.statements
    click.echo(
        f"{len(S):,} answers of {len(made.raters)} raters, {made.raters.careless.sum()} of them "
        f"careless, about {S.n_objects} shapes\n"
    )
    folder = Path(output)
    write_study(made, folder)
    # the file's own order of the objects, so that the table and the report see the same
    read = read_statements(folder / "answers.csv")
    print_table(["", "found", "truth"], compare_with_truth(made, read, random_state), left=3)
    page = folder / "report.html"
    analyze = [str(folder / "answers.csv"), "-o", str(page), "--labels", str(folder / "labels.csv")]
    analyze += ["--images", str(folder / "shapes"), "--title", "Sixty shapes"]
    analyze += ["--seed", str(random_state)]
    click.echo(f"\ntrilens analyze {shlex.join(analyze)}")
    analyze_command.main(analyze, standalone_mode=False)
    click.echo(f"\nOpen the report: {page.resolve().as_uri()}")


def write_study(made: Study, folder: Path) -> None:
    """The answers, some of the labels, and pictures of the shapes."""
    from trilens.files import write_statements, write_table
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


def compare_with_truth(
    made: Study, statements: Statements | None = None, random_state: int = 0
) -> list[tuple[str, str, str]]:
    """A row for each question: what was asked, what was found, what is true.

    ``statements`` are the answers as they were read, with the objects in another order.
    """
    from trilens.questions.classify.classes import classify
    from trilens.questions.cluster.groups import cluster
    from trilens.questions.medoid import medoid
    from trilens.questions.outliers import outliers

    S = made.statements if statements is None else statements
    names = S.names
    place = made.statements.object_ids(list(names))
    labels, half = made.labels[place], made.half_labelled()
    best, apart = medoid(S, random_state=random_state), outliers(S, random_state=random_state)
    shown = [half[i] for i in place]
    predicted = classify(S, shown, random_state=random_state).predicted
    asked = [i for i, label in enumerate(labels) if label >= 0 and shown[i] is None]
    right = sum(predicted[names[i]] == made.classes[labels[i]] for i in asked)
    inside = [i for i, label in enumerate(labels) if label >= 0]
    groups = cluster(S.subset(inside), labels=labels[inside].tolist(), random_state=random_state)
    true_names = made.statements.names
    truth = ", ".join(sorted(true_names[i] for i in made.outliers))
    return [
        ("medoid", best.name, true_names[made.medoid]),
        ("outliers", ", ".join(sorted(apart.names)) or "none", truth),
        ("classes", f"{right} of {len(asked)} unlabeled shapes right", ", ".join(made.classes)),
        ("clusters", f"{groups.n_clusters} groups, purity {groups.purity:.2f}", "3 groups"),
    ]
