"""Tables for people, for files and for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

#: The endings that a table can be written with.
ENDINGS = (".csv", ".tsv", ".json", ".parquet")


def output_option(what: str) -> Callable[[F], F]:
    """-o, for a command that yields a table."""
    return click.option(
        "-o",
        "--output",
        metavar="OUT",
        callback=table_ending,
        help=f"Write {what} to a file (.csv, .tsv, .json, .parquet), or - for CSV.",
    )


def table_ending(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse a file whose ending is that of no table."""
    if value not in (None, "-") and Path(str(value)).suffix.lower() not in ENDINGS:
        raise click.BadParameter(
            f"the ending of {value} is not known; use one of {', '.join(ENDINGS)}", ctx, param
        )
    return value


def save_table(columns: Mapping[str, Sequence[Any]], path: str) -> None:
    """Write columns by the ending of the file, and say so; ``-`` is CSV on standard output."""
    from trilens.files import write_table

    write_table(columns, path)
    if path != "-":
        note(f"wrote {path}")


def print_json(facts: dict[str, Any]) -> None:
    click.echo(json.dumps(facts, ensure_ascii=False, allow_nan=False))


def print_facts(facts: dict[str, str]) -> None:
    """Aligned `name  value` lines."""
    print_table(None, list(facts.items()), left=2)


def print_table(header: Sequence[str] | None, rows: Sequence[Sequence[Any]], left: int = 1) -> None:
    """A table, its first ``left`` columns to the left: ruled on a terminal, else aligned by spaces.

    On a terminal long cells are folded; elsewhere every row is one line.
    """
    lines = [[cell(value) for value in row] for row in rows]
    if header is not None and sys.stdout.isatty():
        _print_ruled(header, lines, left)
        return
    if header is not None:
        lines = [list(header), *lines]
    if not lines:
        return
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            text + " " * (width - cell_len(text))
            if i < left
            else " " * (width - cell_len(text)) + text
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def _print_ruled(header: Sequence[str], lines: Sequence[Sequence[str]], left: int) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i < left else "right", overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))  # as text: a name is no markup
    Console(highlight=False).print(table)


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names for a note: the first few, and how many more.

    >>> listed(["a", "b, c", 'd"e'], most=2)
    'a, "b, c" and 1 more'
    """
    shown = ", ".join(_quoted(cell(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def _quoted(name: str) -> str:
    # a comma inside a name must not look like one between names
    if any(c in name for c in ',"') or name != name.strip():
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "edge"), counted(1200, "class", "classes")
    ('1 edge', '1,200 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def note(text: str) -> None:
    """Talk goes to stderr."""
    click.echo(text, err=True)


def cell(value: Any) -> str:
    """A value as a table for people shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    # a name may hold a line break or an escape sequence; neither may reach the terminal
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
