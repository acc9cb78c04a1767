"""Options that commands share, and what they make of them: `Answers` to ask, an `Output`."""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, wraps
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trilens.cli.output import ENDINGS, Output, bar, counted, note, say_first, status
from trilens.errors import FormatError

if TYPE_CHECKING:
    from trilens.answers import Answers as Answers
    from trilens.counts import Counted
    from trilens.files.side_tables import Labels
    from trilens.maps.fitted import Fit
    from trilens.report import Pictures
    from trilens.statements.comparisons import Comparisons
    from trilens.statements.reading import Reading

F = TypeVar("F", bound=Callable[..., Any])

#: The types of parameters that name a file to read and a file to write: `Command` refuses to write
#: what is read.
READ, WRITTEN = click.types.StringParamType(), click.types.StringParamType()
#: The sections of --help, after the command's own options.
READING, SELECTING = "Reading FILE", "Which answers to use"
#: As in `trilens.statements.layout`, without loading it.
PRESETS = ("salmon", "things", "jspsych", "cblearn", "tripletools", "survey")
KINDS = ("central", "odd", "closer")
#: As in `trilens.ask`, without loading it.
_MAPS = ("choice", "lensmap", "soe", "ste", "tste", "gnmds")
METHODS: dict[str, tuple[str, ...]] = {
    "medoid": ("depth", *_MAPS),
    "outliers": ("depth", *_MAPS),
    "classify": ("depth", "krng", *_MAPS),
    "cluster": ("krng", *_MAPS),
    "graph": ("krng", *_MAPS),
    "embed": _MAPS,
}


class Command(click.Command):
    """A command whose help shows its own options; ``--help-all`` also those for reading files."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters; with ``--help-all`` where there is more to show."""
        found = super().get_params(ctx)
        if any(isinstance(each, _SectionOption) for each in self.params):
            found.append(HELP_ALL)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; an option that does not exist is not taken for ``--help``.

        A number with a decimal comma is told how to be written.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            said = error.message
            if error.option_name in _SEPARATOR_FLAGS:
                said += " What separates the cells is found from the first rows."
            near = [each for each in error.possibilities or () if each != "--help"]
            raise click.NoSuchOption(error.option_name, said, near, ctx) from None
        except click.BadParameter as error:
            number = _DECIMAL_COMMA.match(error.message)
            if number is None:
                raise
            said = f"{error.message} Write {number[1]}.{number[2]}"
            raise click.BadParameter(said, error.ctx, error.param, error.param_hint) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options to the help, in sections."""
        write_sections(self.get_params(ctx), ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does, unless a file that is written is also read, or written twice."""
        written = _files_of(ctx, WRITTEN)
        if written:
            from trilens.files import refuse_to_overwrite

            read = _files_of(ctx, READ)
            # the file of a part, such as people.csv::country
            whole = [name.partition("::")[0] for name in read]
            for each in written:
                refuse_to_overwrite(each, *read, *filter(None, whole))
        if len({os.path.realpath(each) for each in written}) < len(written):
            raise click.UsageError(f"{' and '.join(written)} must be different files")
        return super().invoke(ctx)


def _files_of(ctx: click.Context, role: click.types.StringParamType) -> list[str]:
    """The files that the parameters of a type name; ``-`` is none."""
    names: list[str] = []
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "") if parameter.type is role else None
        names += value if isinstance(value, tuple) else [value or "-"]
    return [name for name in names if name != "-"]


