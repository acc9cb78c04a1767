"""`trilens analyze`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, bar, counted, note, print_json

#: Options that do not change what the report says.
_WITHOUT_EFFECT = ("output", "as_json", "tables", "figures", "quiet", "bad_rows", "cluster")


@options.command("analyze")
@options.statement_options
@options.cluster_option
@options.output_options(
    "Report to write (.html); with --json none is needed.",
    show_default="report.html",
    metavar="FILE",
    endings=(".html", ".htm"),
)
@options.labels_option
@options.by_option
@options.features_option
@options.images_option
@options.folder_option("--tables", "Also write the tables as CSV files.")
@options.folder_option("--figures", "Also write the figures, as SVG, PNG and PDF.")
@options.n_clusters_option
@click.option("--title", help="Title of the report.", show_default="from the name of FILE")
@options.seed_option
def command(
    answers: options.Answers,
    labels: str | None,
    by: str | None,
    features: tuple[str, ...],
    images: str | None,
    tables: str | None,
    figures: str | None,
    n_clusters: int | None,
    title: str | None,
    random_state: int,
    out: Output,
) -> None:
    """Write a report of everything the answers say, and print its headline.

    The report is one HTML page, with all pictures in it.

    \b
    Example: trilens analyze answers.csv -o report.html --labels classes.csv --images pictures/
    """
    from trilens.analysis import analyze
    from trilens.report import write_tables

    _check_pictures(images, answers)
    target = out.path if out.path is not None or out.as_json else "report.html"
    file = str(click.get_current_context().params["file"])
    if features:
        options.fit_answers(answers, random_state, features)
    with bar("analyzing") as progress:
        found = analyze(
            answers,
            options.read_labels_of(labels, answers),
            by=options.groups_of(by),
            n_clusters=n_clusters,
            title=title or default_title(file),
            source=file,
            command=command_line(click.get_current_context(), target),
            random_state=random_state,
            progress=progress,
        )
    facts = found.to_dict()
    _print(facts, options.told_of(answers), quiet=out.as_json or target == "-")
    pictures = None
    if images is not None or _told(answers):
        pictures = options.read_pictures(images, found.graph.names, _told(answers))
    if target is not None:
        found.write(target, pictures)
        if target != "-":
            note(f"wrote {target}")
    if tables is not None:
        note(f"wrote {counted(len(write_tables(facts, tables)), 'table')} to {tables}")
    if figures is not None:
        from trilens.plots import write_figures

        drawn = None if pictures is None else options.picture_files(pictures)
        written = write_figures(found, figures, pictures=drawn)
        note(f"wrote {counted(len(written), 'figure')} to {figures}")
    if out.as_json:
        print_json(facts)


def _print(facts: dict[str, Any], told: frozenset[str], *, quiet: bool) -> None:
    """The headline, and what to be careful about; where standard output is taken, as notes."""
    from trilens.report import words

    (note if quiet else click.echo)(words.headline(facts).striptags())
    for caution in facts["reliability"]["cautions"]:
        if caution["code"] not in told:
            note(f"caution: {caution['what']}")
    if facts["features"] is not None:
        note(facts["features"]["said"])
    if facts["compare_groups"] is not None:
        for said in facts["compare_groups"]["left_out"]:
            note(said)


def _told(answers: options.Answers) -> dict[str, str]:
    """The pictures that the list of objects names."""
    table = None if answers.in_counts else answers.object_table
    return {} if table is None else dict(table.pictures)


def _check_pictures(folder: str | None, answers: options.Answers) -> None:
    """Refuse pictures that cannot be read here before the work begins."""
    files = [*(() if folder is None else Path(folder).iterdir()), *_told(answers).values()]
    if files:
        from trilens.report.pictures import require_pillow

        require_pillow(files)


def default_title(file: str) -> str:
    """A title from the name of the statement file.

    >>> default_title("data/T_ALL.csv"), default_title("-")
    ('What the answers in T_ALL say', 'What the answers say')
    """
    stem = Path(file).name.split(".")[0]
    return "What the answers say" if stem in ("", "-") else f"What the answers in {stem} say"


def command_line(ctx: click.Context, output: str | None) -> str:
    """The command that makes the same report again."""
    words = ["trilens", "analyze", str(ctx.params["file"])]
    words += ["--json"] if output is None else ["-o", output]
    for option in ctx.command.params:
        if not isinstance(option, click.Option) or option.name in _WITHOUT_EFFECT:
            continue
        value = ctx.params[option.name or ""]
        for each in value if isinstance(value, tuple) else (value,):
            if each is True:
                words.append(option.opts[0])
            elif each is False:
                words += option.secondary_opts
            elif each is not None:
                words += [option.opts[-1], str(each)]
    return shlex.join(words)
