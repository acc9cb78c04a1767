"""`trilens stop`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, status

#: As in `trilens.questions.stopping`, without loading it.
RULES = ("medoid", "map", "groups", "price")


@options.command("stop")
@options.statement_options
@options.choice(
    "--rule",
    RULES,
    "What must be known: the medoid, the map, the number of groups; or what may be paid.",
)
@options.option("--at-most", type=int, default=3, help="Objects that the medoid may be.")
@options.option(
    "--gain",
    type=float,
    default=0.005,
    help="Share of predicted answers that 1000 more must add to a map.",
)
@click.option("--price", type=float, help="Of one answer.")
@click.option("--budget", type=float, help="For all answers.")
@options.option("--level", type=float, default=0.95, help="Confidence level.")
@options.fit_options
@options.seed_option
@options.json_option
def command(answers: options.Answers, rule: Any, as_json: bool, **settings: Any) -> None:
    """Say whether there are enough answers.

    The answers must be in the order in which they were given; where there is a column answered_at,
    as in a survey's export, they are put into its order.

    \b
    Example: trilens stop answers.csv --at-most 3
    """
    from trilens.questions.stopping import stopping

    with status("looking at the answers"):
        found = stopping(answers, rule, **settings)
    printed = {"stop": "yes" if found.stop else "no", "why": found.why, "next": found.next}
    notes = []
    if found.candidates and len(found.candidates) <= 10:
        listed = ", ".join(found.candidates)
        notes.append(
            f"may be the most central, at the level {found.level:.4g} of this look: {listed}"
        )
    Output(None, as_json).tell(printed, found.to_dict(), *notes)
