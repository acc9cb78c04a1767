"""`trilens cluster`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import Output, listed, status

if TYPE_CHECKING:
    from trilens.questions.cluster.groups import Clusters

#: Of more objects not all members of a group are listed; --output has them.
_MOST_LISTED = 5000


@options.command("cluster")
@options.statement_options
@options.fit_options
@options.n_clusters_option
@options.method_option("cluster", "By the k-RNG (Algorithm 5), or spectral clustering on a map.")
@click.option(
    "-k",
    "k",
    type=options.AT_LEAST_1,
    help="k of the k-RNG (default: the smallest that connects it) or of the map's k-NN graph "
    "(default: 10).",
)
@click.option(
    "--sigma", type=float, help="Scale of the weights of the k-RNG, or of the map's graph (0.5)."
)
@options.error_rate_option
@options.labels_option
@options.seed_option
@options.cluster_option
@options.table_output("the groups to a label file")
def command(answers: options.Answers, labels: str | None, out: Output, **settings: Any) -> None:
    """Divide the objects into groups, or name the shape that they form otherwise.

    Without --n-clusters, says whether there are groups at all, or a cloud, a line, a ring or arms,
    and leaves objects that stand apart from all others unassigned. With --labels, also reports how
    pure the groups are.

    \b
    Example: trilens cluster answers.csv --n-clusters 3 -o groups.csv
    """
    from trilens.questions.cluster.groups import cluster

    options.fit_if_needed(answers, settings["method"], settings["random_state"])
    with status("looking for groups"):
        found = cluster(answers, labels=options.read_labels_of(labels, answers), **settings)
    most = len(found.names) if len(found.names) <= _MOST_LISTED else 20
    rows = [
        (str(group.name), str(group.size), listed(group.objects, most)) for group in found.groups
    ]
    if found.unassigned:
        alone = found.unassigned
        rows.append(("unassigned", str(len(alone)), listed(alone, most)))
    header = ("group", "size", "objects")
    shown = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    out.show(found.columns(), found.to_dict(), _notes(found), left=3, shown=shown)


def _notes(found: Clusters) -> Iterator[str]:
    from trilens.words import best_division, groups_tested

    suggestion = found.suggestion
    if found.structure is not None and suggestion is not None and suggestion.reason is None:
        yield found.structure.sentence
    if not found.given and found.p_value is not None:
        yield groups_tested(found.p_value)
    if not found.given and suggestion is not None and suggestion.nearly:
        best = suggestion.best
        yield f"{best_division(best)}; see it with --n-clusters {best}"
    yield ", ".join(
        f"{name} {value}"
        for name, value in found.parameters.items()
        if name != "error_rate" or value
    )
    if found.stability is not None:
        yield f"agreement with groups of resampled answers: {found.stability.agreement:.2f}"
    if suggestion is not None and suggestion.caution is not None:
        yield suggestion.caution
    if found.purity is not None:
        yield f"purity {found.purity:.3f}"
