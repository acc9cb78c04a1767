"""`trilens next`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, counted, status

#: As in `trilens.questions.next_questions`, without loading it.
GOALS = ("medoid", "rank", "map", "outliers", "groups")


@options.command("next")
@options.statement_options
@options.choice("--goal", GOALS, "What the answers are to tell.")
@options.option("-n", "--number", "n", type=int, default=10, help="Questions.")
@options.option(
    "--random-share",
    type=float,
    default=0.2,
    help="Share of the questions that is drawn at random.",
)
@click.option(
    "--rater",
    metavar="NAME",
    help="Who will be asked: may get questions that others have answered.",
)
@options.fit_options
@options.seed_option
@options.table_output("the questions to a file")
def command(answers: options.Answers, goal: Any, out: Output, **settings: Any) -> None:
    """Choose the questions to ask next.

    Keep the column "reason" with the answers: depths by counting, agreement and ceilings use only
    the questions that were drawn at random.

    \b
    Example: trilens next answers.csv --goal medoid -n 20 -o questions.csv
    """
    from trilens.questions.next_questions import next_questions

    with status("choosing questions"):
        found = next_questions(answers, goal, **settings)
    by_chance = found.reasons.count("random")
    notes = [
        f"{counted(len(found) - by_chance, 'question')} chosen for the goal {goal}, "
        f"{by_chance:,} drawn at random"
    ]
    if found.caution is not None:
        notes = [*notes[: len(found) > by_chance], found.caution]
    out.show(found.columns(), found.to_dict(), notes, left=4)
