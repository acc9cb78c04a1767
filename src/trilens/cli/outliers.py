"""`trilens outliers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from trilens.cli import options
from trilens.cli.output import Output, listed

if TYPE_CHECKING:
    from trilens.answers import Answers
    from trilens.questions.outliers import Outliers


@options.command("outliers")
@options.statement_options
@options.fit_options
@click.option(
    "--n",
    "n",
    type=click.IntRange(min=0),
    help="Number of outliers to list.",
    show_default="those that are confirmed",
)
@click.option("--contamination", type=click.FloatRange(0, 0.5), help="Or their share.")
@options.method_option("outliers", "Lowest depth (Algorithm 2), or local outlier factor on a map.")
@options.seed_option
@options.cluster_option
@options.table_output("the outliers to a file")
def command(
    answers: Answers,
    n: int | None,
    contamination: float | None,
    method: str,
    random_state: int,
    out: Output,
) -> None:
    """List the objects that are least like the others.

    The strangest comes first. Without --n and --contamination, lists only objects that stand apart
    by more than chance; there may be none. Objects that thin out into a long tail do not stand
    apart; the tail is then described in a note.

    \b
    Example: trilens outliers answers.csv --n 8
    """
    from trilens.questions.outliers import outliers
    from trilens.study_design import about_chosen

    if n is not None and contamination is not None:
        raise click.UsageError("--n and --contamination cannot be used together")
    options.fit_if_needed(answers, method, random_state)
    found = outliers(
        answers,
        n,
        contamination=contamination,
        method=method,
        random_state=random_state,
    )
    facts = found.to_dict()
    columns = {
        name: [row[name] for row in facts["outliers"]] for name in ("object", "depth", "score")
    }
    out.show(columns, facts, [*about_chosen(answers), *_notes(found)])


def _notes(found: Outliers) -> Iterator[str]:
    apart = found.suggested
    if found.caution is not None:
        yield found.caution
    elif found.tail is not None:
        yield (
            "the objects thin out into a long tail; none stands apart from it; "
            f"farthest out: {listed(found.tail)}"
        )
    elif apart > 1:
        yield f"{apart} objects stand apart by more than chance, the last ones least clearly"
    else:
        what = "1 object stands" if apart else "no object stands"
        yield f"{what} apart by more than chance"
    if found.tied:
        yield f"tied with the last one listed: {listed(found.tied)}"
    yield f"method: {found.method}"
