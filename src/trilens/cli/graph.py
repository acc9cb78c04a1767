"""`trilens graph`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli.counting import counts_of
from trilens.cli.options import (
    Source,
    dim_option,
    error_rate_option,
    json_option,
    method_option,
    seed_option,
    statement_options,
)
from trilens.cli.tables import counted, note, print_json


@click.command("graph")
@statement_options
@click.option(
    "-k", "k", type=click.IntRange(min=1), help="By default the smallest that connects the k-RNG."
)
@method_option("graph", "The k-RNG of central statements, or the nearest neighbours on a map.")
@click.option("--sigma", type=float, help="Edge weights exp(-V^2 / sigma^2).")
@error_rate_option
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    help="Edge list (.csv, .tsv, .txt), .graphml or .npz, by the ending.",
)
@dim_option
@seed_option
@json_option
def command(
    source: Source,
    k: int | None,
    method: str,
    sigma: float | None,
    error_rate: Any,
    output: str,
    dim: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Find out which objects are neighbours, and write the graph to a file.

    \b
    Example: trilens graph answers.csv -k 5 -o graph.graphml
    """
    from trilens.graph import check_ending
    from trilens.tasks.graph import neighbours

    check_ending(output)
    counts = counts_of(source, pairs=True, streamed=method in ("auto", "krng", "lensmap"))
    found = neighbours(
        source.read() if counts is None or counts.pairs is None else counts.pairs,
        k,
        method,
        error_rate=error_rate,
        sigma=sigma,
        n_components=dim,
        random_state=seed,
    )
    found.write(output)
    if as_json:
        print_json(found.to_dict())
        return
    if k is None and found.method == "krng" and found.connected_parts > 1:
        note("no k connects the graph: some objects are never compared with the rest")
    note(
        f"{found.method}, k {found.k}, {counted(len(found), 'edge')}, "
        f"{counted(found.connected_parts, 'connected part')}: {output}"
    )
