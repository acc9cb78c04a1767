"""`trilens survey`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, note, print_facts, print_json
from trilens.errors import MissingExtraError, SurveyError
from trilens_survey import SETS

folder_argument = click.argument(
    "folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path)
)
database_option = click.option(
    "--database",
    metavar="URL",
    envvar="TRILENS_DATABASE",
    help="postgresql://user:password@host/name.",
    show_default="SQLite in DIR",
)


class _SurveyCommand(options.Command):
    """A command of the survey extra; --help needs no extra."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, or say that the extra is not installed."""
        from importlib.util import find_spec

        needed = (
            "fastapi", "uvicorn", "httptools", "multipart", "yaml", "jinja2", "pydantic",
            "sqlalchemy", "psycopg", "argon2", "itsdangerous", "limits", "jwt",
            "markdown_it", "PIL",
        )  # fmt: skip
        if any(find_spec(name) is None for name in needed):
            raise MissingExtraError("trilens survey", "survey")
        return super().invoke(ctx)


class _Survey(click.Group):
    command_class = _SurveyCommand


@click.group("survey", cls=_Survey)
def command() -> None:
    """Run a survey on the web, and export the answers.

    \b
    Example: trilens survey init my-study
             trilens survey serve my-study
             trilens survey export my-study -o answers.csv
    """


@command.command("init")
@folder_argument
@options.kind_option
def init(folder: Path, kind: Any) -> None:
    """Write a small example study, ready to be served.

    \b
    Example: trilens survey init my-study --kind odd
    """
    from trilens_survey.example import write_example

    for file in write_example(folder, kind):
        note(f"wrote {file}")
    note(f"next: trilens survey serve {folder}")


@command.command("check")
@folder_argument
@options.json_option
def check(folder: Path, as_json: bool) -> None:
    """List all problems in a study's folder; the exit status is 1 if there are any.

    \b
    Example: trilens survey check my-study
    """
    from trilens_survey.database import open_database
    from trilens_survey.store.administration import changes, no_longer_fits
    from trilens_survey.study import read_study, remarks
    from trilens_survey.study_file import Problem

    study, problems = read_study(folder, decode=True)
    said = [] if study is None else remarks(study)
    database = open_database(folder)
    if study is not None and database.file is not None and database.file.exists():
        with database.reading() as connection:
            other = no_longer_fits(connection, study)
            if other is not None:
                problems = [*problems, Problem("study.yaml", None, other)]
            said += changes(connection, study)
    if as_json:
        wrong = [{"file": p.file, "line": p.line, "problem": p.text} for p in problems]
        print_json({"ok": not problems, "problems": wrong, "remarks": said})
    else:
        for problem in problems:
            click.echo(problem)
        for remark in said:
            note(remark)
        if study is not None and not problems:
            note(f"{folder} can be served: {len(study.stimuli):,} objects, kind {study.kind}")
    if problems:
        raise click.exceptions.Exit(1)


@command.command("serve")
@folder_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@database_option
@click.option("--public-url", metavar="URL", help="Address of the survey behind a proxy.")
@click.option("--root-path", default="", metavar="PATH", help="Path prefix added by the proxy.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of processes; more than one needs PostgreSQL.",
)
@click.option(
    "--proxy",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Proxy that is trusted to say whether a request came over TLS.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="How much to log.",
)
def serve(**listen: Any) -> None:
    """Serve the study until stopped; every accepted answer is stored.

    \b
    Example: trilens survey serve my-study --port 8000
    """
    from trilens_survey.serving import Listen, serve as run

    run(Listen(**listen))