def write_sections(
    parameters: Iterable[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write options to the help, in sections; those for reading files where all are asked for."""
    sections: dict[str, list[tuple[str, str]]] = {"Options": []}
    for parameter in parameters:
        record = parameter.get_help_record(ctx)
        if record is None or not isinstance(parameter, click.Option):
            continue
        section = getattr(parameter, "section", "Options")
        if section == "Options" or ctx.meta.get(_ALL):
            sections.setdefault(section, []).append(record)
    for title, records in sections.items():
        with formatter.section(title):
            formatter.write_dl(records)


#: What other tools call the option that says what separates the cells.
_SEPARATOR_FLAGS = ("--sep", "--separator", "--delimiter", "--delim")
#: What click says of a number with a decimal comma.
_DECIMAL_COMMA = re.compile(r"'(-?\d+),(\d+)' is not a valid float")
#: Where the context says that all options are to be shown.
_ALL = "trilens.help-all"


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Also show the options for reading files and choosing answers.",
)


class _SectionOption(click.Option):
    def __init__(self, *names: Any, section: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


def command(name: str) -> Callable[[F], click.Command]:
    """A command of this name, with help in sections."""
    return click.command(name, cls=Command)


def several(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """One decorator for several options, which the help lists in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def option(*names: str, **settings: Any) -> Callable[[F], F]:
    """An option that shows its default."""
    return click.option(*names, **{"show_default": "default" in settings, **settings})


def choice(flag: str, choices: Sequence[str], help: str) -> Callable[[F], F]:
    """An option with choices, of which the first is the default."""
    return option(flag, type=click.Choice(choices), default=choices[0], help=help)


def method_option(question: str, help: str) -> Callable[[F], F]:
    """--method, with the methods of a question to choose from."""
    return choice("--method", ["auto", *METHODS[question]], help)


class ErrorRate(click.ParamType):  # type: ignore[type-arg]
    """A share, or the word ``estimate``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "estimate" else click.FLOAT.convert(value, param, ctx)


AT_LEAST_0, AT_LEAST_1 = click.IntRange(min=0), click.IntRange(min=1)


def _folder_that_is_there(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    if value is not None and not Path(value).is_dir():
        raise FormatError(f"the folder {value} of --images does not exist")
    return value


def _folder_to_write(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and Path(value).exists() and not Path(value).is_dir():
        raise FormatError(f"{value} is a file; give a folder")
    return value


def folder_option(flag: str, help: str) -> Callable[[F], F]:
    """A folder to write to; a file is refused before the work begins."""
    return click.option(flag, metavar="DIR", callback=_folder_to_write, help=help)


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
seed_option = option("--seed", "random_state", type=AT_LEAST_0, default=0, help="Random seed.")
n_clusters_option = click.option(
    "--n-clusters",
    type=AT_LEAST_1,
    help="Number of groups.",
    show_default="as many as the answers suggest",
)
labels_option = click.option(
    "--labels",
    type=READ,
    metavar="FILE",
    help="Table with the columns object,label (CSV, TSV, JSON or Parquet).",
)
by_option = click.option(
    "--by",
    type=READ,
    metavar="COLUMN|FILE[::COLUMN]",
    help="Compare groups of raters, or conditions, given by a column of FILE or by a table of "
    "raters and groups, whose columns may be named: people.csv::country, or "
    "people.csv::rater=code,group=country.",
)
kind_option = choice("--kind", KINDS, "Which question is asked.")
images_option = click.option(
    "--images",
    metavar="DIR",
    callback=_folder_that_is_there,
    help="Pictures of the objects, one file per name.",
)
comparisons_option = click.option(
    "--comparisons",
    is_flag=True,
    help="FILE has comparisons d(A,B) < d(C,D), in the columns near_1,near_2,far_1,far_2.",
)
error_rate_option = click.option(
    "--error-rate",
    type=ErrorRate(),
    default=0.0,
    help="Share of wrong answers to correct the k-RNG for, or 'estimate'.",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Where to count and to map large files: local[:N] processes, or a Dask scheduler, "
    "tcp://host:8786.",
)
features_option = click.option(
    "--features",
    type=READ,
    metavar="FILE",
    multiple=True,
    help="Vectors of the objects, to be used with the answers: .npy, .npz with names, CSV or "
    "Parquet. Rows without names are in the order of --objects. May be repeated, for blocks such "
    "as pictures and words.",
)


def dim_option(show_default: str = "as many as the answers support") -> Callable[[F], F]:
    """The number of dimensions, by both of its names."""
    return click.option(
        "--dim",
        "--n-components",
        "n_components",
        type=AT_LEAST_1,
        help="Number of dimensions of the map.",
        show_default=show_default,
    )


# ---- where the result goes ---------------------------------------------------------------------


def ending(*known: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A check that the ending of a file is known, before the work begins."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None and not {value, Path(value).suffix.lower()} & {*known}:
            endings = ", ".join(each for each in known if each != "-")
            raise click.BadParameter(
                f"cannot tell the format of {value} from its ending; use one of {endings}",
                ctx,
                param,
            )
        return value

    return check


def _check_place(output: str | None) -> None:
    """Refuse what cannot be a file, before the work begins."""
    if output is None or output == "-":
        return
    path = Path(output)
    if path.is_dir():
        raise FormatError(f"{output} is a folder; give the name of a file to write")
    if not path.absolute().parent.is_dir():
        raise FormatError(
            f"{output} cannot be written: the folder {path.parent} does not exist; create it first"
        )


def output_options(help: str, *, metavar: str = "OUT", **settings: Any) -> Callable[[F], F]:
    """-o and --json; the command gets both as ``out``, an `Output`.

    ``endings`` are those that the file may have.
    """
    known = settings.pop("endings", None)

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        _check_place(value)
        return value if known is None else ending(*known, "-")(ctx, param, value)

    def decorate(command: F) -> F:
        @click.option(
            "-o",
            "--output",
            type=WRITTEN,
            metavar=metavar,
            help=help,
            callback=check,
            **settings,
        )
        @json_option
        @wraps(command)
        def with_output(output: str | None, as_json: bool, **rest: Any) -> Any:
            return command(out=Output(output, as_json), **rest)

        return with_output  # type: ignore[return-value]

    return decorate


def table_output(what: str) -> Callable[[F], F]:
    """`output_options` for a table."""
    return output_options(
        f"Write {what} (.csv, .tsv, .json or .parquet; - for CSV on standard output).",
        endings=ENDINGS,
    )


def output_file(help: str) -> Callable[[F], F]:
    """`output_options`, of which the file is required and may also be a second argument."""

    def decorate(command: F) -> F:
        @click.argument("second", type=WRITTEN, metavar="[OUT]", required=False)
        @output_options(help)
        @wraps(command)
        def with_either(second: str | None, out: Output, **rest: Any) -> Any:
            if second is not None and out.path is not None:
                raise click.UsageError(f"two outputs, {second} and {out.path}; give one with -o")
            if second is None and out.path is None:
                raise click.UsageError("name the file to write: -o OUT")
            _check_place(second)
            return command(out=replace(out, path=out.path or second), **rest)

        return with_either  # type: ignore[return-value]

    return decorate


# ---- FILE: how to read it, and which answers to use --------------------------------------------


def _of_section(section: str, *names: str, **settings: Any) -> Callable[[F], F]:
    return click.option(*names, cls=_SectionOption, section=section, **settings)


_reading, _selecting = partial(_of_section, READING), partial(_of_section, SELECTING)
_KIND = _reading(
    "--kind",
    type=click.Choice(KINDS),
    help="Which question was asked.",
    show_default="as the header says, else central",
)
#: Where FILE is a pilot, the kind matters without it too.
_KIND_OF_STUDY = click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="Which question is asked.",
    show_default="as in the pilot, or the one that takes the least time",
)
_READING_OPTIONS = (
    _reading(
        "--columns",
        metavar="ROLE=COLUMN,...",
        help="What the columns hold, by name or number: central=choice,other_1=2,other_2=3; or a "
        "name for every column: other_1,other_2,odd.",
    ),
    _reading(
        "--objects",
        type=READ,
        metavar="FILE",
        help="List of all objects, one name per line, or a table id,name,picture,label: fixes "
        "their order, adds those that no answer mentions, and says what is known about them.",
    ),
    _reading(
        "--questions",
        type=READ,
        metavar="FILE",
        help="Table of the questions, with the columns id,a,b,c or id,anchor,a,b, if FILE has only "
        "their ids, in a column or as names of columns.",
    ),
    _reading("--from", "preset", type=click.Choice(PRESETS), help="Tool that wrote FILE."),
    _reading(
        "--header/--no-header",
        default=None,
        help="Whether the first row names the columns.",
        show_default="detected",
    ),
    _reading(
        "--counts-from",
        type=click.IntRange(0, 1),
        help="Whether positions (and ids, with --objects) count from 0 or from 1.",
    ),
    _reading("--encoding", metavar="NAME", help="Text encoding, such as latin-1 or utf-16."),
    _reading(
        "--rater-from-name",
        is_flag=True,
        help="Each file of a folder, a pattern or an archive has the answers of one rater: the "
        "file's name is the rater.",
    ),
    _reading(
        "--reason-random",
        multiple=True,
        metavar="WORD",
        help="What the column reason calls questions asked at random; any other word stands for "
        "questions that earlier answers chose. May be repeated.",
    ),
    _reading("--skip-bad", is_flag=True, help="Skip invalid rows and report how many."),
)
_READING_NAMES = (
    "kind", "columns", "objects", "preset", "header", "counts_from", "encoding",
    "rater_from_name", "questions", "reason_random", "skip_bad",
)  # fmt: skip
quiet_option = _reading("--quiet", is_flag=True, help="Do not report how FILE was read.")
where_option = _selecting(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Use only answers that meet a condition on a column of FILE, such as 'country = DE' or "
    "'seconds >= 0.5'. May be repeated; all conditions must hold.",
)
_SELECTING_OPTIONS = (
    where_option,
    _selecting(
        "--min-seconds",
        type=click.FloatRange(min=0),
        help="Leave out answers that were faster.",
    ),
    _selecting(
        "--min-checks",
        type=click.FloatRange(0, 1),
        help="Leave out raters who answered a smaller share of their catch questions (an object "
        "is shown twice) rightly.",
    ),
    _selecting(
        "--exclude-raters",
        metavar="A,B,...",
        multiple=True,
        help="Leave out these raters (or rounds, if FILE has no raters). Put quotes around a name "
        "that has a comma. May be repeated.",
    ),
)
_SELECTING_NAMES = ("where", "min_seconds", "min_checks", "exclude_raters")
_BAD_ROWS = _reading(
    "--bad-rows",
    type=WRITTEN,
    metavar="OUT",
    help="Like --skip-bad, and write the invalid rows to OUT.",
)


def reading_options(command: F, kind: Callable[[Any], Any] = _KIND) -> F:
    """How files are to be read; the command gets it as ``reading``, for `Answers`."""

    @several(kind, *_READING_OPTIONS)
    @wraps(command)
    def with_reading(**options: Any) -> Any:
        return command(reading=_taken(options, _READING_NAMES), **options)

    return with_reading  # type: ignore[return-value]


def _taken(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options.pop(name) for name in names}


def statement_options(
    command: F, *, reported: bool = True, required: bool = True, flag: str | None = None
) -> F:
    """FILE, how to read it and which answers to use; the command gets it all as ``answers``.

    Where how it was read is not ``reported``, the command says so itself. Where FILE is not
    ``required``, or given with an option, ``flag``, ``answers`` is None without one; with a
    ``flag`` the command gets --kind too.
    """

    @partial(reading_options, kind=_KIND if flag is None else _KIND_OF_STUDY)
    @several(_BAD_ROWS, quiet_option, *_SELECTING_OPTIONS)
    @wraps(command)
    def with_answers(
        file: str | None,
        reading: dict[str, Any],
        bad_rows: str | None,
        quiet: bool,
        cluster: str | None = None,
        **rest: Any,
    ) -> Any:
        from trilens.answers import Answers

        selecting = _taken(rest, _SELECTING_NAMES)
        if flag is not None:
            rest["kind"] = reading["kind"]
        if file is None:
            return command(answers=None, **rest)
        if bad_rows is not None:
            reading["skip_bad"] = bad_rows
        lines = csv.reader(selecting["exclude_raters"], skipinitialspace=True)
        raters = [name.strip() for line in lines for name in line]
        selecting["exclude_raters"] = [name for name in raters if name]
        answers = Answers(file, **reading, **selecting, cluster=cluster)
        stored = _of_fit(file)
        if stored is not None:
            _refuse(answers, _READING_NAMES, "a fit")
            if reported:
                say_first(lambda: tell_kind(stored))
            result = command(answers=stored, **rest)
            sys.stdout.flush()
            _report_fit(stored, quiet or not reported)
            return result
        if answers.in_counts:
            _refuse(answers, ("kind", "columns", "objects"), "a file of counts")
        if reported:
            say_first(lambda: tell_kind(answers))
        # whoever watches sees at once how the file is read; elsewhere it follows the result, and
        # where the command fails the one line that says why stands alone
        in_memory = answers.held and not answers.in_counts and not answers.countable
        if sys.stderr.isatty() and in_memory and not rest.get("comparisons"):
            with status(f"reading {file}"):
                answers.read()
            _report_reading(answers, quiet, reported, rest.get("by"))
            return command(answers=answers, **rest)
        result = command(answers=answers, **rest)
        sys.stdout.flush()
        _report_reading(answers, quiet, reported)
        return result

    if flag is None:
        return click.argument("file", type=READ, required=required)(with_answers)  # type: ignore[return-value]
    pilot = click.option(flag, "file", type=READ, metavar="FILE", help="Answers of a pilot study.")
    return pilot(with_answers)  # type: ignore[return-value]


def _refuse(answers: Answers, names: Iterable[str], what: str) -> None:
    """Refuse options for reading or selecting that make no sense here."""
    for name in (*names, *_SELECTING_NAMES):
        if getattr(answers, name) not in (None, False, ()):
            flag = "from" if name == "preset" else name.replace("_", "-")
            raise click.UsageError(f"--{flag} cannot be used with {what}")


def _report_reading(answers: Answers, quiet: bool, reported: bool, by: str | None = None) -> None:
    """Say which answers were left out, and how the file was read; ``by`` is yet to be read."""
    from trilens.counts import Counted
    from trilens.statements.reading import assumed_kind

    say_first()
    known = answers.known
    if known is None or answers.in_counts:
        return
    if isinstance(known, Counted):
        if not quiet:
            _report_counting(answers, known)
        if answers.kind_assumed:
            caution(assumed_kind(known.kind))
        return
    if answers.selection is not None:
        for step in answers.selection.steps:
            note(f"{step.rule}: {counted(step.answers, 'answer')} excluded, {step.left:,} remain")
    if not reported:
        return
    if not quiet:
        left_out = tuple(name for name in known.left_out if name != by)
        note(f"read {replace(known, left_out=left_out)}")
        tell_doubts(known)


def tell_kind(answers: Answers) -> None:
    """Say that a kind is assumed, and what speaks against it: before anything that rests on it."""
    from trilens.maps.kind import doubt_kind
    from trilens.statements.reading import Reading, assumed_kind

    if answers.fitted is not None and not answers.in_files:  # FILE is a fit
        doubt = answers.fitted.kind_doubt
        if doubt is not None:
            caution(f"{assumed_kind(answers.fitted.kind, *doubt)}; then fit the answers again")
        return
    if isinstance(answers.known, Reading):
        doubt_kind(answers)
    if isinstance(answers.known, Reading) and answers.known.caution is not None:
        caution(answers.known.caution)


def _report_fit(answers: Answers, quiet: bool) -> None:
    """Say what is to be known of the answers of a fit, as of a file."""
    from trilens.statements.reading import Reading

    say_first()
    if isinstance(answers.known, Reading) and not quiet:
        tell_doubts(answers.known)


def tell_doubts(reading: Reading) -> None:
    """Say which rows were skipped, and what only those can decide who know the study."""
    for fault in reading.named_faults():
        note(f"skipped {fault}")
    for concern in reading.concerns:
        note(f"caution: {concern}")


def _report_counting(answers: Answers, known: Counted) -> None:
    which = f" where {' and '.join(answers.where)}" if answers.where else ""
    note(
        f"counted {counted(known.statements, 'statement')} of kind {known.kind} about "
        f"{counted(known.n_objects, 'object')}{which} without loading them; raters were ignored"
    )
    if known.n_skipped:
        note(f"skipped {known.n_skipped:,}, such as {known.skipped[0]}")


def told_of(answers: Answers) -> frozenset[str]:
    """The codes of the cautions that are said with how the file was read, and not again."""
    from trilens.statements.reading import Reading

    known = getattr(answers, "known", None)  # a fit has none
    if known is None:
        return frozenset()
    quiet = click.get_current_context().params["quiet"]
    concerns = known.concerns if isinstance(known, Reading) and not quiet else ()
    return frozenset(["kind", *(concern.code for concern in concerns)])


def caution(text: str) -> None:
    """Say that a kind is assumed, with the flags of the command line."""
    from trilens.cli import flags_of
    from trilens.errors import TrilensError

    note(f"caution: {TrilensError(text).said(flags_of(None))}")


# ---- what is fitted before a question is asked --------------------------------------------------


def fit_options(command: F) -> F:
    """--features, by which the answers are fitted before the question is asked."""

    @features_option
    @wraps(command)
    def with_features(answers: Answers, features: tuple[str, ...], **rest: Any) -> Any:
        if features:
            fit_answers(answers, rest.get("random_state", 0), features)
        return command(answers=answers, **rest)

    return with_features  # type: ignore[return-value]


def fit_answers(
    answers: Answers,
    random_state: int,
    features: tuple[str, ...] = (),
    **settings: Any,
) -> Fit:
    """Fit the answers while a bar is shown; questions about them ask the fit from then on."""
    from trilens.maps.fitted import fit

    given = read_features_of(features, answers) if features else None
    with bar("fitting") as progress:
        answers.fitted = fitted = fit(
            answers, features=given, random_state=random_state, progress=progress, **settings
        )
    return fitted


def fit_if_needed(answers: Answers, method: str, random_state: int, **settings: Any) -> None:
    """Fit the answers for a question that needs a map, unless they are fitted already."""
    from trilens.ask import is_enough

    if answers.fitted is not None or answers.in_counts:
        return
    if method == "choice" or (method == "auto" and is_enough(answers)):
        fit_answers(answers, random_state, **settings)


def n_used(answers: Answers, method: str) -> int:
    """How many answers were used: counting leaves out those that earlier answers asked for."""
    if answers.fitted is not None and method == "choice":
        return int(answers.fitted.n_answers)
    from trilens.answers import read_or_count
    from trilens.counts import Counted

    given = read_or_count(answers, enough=True)
    return given.statements if isinstance(given, Counted) else len(given.at_random())


def _of_fit(file: str) -> Answers | None:
    """The answers of a fit that stands in place of FILE; None for any other file."""
    from trilens.maps.fit_file import is_fit, load

    if not is_fit(file):
        return None
    from trilens.answers import Answers

    fitted = load(file)
    answers = fitted.source
    if not isinstance(answers, Answers):
        answers = Answers(fitted.sample if fitted.statements is None else fitted.statements)
    answers.fitted = fitted
    return answers


# ---- files beside FILE --------------------------------------------------------------------------


def read_features_of(files: tuple[str, ...], answers: Answers) -> Any:
    """The features in files, block by block; rows without names are those of the objects."""
    from trilens.files import read_features

    names = answers.read().names if answers.held else answers.count().names
    listed = answers.objects is not None or all(name.isdigit() for name in names)
    table = answers.object_table
    called = {} if table is None else dict(zip(table.ids or (), table.names, strict=False))
    blocks: dict[str, Any] = {}
    for file in files:
        found: dict[str, Any] = read_features(file, names if listed else None)
        if any(not isinstance(block, dict) for block in found.values()):
            raise click.UsageError(
                f"{file} has no names, and the order of the objects in the answers is not that of "
                "its rows; list the objects in the order of the rows with --objects"
            )
        for name, block in found.items():
            if called and not block.keys() & set(names):  # by id, as the answers may be
                block = {called.get(each, each): vector for each, vector in block.items()}
            blocks[name if name not in blocks else f"{file}: {name}"] = block
    return blocks


def read_comparisons_of(answers: Answers) -> Comparisons:
    """The comparisons in the file, which itself says what its columns are."""
    from trilens.files import read_comparisons

    _refuse(answers, _READING_NAMES, "--comparisons")
    return read_comparisons(answers.source)


def read_pictures(
    folder: str | None, names: tuple[str, ...], told: dict[str, str] | None = None
) -> Pictures:
    """The pictures of the objects; what is missing or broken is said."""
    from trilens.report import load_pictures, picture_size

    pictures = load_pictures(folder, names, picture_size(len(names)), told)
    for name in pictures.missing[:5]:
        note(f"no picture for {name!r}: looked for {pictures.looked[name]}")
    if len(pictures.missing) > 5:
        note(f"and none for {len(pictures.missing) - 5:,} more objects")
    place = "" if folder is None else f"{folder}/"
    for file, why in list(pictures.broken.items())[:5]:
        note(f"{place}{file}: {why}; the name is shown instead")
    return pictures


def picture_files(pictures: Pictures) -> dict[str, BytesIO]:
    """The pictures for a figure; what cannot be drawn is said."""
    files = pictures.files()
    for name in pictures.of:
        if name not in files:
            note(f"the picture of {name!r} is an SVG file, which is not drawn; give a PNG or JPEG")
    return files


def groups_of(by: str | None) -> str | dict[str, str] | None:
    """The groups of raters in a table; a column's name as it is."""
    if by is None:
        return by
    path, _, columns = by.partition("::")
    if not Path(path).is_file():
        return by
    from trilens.files.side_tables import read_groups

    return read_groups(path, columns or None)


def read_labels_of(
    path: str | None, answers: Answers | None = None
) -> Labels | dict[str, str] | None:
    """The labels in a file, else those in the table of objects, by name; None without any."""
    from trilens.files import read_labels

    if path is not None:
        return read_labels(path)
    table = None if answers is None or answers.in_counts else answers.object_table
    return None if table is None else dict(table.labels) or None
