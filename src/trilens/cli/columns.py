"""`trilens columns`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import note, print_json, print_table
from trilens.errors import TrilensError

if TYPE_CHECKING:
    from trilens.files.look import Look


@options.command("columns")
@click.argument("file")
@options.reading_options
@options.json_option
def command(file: str, reading: dict[str, Any], as_json: bool) -> None:
    """Say what the columns of FILE hold.

    In a terminal, asks which columns were shown, which holds the answer and who answered, and
    prints the --columns to keep. Otherwise prints the columns, and the first statements as they
    are read.

    \b
    Example: trilens columns answers.csv
    """
    from trilens.files.look import look_at

    found = look_at(file, **reading)
    if as_json:
        print_json(found.to_dict())
        return
    rows = [
        [i, name, ", ".join(values), found.roles.get(name, "")]
        for i, (name, values) in enumerate(zip(found.names, found.values, strict=True), 1)
    ]
    print_table(["", "column", "first values", "holds, by its name"], rows, left=4)
    if in_terminal():
        said, kind = _ask(found)
        found = look_at(file, **(reading | {"columns": said, "kind": kind}))
        if found.problem is not None:
            raise found.problem
    _show_statements(found)


def in_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _show_statements(found: Look) -> None:
    from trilens.cli import flags_of

    if found.problem is not None:
        click.echo()
        click.echo(TrilensError(found.problem.message).said(flags_of(command)))
        return
    kind = found.kind or "central"
    header = {"closer": ["anchor", "nearer", "farther"]}.get(kind, [kind, "other", "other"])
    rows = [list(row) for row in found.first]
    if found.raters is not None:
        header = [*header, "rater"]
        rows = [[*row, who] for row, who in zip(rows, found.raters, strict=True)]
    click.echo()
    print_table(header, rows, left=len(header))
    click.echo()
    kept = (
        f"--columns {found.columns}"
        if found.columns
        else "nothing, the names of the columns suffice"
    )
    asked = f" --kind {found.kind}" if found.columns and found.kind != "closer" else ""
    click.echo(f"keep: {kept}{asked}")
    if found.kind is None:
        note(
            "the file does not say what was asked: add --kind central, --kind odd or --kind closer"
        )


def _ask(found: Look) -> tuple[str, Any]:
    """The answers to three questions, and to which question was asked, as options."""
    from trilens.files.look import mapping_of
    from trilens.words import ASKED

    kind: Any = found.kind
    if kind is None:
        for name, words in ASKED.items():
            click.echo(f"  {name}: {words}", err=True)
        kind = click.prompt("What was asked?", type=click.Choice([*ASKED]), err=True)
    first = "the anchor first, then " if kind == "closer" else ""
    shown = _columns(found, f"Which columns were shown ({first}numbers or names, with commas)?")
    if len(shown) < 3:
        raise click.UsageError("three columns or more hold the objects; name each of them")
    answers = _columns(found, "Which column holds the answer?")
    who = _columns(found, "Which column says who answered (Enter if none)?", default="")
    rater = who[0] if who else None
    return mapping_of(found.names, shown, answers, rater, kind), kind


def _columns(found: Look, question: str, default: str | None = None) -> list[int]:
    """The positions of the columns that are named or numbered, asked again until all are there."""
    while True:
        given = click.prompt(question, default=default, show_default=False, err=True)
        words = [word.strip() for word in str(given).split(",") if word.strip()]
        known = {name: i for i, name in enumerate(found.names)}
        known = {str(i + 1): i for i in range(len(found.names))} | known
        wrong = [word for word in words if word not in known]
        if not wrong and (words or default is not None):
            return [known[word] for word in words]
        seen = f"there is no column {wrong[0]!r}; " if wrong else ""
        click.echo(f"{seen}give names or numbers from 1 to {len(found.names)}", err=True)
