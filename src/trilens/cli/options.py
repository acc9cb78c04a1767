"""Options that the commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trilens.cli.progress import status
from trilens.cli.said import understood
from trilens.cli.selection import Selecting, selection_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from trilens._typing import AnyArray
    from trilens.counts import Counted
    from trilens.files import Reading
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
    "--labels",
    metavar="FILE",
    help="A table with the columns object,label (CSV, TSV, JSON, Parquet).",
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
    columns: str | None
    objects: str | None
    selecting: Selecting
    how: dict[str, Any] = field(default_factory=dict)
    quiet: bool = False
    #: Counts of the file without pairs, once somebody had to count them.
    counted: list[Counted] = field(default_factory=list, compare=False, repr=False)

    def read_comparisons(self) -> Comparisons:
        """The comparisons of the file, which says itself what it is about."""
        from trilens.files import read_comparisons

        given = [name for name, value in self.how.items() if value]
        for option in ("kind", "columns", "objects", *given):
            if option in given or getattr(self, option) is not None:
                name = "from" if option == "preset" else option.replace("_", "-")
                raise click.UsageError(f"--{name} does not go with --comparisons")
        if not self.selecting.takes_all:
            raise click.UsageError(
                "--exclude-raters, --min-seconds and --where do not go with --comparisons"
            )
        with status(f"reading {self.file}"):
            return read_comparisons(self.file)

    def read(self) -> Statements:
        """The statements of the file that are asked for; `-` is standard input."""
        return self.read_and_tell()[0]

    def read_and_tell(self) -> tuple[Statements, Reading]:
        """The statements that are asked for, and what was understood of the file."""
        statements, reading = self.read_all()
        return self.selecting.of(statements, self.further), reading

    def further(self, names: Sequence[str]) -> dict[str, AnyArray]:
        """Columns of the file beyond those that statements have, as text."""
        from trilens.files import read_columns

        how = self.how | {"skip_bad": bool(self.how.get("skip_bad", False))}
        return read_columns(
            self.file, names, self.columns, kind=self.kind, objects=self.objects, **how
        )

    def read_all(self) -> tuple[Statements, Reading]:
        """All statements of the file, and what was understood of it."""
        from trilens.files import read_statements

        told: list[Reading] = []
        with status(f"reading {self.file}"):
            statements = read_statements(
                self.file,
                kind=self.kind,
                columns=self.columns,
                objects=self.objects,
                tell=told.append,
                **self.how,
            )
        if not self.quiet:
            understood(told[0])
        return statements, told[0]


#: As in `trilens.files.asked`, without loading it.
PRESETS = ("salmon", "things", "jspsych", "cblearn", "tripletools")


def reading_options(command: F) -> F:
    """The options that say how a statement file is to be read; as ``how`` and ``quiet``."""

    @click.option("--from", "preset", type=click.Choice(PRESETS), help="The tool it is from.")
    @click.option(
        "--header/--no-header", default=None, help="Whether the first row names the columns."
    )
    @click.option(
        "--counts-from",
        type=click.IntRange(0, 1),
        help="Where positions as answers, and lines of --objects, begin.",
    )
    @click.option("--encoding", metavar="NAME", help="Of text, such as latin-1 or utf-16.")
    @click.option(
        "--skip-bad", is_flag=True, help="Leave out and count the rows that are no statements."
    )
    @click.option("--bad-rows", metavar="FILE", help="The same, and write those rows to FILE.")
    @click.option("--quiet", is_flag=True, help="Do not say what was understood of the file.")
    @wraps(command)
    def with_how(
        preset: str | None,
        header: bool | None,
        counts_from: int | None,
        encoding: str | None,
        skip_bad: bool,
        bad_rows: str | None,
        quiet: bool,
        **rest: Any,
    ) -> Any:
        how = {
            "preset": preset,
            "header": header,
            "counts_from": counts_from,
            "encoding": encoding,
            "skip_bad": skip_bad if bad_rows is None else bad_rows,
        }
        return command(how=how, quiet=quiet, **rest)

    return with_how  # type: ignore[return-value]


comparisons_option = click.option(
    "--comparisons",
    is_flag=True,
    help="FILE has comparisons d(A,B) < d(C,D): near_1,near_2,far_1,far_2.",
)


def statement_options(command: F) -> F:
    """FILE, how it is to be read and which answers are used: all as one ``source``.

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
        metavar="ROLE=COLUMN,...",
        help="What the columns hold, by name or number: central=choice,other_1=2,other_2=3; "
        "or a name for every column: other_1,other_2,odd.",
    )
    @click.option(
        "--objects",
        metavar="FILE",
        help="One object name a line, or a table id,name: fixes order, adds unseen ones.",
    )
    @selection_options
    @reading_options
    @wraps(command)
    def with_source(
        file: str,
        kind: str | None,
        columns: str | None,
        objects: str | None,
        how: dict[str, Any],
        quiet: bool,
        **rest: Any,
    ) -> Any:
        from trilens.files import refuse_to_overwrite

        skipped = how["skip_bad"] if isinstance(how["skip_bad"], str) else None
        inputs = (file, objects, rest.get("labels"))
        if rest.get("output") is not None:
            refuse_to_overwrite(rest["output"], *inputs, skipped)
        if skipped is not None:
            refuse_to_overwrite(skipped, *inputs)
        selecting = Selecting.taken_from(rest)
        source = Source(file, kind, columns, objects, selecting, how, quiet)
        return command(source=source, **rest)

    return with_source  # type: ignore[return-value]


def read_labels_for(statements: Statements, path: str) -> list[str | None]:
    """The label of each object by a label file; None where the file leaves it out."""
    from trilens.files import labels_for, read_labels

    return list(labels_for(statements, read_labels(path)))
