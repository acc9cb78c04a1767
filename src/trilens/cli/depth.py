"""`trilens depth`."""

from __future__ import annotations

import click

from trilens.cli.counting import counts_of
from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import print_json, print_table


@click.command("depth")
@statement_options
@json_option
def command(source: Source, as_json: bool) -> None:
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
    if as_json:
        print_json(
            {
                "depth": dict(zip(names, depth.tolist(), strict=True)),
                "appearances": dict(zip(names, counts.appears.tolist(), strict=True)),
            }
        )
        return
    interval = depth_intervals(counts)
    print_table(
        ["object", "depth", "from", "to", "statements"],
        [
            (
                names[i],
                float(depth[i]),
                float(interval.low[i]),
                float(interval.high[i]),
                int(counts.appears[i]),
            )
            for i in (-depth).argsort(kind="stable")
        ],
    )
