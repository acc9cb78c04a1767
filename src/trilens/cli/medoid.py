"""`trilens medoid`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli.counting import counts_of
from trilens.cli.options import (
    Source,
    dim_option,
    json_option,
    labels_option,
    method_option,
    read_labels_for,
    seed_option,
    statement_options,
)
from trilens.cli.tables import (
    listed,
    note,
    output_option,
    print_json,
    print_table,
    save_table,
)


@click.command("medoid")
@statement_options
@labels_option
@method_option("medoid", "depth: Algorithm 1 and its like for other kinds; or the medoid of a map.")
@dim_option
@seed_option
@output_option("the table")
@json_option
def command(
    source: Source,
    labels: str | None,
    method: str,
    dim: int | None,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Find the most central object, of all and of each class.

    \b
    Example: trilens medoid answers.csv --labels classes.csv
    """
    from trilens.files import read_labels
    from trilens.tasks.medoid import medoid

    counts = counts_of(source, streamed=labels is None and method in ("auto", "depth"))
    if counts is not None:
        known = None if labels is None else read_labels(labels)
        found = medoid(counts.central, method, labels=known)
        number = counts.statements
    else:
        statements = source.read()
        every = None if labels is None else read_labels_for(statements, labels)
        found = medoid(statements, method, labels=every, n_components=dim, random_state=seed)
        number = len(statements)
    rows: list[tuple[Any, ...]] = [("all", found.name, found.depth, number)]
    for label, one in (found.per_class or {}).items():
        rows.append((label, one.medoid, one.depth, one.statements))
    header = ["class", "medoid", "depth", "statements"]
    if output is not None:
        columns = zip(*rows, strict=True)
        save_table(dict(zip(header, map(list, columns), strict=True)), output)
    if as_json and output != "-":
        print_json(found.to_dict())
        return
    if output is None:
        print_table(header, rows, left=2)
    for label, _, _, n_statements in rows[1:]:
        if n_statements == 0:
            note(f"class {label!r}: no statement lies within the class, so it has no medoid")
    if found.tied:
        note(f"equally central: {listed(found.tied)}")
    others = [name for name in found.candidates if name != found.name]
    if not found.stands_out:
        may = f"{len(found.candidates):,} of {len(found.scores):,}"
        note(f"no object stands out: at {found.level:.0%} confidence {may} may be it")
    elif others:
        note(f"may be it too, at {found.level:.0%} confidence: {listed(others)}")
    else:
        note(f"no other object may be it, at {found.level:.0%} confidence")
    note(f"method {found.method}")
