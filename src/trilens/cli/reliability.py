"""`trilens reliability`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trilens.cli.options import Source, json_option, seed_option, statement_options
from trilens.cli.progress import bar
from trilens.cli.tables import counted, listed, note, print_facts, print_json, print_table
from trilens.errors import FormatError

if TYPE_CHECKING:
    from trilens.statements import Statements
    from trilens.tasks.reliability import Reliability


@click.command("reliability")
@statement_options
@click.option(
    "--by",
    metavar="COLUMN|FILE",
    help="Compare groups of raters: a column of the file, or a table with the columns rater,group.",
)
@click.option(
    "--catch",
    metavar="COLUMN|FILE",
    help="Test questions: a column with the name of the right answer, empty for ordinary "
    "questions; or the right answers as a statement file.",
)
@click.option(
    "--repeated",
    metavar="COLUMN|FILE",
    help="Questions that were repeated on purpose: a column that marks them, or a statement "
    "file. By default every question that was asked twice.",
)
@click.option(
    "--set-size",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Say how many answers bring the medoid set to so many objects.",
)
@click.option(
    "--map-accuracy",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Say how many answers bring the map's distances to this correlation with the true ones.",
)
@click.option("--forecast/--no-forecast", default=True, help="Whether more answers are forecast.")
@click.option("--cross", is_flag=True, help="Predict each rater from each other, one by one.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=".html: a page of it; .csv or .tsv: every answer with its mark, nothing deleted.",
)
@click.option("--figures", metavar="DIR", help="Write the pictures into this folder.")
@seed_option
@json_option
def command(
    source: Source,
    by: str | None,
    catch: str | None,
    repeated: str | None,
    set_size: int,
    map_accuracy: float,
    forecast: bool,
    cross: bool,
    output: str | None,
    figures: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Say how good the answers are, for the Methods section of a paper.

    \b
    Example: trilens reliability answers.csv --by country -o reliability.html
    """
    from trilens.tasks.reliability import reliability

    if output is not None and Path(output).suffix.lower() not in (".html", ".htm", ".csv", ".tsv"):
        raise FormatError(f"{output}: the output is a page (.html) or a table (.csv, .tsv)")
    statements, reading = source.read_all()
    with bar("asking how good the answers are") as progress:
        found = reliability(
            statements,
            by=None if by is None else _groups(source, statements, by),
            catch=None if catch is None else _listed_or_column(source, statements, catch),
            repeated=None if repeated is None else _repeated(source, statements, repeated),
            selection=source.selecting.selection(statements, source.further),
            forecast=forecast,
            cross=cross,
            set_size=set_size,
            map_accuracy=map_accuracy,
            random_state=seed,
            progress=progress,
        )
    if reading.faults:
        found = replace(found, collected={**found.collected, "skipped": len(reading.faults)})
    if output is not None:
        _write(found, statements, output, source.file)
    if figures is not None:
        from trilens.plots.reliability import write_figures

        names = write_figures(found, figures)
        note(f"wrote {', '.join(names) or 'no picture'} to {figures}")
    if as_json:
        print_json(found.to_dict())
    elif output != "-":
        _print(found)


