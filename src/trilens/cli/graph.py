"""`trilens graph`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, counted, note


@options.command("graph")
@options.statement_options
@click.option(
    "-k",
    "k",
    type=options.AT_LEAST_1,
    help="In the k-RNG, two objects are neighbors when fewer than K others lie in their lens; on a "
    "map, each object is joined to the K nearest.",
    show_default="the smallest that connects the k-RNG; 5 on a map",
)
@options.method_option(
    "graph", "The k-RNG of central statements, or the nearest neighbors on a map."
)
@click.option("--sigma", type=float, help="Weight the edges by exp(-V^2 / sigma^2).")
@options.error_rate_option
@options.cluster_option
@options.output_options(
    "Edge list (.csv, .tsv, .txt), .graphml or .npz, by the ending.", required=True
)
@options.seed_option
def command(answers: options.Answers, k: int | None, out: Output, **settings: Any) -> None:
    """Write the graph of neighboring objects to a file.

    \b
    Example: trilens graph answers.csv -k 5 -o graph.graphml
    """
    from trilens.files.results import check_ending
    from trilens.questions.graph import neighbors

    assert out.path is not None
    check_ending(out.path, "graph")
    found = neighbors(answers, k, **settings)
    found.write(out.path)
    if k is None and found.method == "krng" and found.connected_parts > 1 and not out.as_json:
        note("no k connects the graph: some objects are never compared with the others")
    out.report(
        found.to_dict(),
        f"{found.method}, k {found.k}, {counted(len(found), 'edge')}, "
        f"{counted(found.connected_parts, 'connected part')}: {out.path}",
    )
