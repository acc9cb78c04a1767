"""`trilens depth`."""

from __future__ import annotations

import click

from trilens.cli.counting import counts_of
from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import output_option, print_json, print_table, save_table


@click.command("depth")
@statement_options
@output_option("the table")
@json_option
def command(source: Source, output: str | None, as_json: bool) -> None:
    """Print how central every object is.

    Lens depth for `central` statements, 1 - P(odd) for `odd` ones, the share of comparisons won
    for `closer` ones; with a 95 % interval.

    \b
    Example: trilens depth answers.csv
    """
    from trilens.counts import count_central
    from trilens.depth import centrality, depth_intervals

    counted = counts_of(source)
    if counted is not None:
        counts, names = counted.central, counted.names
    else:
        statements = source.read()
        counts, names = count_central(statements), statements.names
    depth = centrality(counts)
    order = (-depth).argsort(kind="stable").tolist()
    interval = depth_intervals(counts)
    columns = {
        "object": [names[i] for i in order],
        "depth": depth[order].tolist(),
        "from": interval.low[order].tolist(),
        "to": interval.high[order].tolist(),
        "statements": counts.appears[order].tolist(),
    }
    if output is not None:
        save_table(columns, output)
    if as_json and output != "-":
        print_json(
            {
                "depth": dict(zip(names, depth.tolist(), strict=True)),
                "appearances": dict(zip(names, counts.appears.tolist(), strict=True)),
            }
        )
        return
    if output is None:
        print_table(list(columns), list(zip(*columns.values(), strict=True)))
