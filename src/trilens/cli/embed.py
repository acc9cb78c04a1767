"""`trilens embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trilens.cli import options
from trilens.cli.output import Output, bar, counted, save_table

if TYPE_CHECKING:
    from trilens.answers import Answers


@options.command("embed")
@options.statement_options
@options.comparisons_option
@options.method_option("embed", "Which map; for comparisons soe, ste, tste or gnmds.")
@click.option(
    "--dim",
    "n_components",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Number of dimensions of the map.",
)
@options.cluster_option
@options.table_output("the coordinates to a file", required=True)
@options.seed_option
def command(
    answers: Answers,
    comparisons: bool,
    method: str,
    n_components: int,
    random_state: int,
    out: Output,
) -> None:
    """Give every object coordinates.

    Also reports how many triplets the coordinates violate.

    \b
    Example: trilens embed answers.csv --dim 2 -o map.csv
    """
    from trilens.tasks.embed import embed

    assert out.path is not None
    data = options.read_comparisons_of(answers) if comparisons else answers
    with bar(f"a map in {counted(n_components, 'dimension')}") as progress:
        found = embed(data, n_components, method, random_state=random_state, progress=progress)
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
