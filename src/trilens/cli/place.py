"""`trilens place`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from trilens.cli import options
from trilens.cli.output import Output, counted

if TYPE_CHECKING:
    from trilens.answers import Answers
    from trilens.maps.choice_map import ChoiceMap


@options.command("place")
@click.argument("map_file", metavar="MAP")
@partial(options.statement_options, required=False)
@click.option(
    "--features",
    metavar="FILE",
    help="Vectors of new objects, as for the map: .npy, .npz with names, CSV or Parquet.",
)
@options.output_options(
    "Write the places as a table (.csv, .tsv, .json or .parquet; - for CSV on standard output), or "
    "the map with the new objects in it (.npz).",
    callback=options.map_or_table_ending,
)
def command(map_file: str, answers: Answers | None, features: str | None, out: Output) -> None:
    """Place new objects on a map that trilens embed wrote.

    By answers about them in FILE, by their features, or by both. Objects of the map stay where
    they are.

    \b
    Example: trilens place map.npz new_answers.csv
    Example: trilens place map.npz --features new.npz -o larger.npz
    """
    from trilens.files import read_features, refuse_to_overwrite
    from trilens.maps import load_map

    if answers is None and features is None:
        raise click.UsageError("give answers about new objects, or their --features")
    if out.path is not None:
        refuse_to_overwrite(out.path, map_file, features)
    M = load_map(map_file)
    S = None
    if answers is not None:
        answers.kind = answers.kind or M.model_.kind
        S = answers.read()
    given = None if features is None else read_features(features)
    found = M.place(S, features=given)
    if out.path is not None and out.path.endswith(".npz"):
        M.extend(S, features=given).save(out.path)
        out.report(found.to_dict(), f"wrote {out.path}", _said(len(found.names), M))
        return
    out.show(found.columns(), found.to_dict(), [_said(len(found.names), M)])


def _said(new: int, M: ChoiceMap) -> str:
    where = f"a map of {len(M.embedding_):,} in {counted(M.n_components_, 'dimension')}"
    return f"{counted(new, 'new object')} on {where}"
