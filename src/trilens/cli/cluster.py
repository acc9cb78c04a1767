"""`trilens cluster`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trilens.cli.counting import counts_of, reading_of
from trilens.cli.options import (
    Source,
    dim_option,
    error_rate_option,
    json_option,
    labels_option,
    method_option,
    read_labels_for,
    seed_option,
    statement_options,
)
from trilens.cli.progress import bar, status
from trilens.cli.tables import (
    listed,
    note,
    output_option,
    print_json,
    print_table,
    save_table,
)

if TYPE_CHECKING:
    from trilens.statements import Statements
    from trilens.tasks.cluster.groups import Clusters

#: Of more objects not all members of a group are listed; --output has them.
_MOST_LISTED = 5000


def _labels(statements: Statements | None, labels: str | None) -> Any:
    from trilens.files import read_labels

    if labels is None:
        return None
    return read_labels(labels) if statements is None else read_labels_for(statements, labels)


def _in_memory(
    source: Source, n_clusters: int | None, method: str, labels: str | None, **how: Any
) -> Clusters:
    """The groups of statements, or of counts of their pairs; ``how`` as `trilens.cluster`."""
    from trilens.tasks.cluster.groups import cluster

    counts = counts_of(
        source,
        pairs=True,
        streamed=n_clusters is not None and method in ("krng", "lensmap"),
    )
    statements = source.read() if counts is None else None
    with bar("looking for groups") as progress:
        return cluster(
            statements if counts is None else counts.pairs,  # type: ignore[arg-type]
            n_clusters,
            method,
            labels=_labels(statements, labels),
            progress=progress,
            **how,
        )


@click.command("cluster")
@statement_options
@click.option(
    "--n-clusters",
    type=click.IntRange(min=1),
    help="By default as many as the answers suggest.",
)
@method_option("cluster", "krng: Algorithm 5; or spectral clustering on a map.")
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=1),
    help="Of the k-RNG (by default the smallest that connects it) or the map's k-NN graph (10).",
)
@click.option("--sigma", type=float, help="Weights of the k-RNG, or of the map's graph (0.5).")
@error_rate_option
@labels_option
@dim_option
@seed_option
@output_option("the group of each object, as a label file")
@json_option
def command(
    source: Source,
    n_clusters: int | None,
    method: str,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    labels: str | None,
    dim: int | None,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Divide the objects into clusters; with --labels, say how pure they are.

    \b
    Example: trilens cluster answers.csv --n-clusters 3 -o groups.csv
    """
    found: Clusters
    reading = None
    if method in ("auto", "choice", "lensmap"):
        reading = reading_of(source, many=method == "lensmap" and n_clusters is not None)
    if reading is not None:
        if error_rate:
            raise click.UsageError("a map of files this large has no --error-rate; krng has")
        from trilens.tasks.streamed import cluster_files

        with status("mapping and looking for groups"):
            found = cluster_files(
                source.file,
                n_clusters,
                method=method,
                k=10 if k is None else k,
                sigma=0.5 if sigma is None else sigma,
                n_components=dim,
                labels=_labels(None, labels),
                random_state=seed,
                **reading,
            )
    else:
        found = _in_memory(
            source,
            n_clusters,
            method,
            labels,
            k=k,
            sigma=sigma,
            error_rate=error_rate,
            n_components=dim,
            random_state=seed,
        )
    if output is not None:
        save_table(found.columns(), output)
    if as_json and output != "-":
        print_json(found.to_dict())
        return
    if output is None:
        most = len(found.names) if len(found.names) <= _MOST_LISTED else 20
        print_table(
            ["group", "size", "most typical", "objects"],
            [
                (str(g.name), str(g.size), g.medoid, listed(g.objects, most=most))
                for g in found.groups
            ],
            left=4,
        )
    suggestion = found.suggestion
    if not found.given and suggestion is not None and suggestion.p_value is not None:
        chance = f"p = {suggestion.p_value:.3f}, clouds without groups"
        number = f"{found.n_clusters} groups" if found.n_clusters > 1 else "no groups beyond chance"
        note(f"{number} ({chance})")
    used = {
        name: value for name, value in found.parameters.items() if name != "error_rate" or value
    }
    note(", ".join(f"{name} {value}" for name, value in used.items()))
    if found.stability is not None:
        note(f"agreement with resampled answers {found.stability.agreement:.2f}")
    if suggestion is not None and suggestion.caution is not None:
        note(suggestion.caution)
    if found.purity is not None:
        note(f"purity {found.purity:.3f}")
