"""`trilens outliers`."""

from __future__ import annotations

import click

from trilens.cli.counting import counts_of
from trilens.cli.options import (
    Source,
    dim_option,
    json_option,
    method_option,
    seed_option,
    statement_options,
)
from trilens.cli.tables import (
    listed,
    note,
    output_option,
    print_json,
    print_table,
    save_table,
)


@click.command("outliers")
@statement_options
@click.option("--n", "count", type=click.IntRange(min=0), help="How many outliers.")
@click.option("--contamination", type=click.FloatRange(0, 0.5), help="Or their share.")
@method_option("outliers", "Lowest depth (Algorithm 2), or local outlier factor on a map.")
@dim_option
@seed_option
@output_option("the outliers")
@json_option
def command(
    source: Source,
    count: int | None,
    contamination: float | None,
    method: str,
    dim: int | None,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """List the objects that fit the others least, the least fitting first.

    Without --n and --contamination only those that stand apart beyond chance; there may be none.

    \b
    Example: trilens outliers answers.csv --n 8
    """
    from trilens.tasks.outliers import outliers

    if count is not None and contamination is not None:
        raise click.UsageError("give --n or --contamination, not both")
    counts = counts_of(source, streamed=method in ("auto", "depth"))
    found = outliers(
        source.read() if counts is None else counts.central,
        count,
        contamination=contamination,
        method=method,
        n_components=dim,
        random_state=seed,
    )
    facts = found.to_dict()
    header = ["object", "depth", "score"]
    rows = [tuple(row[name] for name in header) for row in facts["outliers"]]
    if output is not None:
        save_table({name: [row[i] for row in rows] for i, name in enumerate(header)}, output)
    if as_json and output != "-":
        print_json(facts)
        return
    if rows and output is None:
        print_table(header, rows)
    apart = found.suggested
    if found.caution is not None:
        note(found.caution)
    else:
        what = "object stands" if apart == 1 else "objects stand"
        sure = ", the last ones least surely" if apart > 1 else ""
        note(f"{apart or 'no'} {what} apart beyond chance{sure}")
    if found.tied:
        note(f"as low as the last one listed: {listed(found.tied)}")
    note(f"method {found.method}")
