"""`trilens outliers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import Output, counted, listed

if TYPE_CHECKING:
    from trilens.questions.outliers import Outliers


@options.command("outliers")
@options.statement_options
@options.fit_options
@click.option(
    "--n",
    "n",
    type=options.AT_LEAST_1,
    help="Number of outliers to list.",
    show_default="those that are confirmed",
)
@click.option("--contamination", type=click.FloatRange(0, 0.5), help="Or their share.")
@options.method_option("outliers", "Lowest depth (Algorithm 2), or local outlier factor on a map.")
@options.seed_option
@options.cluster_option
@options.table_output("the outliers to a file")
def command(answers: options.Answers, out: Output, **settings: Any) -> None:
    """List the objects that are least like the others.

    The farthest out comes first. Without --n and --contamination, lists only objects that are
    farther from the others than chance explains; there may be none. The least central objects are
    then named in a note, and so is a long tail, if the objects thin out into one.

    \b
    Example: trilens outliers answers.csv --n 8
    """
    from trilens.questions.outliers import outliers
    from trilens.study_design import about_chosen

    if settings["n"] is not None and settings["contamination"] is not None:
        raise click.UsageError("--n and --contamination cannot be used together")
    options.fit_if_needed(answers, settings["method"], settings["random_state"])
    found = outliers(answers, **settings)
    facts = found.to_dict()
    columns = {
        name: [row[name] for row in facts["outliers"]] for name in ("object", "depth", "score")
    }
    out.show(columns, facts, [*about_chosen(answers), *_notes(found)])


def _notes(found: Outliers) -> Iterator[str]:
    from trilens.words import LEAST_OF_ALL, p_text, stand_apart

    sure = "" if found.p_value is None else f" ({p_text(found.p_value)})"
    if found.caution is not None:
        yield found.caution
    elif found.apart:
        number = len(found.apart)
        said = f"{counted(number, 'object')} {stand_apart(number)}"
        # the table lists others as well, or not all of them
        which = "" if found.apart == found.names else f": {listed(found.apart)}"
        last = ", the last ones least clearly" if number > 1 else ""
        yield f"{said} from the rest{sure}{last}{which}"
    else:
        by = "by depth alone, " if found.method == "depth" else ""
        least = f"least central: {listed(found.least_central)}"
        if found.on_ring:
            least = "on a ring no object is the least central"
        yield f"{by}no outlier could be confirmed{sure}; {least}"
        if found.method == "depth":
            yield "the map, asked without --method, also sees what lies far from all groups"
        if found.tail is not None:
            yield f"the objects thin out into a long tail; farthest out: {listed(found.tail)}"
        if found.clearly_least is not None:
            yield LEAST_OF_ALL.format(found.clearly_least)
    if found.tied:
        yield f"tied with the last one listed: {listed(found.tied)}"
    yield f"method: {found.method}"
