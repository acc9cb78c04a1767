"""`trilens medoid`."""

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


@click.command("medoid")
@statement_options
@labels_option
@click.option(
    "--method",
    type=click.Choice(["depth", "lensmap", "soe", "ste", "tste", "gnmds"]),
    default="depth",
    show_default=True,
    help="Lens depth (Crowd-Median for odd), or the medoid of a map.",
)
@dim_option
@seed_option
@json_option
def command(
    source: Source, labels: str | None, method: str, dim: int, seed: int, as_json: bool
) -> None:
    """Find the most central object, of all and of each class.

    \b
    Example: trilens medoid answers.csv --labels classes.csv
    """
    from trilens.tasks.medoid import medoid

    statements = source.read()

    def found(part: Any) -> Any:
        return medoid(part, method, n_components=dim, random_state=seed)

    best = found(statements)
    facts: dict[str, Any] = {"medoid": best.name, "depth": best.depth, "method": method}
    rows: list[tuple[Any, ...]] = [("all", best.name, best.depth, len(statements))]
    if best.tied:
        facts["tied"] = list(best.tied)
    if labels is not None:
        label_of = read_labels_for(statements, labels)
        facts["per_class"] = {}
        for label in sorted({label for label in label_of if label is not None}):
            inside = statements.subset([i for i, x in enumerate(label_of) if x == label])
            if len(inside) == 0:
                note(f"class {label!r}: no statement lies within the class, so it has no medoid")
                facts["per_class"][label] = {"medoid": None, "depth": None, "statements": 0}
                rows.append((label, None, None, 0))
                continue
            of_class = found(inside)
            facts["per_class"][label] = {
                "medoid": of_class.name,
                "depth": of_class.depth,
                "statements": len(inside),
            }
            rows.append((label, of_class.name, of_class.depth, len(inside)))
    if as_json:
        print_json(facts)
        return
    print_table(["class", "medoid", "depth", "statements"], rows, left=2)
    if best.tied:
        note(f"equally central: {', '.join(best.tied)}")