@command.command("export")
@folder_argument
@options.output_options("File to write (.csv, .tsv, .parquet), or - for CSV.", default="-")
@click.option(
    "--set",
    "which",
    type=click.Choice(SETS),
    default="all",
    show_default=True,
    help="All answers, those of rounds that are long enough, or of those that passed their tests; "
    "screens: what was shown and chosen; questionnaire: what participants said before and after "
    "the rounds.",
)
@click.option(
    "--kind",
    type=click.Choice(["central", "odd", "closer"]),
    help="Of a study that asks several kinds of questions: the answers of this one.",
)
@click.option(
    "--receipt", metavar="CODE", help="Instead, export everything about one participant as JSON."
)
@database_option
def export(
    folder: Path, which: Any, kind: Any, receipt: str | None, database: str | None, out: Output
) -> None:
    """Write the answers as statements, ready for `trilens analyze`.

    \b
    Example: trilens survey export my-study -o answers.csv --set passed
    """
    from trilens_survey.database import open_database
    from trilens_survey.export import prepare_export, write_export, write_participant
    from trilens_survey.store.administration import designs_asked
    from trilens_survey.study import load_study

    assert out.path is not None
    study = load_study(folder)
    with open_database(folder, database).reading() as connection:
        if receipt is not None:
            write_participant(connection, receipt, out.path)
            note(f"wrote {out.path}")
            return
        collected = prepare_export(connection, study, which, kind)
        kinds = sorted({design.kind for design in designs_asked(connection).values()})
    rows = write_export(collected, which, out.path)
    what = {"screens": "screens", "questionnaire": "participants"}.get(which, "statements")
    if kind is None and len(kinds) > 1 and which != "questionnaire":
        note(
            f"this study asks several kinds of questions ({', '.join(kinds)}); these are the "
            f"answers of kind {collected.kind}: choose another with --kind"
        )
    out.report(
        {"file": out.path, "set": which, what: rows},
        f"wrote {rows:,} {what} to {out.path}",
    )


_STATES = {"open": "open", "paused": "closed", "full": "full: the quota is reached"}


@command.command("status")
@folder_argument
@database_option
@options.json_option
def status(folder: Path, database: str | None, as_json: bool) -> None:
    """Show how many answers, participants and rounds there are.

    \b
    Example: trilens survey status my-study
    """
    from trilens_survey.database import open_database
    from trilens_survey.preparation import goal_progress
    from trilens_survey.status import status as look
    from trilens_survey.store.administration import state_of
    from trilens_survey.study import load_study

    study = load_study(folder)
    with open_database(folder, database).reading() as connection:
        found = look(connection, study.minimum)
        state = state_of(connection, study)
        goal = goal_progress(connection, study)
    if as_json:
        facts = asdict(found) | {"state": state, "warnings": found.warnings}
        if goal is not None:
            facts["goal"] = {"met": goal.met, "said": list(goal.sentences)}
        print_json(facts)
        return
    taken = "-" if found.median_seconds is None else f"{found.median_seconds:.2f} s"
    print_facts(
        {
            "study": _STATES[state],
            "answers": f"{found.answers:,}",
            "in the last hour": f"{found.last_hour:,}",
            "participants": f"{found.participants:,}",
            "rounds": f"{found.rounds:,}",
            f"rounds of {study.minimum} answers or more": f"{found.rounds_counted:,}",
            "tests passed": f"{found.tests_passed:,}",
            "tests failed": f"{found.tests_failed:,}",
            "median response time": taken,
            "participants erased": f"{found.erased:,}",
            "questions skipped": f"{found.skipped:,}",
        }
    )
    for sentence in [*(() if goal is None else goal.sentences), *found.warnings]:
        note(sentence)
    if found.missing:
        listed = ", ".join(f"{name} ({often:,})" for name, often in list(found.missing.items())[:5])
        more = ", ..." if len(found.missing) > 5 else ""
        note(f"pictures or sounds that did not load, and how often: {listed}{more}")