def _print(found: Reliability) -> None:
    used = found.collected["used"]
    facts = {"answers used": f"{used:,} of {found.collected['answers']:,}"}
    for text, agreement in (
        ("two raters agree", found.between),
        ("one rater repeats an answer", found.within),
    ):
        if agreement is not None:
            facts[text] = (
                f"{agreement.share:.3f} ({agreement.low:.3f} to {agreement.high:.3f}), "
                f"{counted(agreement.questions, 'question')}"
            )
    if found.no_ceiling is not None:
        facts["ceiling"] = f"none: {found.no_ceiling}"
    if found.reachable is not None and found.reachable_interval is not None:
        low, high = found.reachable_interval
        facts["the best model could predict"] = f"{found.reachable:.3f} ({low:.3f} to {high:.3f})"
    if found.predicted is not None:
        facts["a map predicts"] = f"{found.predicted:.3f}"
    facts["guessing"] = f"{found.chance:.3f}"
    if found.split_half is not None:
        facts["split-half reliability of depths"] = f"{found.split_half:.3f}"
    if found.error_rate is not None and found.error_rate_interval is not None:
        low, high = found.error_rate_interval
        facts["wrong though clear"] = f"{found.error_rate:.3f} ({low:.3f} to {high:.3f})"
    print_facts(facts)
    if found.exclusions:
        click.echo()
        print_table(
            ["rule", "", "answers", "left", "raters left"],
            [
                (e.rule, "left out" if e.done else "advice", e.answers, e.left, e.raters_left)
                for e in found.exclusions
            ],
            left=2,
        )
    if found.raters:
        click.echo()
        rows = sorted(found.raters, key=lambda row: -row.blind)[:20]
        print_table(
            [found.unit or "rater", "answers", "agreement", "predicted", "blind", "from", "to"],
            [
                (r.rater, r.answers, r.agreement, r.predicted, r.blind, r.blind_low, r.blind_high)
                for r in rows
            ],
        )
        if len(found.raters) > len(rows):
            note(
                f"the {len(rows)} with most blind answers of {len(found.raters):,}; --json has all"
            )
    for text, most in (("questions", found.questions), ("pairs", found.pairs)):
        if most:
            shown = [
                f"({', '.join(each.objects)}) {each.agreement:.2f} agreement of {each.answers}"
                for each in most[:3]
            ]
            note(f"{text} people disagree about most: {'; '.join(shown)}")
    if found.groups is not None:
        p = found.groups.p_value
        sizes = ", ".join(f"{g.name} {g.raters}" for g in found.groups.groups)
        said = "too few raters to tell" if p is None else f"p = {p:.3f}, raters permuted"
        note(f"groups ({sizes}): {said}")
    _print_forecast(found)
    if found.cross is not None:
        note(f"one rater's answers predict {found.cross.mean:.3f} of another's")
    for caution in found.cautions:
        note(f"caution: {caution.what}{_named(caution.names)}")
    click.echo(f"\n{found.methods}")


def _print_forecast(found: Reliability) -> None:
    curve = found.forecast
    if curve is None:
        return
    for text, need in (
        (f"a medoid set of {curve.set_goal}", curve.answers_for_set(curve.set_goal)),
        (f"a map of accuracy {curve.map_goal:g}", curve.answers_for_map(curve.map_goal)),
    ):
        if need.answers is None:
            note(f"{text}: cannot be told, or more than a hundred times the answers")
        else:
            upto = "?" if need.high is None else f"{need.high:,}"
            there = f"; there are {curve.answers:,}" if need.more == 0 else ""
            span = f"{need.low or 0:,} to {upto}"
            note(f"{text}: about {counted(need.answers, 'answer')} in all ({span}){there}")


def _named(names: tuple[str, ...]) -> str:
    return f" ({listed(names)})" if names else ""


def _write(found: Reliability, statements: Statements, output: str, file: str) -> None:
    from trilens.files import refuse_to_overwrite, write_table

    refuse_to_overwrite(output, file)
    if Path(output).suffix.lower() in (".csv", ".tsv"):
        write_table(_marked(found, statements), output)
    else:
        from trilens.report.reliability import write_reliability

        write_reliability(found.to_dict(), output, Path(file).name)
    note(f"wrote {output}")


def _marked(found: Reliability, statements: Statements) -> dict[str, Any]:
    """The answers as they are, with a column that marks them."""
    from trilens.statements.frames import FIELD_COLUMNS
    from trilens.statements.shapes import COLUMNS_OF_KIND

    names = statements.names
    columns: dict[str, Any] = {
        role: [names[i] for i in statements.triples[:, at]]
        for at, role in enumerate(COLUMNS_OF_KIND[statements.kind])
    }
    for field, role in FIELD_COLUMNS.items():
        values = getattr(statements, field)
        if values is not None:
            columns[role] = values.tolist()
    columns["mark"] = found.marks.tolist()
    columns["used"] = [mark not in ("left-out", "test-question") for mark in found.marks.tolist()]
    return columns


def _is_file(text: str) -> bool:
    return Path(text).is_file()


def _column(source: Source, statements: Statements, name: str) -> Any:
    own = {"rater": statements.raters, "round": statements.rounds}.get(name.casefold())
    if own is not None:
        return own
    return source.further([name])[name]


def _groups(source: Source, statements: Statements, by: str) -> Any:
    if not _is_file(by):
        return _column(source, statements, by).tolist()
    from trilens.files.side_tables import read_mapping

    return read_mapping(by, "rater", "group")


def _listed_or_column(source: Source, statements: Statements, given: str) -> Any:
    if not _is_file(given):
        return _column(source, statements, given).tolist()
    from trilens.files import read_statements

    return read_statements(given, kind=statements.kind)


def _repeated(source: Source, statements: Statements, given: str) -> Any:
    if _is_file(given):
        return _listed_or_column(source, statements, given)
    from trilens.tasks.reliability.exclusions import is_marked

    return is_marked(_column(source, statements, given))
