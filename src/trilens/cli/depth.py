"""`trilens depth`."""

from __future__ import annotations

import click

from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import print_json, print_table


@click.command("depth")
@statement_options
@json_option
def command(source: Source, as_json: bool) -> None:
    """Print how central every object is.

    Lens depth for `central` statements, 1 - P(odd) for `odd` ones, with a 95 % interval.

    \b
    Example: trilens depth answers.csv
    """
    from trilens.counts import count_central
    from trilens.depth import centrality, depth_intervals

    statements = source.read()
    if as_json:
        depth = centrality(statements)
        appears = count_central(statements).appears
        print_json(
            {
                "depth": dict(zip(statements.names, depth.tolist(), strict=True)),
                "appearances": dict(zip(statements.names, appears.tolist(), strict=True)),
            }
        )
        return
    counts = count_central(statements) if statements.kind != "closer" else statements
    interval = depth_intervals(counts)
    appears = count_central(statements).appears
    print_table(
        ["object", "depth", "from", "to", "statements"],
        [
            (
                statements.names[i],
                float(interval.depth[i]),
                float(interval.low[i]),
                float(interval.high[i]),
                int(appears[i]),
            )
            for i in (-interval.depth).argsort(kind="stable")
        ],
    )
