"""`trilens reduce`."""

from __future__ import annotations

from trilens.cli import options
from trilens.cli.output import Output, counted


@options.command("reduce")
@options.statement_options
@options.output_file("File to write; its ending tells the format.")
@options.seed_option
def command(answers: options.Answers, random_state: int, out: Output) -> None:
    """Keep one statement per triple, the majority answer.

    Ties are broken at random.

    \b
    Example: trilens reduce answers.csv -o reduced.csv
    """
    from trilens.files import write_statements

    assert out.path is not None
    statements = answers.read()
    reduced = statements.reduce(random_state=random_state)
    write_statements(reduced, out.path)
    out.report(
        {"statements": len(reduced), "from": len(statements), "output": out.path},
        f"{len(reduced):,} of {counted(len(statements), 'statement')}: {out.path}",
    )
