"""`trilens graph`."""

from __future__ import annotations

import click

from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import note, print_json


@click.command("graph")
@statement_options
@click.option("-k", "k", type=click.IntRange(min=1), help="By default the smallest that connects.")
@click.option("--sigma", type=float, help="Edge weights exp(-V^2 / sigma^2).")
@click.option("--error-rate", type=float, default=0.0, help="Known share of wrong answers.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    help="Edge list (.csv, .tsv, .txt), .graphml or .npz, by the ending.",
)
@json_option
def command(
    source: Source,
    k: int | None,
    sigma: float | None,
    error_rate: float,
    output: str,
    as_json: bool,
) -> None:
    """Estimate the k-relative neighbourhood graph and write it to a file.

    \b
    Example: trilens graph answers.csv -k 5 -o graph.graphml
    """
    from scipy.sparse.csgraph import connected_components

    from trilens.graph import connecting_k, k_rng, pairs_of
    from trilens.graph.export import check_ending, write_graph

    check_ending(output)
    statements = source.read()
    pairs = pairs_of(statements)
    chosen = connecting_k(pairs, error_rate) if k is None else k
    if chosen is None:
        note("no k connects the graph: some objects are never compared with the rest")
        chosen = max(statements.n_objects - 1, 1)
    graph = k_rng(pairs, chosen, error_rate, sigma)
    write_graph(graph, statements.names, output)
    parts = int(connected_components(graph, directed=False)[0])
    facts = {"k": chosen, "edges": graph.nnz // 2, "connected_parts": parts, "output": output}
    if as_json:
        print_json(facts)
    else:
        note(f"k {chosen}, {graph.nnz // 2:,} edges, {parts} connected parts: {output}")
