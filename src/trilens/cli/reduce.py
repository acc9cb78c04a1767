"""`trilens reduce`."""

from __future__ import annotations

import click

from trilens.cli.options import Source, json_option, seed_option, statement_options
from trilens.cli.tables import note, print_json


@click.command("reduce")
@statement_options
@click.argument("output")
@seed_option
@json_option
def command(source: Source, output: str, seed: int, as_json: bool) -> None:
    """Keep one statement per triple: the majority answer, ties broken at random.

    \b
    Example: trilens reduce answers.csv reduced.csv
    """
    from trilens.files import write_statements

    statements = source.read()
    reduced = statements.reduce(random_state=seed)
    write_statements(reduced, output)
    # on standard output the data itself goes out: nothing may be mixed with it
    if as_json and output != "-":
        print_json({"statements": len(reduced), "from": len(statements), "output": output})
    else:
        note(f"{len(reduced):,} of {len(statements):,} statements: {output}")
