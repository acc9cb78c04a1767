"""`trilens stop`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import note, print_facts, print_json, status

if TYPE_CHECKING:
    from trilens.answers import Answers

#: As in `trilens.questions.stopping`, without loading it.
RULES = ("medoid", "map", "groups", "price")


@options.command("stop")
@options.statement_options
@click.option(
    "--rule",
    type=click.Choice(RULES),
    default="medoid",
    show_default=True,
    help="What must be known: the medoid, the map, the number of groups; or what may be paid.",
)
@click.option(
    "--at-most", type=int, default=3, show_default=True, help="Objects that the medoid may be."
)
@click.option(
    "--gain",
    type=float,
    default=0.005,
    show_default=True,
    help="Share of predicted answers that 1000 more must add to a map.",
)
@click.option("--price", type=float, help="Of one answer.")
@click.option("--budget", type=float, help="For all answers.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
@options.fit_options
@options.seed_option
@options.json_option
def command(
    answers: Answers,
    rule: Any,
    at_most: int,
    gain: float,
    price: float | None,
    budget: float | None,
    level: float,
    random_state: int,
    as_json: bool,
) -> None:
    """Say whether there are enough answers.

    The answers must be in the order in which they were given; where there is a column answered_at,
    as in a survey's export, they are put into its order.

    \b
    Example: trilens stop answers.csv --at-most 3
    """
    from trilens.questions.stopping import stopping

    with status("looking at the answers"):
        found = stopping(
            answers,
            rule,
            at_most=at_most,
            gain=gain,
            price=price,
            budget=budget,
            level=level,
            random_state=random_state,
        )
    if as_json:
        print_json(found.to_dict())
        return
    print_facts({"stop": "yes" if found.stop else "no", "why": found.why, "next": found.next})
    if found.candidates and len(found.candidates) <= 10:
        listed = ", ".join(found.candidates)
        note(f"may be the most central, at the level {found.level:.4g} of this look: {listed}")
