"""`trilens depth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trilens.cli import options
from trilens.cli.output import Output

if TYPE_CHECKING:
    from trilens.answers import Answers


@options.command("depth")
@options.statement_options
@options.cluster_option
@options.table_output("the table to a file")
def command(answers: Answers, out: Output) -> None:
    """Print how central each object is.

    Lens depth for `central` statements, 1 - P(odd) for `odd` ones, the share of comparisons won
    for `closer` ones; with a 95% confidence interval. Where the questions were not drawn at
    random, depth and interval are those of the choice model.

    \b
    Example: trilens depth answers.csv
    """
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
    out.show(columns, facts, [*about_chosen(answers), *said])
