"""`trilens count`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli.options import json_option, reading_options
from trilens.cli.progress import bar
from trilens.cli.tables import note, print_json


@click.command("count")
@click.argument("files", nargs=-1, required=False)
@click.option(
    "-o", "--output", metavar="OUT", required=True, help="The file of counts, such as counts.npz."
)
@click.option("--pairs", is_flag=True, help="Count pairs too: for graph, cluster and lens map.")
@click.option("--classes", metavar="FILE", help="Count classes too: a table object,label.")
@click.option(
    "--kind", type=click.Choice(["central", "odd", "closer"]), help="As in the other commands."
)
@click.option("--columns", metavar="ROLE=COLUMN,...", help="As in the other commands.")
@click.option("--objects", metavar="FILE", help="As in the other commands.")
@click.option("--where", multiple=True, metavar="CONDITION", help="As in the other commands.")
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Where to count: local[:N] processes, or a Dask scheduler, tcp://host:8786.",
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Keep what is finished there: the same command again counts only what is missing.",
)
@click.option("--follow", "followed", metavar="DIR", help="Keep OUT up to date with a folder.")
@click.option("--once", is_flag=True, help="With --follow: count what is new, and stop.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    help="With --follow: seconds between two looks at the folder.",
)
@reading_options
@json_option
def command(
    files: tuple[str, ...],
    output: str,
    pairs: bool,
    classes: str | None,
    kind: str | None,
    columns: str | None,
    objects: str | None,
    where: tuple[str, ...],
    cluster: str | None,
    checkpoint: str | None,
    followed: str | None,
    once: bool,
    every: float,
    how: dict[str, Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Count statements into a file that other commands take, and that merges with others.

    FILES are statement files, folders, patterns or URLs, of any number and size: what is kept
    in memory are the counts.

    \b
    Example: trilens count answers/ -o counts.npz
    """
    from trilens.counts import write_counts
    from trilens.counts.counting import CountReport, count_files
    from trilens.counts.follow import follow
    from trilens.files import read_labels, refuse_to_overwrite

    if bool(files) == (followed is not None):
        raise click.UsageError("name the files to count, or a folder with --follow")
    if isinstance(how["skip_bad"], str):
        raise click.UsageError("count takes --skip-bad, not --bad-rows")
    refuse_to_overwrite(output, *files, classes, objects)
    labels = None if classes is None else dict(read_labels(classes))
    options = {
        "pairs": pairs,
        "labels": labels,
        "kind": kind,
        "columns": columns,
        "objects": objects,
        "where": where,
        "cluster": cluster,
        "checkpoint": checkpoint,
        **how,
    }
    if followed is not None:
        rounds = follow(followed, output, every=None if once else every, **options)
        for look in rounds:
            if as_json:
                print_json(look.to_dict())
            else:
                note(f"{look}: {output}")
        return
    told: list[CountReport] = []
    with bar("counting") as progress:
        found = count_files(list(files), tell=told.append, progress=progress, **options)
        write_counts(found, output)
    facts = {
        "statements": found.statements,
        "objects": found.n_objects,
        "kind": found.kind,
        "partitions": told[0].partitions,
        "resumed": told[0].resumed,
        "skipped": found.n_skipped,
        "output": output,
    }
    if as_json:
        print_json(facts | {"left_out": list(found.skipped)})
        return
    if not quiet:
        resumed = f", {told[0].resumed:,} counted before" if told[0].resumed else ""
        note(
            f"{found.statements:,} statements of kind {found.kind} about {found.n_objects:,} "
            f"objects, {told[0].partitions:,} parts{resumed}: {output}"
        )
    for line in found.skipped[:5]:
        note(f"skipped {line}")
    if found.n_skipped > 5:
        note(f"skipped {found.n_skipped:,} in all")
