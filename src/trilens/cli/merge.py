"""`trilens merge`."""

from __future__ import annotations

import os

import click

from trilens.cli import options
from trilens.cli.output import Output, counted


@options.command("merge")
@click.argument("files", type=options.READ, nargs=-1, required=True)
@options.output_options("File for the sum.", required=True)
def command(files: tuple[str, ...], out: Output) -> None:
    """Add up files of counts.

    Objects with the same name are the same object.

    \b
    Example: trilens merge monday.npz tuesday.npz -o both.npz
    """
    from trilens.counts import merge_counts, write_counts

    assert out.path is not None
    seen = set()
    for file in files:
        if os.path.realpath(file) in seen:
            raise click.UsageError(f"{file} is given twice; its answers would count twice")
        seen.add(os.path.realpath(file))
    found = merge_counts(files)
    write_counts(found, out.path)
    facts = {
        "statements": found.statements,
        "objects": found.n_objects,
        "kind": found.kind,
        "files": len(files),
        "output": out.path,
    }
    out.report(
        facts,
        f"{counted(found.statements, 'statement')} of kind {found.kind} about "
        f"{counted(found.n_objects, 'object')}, from {counted(len(files), 'file')}: {out.path}",
    )
