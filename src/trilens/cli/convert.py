"""`trilens convert`."""

from __future__ import annotations

import click

from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import note, print_json


@click.command("convert")
@statement_options
@click.argument("output")
@click.option(
    "--to",
    type=click.Choice(["central", "odd", "closer"]),
    help="Another kind: closer from central or odd; central or odd from closer.",
)
@json_option
def command(source: Source, output: str, to: str | None, as_json: bool) -> None:
    """Write the statements in another format, or as another kind.

    The ending of OUTPUT says the format: .csv, .tsv, .txt, .parquet, .arrow, .jsonl, .npz.

    \b
    Example: trilens convert answers.csv triplets.parquet --to closer
    """
    from trilens.formats import write_statements
    from trilens.statements.combine import as_kind

    statements = source.read()
    if to is not None:
        statements = as_kind(statements, to)
    write_statements(statements, output)
    facts = {"statements": len(statements), "kind": statements.kind, "output": output}
    # on standard output the data itself goes out: nothing may be mixed with it
    if as_json and output != "-":
        print_json(facts)
    else:
        note(f"{len(statements):,} statements of kind {statements.kind}: {output}")
