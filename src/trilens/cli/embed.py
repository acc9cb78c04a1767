"""`trilens embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import Output, bar, counted, note, save_table

if TYPE_CHECKING:
    from trilens.answers import Answers


@options.command("embed")
@options.statement_options
@options.comparisons_option
@options.method_option("embed", "Which map; for comparisons soe, ste, tste or gnmds.")
@click.option(
    "--dim",
    "--n-components",
    "n_components",
    type=click.IntRange(min=1),
    help="Number of dimensions of the map.",
    show_default="2; for --distances as many as the answers support",
)
@click.option(
    "--distances",
    metavar="OUT",
    help="Write the distances of all pairs of objects: a matrix with names and one of standard "
    "errors beside it (.csv, .tsv), pairs (.json, .parquet), or an RDM for rsatoolbox (.h5).",
)
@options.features_option
@options.cluster_option
@options.output_options(
    "Write the coordinates (.csv, .tsv, .json or .parquet; - for CSV on standard output), or the "
    "whole choice map, for --map and trilens place (.npz).",
    callback=options.map_or_table_ending,
)
@options.seed_option
def command(
    answers: Answers,
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
    Example: trilens embed answers.csv --distances distances.csv
    Example: trilens embed answers.csv --features clip.npz -o map.npz
    """
    if out.path is None and distances is None:
        raise click.UsageError("say what to write: -o for coordinates, --distances for distances")
    vectors = None
    if features:
        if comparisons:
            raise click.UsageError("--features is about a map of answers, not of comparisons")
        vectors = options.read_features_of(features, answers)
    whole = out.path is not None and out.path.endswith(".npz")
    if whole and (comparisons or method not in ("auto", "choice")):
        raise click.UsageError("-o map.npz is the choice map of answers, as it is")
    if distances is not None:
        if comparisons:
            raise click.UsageError("--distances cannot be used with --comparisons")
        _write_distances(answers, n_components, method, distances, vectors, random_state, out)
    if whole:
        _write_map(answers, n_components, vectors, random_state, out)
    elif out.path is not None:
        dim = 2 if n_components is None else n_components
        _write_coordinates(answers, comparisons, dim, method, vectors, random_state, out)


def _write_distances(
    answers: Answers,
    n_components: int | None,
    method: str,
    path: str,
    features: Any,
    random_state: int,
    out: Output,
) -> None:
    from trilens.files import refuse_to_overwrite
    from trilens.files.matrices import check_matrix_ending
    from trilens.questions.distances import distances

    check_matrix_ending(path)
    if answers.in_files:
        refuse_to_overwrite(path, answers.source)
    with bar("distances") as progress:
        found = distances(
            answers,
            n_components,
            method,
            features=features,
            random_state=random_state,
            progress=progress,
        )
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


def _write_map(
    answers: Answers, n_components: int | None, features: Any, random_state: int, out: Output
) -> None:
    from trilens.maps import ChoiceMap

    assert out.path is not None
    with bar("a map") as progress:
        M = ChoiceMap("cv" if n_components is None else n_components, random_state=random_state)
        M.fit(answers, features=features, progress=progress)
    M.save(out.path)
    note(f"wrote {out.path}")
    facts = {
        "method": "choice",
        "dim": M.n_components_,
        "violations": M.violations_,
        "error_rate": M.error_rate_,
        "feature_shares": M.feature_shares_,
    }
    notes = [f"choice, {counted(M.n_components_, 'dimension')}, {len(M.embedding_):,} objects"]
    for name, share in M.feature_shares_.items():
        notes.append(
            f"{name}: {share:.0%} of the map's spread expected by these features"
            if share
            else f"{name}: these features do not help to predict answers, and were left out"
        )
    out.report(facts, *notes)


def _write_coordinates(
    answers: Answers,
    comparisons: bool,
    n_components: int,
    method: str,
    features: Any,
    random_state: int,
    out: Output,
) -> None:
    from trilens.questions.embed import embed

    assert out.path is not None
    data = options.read_comparisons_of(answers) if comparisons else answers
    with bar(f"a map in {counted(n_components, 'dimension')}") as progress:
        found = embed(
            data,
            n_components,
            method,
            random_state=random_state,
            features=features,
            progress=progress,
        )
    save_table(found.columns(), out.path)
    text = f"{found.method}, {counted(n_components, 'dimension')}"
    if found.violations is None:
        notes = [f"{text}, {len(found.names):,} objects: {out.path}"]
    else:
        what = "comparisons" if comparisons else "triplets"
        notes = [f"{text}: {100 * found.violations:.2f} % of the {what} violated"]
    if found.predicted is not None:
        notes.append(
            f"{found.predicted:.1%} of {found.aside:,} held-out answers are predicted; the "
            f"model estimates that {found.error_rate:.1%} of the answers are wrong"
        )
    out.report(found.to_dict(), *notes)
