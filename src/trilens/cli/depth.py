"""`trilens depth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trilens.cli import options
from trilens.cli.output import Output

if TYPE_CHECKING:
    from trilens.answers import Answers


@options.command("depth")
@options.statement_options
@options.cluster_option
@click.option(
    "--local",
    "share",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Local lens depth instead: count only the lenses of the nearest pairs on the map, this "
    "share of all pairs. It is low where an object stands by itself, between groups too.",
)
@options.seed_option
@options.table_output("the table to a file")
def command(answers: Answers, share: float | None, random_state: int, out: Output) -> None:
    """Print how central each object is.

    Lens depth for `central` statements, 1 - P(odd) for `odd` ones, the share of comparisons won
    for `closer` ones; with a 95% confidence interval. Where the questions were not drawn at
    random, depth and interval are those of the choice model.

    \b
    Example: trilens depth answers.csv
    Example: trilens depth answers.csv --local 0.1
    """
    if share is not None:
        return _local(answers, share, random_state, out)
    from trilens.answers import central_counts, read_or_count
    from trilens.questions.design import about_chosen
    from trilens.questions.intervals import depth_intervals

    data = read_or_count(answers, enough=True)
    counts, names = central_counts(data), data.names
    interval = depth_intervals(data)
    depth = interval.depth
    order = (-depth).argsort(kind="stable").tolist()
    columns = {
        "object": [names[i] for i in order],
        "depth": depth[order].tolist(),
        "from": interval.low[order].tolist(),
        "to": interval.high[order].tolist(),
        "statements": counts.appears[order].tolist(),
    }
    facts: dict[str, object] = {
        "depth": dict(zip(names, depth.tolist(), strict=True)),
        "appearances": dict(zip(names, counts.appears.tolist(), strict=True)),
    }
    facts |= {"interval_method": interval.method, "about": interval.about}
    plain = interval.method == "counting" and interval.about == "all questions"
    said = () if plain else (f"The intervals are about {interval.about}.",)
    return out.show(columns, facts, [*about_chosen(answers), *said])


def _local(answers: Answers, share: float, random_state: int, out: Output) -> None:
    from trilens.questions.local_depth import local_depth

    depth, names = local_depth(answers, share, random_state=random_state), answers.read().names
    order = (-depth).argsort(kind="stable").tolist()
    columns = {
        "object": [names[i] for i in order],
        "local depth": depth[order].tolist(),
    }
    facts = {"local_depth": dict(zip(names, depth.tolist(), strict=True)), "share": share}
    out.show(columns, facts)
