"""What is said of a file that was read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trilens.cli.tables import note

if TYPE_CHECKING:
    from trilens.formats import Reading

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

    context = click.get_current_context(silent=True)
    if context is None or sys.stderr.isatty():
        say()
    else:
        context.find_root().meta.setdefault(AT_THE_END, []).append(say)
