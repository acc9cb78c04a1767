"""`trilens reproduce`."""

from __future__ import annotations

from pathlib import Path

import click

from trilens.cli.output import bar, note, print_table


@click.command("reproduce")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "show_list", is_flag=True, help="List the experiments and stop.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    help="Number of repetitions (the paper has 100).",
    show_default="a few",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder for the results; an interrupted run continues from what is there.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    help="Number of processes.",
    show_default="one per core",
)
@click.option("--full", is_flag=True, help="Include what takes hours.")
@click.option(
    "--docs",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.md",
    help="Also write the summary page here, with its figures in a folder of the same name.",
)
def command(
    names: tuple[str, ...],
    show_list: bool,
    runs: int | None,
    out: Path,
    processes: int | None,
    full: bool,
    docs: Path | None,
) -> None:
    """Repeat the paper's experiments and judge its claims.

    Computes its figures and tables again: those of the experiments named, or all with few runs.

    \b
    Example: trilens reproduce cars-classification cars-clustering --runs 100
    """
    from trilens_paper.registry import (
        EXPERIMENTS,
        experiment_named,
        outdated,
        recorded,
        run,
        write_page,
    )

    if show_list:
        rows = [(e.name, f"{e.title} ({e.paper})", e.runs) for e in EXPERIMENTS.values()]
        print_table(["experiment", "what", "runs"], rows, left=2)
        return
    chosen = [experiment_named(name) for name in dict.fromkeys(names)] or list(EXPERIMENTS.values())
    if n_outdated := outdated(chosen, out, runs, full):
        results_are = "result was" if n_outdated == 1 else "results were"
        note(f"{n_outdated:,} {results_are} computed by other code and will be computed again")
    with bar("reproduce") as progress:
        results = run(chosen, out, runs=runs, full=full, processes=processes, progress=progress)
    commands = _remember(out / "commands.txt", names, runs, full)
    others = {e.name: recorded(e, out) for e in EXPERIMENTS.values() if e.name not in results}
    found = []
    for page in (out / "summary.md", docs):
        if page is not None:
            found = write_page(page, list(EXPERIMENTS.values()), others | results, commands)
    verdicts = ("agrees", "differs", "undecided", "not judged")
    print_table(
        ["experiment", "runs", *verdicts],
        [
            (one.experiment.name, one.results.runs, *(one.tally[v] for v in verdicts))
            for one in found
            if one.experiment.name in results
        ],
    )
    note(f"summary: {out / 'summary.md'}")


def _remember(path: Path, names: tuple[str, ...], runs: int | None, full: bool) -> list[str]:
    """The commands that filled the folder, as far as they decide the results; this one last."""
    options = ["--runs", str(runs)] * (runs is not None) + ["--full"] * full
    typed = " ".join(["trilens reproduce", *names, *options])
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    commands = [*(line for line in before if line != typed), typed]
    path.write_text("\n".join(commands) + "\n", encoding="utf-8")
    return commands
