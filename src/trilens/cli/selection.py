"""--exclude-raters, --min-seconds and --where: which answers a command uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from trilens.statements import Selection, Statements

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Selecting:
    """Which answers are asked for, as the command line says it."""

    exclude_raters: tuple[str, ...] = ()
    min_seconds: float | None = None
    where: tuple[str, ...] = ()

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Selecting:
        """From a command's options, which lose them."""
        listed = options.pop("exclude_raters") or ""
        raters = tuple(name.strip() for name in listed.split(",") if name.strip())
        return cls(raters, options.pop("min_seconds"), tuple(options.pop("where")))

    def selection(
        self, statements: Statements, file: str, columns: list[str] | None
    ) -> Selection | None:
        """The answers that are used; None for all."""
        if self == Selecting():
            return None
        from trilens.formats import read_columns
        from trilens.statements.selection import Condition, select

        conditions = [Condition.of(text) for text in self.where]
        further = [condition.column for condition in conditions if not condition.is_own]
        extra = read_columns(file, further, len(statements), columns) if further else None
        return select(
            statements,
            exclude_raters=self.exclude_raters,
            min_seconds=self.min_seconds,
            where=self.where,
            columns=extra,
        )

    def of(self, statements: Statements, file: str, columns: list[str] | None) -> Statements:
        """The answers that are used; what is left out is said."""
        from trilens.cli.tables import note

        selection = self.selection(statements, file, columns)
        if selection is None:
            return statements
        for step in selection.steps:
            note(f"{step.rule}: {step.answers:,} answers left out, {step.left:,} left")
        return selection.of(statements)

    def options(self) -> dict[str, Any]:
        """The options that say the same again; `--where` may be given more than once."""
        return {
            "--exclude-raters": ",".join(self.exclude_raters) or None,
            "--min-seconds": self.min_seconds,
            "--where": self.where or None,
        }


def selection_options(command: F) -> F:
    """Add the options to a command."""
    for option in (
        click.option(
            "--where",
            multiple=True,
            metavar="CONDITION",
            help="Use only answers for which it holds, such as 'country = DE' or 'seconds >= 0.5'; "
            "a column of the file. May be repeated: all must hold.",
        ),
        click.option(
            "--min-seconds",
            type=click.FloatRange(min=0),
            help="Leave out answers that were faster.",
        ),
        click.option(
            "--exclude-raters",
            metavar="A,B,...",
            help="Leave out these raters (rounds, where no raters are known).",
        ),
    ):
        command = option(command)
    return command
