"""`trilens plan`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import FIGURES, Output, bar

if TYPE_CHECKING:
    from trilens.questions.plan import Plan
    from trilens.questions.plan.goals import Goal

#: As in `trilens.questions.plan`, without loading it.
GOALS = ("medoid", "rank", "map", "groups", "classes", "difference")


@options.command("plan")
@click.argument("n_objects", type=int, required=False)
@options.choice(
    "--goal",
    GOALS,
    "What is to be found: the most central object, how central each is, the map, groups, "
    "the classes of unlabeled objects, or a difference between two groups of people.",
)
@click.option(
    "--target",
    type=float,
    help="How well: objects that may still be the medoid (3), rank correlation (0.95), share of "
    "what a perfect map predicts (0.95), adjusted Rand index (0.9), share of objects in the right "
    "class (0.9), power (0.8).",
)
@partial(options.statement_options, flag="--pilot")
@click.option(
    "--error-rate",
    type=float,
    help="Share of careless answers.",
    show_default="as in the pilot, or 0.03 to 0.15",
)
@click.option(
    "--dim",
    "--n-components",
    "n_components",
    type=int,
    help="Number of dimensions along which the objects vary.",
    show_default="as in the pilot or some more, or 2 to 5",
)
@click.option(
    "--raters",
    type=int,
    help="Number of people.",
    show_default="enough that each needs ten minutes",
)
@click.option(
    "--seconds",
    type=float,
    help="Seconds per answer.",
    show_default="as in the pilot, or 4.0 (closer: 1.6)",
)
@click.option("--price", type=float, help="Price per answer.")
@click.option("--budget", type=float, help="Most that all answers may cost.")
@click.option(
    "--picture",
    type=options.WRITTEN,
    metavar="FILE",
    callback=options.ending(*FIGURES),
    help="Draw the quality against the number of answers (.png, .svg or .pdf).",
)
@options.seed_option
@options.output_options(
    "Write the study for trilens survey.",
    metavar="study.yaml",
    endings=(".yaml", ".yml"),
)
def command(
    answers: options.Answers | None,
    n_objects: int | None,
    goal: Goal,
    picture: str | None,
    out: Output,
    **given: Any,
) -> None:
    """Estimate how many answers and raters a study needs, and what it costs.

    Simulates studies of N_OBJECTS objects, which takes up to a minute. Without --kind and --pilot,
    all three kinds of question are compared by the time that they take.

    \b
    Example: trilens plan 60 --goal medoid --price 0.02 -o study.yaml
    Example: trilens plan --pilot pilot.csv --goal map --picture curve.png
    """
    from trilens.files import atomic_write
    from trilens.questions.plan import plan

    with bar("simulating studies") as progress:
        found = plan(n_objects, goal, pilot=answers, progress=progress, **given)
    written = []
    if picture is not None:
        from trilens.plots import plan_curve, save_figure

        save_figure(plan_curve(found), picture)
        written.append(picture)
    if out.path == "-":
        click.echo(found.study_yaml(), nl=False)
    elif out.path is not None:
        with atomic_write(out.path) as file:
            file.write(found.study_yaml().encode())
        written.append(out.path)
    assumed = (f"assumed: {each}" for each in found.assumed)
    files = (f"wrote {path}" for path in written)
    out.tell(_facts(found), found.to_dict(), *found.sentences(), *assumed, *files)


def _facts(found: Plan) -> dict[str, str]:
    facts = {
        "goal": f"{found.goal} ({found.aim})",
        "objects": f"{found.n_objects:,}",
        "kind of question": found.kind,
        "answers needed": f"{found.answers:,} ({found.low:,} to {found.high:,})",
        "raters": f"{found.raters:,}",
        "questions each": f"{found.questions:,}",
        "of these repeated": f"{found.repeats:,}",
        "of these shared": f"{found.shared:,}",
        "minutes each": f"{found.minutes:.0f}" if found.minutes >= 1 else "less than 1",
        "answers in all": f"{found.total:,}",
    }
    if found.price is not None and found.price_interval is not None:
        low, high = found.price_interval
        facts["price"] = f"{found.price:,.2f} ({low:,.2f} to {high:,.2f})"
    if found.bought is not None:
        bought = found.bought
        facts |= {
            "the budget buys": f"{bought.expected.answers:,.0f} answers",
            "its raters": f"{bought.raters:,}",
            "its questions each": f"{bought.questions:,}",
            "its answers in all": f"{bought.total:,}",
            "its price": f"{bought.price:,.2f}",
        }
    return facts
