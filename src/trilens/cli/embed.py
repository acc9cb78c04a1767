"""`trilens embed`."""

from __future__ import annotations

import click

from trilens.cli.options import (
    Source,
    json_option,
    method_option,
    seed_option,
    statement_options,
)
from trilens.cli.progress import bar
from trilens.cli.tables import counted, note, print_json, save_table, table_ending


@click.command("embed")
@statement_options
@method_option("embed", "Which map.")
@click.option(
    "--dim", type=click.IntRange(min=1), default=2, show_default=True, help="Dimension of the map."
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    callback=table_ending,
    help="Coordinates (.csv, .tsv, .json, .parquet), or - for CSV.",
)
@seed_option
@json_option
def command(source: Source, method: str, dim: int, output: str, seed: int, as_json: bool) -> None:
    """Give every object coordinates, and say how many triplets these violate.

    \b
    Example: trilens embed answers.csv --dim 2 -o map.csv
    """
    from trilens.maps import violations
    from trilens.maps.registry import coordinates
    from trilens.tasks.method import choose_method

    statements = source.read()
    chosen = choose_method("embed", statements, method)
    with bar(f"{chosen} in {dim} dimensions") as progress:
        points = coordinates(statements, chosen, dim, seed, progress)
    columns = {f"x{i}": axis for i, axis in enumerate(points.T, start=1)}
    save_table({"object": statements.names, **columns}, output)
    share = violations(points, statements)
    # on standard output the data itself goes out: nothing may be mixed with it
    if as_json and output != "-":
        print_json({"method": chosen, "dim": dim, "violations": share})
    else:
        note(f"{chosen}, {counted(dim, 'dimension')}: {100 * share:.2f} % of the triplets violated")
