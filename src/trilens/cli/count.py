"""`trilens count`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, bar, counted


@options.command("count")
@click.argument("files", type=options.READ, nargs=-1, required=False)
@options.output_options("File for the counts, such as counts.npz.", required=True)
@click.option(
    "--pairs", is_flag=True, help="Also count pairs: for graph, cluster and the lens map."
)
@click.option(
    "--classes",
    type=options.READ,
    metavar="FILE",
    help="Also count classes: a table with the columns object,label.",
)
@options.cluster_option
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Save finished parts to DIR; the same command run again counts only what is missing.",
)
@click.option(
    "--follow", "followed", metavar="DIR", help="Keep OUT up to date with the files in DIR."
)
@click.option("--once", is_flag=True, help="With --follow: count what is new, then stop.")
@options.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=10.0,
    help="With --follow: seconds between two looks at DIR.",
)
@options.reading_options
@options.quiet_option
@options.where_option
def command(
    files: tuple[str, ...],
    pairs: bool,
    classes: str | None,
    cluster: str | None,
    checkpoint: str | None,
    followed: str | None,
    once: bool,
    every: float,
    reading: dict[str, Any],
    quiet: bool,
    where: tuple[str, ...],
    out: Output,
) -> None:
    """Count statements into a file that other commands read.

    FILES are statement files, folders, patterns or URLs, of any number and size; only the counts
    are kept in memory. Files of counts can be merged.

    \b
    Example: trilens count answers/ -o counts.npz
    """
    from trilens.answers import Answers
    from trilens.counts import write_counts
    from trilens.counts.counting import CountReport
    from trilens.counts.follow import follow

    assert out.path is not None
    if bool(files) == (followed is not None):
        raise click.UsageError("name the files to count, or a folder with --follow")
    how: dict[str, Any] = {
        "pairs": pairs,
        "labels": options.read_labels_of(classes),
        "cluster": cluster,
        "checkpoint": checkpoint,
    }
    if followed is not None:
        how |= {**reading, "where": where, "every": None if once else every}
        for look in follow(followed, out.path, **how):
            out.report(look.to_dict(), f"{look}: {out.path}")
        return
    told: list[CountReport] = []
    with bar("counting") as progress:
        found = Answers(list(files), **reading, where=where).count(
            **how, progress=progress, tell=told.append
        )
        write_counts(found, out.path)
    facts = {
        "statements": found.statements,
        "objects": found.n_objects,
        "kind": found.kind,
        "partitions": told[0].partitions,
        "resumed": told[0].resumed,
        "skipped": found.n_skipped,
        "output": out.path,
        "left_out": list(found.skipped),
    }
    resumed = f", {told[0].resumed:,} counted before" if told[0].resumed else ""
    said = (
        f"{counted(found.statements, 'statement')} of kind {found.kind} about "
        f"{counted(found.n_objects, 'object')}, {counted(told[0].partitions, 'part')}"
        f"{resumed}: {out.path}"
    )
    notes = [*([] if quiet else [said]), *(f"skipped {line}" for line in found.skipped[:5])]
    if found.n_skipped > 5:
        notes.append(f"skipped {found.n_skipped:,} in all")
    out.report(facts, *notes)