@command.command("forget")
@folder_argument
@click.argument("receipt")
@database_option
@options.json_option
def forget(folder: Path, receipt: str, database: str | None, as_json: bool) -> None:
    """Erase the participant with this receipt, and all their answers.

    \b
    Example: trilens survey forget my-study ABCD-EFGH-JKMN-PQRS
    """
    from trilens_survey.store.administration import erase

    gone = _change(folder, database, lambda c: erase(c, receipt))
    if gone is None:
        raise SurveyError(f"no participant has the receipt {receipt!r}")
    if as_json:
        print_json({"answers": gone})
    else:
        note(f"erased one participant and {gone:,} answers")


@command.command("payments")
@folder_argument
@options.output_options("File to write (.csv, .tsv), or - for CSV.", default="-")
@click.option("--erase", is_flag=True, help="Erase all platform ids and codes; answers stay.")
@database_option
def payments(folder: Path, erase: bool, database: str | None, out: Output) -> None:
    """List what each participant of a platform did, to pay them.

    \b
    Example: trilens survey payments my-study -o payments.csv
             trilens survey payments my-study --erase
    """
    from trilens_survey.database import open_database
    from trilens_survey.payment import erase_payments, payments_due, write_payments

    if erase:
        gone = _change(folder, database, lambda c: erase_payments(c, _COMMAND_LINE))
        note(f"erased {gone:,} platform ids and codes; the answers stay")
        return
    assert out.path is not None
    with open_database(folder, database).reading() as connection:
        found = payments_due(connection)
    rows = write_payments(found, out.path)
    out.report({"file": out.path, "participants": rows}, f"wrote {rows:,} rows to {out.path}")


@command.command("password")
@folder_argument
@click.option(
    "--name",
    default="researcher",
    show_default=True,
    help="Whose password; a new name adds a researcher.",
)
@database_option
@click.password_option("--password", help="New password; asked for if omitted.")
def password(folder: Path, name: str, database: str | None, password: str) -> None:
    """Set a researcher's password.

    \b
    Example: trilens survey password my-study
             trilens survey password my-study --name ada
    """
    from trilens_survey.auth import set_password

    _change(folder, database, lambda c: set_password(c, password, name), new=True)
    note(f"password of {name} set; {name} has been signed out everywhere")


@command.command("researchers")
@folder_argument
@click.option("--remove", metavar="NAME", help="Let this researcher sign in no more.")
@database_option
@options.json_option
def researchers(folder: Path, remove: str | None, database: str | None, as_json: bool) -> None:
    """List who may sign in, and what researchers did.

    \b
    Example: trilens survey researchers my-study
             trilens survey researchers my-study --remove ada
    """
    from trilens_survey.auth import remove_researcher, researcher_names
    from trilens_survey.database import open_database
    from trilens_survey.export import iso_time
    from trilens_survey.status import log_entries

    if remove is not None:
        _change(folder, database, lambda c: remove_researcher(c, remove))
        note(f"{remove} cannot sign in any more")
        return
    with open_database(folder, database).reading() as connection:
        names = researcher_names(connection)
        done = [entry | {"at": iso_time(entry["at"])} for entry in log_entries(connection, 1000)]
    if as_json:
        print_json({"researchers": names, "log": done})
        return
    for name in names:
        click.echo(name)
    for entry in reversed(done):
        note("{at} {who}: {what}".format(**entry))


_COMMAND_LINE = "command line"


def _change(
    folder: Path, database: str | None, write: Callable[[Any], Any], *, new: bool = False
) -> Any:
    """Change what is stored; ``new`` may make the database."""
    from trilens_survey.database import open_database

    opened = open_database(folder, database)
    if not new:
        opened.check_exists()
    with opened.writing() as connection:
        return write(connection)


@command.command("backup")
@folder_argument
@click.option("-o", "--output", metavar="FILE", required=True, help="New SQLite file.")
@database_option
def backup(folder: Path, output: str, database: str | None) -> None:
    """Copy the answers to a SQLite file, even while the server is running.

    \b
    Example: trilens survey backup my-study -o copy.db
    """
    from trilens_survey.database import back_up, open_database

    rows = back_up(open_database(folder, database), Path(output))
    note(f"wrote {output}: {rows:,} answers")
