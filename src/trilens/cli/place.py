"""`trilens place`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from trilens.cli import options
from trilens.cli.output import ENDINGS, Output, counted

if TYPE_CHECKING:
    from trilens.maps.fitted import Fit


@options.command("place")
@click.argument("map_file", type=options.READ, metavar="FIT")
@partial(options.statement_options, required=False)
@click.option(
    "--features",
    type=options.READ,
    metavar="FILE",
    help="Vectors of new objects, as for the map: .npy, .npz with names, CSV or Parquet.",
)
@options.output_options(
    "Write the places as a table (.csv, .tsv, .json or .parquet; - for CSV on standard output), or "
    "the fit with the new objects in it (.fit).",
    endings=(*ENDINGS, ".fit"),
)
def command(
    map_file: str, answers: options.Answers | None, features: str | None, out: Output
) -> None:
    """Place new objects on the map of a fit.

    By answers about them in FILE, by their features, or by both. Objects of the map stay where
    they are.

    \b
    Example: trilens place study.fit new_answers.csv
    Example: trilens place study.fit --features new.npz -o larger.fit
    """
    from trilens.files import read_features
    from trilens.maps.fit_file import load
    from trilens.maps.places import extended, find_places, new_objects

    if answers is None and features is None:
        raise click.UsageError("give answers about new objects, or their --features")
    fitted = load(map_file)
    S = None
    if answers is not None:
        answers.kind = answers.kind or fitted.map.kind
        S = answers.read()
    given = None if features is None else read_features(features)
    new = new_objects(fitted, S, given)
    found = find_places(fitted, new)
    if out.path is not None and out.path.endswith(".fit"):
        extended(fitted, new, found).save(out.path)
        out.report(found.to_dict(), f"wrote {out.path}", _said(len(found.names), fitted))
        return
    out.show(found.columns(), found.to_dict(), [_said(len(found.names), fitted)])


def _said(new: int, fitted: Fit) -> str:
    where = f"a map of {fitted.n_objects:,} in {counted(fitted.map.n_components, 'dimension')}"
    return f"{counted(new, 'new object')} on {where}"
