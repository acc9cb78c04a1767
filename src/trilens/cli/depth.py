"""`trilens depth`."""

from __future__ import annotations

import click

from trilens.cli import options
from trilens.cli.output import Output


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
def command(answers: options.Answers, share: float | None, random_state: int, out: Output) -> None:
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
    from trilens.ask import is_enough
    from trilens.questions.depth import depth_intervals
    from trilens.statements import Statements
    from trilens.study_design import about_chosen, design
    from trilens.words import DEPTHS_ARE_COUNTED, about_depth

    data = read_or_count(answers, enough=True)
    counts, names = central_counts(data), data.names
    asked, method = None, "depth"
    if isinstance(data, Statements):
        asked = design(data)
        method = "depth" if asked.counts_hold or not is_enough(data) else "choice"
    if method == "choice":
        options.fit_if_needed(answers, method, 0)
    interval = depth_intervals(answers if method == "choice" else data, method=method)
    about = about_depth(method, asked)
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
    facts |= {"interval_method": interval.method, "about": about, "caution": interval.caution}
    plain = asked is None or asked.counts_hold
    said = DEPTHS_ARE_COUNTED if plain else f"Depths and intervals are about {about}."
    doubt = [] if interval.caution is None else [interval.caution]
    return out.show(columns, facts, [*about_chosen(answers), said, *doubt])


def _local(answers: options.Answers, share: float, random_state: int, out: Output) -> None:
    from trilens.questions.local_depth import local_depth

    depth, names = local_depth(answers, share, random_state=random_state), answers.read().names
    order = (-depth).argsort(kind="stable").tolist()
    columns = {
        "object": [names[i] for i in order],
        "local depth": depth[order].tolist(),
    }
    facts = {"local_depth": dict(zip(names, depth.tolist(), strict=True)), "share": share}
    out.show(columns, facts)
