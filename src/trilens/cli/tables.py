"""Tables for people and JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click


def print_json(facts: dict[str, Any]) -> None:
    click.echo(json.dumps(facts, ensure_ascii=False, allow_nan=False))


def print_facts(facts: dict[str, str]) -> None:
    """Aligned `name  value` lines."""
    print_table(None, list(facts.items()), left=2)


def print_table(header: Sequence[str] | None, rows: Sequence[Sequence[Any]], left: int = 1) -> None:
    """Columns aligned by their width on the screen, the first ``left`` of them to the left."""
    lines = [[_cell(cell) for cell in row] for row in ([header] if header else []) + list(rows)]
    if not lines:
        return
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell + " " * (width - cell_len(cell))
            if i < left
            else " " * (width - cell_len(cell)) + cell
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names for a note: the first few, and how many more."""
    # a comma inside a name must not look like one between names
    shown = ", ".join(f'"{cell}"' if "," in cell else cell for cell in map(_cell, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def note(text: str) -> None:
    """Talk goes to stderr."""
    click.echo(text, err=True)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    # a name may hold a line break or an escape sequence; neither may reach the terminal
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
