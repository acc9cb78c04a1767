"""`trilens outliers`."""

from __future__ import annotations

import click

from trilens.cli.options import Source, dim_option, json_option, seed_option, statement_options
from trilens.cli.tables import note, print_json, print_table


@click.command("outliers")
@statement_options
@click.option("--n", "count", type=click.IntRange(min=0), help="How many outliers.")
@click.option("--contamination", type=click.FloatRange(0, 0.5), help="Or their share.")
@click.option(
    "--method",
    type=click.Choice(["depth", "lensmap", "soe", "ste", "tste", "gnmds"]),
    default="depth",
    show_default=True,
    help="Lowest depth, or local outlier factor on a map.",
)
@dim_option
@seed_option
@json_option
def command(
    source: Source,
    count: int | None,
    contamination: float | None,
    method: str,
    dim: int,
    seed: int,
    as_json: bool,
) -> None:
    """List the objects that fit the others least, the least central first.

    Without --n and --contamination, as many as the largest gap at the low end suggests.

    \b
    Example: trilens outliers answers.csv --n 8
    """
    from trilens.depth import centrality
    from trilens.tasks.outliers import outliers

    if count is not None and contamination is not None:
        raise click.UsageError("give --n or --contamination, not both")
    statements = source.read()
    found = outliers(
        statements,
        count,
        contamination=contamination,
        method=method,
        n_components=dim,
        random_state=seed,
    )
    # similarity triplets have no depth; on a map the score decides, and depth stands beside it
    depth = None if statements.kind == "closer" else centrality(statements)[found.indices].tolist()
    depths = depth or [None] * len(found)
    listed = list(zip(found.names, found.scores.tolist(), depths, strict=True))
    if as_json:
        print_json(
            {
                "outliers": [
                    {"object": name, "depth": deep, "score": value} for name, value, deep in listed
                ],
                "suggested": found.suggested,
                "method": method,
                "tied": list(found.tied),
            }
        )
        return
    if listed and method == "depth":
        print_table(["object", "depth"], [(name, deep) for name, _, deep in listed])
    elif listed:
        print_table(["object", "score", "depth"], listed)
    note(f"the largest gap at the low end suggests {found.suggested} outliers")
    if found.tied:
        note(f"as low as the last one listed: {', '.join(found.tied)}")
