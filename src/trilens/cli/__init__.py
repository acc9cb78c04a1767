"""The command line: one file per command, each parses, calls and prints."""

from __future__ import annotations

import codecs
import io
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from trilens import __version__
from trilens.cli.options import HELP_ALL, write_sections
from trilens.errors import AssumedKindWarning, MissingExtraError, Reference, TrilensError

#: The commands, as `trilens --help` groups them.
GROUPS = {
    "Analyze": (
        "analyze",
        "describe",
        "medoid",
        "depth",
        "outliers",
        "cluster",
        "structure",
        "hierarchy",
        "classify",
        "graph",
        "embed",
        "place",
        "fit",
    ),
    "People": ("reliability", "individuals", "evaluate"),
    "Plan and collect": ("plan", "survey", "next", "stop", "simulate", "demo"),
    "Files": ("columns", "convert", "reduce", "count", "merge", "completion"),
    "Paper": ("reproduce",),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)

#: Commands of the packages beside trilens, which extras complete.
_BESIDE = {"reproduce": "trilens_paper.command", "survey": "trilens_survey.command"}


def _missing(name: str) -> click.Command:
    """A command whose package is not installed: it says how to get it."""

    def say(given: tuple[str, ...]) -> None:
        raise MissingExtraError(f"trilens {name}", "paper" if name == "reproduce" else name)

    return click.Command(
        name,
        callback=say,
        params=[click.Argument(["given"], nargs=-1, type=click.UNPROCESSED)],
        help="(not installed)",
        context_settings={"ignore_unknown_options": True},
    )


class _Commands(click.Group):
    """Loads a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        place = _BESIDE.get(cmd_name, f"trilens.cli.{cmd_name}")
        try:
            command = import_module(place).command
        except ModuleNotFoundError as error:
            if error.name not in (place, place.partition(".")[0]):
                raise
            return _missing(cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was asked for; for a typing error, the one that may be meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, n=1)
            meant = f"; did you mean {near[0]}?" if near else "; trilens --help lists them"
            ctx.fail(f"no such command: {name}{meant}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of all commands that read answers too where asked, and these."""
        analyze = self.get_command(ctx, "analyze")
        assert analyze is not None
        shared = [each for each in analyze.params if hasattr(each, "section")]
        write_sections([*self.get_params(ctx), *shared], ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands to the help, in groups, each with its whole first sentence."""
        width = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (name.ljust(width), command.get_short_help_str(limit=200))
                for name, command in found
                if command is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        try:
            with warnings.catch_warnings():
                # it is a line on the screen
                warnings.simplefilter("ignore", AssumedKindWarning)
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except TrilensError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise click.ClickException(error.said(flags_of(command))) from error
        except OSError as error:
            raise click.ClickException(output_problem(error)) from error
        except MemoryError as error:
            raise click.ClickException(
                "out of memory; use fewer objects (trilens convert a part) or a larger machine"
            ) from error
        return result


def flags_of(command: click.Command | None) -> Callable[[Reference], str]:
    """How the command line refers to parameters: by the command's flags.

    >>> odd = Reference("kind", advised=True, value="odd")
    >>> flags_of(None)(odd), flags_of(None)(Reference("header", advised=True, value=False))
    ('--kind odd', '--no-header')
    """
    known = {
        each.name: max(each.opts, key=len)
        for each in getattr(command, "params", ())
        if isinstance(each, click.Option)
    }

    def flag(reference: Reference) -> str:
        name = reference.name
        dashed = f"--{name.replace('_', '-')}" if reference.advised else name
        found = known.get(name, dashed)
        if reference.value is None or reference.value is True:
            return found
        if reference.value is False:
            return found.replace("--", "--no-", 1)
        return f"{found} {shlex.quote(str(reference.value))}"

    return flag


def output_problem(error: OSError) -> str:
    """What stopped a write, in one line."""
    place = f"{error.filename}: " if error.filename else "output: "
    return f"{place}{error.strerror or error}"


@click.group(
    cls=_Commands,
    params=[HELP_ALL],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="trilens")
def trilens() -> None:
    """Learn from answers like "of these three, A is the most central".

    \b
    trilens describe answers.csv
    trilens medoid answers.csv
    trilens analyze answers.csv -o report.html
    """


def main() -> None:
    """Run the command line; one line on stderr and status 1 for bad data, 2 for a wrong flag."""
    _open_streams()
    leave_when_terminated()
    try:
        trilens(prog_name="trilens")
    except OSError as error:  # what --help and --version could not write
        click.ClickException(output_problem(error)).show()
        sys.exit(1)
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # its error has been told: what is left is dropped
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _open_streams() -> None:
    """Standard streams that can be used, whatever the process was started with.

    One that is closed is opened so that reading and writing fail in the ordinary way (and so
    that no file that is opened later takes its number); what the terminal's encoding lacks is
    written as JSON writes it, so that ``--json`` stays JSON.
    """
    codecs.register_error("json", _json_escapes)
    for number, name, mode, way in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, way)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="json")


def leave_when_terminated() -> None:
    """SIGTERM ends the process as an exception does: what is half-written is removed."""

    def leave(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, leave)


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    escaped = []
    for character in error.object[error.start : error.end]:
        units = character.encode("utf-16-be", "surrogatepass")
        escaped += [f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)]
    return "".join(escaped), error.end
