"""`trilens evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trilens.cli.options import Source, json_option, seed_option, statement_options
from trilens.cli.progress import status
from trilens.cli.tables import note, output_option, print_json, print_table, save_table


@click.command("evaluate")
@statement_options
@click.option(
    "--embedding",
    multiple=True,
    metavar="FILE",
    help="Vectors: a table with the column object and numbers, or .npy in the order of the "
    "objects; how it was taken is said. May be repeated.",
)
@click.option(
    "--distances",
    multiple=True,
    metavar="FILE",
    help="A square matrix, .npy or CSV without names, in the order of the objects. May be "
    "repeated.",
)
@click.option(
    "--answers",
    multiple=True,
    metavar="FILE",
    help="The model's answers to the same questions, as a statement file. May be repeated.",
)
@click.option(
    "--metric",
    type=click.Choice(["euclidean", "cosine", "dot"]),
    default="euclidean",
    show_default=True,
    help="How vectors are compared.",
)
@click.option("--figure", metavar="FILE", help="Draw the models against the ceiling.")
@output_option("the models, one by one,")
@seed_option
@json_option
def command(
    source: Source,
    embedding: tuple[str, ...],
    distances: tuple[str, ...],
    answers: tuple[str, ...],
    metric: str,
    figure: str | None,
    output: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Say how well models agree with people: embeddings, distances or answers of their own.

    \b
    Example: trilens evaluate answers.csv --embedding clip.npy --embedding words.csv
    """
    from trilens.files import read_matrix, read_statements
    from trilens.files.vectors import read_vector_table
    from trilens.tasks.evaluate import compare_models
    from trilens.tasks.evaluate.evaluation import evaluations_of

    if not embedding and not distances and not answers:
        raise click.UsageError("name a model: --embedding, --distances or --answers")
    statements = source.read()
    models: dict[str, dict[str, Any]] = {}
    taken: dict[str, str] = {}
    for file in embedding:
        name, table = _name(file, models), read_vector_table(file, statements.names)
        taken[name] = f"{table.said()}; "
        models[name] = {"embedding": table.vectors, "metric": metric}
    for file in distances:
        models[_name(file, models)] = {"distances": read_matrix(file)}
    for file in answers:
        said = read_statements(file, kind=None if source.kind is None else source.kind)
        models[_name(file, models)] = {"answers": said}
    with status("comparing"):
        found = compare_models(
            evaluations_of(statements, models, random_state=seed), random_state=seed
        )
    for model in found.models:
        note(f"{model.name}: {taken.get(model.name, '')}{model.matched}")
    for model in found.models:
        if model.interval[0] <= model.chance:
            note(
                f"caution: {model.name} is no better than guessing ({model.accuracy:.3f}, guesses "
                f"reach {model.chance:.3f}); similarities given as distances, or objects in "
                f"another order?"
            )
    if figure is not None:
        from trilens.plots import models_against_ceiling, save_figure

        save_figure(models_against_ceiling(found.models), figure)
        note(f"wrote {figure}")
    columns: dict[str, list[Any]] = {
        "model": [m.name for m in found.models],
        "accuracy": [m.accuracy for m in found.models],
        "from": [m.interval[0] for m in found.models],
        "to": [m.interval[1] for m in found.models],
        "of the ceiling": [m.of_ceiling for m in found.models],
        "log-loss": [m.log_loss for m in found.models],
    }
    if output is not None:
        save_table(columns, output)
    if as_json and output != "-":
        facts = found.to_dict()
        print_json({**found.models[0].to_dict(), **facts} if len(found.models) == 1 else facts)
        return
    if output is None:
        print_table(list(columns), list(zip(*columns.values(), strict=True)))
    first = found.models[0]
    note(f"{first.answers:,} answers; guessing: {first.chance:.3f}, intervals by {first.unit}")
    if first.ceiling is None:
        note(f"no ceiling: {first.no_ceiling}")
    else:
        low, high = first.ceiling_interval or (first.ceiling, first.ceiling)
        note(
            f"ceiling {first.ceiling:.3f} ({low:.3f} to {high:.3f}): the best a model could reach, "
            f"as two raters agree in {first.agreement:.3f}"
        )
    for pair in found.differences[:10]:
        note(
            f"{pair.first} - {pair.second}: {pair.difference:+.3f} ({pair.low:+.3f} to "
            f"{pair.high:+.3f}), p = {pair.adjusted:.4f}; most about "
            f"{', '.join(row.object for row in pair.objects[:3])}"
        )


def _name(file: str, taken: dict[str, Any]) -> str:
    """The file's name without its ending; the whole path where that is taken."""
    stem = Path(file).name.split(".")[0] or file
    return stem if stem not in taken else file
