"""`trilens embed`."""

from __future__ import annotations

from pathlib import Path

import click

from trilens.cli import options
from trilens.cli.output import ENDINGS, FIGURES, Output, counted, note, save_table


@options.command("embed")
@options.statement_options
@options.comparisons_option
@options.method_option("embed", "Which map; for comparisons soe, ste, tste or gnmds.")
@options.dim_option("2; for --distances as many as the answers support")
@click.option(
    "--distances",
    type=options.WRITTEN,
    metavar="OUT",
    help="Write the distances of all pairs of objects: a matrix with names and one of standard "
    "errors beside it (.csv, .tsv), pairs (.json, .parquet), or an RDM for rsatoolbox (.h5).",
)
@options.features_option
@options.cluster_option
@options.output_options(
    "Write the coordinates (.csv, .tsv, .json or .parquet; - for CSV on standard output), or a "
    "picture of the map (.svg, .png or .pdf).",
    endings=(*ENDINGS, *FIGURES),
)
@options.seed_option
def command(
    answers: options.Answers,
    comparisons: bool,
    method: str,
    n_components: int | None,
    distances: str | None,
    features: tuple[str, ...],
    random_state: int,
    out: Output,
) -> None:
    """Give every object coordinates, or every pair a distance.

    Also reports how many triplets the coordinates violate.

    \b
    Example: trilens embed answers.csv --dim 2 -o map.csv
    Example: trilens embed answers.csv -o map.svg
    Example: trilens embed answers.csv --distances distances.csv
    """
    if out.path is None and distances is None:
        raise click.UsageError("say what to write: -o for coordinates, --distances for distances")
    if comparisons and features:
        raise click.UsageError("--features is about a map of answers, not of comparisons")
    if _is_figure(out.path) and n_components not in (None, 2):
        raise click.UsageError(f"a picture shows two dimensions, not --dim {n_components}")
    if comparisons and distances is not None:
        raise click.UsageError("--distances cannot be used with --comparisons")
    dim = 2 if n_components is None and distances is None else n_components
    settings = {} if dim is None else {"n_components": dim}
    if features and method in ("auto", "choice") and not answers.in_counts:
        options.fit_answers(answers, random_state, features, **settings)
    elif not comparisons:
        options.fit_if_needed(answers, method, random_state, **settings)
    if distances is not None:
        _write_distances(answers, method, distances, random_state, out)
    if out.path is not None:
        dim = 2 if n_components is None else n_components
        _write_coordinates(answers, comparisons, dim, method, random_state, out)


def _is_figure(path: str | None) -> bool:
    return path is not None and Path(path).suffix.lower() in FIGURES


def _write_distances(
    answers: options.Answers, method: str, path: str, random_state: int, out: Output
) -> None:
    from trilens.files.results import check_ending
    from trilens.questions.distances import distances

    check_ending(path, "matrix of distances")
    found = distances(answers, method, random_state=random_state)
    for file in found.write(path):
        if file != "-":
            note(f"wrote {file}")
    if found.errors is None:
        note("without standard errors, which need a model of the answers")
    if found.caution is not None:
        note(f"caution: {found.caution}")
    if out.path is None:
        text = f"{found.method}, {counted(found.n_components, 'dimension')}"
        out.report(found.to_dict(), f"{text}: the mean distance of two objects is 1")


def _write_coordinates(
    answers: options.Answers,
    comparisons: bool,
    n_components: int,
    method: str,
    random_state: int,
    out: Output,
) -> None:
    from trilens.questions.embed import embed

    assert out.path is not None
    data = options.read_comparisons_of(answers) if comparisons else answers
    found = embed(data, n_components, method, random_state=random_state)
    if _is_figure(out.path):
        from trilens.plots import object_map, save_figure

        save_figure(object_map(found.points, names=found.names), out.path)
        note(f"wrote {out.path}")
    else:
        save_table(found.columns(), out.path)
    text = f"{found.method}, {counted(n_components, 'dimension')}"
    if found.violations is None:
        notes = [f"{text}, {counted(len(found.names), 'object')}: {out.path}"]
    else:
        what = "comparisons" if comparisons else "triplets"
        notes = [f"{text}: {100 * found.violations:.2f} % of the {what} violated"]
    out.report(found.to_dict(), *notes)
