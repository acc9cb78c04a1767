"""The summary page: for every claim the paper's words, ours, and the verdict."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from trilens import __version__
from trilens.files.output import atomic_write
from trilens_paper.framework.experiment import Experiment
from trilens_paper.framework.figures import save
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import Claim, Finding, Verdict

_HEAD = """# The paper, reproduced

The figures and tables of Kleindessner and von Luxburg, "Lens depth function and k-relative
neighborhood graph: versatile tools for ordinal data analysis" (JMLR 18(58), 2017), computed
again. Every verdict is computed by the rule that stands beside it: *agrees*, *differs*,
*undecided* (the runs are too few to tell) or *not judged* (not run, or a single run of
something random). "a ± b" is a mean with its standard error, se. A rule is met when all of
mean ± 2 se meets it and missed when none of it does. Where a rule says *below* or *above*, the
se is that of a difference, taken run by run. A paper's "-" marks what trilens adds.
"""


@dataclass(frozen=True)
class Judged:
    """An experiment's results, and what became of each claim."""

    experiment: Experiment
    results: Results
    findings: tuple[tuple[Claim, Finding], ...]

    @property
    def tally(self) -> Counter[str]:
        """How often each verdict was given."""
        return Counter(finding.verdict for _, finding in self.findings)


def judged(experiment: Experiment, results: Results) -> Judged:
    """Every claim of an experiment, judged by its results."""
    found = tuple((claim, claim.judge(results)) for claim in experiment.claims)
    return Judged(experiment, results, found)


def write_page(
    path: Path,
    experiments: Sequence[Experiment],
    results: Mapping[str, Results],
    commands: Sequence[str] = (),
) -> list[Judged]:
    """The page at ``path``, and the figures in a folder of the same name beside it.

    Parameters
    ----------
    path : Path
        Ends in ``.md``.
    experiments : sequence of Experiment
    results : mapping of str to Results
        By the experiment's name; one without results is named as not run.
    commands : sequence of str
        What was typed, for the page.
    """
    figures = path.with_suffix("")
    found = [judged(e, results[e.name]) for e in experiments if len(results.get(e.name, ()))]
    missing = [e.name for e in experiments if not len(results.get(e.name, ()))]
    parts = [_HEAD, _circumstances(commands), _overview(found)]
    if missing:
        parts.append(f"Not run by this code: {', '.join(missing)}.\n")
    for one in found:
        drawn = save(one.experiment.figure(one.results), figures / one.experiment.name)
        parts.append(_section(one, f"{figures.name}/{drawn.name}"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write("\n".join(parts).encode())
    return found


def _circumstances(commands: Sequence[str]) -> str:
    lines = [
        f"- date: {datetime.now(UTC):%Y-%m-%d}",
        f"- hardware: {hardware()}",
        f"- trilens {__version__}",
    ]
    lines += [f"- command: `{command}`" for command in commands]
    return "\n".join(lines) + "\n"


def _overview(found: Sequence[Judged]) -> str:
    verdicts = get_args(Verdict)
    lines = [
        "| experiment | runs | agrees | differs | undecided | not judged |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for one in found:
        name, tally = one.experiment.name, one.tally
        counts = " | ".join(str(tally[v]) for v in verdicts)
        lines.append(f"| [{name}](#{name}) | {one.results.runs} | {counts} |")
    totals = " | ".join(str(sum(one.tally[v] for one in found)) for v in verdicts)
    lines.append(f"| all | | {totals} |")
    return "\n".join(lines) + "\n"


def _section(one: Judged, figure: str) -> str:
    e = one.experiment
    lines = [
        f"## {e.name}",
        "",
        f"{e.title} ({e.paper}), {one.results.runs} run{'s' * (one.results.runs != 1)}.",
        "",
        f"- drawn: {e.drawn}",
        f"- asked: {e.asked}",
        f"- spoiled: {e.spoiled}",
        f"- compared: {e.compared}",
        *(f"- {note}" for note in e.notes),
        "",
        "| claim | paper | ours | verdict | rule |",
        "|---|---|---|---|---|",
    ]
    # said once, above the table; where there were fewer runs it stays
    said = f" ({one.results.runs} runs)"
    for claim, finding in one.findings:
        ours = finding.ours.replace(said, "")
        why = f" ({claim.why})" if claim.why and finding.verdict == "differs" else ""
        cells = [claim.text, claim.paper, ours, _mark(finding) + why, claim.rule]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", f"![{e.title}]({figure})", ""])


def _mark(finding: Finding) -> str:
    return f"**{finding.verdict}**" if finding.verdict == "differs" else finding.verdict


def hardware() -> str:
    """Cores, processor and memory of this machine, as far as it tells."""
    import platform

    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            named = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        model = named[0] if named else model
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = f", {pages / 2**30:.0f} GiB"
    except (OSError, ValueError, AttributeError):
        memory = ""
    return f"{os.cpu_count()} cores, {model}{memory}"
