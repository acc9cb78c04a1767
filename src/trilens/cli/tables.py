"""Tables for people and JSON for machines."""

from __future__ import annotations

import json
import unicodedata
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
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell + " " * (width - _width(cell)) if i < left else " " * (width - _width(cell)) + cell
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


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


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
