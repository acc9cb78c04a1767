"""`trilens reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from trilens.cli.output import bar, note, print_table
from trilens.errors import FormatError, ParameterError


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
    "--any-code",
    is_flag=True,
    help="Keep results that another version of the code has computed.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.md",
    help="Run nothing: write the page of all results in the folder, whatever code computed them, "
    "with its figures in a folder of the same name.",
)
def command(
    names: tuple[str, ...],
    show_list: bool,
    runs: int | None,
    out: Path,
    processes: int | None,
    full: bool,
    any_code: bool,
    page: Path | None,
) -> None:
    """Repeat the paper's experiments and judge its claims.

    Computes its figures and tables again: those of the experiments named, or all with few runs.

    \b
    Example: trilens reproduce cars-classification cars-clustering --runs 100
    """
    from trilens_paper.framework.runner import outdated, recorded, run
    from trilens_paper.framework.summary import write_page
    from trilens_paper.framework.verdicts import Verdict
    from trilens_paper.registry import EXPERIMENTS, experiment_named

    everything = list(EXPERIMENTS.values())
    if show_list:
        rows = [(e.name, f"{e.title} ({e.paper})", e.runs) for e in everything]
        print_table(["experiment", "what", "runs"], rows, left=2)
        return
    chosen = [experiment_named(name) for name in dict.fromkeys(names)] or everything
    if page is not None and page.suffix != ".md":
        raise ParameterError(f"--page writes Markdown: {page} must end in .md")
    if page is None:
        n_outdated = 0 if any_code else outdated(chosen, out, runs, full)
        if n_outdated:
            results_are = "result was" if n_outdated == 1 else "results were"
            note(f"{n_outdated:,} {results_are} computed by other code and will be computed again")
        _remember(out / "commands.txt", names, runs, full)
        with bar("reproduce") as progress:
            run(
                chosen,
                out,
                runs=runs,
                full=full,
                any_code=any_code,
                processes=processes,
                progress=progress,
            )
    written = page or out / "summary.md"
    kept = {e.name: recorded(e, out, any_code or page is not None) for e in everything}
    if not any(kept.values()):
        raise FormatError(f"there are no results in {out}; --out names the folder that has them")
    found = write_page(written, everything, kept, _commands(out))
    verdicts = get_args(Verdict)
    print_table(
        ["experiment", "runs", *verdicts],
        [
            (one.experiment.name, one.results.runs, *(one.tally()[v] for v in verdicts))
            for one in found
            if one.experiment in chosen
        ],
    )
    note(f"summary: {written}")


def _remember(path: Path, names: tuple[str, ...], runs: int | None, full: bool) -> None:
    """Add this command to those that filled the folder, as far as they decide the results.

    Experiments stand one by one, each with the most runs that were asked for.
    """
    from trilens_paper.registry import EXPERIMENTS

    options = ["--runs", str(runs)] * (runs is not None) + ["--full"] * full
    most: dict[tuple[str, ...], int] = {}
    for line in [*_commands(path.parent), " ".join(["trilens reproduce", *names, *options])]:
        words = line.split()[2:]
        number = int(words[words.index("--runs") + 1]) if "--runs" in words else 0
        rest = ("--full",) * ("--full" in words)
        given = [word for word in words if word in EXPERIMENTS] or [""]
        for name in given:
            key = (name, *rest)
            most[key] = max(most.get(key, 0), number)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        " ".join(["trilens reproduce", *filter(None, key), *(["--runs", str(n)] if n else [])])
        for key, n in most.items()
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _commands(out: Path) -> list[str]:
    path = out / "commands.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
