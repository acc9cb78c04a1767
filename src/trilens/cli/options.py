"""Options that the commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trilens.cli.progress import status
from trilens.cli.selection import Selecting, selection_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from trilens.statements import Statements
    from trilens.statements.comparisons import Comparisons
    from trilens.tasks.method import Question

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
)
dim_option = click.option(
    "--dim",
    type=click.IntRange(min=1),
    help="Dimension of the map; by default as many as the answers carry.",
)
labels_option = click.option(
    "--labels", metavar="FILE", help="A table with the columns object,label."
)


class Method(click.ParamType):  # type: ignore[type-arg]
    """The methods that answer a question, listed when they are needed: --help is quick."""

    name = "method"

    def __init__(self, question: Question) -> None:
        self.question = question

    def choice(self) -> click.Choice[str]:
        from trilens.tasks.method import METHODS

        return click.Choice(["auto", *METHODS[self.question]])

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return self.choice().get_metavar(param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return self.choice().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return self.choice().shell_complete(ctx, param, incomplete)


class ErrorRate(click.ParamType):  # type: ignore[type-arg]
    """A share, or the word ``estimate``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "estimate" else click.FLOAT.convert(value, param, ctx)


error_rate_option = click.option(
    "--error-rate",
    type=ErrorRate(),
    default=0.0,
    help="Share of wrong answers to correct the k-RNG for, or the word estimate.",
)


def method_option(question: Question, help: str) -> Callable[[F], F]:
    """--method, with the methods of a question to choose from."""
    return click.option(
        "--method", type=Method(question), default="auto", show_default=True, help=help
    )


@dataclass(frozen=True)
class Source:
    """Where the statements come from, as the command line says it."""

    file: str
    kind: str | None
    columns: list[str] | None
    objects: str | None
    selecting: Selecting

    def read_comparisons(self) -> Comparisons:
        """The comparisons of the file, which says itself what it is about."""
        from trilens.formats import read_comparisons

        for option in ("kind", "columns", "objects"):
            if getattr(self, option) is not None:
                raise click.UsageError(f"--{option} does not go with --comparisons")
        if self.selecting != Selecting():
            raise click.UsageError(
                "--exclude-raters, --min-seconds and --where do not go with --comparisons"
            )
        with status(f"reading {self.file}"):
            return read_comparisons(self.file)

    def read(self) -> Statements:
        """The statements of the file that are asked for; `-` is standard input."""
        statements = self.read_all()
        return self.selecting.of(statements, self.file, self.columns)

    def read_all(self) -> Statements:
        """All statements of the file."""
        from trilens.formats import read_statements

        with status(f"reading {self.file}"):
            return read_statements(
                self.file, kind=self.kind, columns=self.columns, objects=self.objects
            )


comparisons_option = click.option(
    "--comparisons",
    is_flag=True,
    help="FILE has comparisons d(A,B) < d(C,D): near_1,near_2,far_1,far_2.",
)


def statement_options(command: F) -> F:
    """FILE, --kind, --columns, --objects, which answers are used: all as one ``source``.

    A command's ``output`` must not be one of its inputs.
    """

    @click.argument("file")
    @click.option(
        "--kind",
        type=click.Choice(["central", "odd", "closer"]),
        help="What was asked; by default as the file's header says, else central.",
    )
    @click.option(
        "--columns",
        metavar="A,B,C",
        help="Names of the columns of a file without header, such as other_1,other_2,odd.",
    )
    @click.option(
        "--objects", metavar="FILE", help="One object name a line: fixes order, adds unseen ones."
    )
    @selection_options
    @wraps(command)
    def with_source(
        file: str, kind: str | None, columns: str | None, objects: str | None, **rest: Any
    ) -> Any:
        from trilens.formats import refuse_to_overwrite

        if rest.get("output") is not None:
            refuse_to_overwrite(rest["output"], file, objects, rest.get("labels"))
        split = None if columns is None else [name.strip() for name in columns.split(",")]
        selecting = Selecting.taken_from(rest)
        return command(source=Source(file, kind, split, objects, selecting), **rest)

    return with_source  # type: ignore[return-value]


def read_labels_for(statements: Statements, path: str) -> list[str | None]:
    """The label of each object by a label file; None where the file leaves it out."""
    from trilens.formats import labels_for, read_labels

    return list(labels_for(statements, read_labels(path)))
