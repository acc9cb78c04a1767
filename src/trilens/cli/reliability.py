"""`trilens reliability`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import (
    Output,
    counted,
    listed,
    note,
    print_facts,
    print_json,
    print_table,
    status,
)

if TYPE_CHECKING:
    from trilens.questions.reliability import Reliability
    from trilens.questions.reliability.raters import RaterCheck
    from trilens.statements import Statements

#: Raters that are printed; --json has all.
_MOST_RATERS = 20


@options.command("reliability")
@options.statement_options
@options.by_option
@click.option(
    "--catch",
    type=options.READ,
    metavar="COLUMN|FILE",
    help="Test questions, given by a column with the name of the correct answer (empty for "
    "ordinary questions) or by a statement file of correct answers.",
)
@click.option(
    "--repeated",
    type=options.READ,
    metavar="COLUMN|FILE",
    help="Questions repeated on purpose, given by a column that marks them or by a statement file.",
    show_default="every question that was asked twice",
)
@options.output_options(
    "Write a report (.html), or every answer with its mark (.csv, .tsv); none is deleted.",
    endings=(".html", ".htm", ".csv", ".tsv"),
)
@options.folder_option("--figures", "Write the figures to this folder, as SVG, PNG and PDF.")
@options.seed_option
def command(
    answers: options.Answers,
    by: str | None,
    catch: str | None,
    repeated: str | None,
    figures: str | None,
    random_state: int,
    out: Output,
) -> None:
    """Measure how good the answers are.

    Prints agreement, ceiling, error rates and raters, and a text for the Methods section. How many
    more answers a study needs: trilens plan --pilot, and trilens stop.

    \b
    Example: trilens reliability answers.csv --by country -o reliability.html
    """
    from trilens.questions.reliability import reliability

    with status("measuring reliability"):
        found = reliability(
            answers,
            by=options.groups_of(by),
            catch=None if catch is None else _column_or_statements(answers, catch),
            repeated=None if repeated is None else _repeated(answers, repeated),
            random_state=random_state,
        )
    if out.path is not None:
        _write(found, answers, out.path)
    if figures is not None:
        from trilens.plots import write_figures

        note(f"wrote {counted(len(write_figures(found, figures)), 'figure')} to {figures}")
    if out.as_json:
        print_json(found.to_dict())
    elif out.path != "-":
        _print(found, options.told_of(answers))


def _print(found: Reliability, told: frozenset[str]) -> None:
    from trilens import words

    click.echo(f"{words.reliability(found)}\n")
    print_facts(_facts(found))
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
        _print_raters(found)
    for text in _notes(found):
        note(text)
    if found.error_rate is not None and not found.is_noise:
        note(words.ERROR_RATE_TO_REPORT)
    for caution in found.cautions:
        if caution.code in told:
            continue
        names = f" ({listed(caution.names)})" if caution.names else ""
        note(f"caution: {caution.what}{names}")
    click.echo(f"\n{found.methods}")


def _facts(found: Reliability) -> dict[str, str]:
    used = found.collected["used"]
    facts = {"answers used": f"{used:,} of {found.collected['answers']:,}"}
    for text, agreement in (
        (f"two {found.unit or 'answer'}s agree", found.between),
        ("one rater repeats an answer", found.within),
    ):
        if agreement is not None:
            share = _share(agreement.share, agreement.interval)
            facts[text] = f"{share}, {counted(agreement.questions, 'question')}"
    if found.no_ceiling is not None:
        facts["ceiling"] = f"none: {found.no_ceiling}"
    if found.reachable is not None and found.reachable_interval is not None:
        reachable = _share(found.reachable, found.reachable_interval)
        facts["the best model could predict"] = reachable
    if found.predicted is not None:
        facts["a map predicts"] = f"{found.predicted:.3f}"
    facts["guessing"] = f"{found.chance:.3f}"
    if found.split_half is not None:
        facts["split-half reliability of depths"] = f"{found.split_half:.3f}"
    if found.error_rate is not None and found.error_rate_interval is not None:
        error_rate = _share(found.error_rate, found.error_rate_interval)
        facts["error rate on clear questions"] = error_rate
    return facts


def _share(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.3f} ({interval[0]:.3f} to {interval[1]:.3f})"


def _print_raters(found: Reliability) -> None:
    from trilens import words

    rows = sorted(found.raters, key=lambda row: -(row.blind or 0))[:_MOST_RATERS]
    unit, said = found.unit or "rater", words.VERDICTS.get
    print_table(
        [unit, "verdict", "answers", "agreement", "predicted", "careless", "from", "to"],
        [
            (r.rater, said(r.verdict), r.answers, r.agreement, r.predicted, *_careless(r))
            for r in rows
        ],
        left=2,
    )
    if not found.is_noise:
        note(words.CARELESS_SHARES.format(unit=unit))
    if len(found.raters) > len(rows):
        which = "" if found.is_noise else ", those with the most careless answers"
        note(f"{len(rows)} of {len(found.raters):,} {unit}s{which}; --json has all")


def _careless(rater: RaterCheck) -> tuple[float | None, ...]:
    """The share of careless answers, with its interval; unknown where the view is another."""
    from trilens.words import OTHER_VIEWS

    if rater.verdict in OTHER_VIEWS:
        return None, None, None
    return rater.blind, rater.blind_low, rater.blind_high


def _notes(found: Reliability) -> Iterator[str]:
    for text, most in (("questions", found.questions), ("pairs", found.pairs)):
        if most:
            shown = [
                f"({', '.join(each.objects)}) {each.agreement:.2f} agreement in "
                f"{counted(each.answers, 'answer')}"
                for each in sorted(most[:3], key=lambda each: each.agreement)
            ]
            yield f"{text} people disagree about most: {'; '.join(shown)}"
    if found.groups is not None:
        yield from found.groups.sentences()


def _write(found: Reliability, answers: options.Answers, output: str) -> None:
    from trilens.files import write_table

    if Path(output).suffix.lower() in (".csv", ".tsv"):
        write_table(_marked(found, answers.everything.read()), output)
    else:
        from trilens.report import write_reliability

        file = Path(click.get_current_context().params["file"])
        write_reliability(found.to_dict(), output, file.name)
    note(f"wrote {output}")


def _marked(found: Reliability, statements: Statements) -> dict[str, Any]:
    """The answers as they are, with a column that marks them."""
    marks = found.marks.tolist()
    used = [mark not in ("left-out", "test-question") for mark in marks]
    return {**statements.to_arrow().to_pydict(), "mark": marks, "used": used}


def _column_or_statements(answers: options.Answers, given: str) -> Any:
    if not Path(given).is_file():
        return _column(answers, given).tolist()
    from trilens.files import read_statements

    return read_statements(given, kind=answers.everything.read().kind)


def _repeated(answers: options.Answers, given: str) -> Any:
    if Path(given).is_file():
        return _column_or_statements(answers, given)
    from trilens.questions.reliability.exclusions import is_marked

    return is_marked(_column(answers, given))


def _column(answers: options.Answers, name: str) -> Any:
    """A column of all the answers, also those that are left out."""
    every = answers.everything
    if name.casefold() in ("rater", "round"):
        own = getattr(every.read(), f"{name.casefold()}s")
        if own is not None:
            return own
    return every.column(name)
