"""--exclude-raters, --min-seconds and --where: which answers a command uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

if TYPE_CHECKING:
    from trilens._typing import AnyArray
    from trilens.statements import Selection, Statements

F = TypeVar("F", bound=Callable[..., Any])
#: Reads columns by their names.
Further: TypeAlias = "Callable[[Sequence[str]], dict[str, AnyArray]]"


@dataclass(frozen=True)
class Selecting:
    """Which answers are asked for, as the command line says it."""

    exclude_raters: tuple[str, ...] = ()
    min_seconds: float | None = None
    where: tuple[str, ...] = ()

    @property
    def takes_all(self) -> bool:
        """Whether all answers are asked for."""
        return self == Selecting()

    @property
    def sifts(self) -> bool:
        """Whether rows by themselves tell whether they are asked for, while they are read."""
        by_row = not self.exclude_raters and self.min_seconds is None
        return by_row and not any(text.strip().lower().startswith("place") for text in self.where)

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Selecting:
        """From a command's options, which lose them."""
        listed = options.pop("exclude_raters") or ""
        raters = tuple(name.strip() for name in listed.split(",") if name.strip())
        return cls(raters, options.pop("min_seconds"), tuple(options.pop("where")))

    def selection(self, statements: Statements, further: Further) -> Selection | None:
        """The answers that are used; None for all. ``further`` reads columns of the file."""
        if self.takes_all:
            return None
        from trilens.statements.selection import Condition, select

        conditions = [Condition.of(text) for text in self.where]
        beyond = [condition.column for condition in conditions if not condition.is_own]
        return select(
            statements,
            exclude_raters=self.exclude_raters,
            min_seconds=self.min_seconds,
            where=self.where,
            columns=further(beyond) if beyond else None,
        )

    def of(self, statements: Statements, further: Further) -> Statements:
        """The answers that are used; what is left out is said."""
        from trilens.cli.tables import counted, note

        selection = self.selection(statements, further)
        if selection is None:
            return statements
        for step in selection.steps:
            note(f"{step.rule}: {counted(step.answers, 'answer')} left out, {step.left:,} left")
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
