"""`trilens convert`."""

from __future__ import annotations

import click

from trilens.cli import options
from trilens.cli.output import Output, counted


@options.command("convert")
@options.statement_options
@options.output_file("File to write; its ending tells the format.")
@click.option(
    "--to",
    type=click.Choice(["central", "odd", "closer"]),
    help="Convert to another kind: any kind to closer, closer to central or odd.",
)
@click.option(
    "--test",
    "tests",
    metavar="A,B,C",
    multiple=True,
    help="Keep only rounds (or raters) that answered this question with A. May be repeated.",
)
def command(
    answers: options.Answers,
    to: str | None,
    tests: tuple[str, ...],
    out: Output,
) -> None:
    """Write the statements in another format, or as another kind.

    The ending of OUT determines the format: .csv, .tsv, .txt, .parquet, .arrow, .jsonl, .json or
    .npz, with .gz or .zst after it for compression.

    \b
    Example: trilens convert answers.csv -o triplets.parquet --to closer
    """
    from trilens.files import write_statements
    from trilens.statements import keep_passed
    from trilens.statements.combine import as_kind

    assert out.path is not None
    statements = answers.read()
    if tests:
        asked = [[name.strip() for name in test.split(",")] for test in tests]
        by = "raters" if statements.rounds is None else "rounds"
        statements = keep_passed(statements, asked, by)
    if to is not None:
        statements = as_kind(statements, to)
    write_statements(statements, out.path)
    count, kind = len(statements), statements.kind
    out.report(
        {"statements": count, "kind": kind, "output": out.path},
        f"{counted(count, 'statement')} of kind {kind}: {out.path}",
    )
