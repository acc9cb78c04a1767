"""What is said of a file that was read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from trilens.cli.tables import note

if TYPE_CHECKING:
    from trilens.files import Reading

#: The key of what is said when the command has succeeded.
AT_THE_END = "trilens.cli.at_the_end"


def understood(reading: Reading) -> None:
    """Say what was understood: at once on a terminal, else when the command has succeeded.

    Where it fails, the one line that says why stands alone.
    """

    def say() -> None:
        note(f"read {reading}")
        for fault in reading.named_faults():
            note(f"skipped {fault}")

    if click.get_current_context(silent=True) is None or sys.stderr.isatty():
        say()
    else:
        at_the_end(say)


def at_the_end(say: Callable[[], None]) -> None:
    """Say something when the command has succeeded."""
    root = click.get_current_context().find_root()
    root.meta.setdefault(AT_THE_END, []).append(say)
