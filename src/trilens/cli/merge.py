"""`trilens merge`."""

from __future__ import annotations

import click

from trilens.cli.options import json_option
from trilens.cli.tables import note, print_json


@click.command("merge")
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", metavar="OUT", required=True, help="The file of their sum.")
@json_option
def command(files: tuple[str, ...], output: str, as_json: bool) -> None:
    """Add up files of counts; objects are the same where their names are.

    \b
    Example: trilens merge monday.npz tuesday.npz -o both.npz
    """
    from trilens.counts import merge_counts, write_counts
    from trilens.files import refuse_to_overwrite

    refuse_to_overwrite(output, *files)
    found = merge_counts(files)
    write_counts(found, output)
    facts = {
        "statements": found.statements,
        "objects": found.n_objects,
        "kind": found.kind,
        "files": len(files),
        "output": output,
    }
    if as_json:
        print_json(facts)
    else:
        note(
            f"{found.statements:,} statements of kind {found.kind} about {found.n_objects:,} "
            f"objects, from {len(files):,} files: {output}"
        )
