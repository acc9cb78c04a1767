"""`trilens embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trilens.cli.counting import counts_of, reading_of
from trilens.cli.options import (
    Source,
    comparisons_option,
    json_option,
    method_option,
    seed_option,
    statement_options,
)
from trilens.cli.progress import bar
from trilens.cli.tables import counted, note, print_json, save_table, table_ending

if TYPE_CHECKING:
    from trilens._typing import FloatArray
    from trilens.statements import Statements
    from trilens.statements.comparisons import Comparisons


def _write(names: tuple[str, ...], points: FloatArray, output: str) -> None:
    columns = {f"x{i}": axis for i, axis in enumerate(points.T, start=1)}
    save_table({"object": names, **columns}, output)


@click.command("embed")
@statement_options
@comparisons_option
@method_option("embed", "Which map; of comparisons soe, ste, tste or gnmds.")
@click.option(
    "--dim", type=click.IntRange(min=1), default=2, show_default=True, help="Dimension of the map."
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    callback=table_ending,
    help="Coordinates (.csv, .tsv, .json, .parquet), or - for CSV.",
)
@seed_option
@json_option
def command(
    source: Source,
    comparisons: bool,
    method: str,
    dim: int,
    output: str,
    seed: int,
    as_json: bool,
) -> None:
    """Give every object coordinates, and say how many triplets these violate.

    \b
    Example: trilens embed answers.csv --dim 2 -o map.csv
    """
    from trilens.maps import violations
    from trilens.maps.registry import coordinates, make_map
    from trilens.tasks.method import choose_method

    given: Statements | Comparisons
    if comparisons:
        given = source.read_comparisons()
        chosen = "soe" if method == "auto" else method
        if chosen in ("choice", "lensmap"):
            raise click.UsageError(f"{chosen} takes statements about three objects; soe takes both")
        with bar(f"{chosen} in {dim} dimensions") as progress:
            points = make_map(chosen, dim, seed).fit_transform(given, progress=progress)
        share, what = violations(points, given), "comparisons"
    elif (
        method in ("auto", "choice", "lensmap")
        and (reading := reading_of(source, many=method == "lensmap")) is not None
    ):
        from trilens.answers import Answers
        from trilens.maps.streamed import stream_map

        chosen = "choice" if method == "auto" else method
        with bar(f"{chosen} in {dim} dimensions") as progress:
            counts = reading.pop("counts")
            found = stream_map(
                Answers(source.file, **reading),
                dim,
                method=chosen,
                random_state=seed,
                progress=progress,
                counts=counts,
            )
        _write(found.names, found.embedding, output)
        if as_json and output != "-":
            told = {"method": chosen, "dim": dim, "violations": None}
            if found.predicted is not None:
                told |= {"predicted": found.predicted, "error_rate": found.error_rate}
            print_json(told)
        else:
            note(f"{chosen}, {counted(dim, 'dimension')}, {len(found.names):,} objects: {output}")
            if found.predicted is not None:
                note(
                    f"{found.predicted:.1%} of {found.aside:,} answers kept aside are predicted; "
                    f"about {found.error_rate:.1%} of the answers are wrong by the model"
                )
        return
    elif (counts := counts_of(source, pairs=True, streamed=method == "lensmap")) is not None:
        from trilens.tasks.embed import map_of_pairs
        from trilens.tasks.method import method_of_pairs

        assert counts.pairs is not None
        chosen = method_of_pairs(method, counts.pairs, "lensmap")
        if chosen != "lensmap":
            raise click.UsageError("of counts of pairs there is the lens map; krng is no map")
        points = map_of_pairs(counts.pairs, dim, seed)
        _write(counts.names, points, output)
        if as_json and output != "-":
            print_json({"method": chosen, "dim": dim, "violations": None})
        else:
            note(f"{chosen}, {dim} dimensions, of {counts.statements:,} statements: {output}")
        return
    else:
        given = source.read()
        chosen = choose_method("embed", given, method)
        with bar(f"{chosen} in {dim} dimensions") as progress:
            points = coordinates(given, chosen, dim, seed, progress)
        share, what = violations(points, given), "triplets"
    _write(given.names, points, output)
    # on standard output the data itself goes out: nothing may be mixed with it
    if as_json and output != "-":
        print_json({"method": chosen, "dim": dim, "violations": share})
    else:
        many = counted(dim, "dimension")
        note(f"{chosen}, {many}: {100 * share:.2f} % of the {what} violated")
