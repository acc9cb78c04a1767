"""What commands print: results on stdout, as a table or as JSON; notes and progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from trilens._tabular import aligned, as_text, counted as counted

if TYPE_CHECKING:
    from trilens._typing import Progress

#: The endings that a table can be written with.
ENDINGS = (".csv", ".tsv", ".json", ".parquet")
#: The same for a figure.
FIGURES = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Output:
    """Where a command's result goes: to a file, to the screen, or out as JSON."""

    #: The file of ``-o``; ``-`` is standard output, on which nothing else may then be printed.
    path: str | None = None
    #: Whether ``--json`` was given.
    as_json: bool = False

    def show(
        self,
        columns: Mapping[str, Sequence[Any]],
        facts: Mapping[str, Any],
        notes: Iterable[str] = (),
        *,
        left: int = 1,
        shown: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Write the table to the file, then print the facts as JSON, or the table and the notes.

        ``left`` columns are aligned to the left; ``shown`` is the table to print, where it is not
        the one to write.
        """
        if self.path is not None:
            save_table(columns, self.path)
        if self.path is None and not self.as_json:
            printed = columns if shown is None else shown
            rows = list(zip(*printed.values(), strict=True))
            if rows:
                print_table(list(printed), rows, left)
        self.report(facts, *notes)

    def tell(self, printed: Mapping[str, str], facts: Mapping[str, Any], *notes: str) -> None:
        """Print aligned `name  value` lines and the notes, or the facts as JSON."""
        if not self.as_json and self.path != "-":
            print_facts(printed)
        self.report(facts, *notes)

    def report(self, facts: Mapping[str, Any], *notes: str) -> None:
        """Say what was written: as JSON, or as notes."""
        if self.as_json and self.path != "-":
            print_json(facts)
            return
        for text in notes:
            note(text)


def save_table(columns: Mapping[str, Sequence[Any]], path: str) -> None:
    """Write columns by the ending of the file, and say so; ``-`` is CSV on standard output."""
    from trilens.files import write_table

    write_table(columns, path)
    if path != "-":
        note(f"wrote {path}")


def print_json(facts: Mapping[str, Any]) -> None:
    click.echo(json.dumps(facts, ensure_ascii=False, allow_nan=False))


def print_facts(facts: Mapping[str, str]) -> None:
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
    from rich.cells import cell_len  # not rich.table: it takes 60 times as long

    for text in aligned(lines, left, cell_len):
        click.echo(text)


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


#: Where a command keeps what is to be said before all of its notes.
_FIRST = "trilens.said_first"


def say_first(say: Callable[[], None] | None = None) -> None:
    """Keep what is to be said before the first note; without it, say now what was kept."""
    context = click.get_current_context(silent=True)
    kept = {} if context is None else context.meta
    if say is not None:
        kept[_FIRST] = say
    elif _FIRST in kept:
        kept.pop(_FIRST)()


def note(text: str) -> None:
    """What is not the result goes to stderr."""
    say_first()
    click.echo(text, err=True)


def cell(value: Any) -> str:
    """A value as a table for people shows it."""
    # a name may hold a line break or an escape sequence; neither may reach the terminal
    text = as_text(value)
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


@contextmanager
def status(what: str) -> Iterator[None]:
    """A spinner on a terminal, while something runs whose length is not known."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def bar(what: str) -> Iterator[Progress | None]:
    """A progress bar on a terminal; gives the callback to call with the share done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=1.0)
        yield lambda share: bars.update(task, completed=share)
