"""`trilens cluster`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli.options import (
    Source,
    dim_option,
    json_option,
    labels_option,
    read_labels_for,
    seed_option,
    statement_options,
)
from trilens.cli.tables import note, print_json, print_table


@click.command("cluster")
@statement_options
@click.option("--n-clusters", type=click.IntRange(min=1), required=True)
@click.option(
    "--method",
    type=click.Choice(["krng", "lensmap", "soe", "ste", "tste", "gnmds"]),
    help="Algorithm 5, or spectral clustering on a map; by default krng for central "
    "statements, lensmap for the other kinds.",
)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=1),
    help="Of the k-RNG (by default the smallest that connects it) or the map's k-NN graph (10).",
)
@click.option("--sigma", type=float, help="Weights of the k-RNG, or of the map's graph (0.5).")
@click.option("--error-rate", type=float, default=0.0, help="Known share of wrong answers.")
@labels_option
@dim_option
@seed_option
@json_option
def command(
    source: Source,
    n_clusters: int,
    method: str | None,
    k: int | None,
    sigma: float | None,
    error_rate: float,
    labels: str | None,
    dim: int,
    seed: int,
    as_json: bool,
) -> None:
    """Divide the objects into clusters; with --labels, say how pure they are.

    \b
    Example: trilens cluster answers.csv --n-clusters 3 -k 10 --sigma 0.5
    """
    from trilens.tasks.cluster.groups import cluster
    from trilens.tasks.cluster.partition import purity

    statements = source.read()
    truth = None if labels is None else read_labels_for(statements, labels)
    found = cluster(
        statements,
        n_clusters,
        method,
        k=k,
        sigma=sigma,
        error_rate=error_rate,
        n_components=dim,
        random_state=seed,
    )
    facts: dict[str, Any] = {
        "clusters": dict(zip(statements.names, found.labels.tolist(), strict=True)),
        "parameters": found.parameters,
    }
    if truth is not None:
        known = [(c, label) for c, label in zip(found.labels, truth, strict=True) if label]
        facts["purity"] = purity([c for c, _ in known], [label for _, label in known])
    if as_json:
        print_json(facts)
        return
    print_table(
        ["cluster", "size", "objects"],
        [
            (str(c), str(len(members)), ", ".join(members))
            for c in range(n_clusters)
            if (members := [n for n, x in facts["clusters"].items() if x == c])
        ],
        left=3,
    )
    note(", ".join(f"{name} {value}" for name, value in found.parameters.items()))
    if truth is not None:
        note(f"purity {facts['purity']:.3f}")
