"""`trilens analyze`."""

from __future__ import annotations

import click

from trilens.cli.options import (
    Source,
    json_option,
    labels_option,
    read_labels_for,
    seed_option,
    statement_options,
)
from trilens.cli.progress import bar
from trilens.cli.tables import note, print_json


@click.command("analyze")
@statement_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The page to write; may be left out with --json.  [default: report.html]",
)
@labels_option
@click.option("--images", metavar="DIR", help="Pictures, one file per object name.")
@click.option("--tables", metavar="DIR", help="Also write the tables as CSV files.")
@click.option(
    "--n-clusters",
    type=click.IntRange(min=1),
    help="Number of groups; by default as many as the answers suggest.",
)
@click.option("--title", help="Title of the page; by default made from the file's name.")
@seed_option
@json_option
def command(
    source: Source,
    output: str | None,
    labels: str | None,
    images: str | None,
    tables: str | None,
    n_clusters: int | None,
    title: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write a report of everything the answers say, as one HTML page.

    \b
    Example: trilens analyze answers.csv -o report.html --labels classes.csv --images pictures/
    """
    from trilens.report import analyze, write_report, write_tables
    from trilens.report.places import read_places
    from trilens.report.write import check_folders, command_line, default_title, pictures_for

    check_folders(output, images)
    statements = source.read()
    target = output if output is not None or as_json else "report.html"
    known = None if labels is None else read_labels_for(statements, labels)
    with bar("analysing") as progress:
        facts = analyze(
            statements,
            known,
            n_clusters=n_clusters,
            places=read_places(source.file, statements, source.columns),
            title=title or default_title(source.file),
            random_state=seed,
            progress=progress,
        )
    facts["how"]["source"] = source.file
    facts["how"]["command"] = command_line(
        source.file,
        {
            "--kind": source.kind,
            "--columns": None if source.columns is None else ",".join(source.columns),
            "--objects": source.objects,
            "--labels": labels,
            "--images": images,
            "--n-clusters": n_clusters,
            "--seed": seed,
            "--title": title,
        },
        target,
    )
    if target is not None:
        pictures = None if images is None else pictures_for(facts, images)
        write_report(facts, target, pictures)
        if pictures is not None:
            for name in pictures.missing[:5]:
                note(f"no picture for {name!r} in {images}")
            for file, why in list(pictures.broken.items())[:5]:
                note(f"{images}/{file}: {why}; the name stands in its place")
        if target != "-":
            note(f"wrote {target}")
    if tables is not None:
        note(f"wrote {len(write_tables(facts, tables))} tables to {tables}")
    if as_json:
        print_json(facts)
