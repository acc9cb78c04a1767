"""`trilens convert`."""

from __future__ import annotations

import click

from trilens.cli.options import Source, comparisons_option, json_option, statement_options
from trilens.cli.tables import note, print_json


@click.command("convert")
@statement_options
@click.argument("output")
@click.option(
    "--to",
    type=click.Choice(["central", "odd", "closer", "comparisons"]),
    help="Another kind: closer or comparisons from any; central or odd from closer.",
)
@comparisons_option
@click.option(
    "--test",
    "tests",
    metavar="A,B,C",
    multiple=True,
    help="Keep the rounds (or raters) that answered this question with A; may be repeated.",
)
@json_option
def command(
    source: Source,
    output: str,
    to: str | None,
    comparisons: bool,
    tests: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write the statements in another format, or as another kind.

    The ending of OUTPUT says the format: .csv, .tsv, .txt, .parquet, .arrow, .jsonl, .json, .npz;
    with .gz or .zst after it, compressed.

    \b
    Example: trilens convert answers.csv triplets.parquet --to closer
    """
    from trilens.files import write_comparisons, write_statements
    from trilens.maps.comparisons import as_comparisons
    from trilens.statements import keep_passed
    from trilens.statements.combine import as_kind

    if comparisons and to not in (None, "comparisons"):
        raise click.UsageError("comparisons of pairs cannot become statements about three objects")
    if comparisons or to == "comparisons":
        pairs = source.read_comparisons() if comparisons else as_comparisons(source.read())
        write_comparisons(pairs, output)
        count, kind = len(pairs), "comparisons"
    else:
        statements = source.read()
        if tests:
            by = "raters" if statements.rounds is None else "rounds"
            asked = [[name.strip() for name in test.split(",")] for test in tests]
            statements = keep_passed(statements, asked, by)
        if to is not None:
            statements = as_kind(statements, to)
        write_statements(statements, output)
        count, kind = len(statements), statements.kind
    facts = {"statements": count, "kind": kind, "output": output}
    # on standard output the data itself goes out: nothing may be mixed with it
    if as_json and output != "-":
        print_json(facts)
    else:
        note(f"{count:,} statements of kind {kind}: {output}")
