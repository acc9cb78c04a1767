"""`trilens analyze`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from trilens.cli.counting import reading_of, refuse_counts
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
from trilens.errors import FormatError


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
    from trilens.analysis import analyze
    from trilens.answers import Answers
    from trilens.files import read_labels
    from trilens.report import load_pictures, picture_size, write_tables

    _check_folders(output, images)
    refuse_counts(source, "analyze")
    reading = reading_of(source)
    statements = source.read() if reading is None else None
    target = output if output is not None or as_json else "report.html"
    options = {
        "--kind": source.kind,
        "--columns": source.columns,
        "--objects": source.objects,
        **source.selecting.options(),
        "--labels": labels,
        "--images": images,
        "--n-clusters": n_clusters,
        "--seed": seed,
        "--title": title,
    }
    told: dict[str, Any] = {
        "n_clusters": n_clusters,
        "title": title or default_title(source.file),
        "command": command_line(source.file, options, target),
        "random_state": seed,
    }
    with bar("analysing") as progress:
        if statements is None:
            assert reading is not None
            known = None if labels is None else dict(read_labels(labels))
            reading.pop("counts")
            answers = Answers(source.file, **reading)
            found = analyze(answers, known, progress=progress, **told)
        else:
            every = None if labels is None else read_labels_for(statements, labels)
            found = analyze(statements, every, source=source.file, progress=progress, **told)
    if target is not None:
        pictures = None
        if images is not None:
            names = found.graph.names
            pictures = load_pictures(images, names, picture_size(len(names)))
            for name in pictures.missing[:5]:
                note(f"no picture for {name!r} in {images}")
            for file, why in list(pictures.broken.items())[:5]:
                note(f"{images}/{file}: {why}; the name stands in its place")
        found.write(target, pictures)
        if target != "-":
            note(f"wrote {target}")
    if tables is not None:
        note(f"wrote {len(write_tables(found.to_dict(), tables))} tables to {tables}")
    if as_json:
        print_json(found.to_dict())


def default_title(file: str) -> str:
    """A title from the name of the statement file.

    >>> default_title("data/T_ALL.csv"), default_title("-")
    ('What the answers in T_ALL say', 'What the answers say')
    """
    stem = Path(file).name.split(".")[0]
    return "What the answers say" if stem in ("", "-") else f"What the answers in {stem} say"


def command_line(file: str, options: dict[str, Any], output: str | None) -> str:
    """The command that makes the same report again.

    >>> command_line("my answers.csv", {"--seed": 0, "--labels": None}, "report.html")
    "trilens analyze 'my answers.csv' -o report.html --seed 0"
    """
    words = ["trilens", "analyze", file]
    words += ["--json"] if output is None else ["-o", output]
    for option, value in options.items():
        for each in value if isinstance(value, tuple) else (value,):
            words += [] if each is None else [option, str(each)]
    return shlex.join(words)


def _check_folders(output: str | None, images: str | None) -> None:
    """Refuse folders that are not there before the work begins."""
    if output not in (None, "-") and not Path(str(output)).absolute().parent.is_dir():
        folder = Path(str(output)).parent
        raise FormatError(
            f"{output} cannot be written: the folder {folder} does not exist; make it first"
        )
    if images is not None and not Path(images).is_dir():
        raise FormatError(f"{images}: there is no such folder of pictures; check --images")
