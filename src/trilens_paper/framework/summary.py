"""The page: for every claim the paper's words, ours, and the verdict; and how it was run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from trilens.files.output import atomic_write
from trilens_paper.framework.experiment import Experiment
from trilens_paper.framework.figures import save
from trilens_paper.framework.journal import Entry
from trilens_paper.framework.results import Results, joined
from trilens_paper.framework.verdicts import LEAST_RUNS, Claim, Finding, Verdict

_HEAD = f"""# The paper, reproduced

The figures and tables of Kleindessner and von Luxburg, "Lens depth function and k-relative
neighborhood graph: versatile tools for ordinal data analysis" (JMLR 18(58), 2017), computed
again. Every verdict is computed by the rule that stands beside it: *agrees*, *differs*,
*undecided* (the runs are too few to tell) or *not judged* (not run, or a single run of
something random).

"a ± b" is a mean with its standard error, se. A rule is met when all of mean ± 2 se meets it and
missed when none of it does; so fewer runs make a verdict undecided, and with fewer than
{LEAST_RUNS} runs nothing that depends on chance agrees or differs. Where nothing does, one run is
enough. Where a rule says *below* or *above*, the se is that of a difference, taken run by run.
Where the paper gives a standard deviation over its 100 runs, its own se counts as well: the
interval is that of the difference. A share of the runs has the score interval of Wilson (1927) in
place of mean ± 2 se. A claim about several methods or settings is judged for each of them; "3 of
4" says for how many it holds, and the others are marked *not* or *undecided*.

Words of the paper that the tables use:

- A *statement* says which of three objects is the most central. *errorprob* is the probability
  that it is wrong; then it names one of the other two objects, each equally often (Noise model
  I). *noiseparam* is the standard deviation of noise that is added to the distances, divided by
  the standard deviation of the distances (Noise model II).
- *Uniform*: statements are drawn at random, none twice. *Sampling II*: the objects are in ten
  groups, and the i-th group is drawn with a probability proportional to i², then a statement
  about one of its objects; so some objects appear more often than others.

What is not as in the paper:

- GNMDS, SOE, STE and t-STE are trilens' own compiled code. The paper ran the Matlab and R
  originals, so times, and what a random start ends in, are not those of the originals.
- The paper's k for k-NN and its SVM parameters come from ten folds, and so do ours. For Algorithm
  4 every labelled object is left out once, where the paper leaves out one at random twenty times.
- Labels of a single class are refused: there is nothing to learn. No draw here had such labels.
- Where several objects tie for the medoid, their errors are averaged.
- Numbers of statements, and other values that the paper shows in figures alone, are our choice;
  the notes of each experiment name them.
"""

_TESTS = """## Held by tests

What is true by proof, or without chance, is no claim that runs can decide. The tests hold it
(`tests/paper/test_facts.py`):

- A true k-RNG is always connected (Sections 3.2 and 5.3).
- On the line lens depth is simplicial depth (Section 7).
- The directed k-nearest neighbour graph as an input (Section 5.1.1): each neighbour and each other
  object give a statement "closer", every one of them true, and the map of these statements gives
  the neighbours back.
"""


@dataclass(frozen=True)
class Judged:
    """An experiment's results, and what became of each claim."""

    experiment: Experiment
    results: Results
    findings: tuple[tuple[Claim, Finding], ...]

    def tally(self, of_paper: bool | None = None) -> Counter[str]:
        """How often each verdict was given: of all claims, of the paper's, or of ours."""
        return Counter(
            finding.verdict
            for claim, finding in self.findings
            if of_paper is None or claim.of_paper == of_paper
        )


def judged(experiment: Experiment, results: Results) -> Judged:
    """Every claim of an experiment, judged by its results."""
    found = tuple((claim, claim.judge(results)) for claim in experiment.claims)
    return Judged(experiment, results, found)


def write_page(
    path: Path,
    experiments: Sequence[Experiment],
    kept: Mapping[str, Sequence[Entry]],
    commands: Sequence[str] = (),
) -> list[Judged]:
    """The page at ``path``, and the figures in a folder of the same name beside it.

    Parameters
    ----------
    path : Path
        Ends in ``.md``.
    experiments : sequence of Experiment
    kept : mapping of str to sequence of Entry
        What was measured, by the experiment's name; one without cells is named as not run.
    commands : sequence of str
        What was typed, for the page.
    """
    figures = path.with_suffix("")
    found = [_judged_cells(e, kept[e.name]) for e in experiments if kept.get(e.name)]
    drawn = {
        one.experiment.name: save(one.experiment.figure(one.results), figures / one.experiment.name)
        for one in found
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        text = page_text(experiments, kept, commands, found)
        for name, picture in drawn.items():
            text = text.replace(f"]({name})", f"]({figures.name}/{picture.name})")
        file.write(text.encode())
    return found


def page_text(
    experiments: Sequence[Experiment],
    kept: Mapping[str, Sequence[Entry]],
    commands: Sequence[str],
    found: Sequence[Judged] | None = None,
) -> str:
    """The page, with the names of the experiments in place of their figures."""
    if found is None:
        found = [_judged_cells(e, kept[e.name]) for e in experiments if kept.get(e.name)]
    missing = [e.name for e in experiments if not kept.get(e.name)]
    parts = [_HEAD, _overview(experiments, found)]
    if missing:
        parts.append(f"There are no journals of: {', '.join(missing)}.\n")
    parts.append(_runs([(one.experiment, kept[one.experiment.name]) for one in found], commands))
    parts.append(_TESTS)
    parts += [_section(one) for one in found]
    return "\n".join(parts)


def _judged_cells(experiment: Experiment, entries: Sequence[Entry]) -> Judged:
    return judged(experiment, joined(entry.rows for entry in entries))


def _overview(experiments: Sequence[Experiment], found: Sequence[Judged]) -> str:
    verdicts = get_args(Verdict)
    run = {one.experiment.name: one for one in found}
    every = [run.get(e.name) or judged(e, Results(())) for e in experiments]
    lines = []
    for of_paper, title in ((True, "Claims of the paper"), (False, "Claims of our own")):
        lines += [
            f"{title}:",
            "",
            "| experiment | runs | agrees | differs | undecided | not judged |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for one in every:
            name, tally = one.experiment.name, one.tally(of_paper)
            if tally:
                counts = " | ".join(str(tally[v]) for v in verdicts)
                said = f"[{name}](#{name})" if name in run else name
                lines.append(f"| {said} | {one.results.runs} | {counts} |")
        totals = " | ".join(str(sum(one.tally(of_paper)[v] for one in every)) for v in verdicts)
        lines += [f"| all | | {totals} |", ""]
    return "\n".join(lines)


def _runs(kept: Sequence[tuple[Experiment, Sequence[Entry]]], commands: Sequence[str]) -> str:
    """The table of runs: how many, how long, when, and by which code."""
    lines = [
        "## Runs",
        "",
        "Each line of the files `paper/*/cells.jsonl`, the journals, holds the results of one run "
        "of one setting, that is of one point of an experiment's grid. This page is made from "
        "these; figures that show single objects draw them again, those of the cars from the "
        "survey's data:",
        "",
        "```shell",
        "trilens reproduce --out paper --page docs/reproduction.md",
        "```",
        "",
        "More runs are added to the same journals, and an interrupted run goes on where it "
        "stopped. Results of other versions of the code stay with `--any-code`; without it they "
        "are computed again:",
        "",
        "```shell",
        *(f"{command} --out paper --any-code" for command in commands),
        "```",
        "",
        "Where not all settings have equally many runs, the least and the most are given. CPU "
        "seconds are those of one run of all settings. "
        "The code is a fingerprint of what was measured with.",
        "",
        "| experiment | settings | runs | CPU seconds per run | measured | code |",
        "|---|---:|---:|---:|---|---|",
    ]
    for experiment, entries in kept:
        each = Counter(entry.cell.point.key for entry in entries)
        least, most = min(each.values()), max(each.values())
        seconds = sum(
            sum(entry.seconds for entry in entries if entry.cell.point.key == key) / count
            for key, count in each.items()
        )
        days = sorted({entry.day for entry in entries})
        codes = dict.fromkeys(entry.code[:8] for entry in entries)
        cells = [
            experiment.name,
            f"{len(each)} of {len(experiment.grid)}",
            str(most) if least == most else f"{least} to {most}",
            f"{seconds:.3g}",
            days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
            ", ".join(codes),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    machines = dict.fromkeys(entry.machine for _, entries in kept for entry in entries)
    versions = dict.fromkeys(entry.version for _, entries in kept for entry in entries)
    lines += ["", f"trilens {', '.join(versions)} on {'; '.join(machines)}.", ""]
    return "\n".join(lines)


def _section(one: Judged) -> str:
    e = one.experiment
    lines = [
        f"## {e.name}",
        "",
        f"{e.title} ({e.paper}), {one.results.runs} run{'s' * (one.results.runs != 1)}.",
        "",
        f"- objects: {e.drawn}",
        f"- statements: {e.asked}",
        f"- errors: {e.spoiled}",
        f"- methods: {e.compared}",
        *(f"- {note}" for note in e.notes),
        "",
    ]
    of_paper = [(claim, finding) for claim, finding in one.findings if claim.of_paper]
    if of_paper:
        lines += [
            "| claim | paper | ours | verdict | rule |",
            "|---|---|---|---|---|",
            *(_row(c.text, c.paper, _ours(one, f), _mark(c, f), c.rule) for c, f in of_paper),
            "",
        ]
    of_ours = [(claim, finding) for claim, finding in one.findings if not claim.of_paper]
    if of_ours:
        lines += [
            "Claims of our own, which are not in the paper:",
            "",
            "| claim | found | verdict | rule |",
            "|---|---|---|---|",
            *(_row(c.text, _ours(one, f), _mark(c, f), c.rule) for c, f in of_ours),
            "",
        ]
    return "\n".join([*lines, f"![{e.title}]({e.name})", ""])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _ours(one: Judged, finding: Finding) -> str:
    # said once, above the table; where there were fewer runs it stays
    return finding.ours.replace(f" ({one.results.runs} runs)", "")


def _mark(claim: Claim, finding: Finding) -> str:
    if finding.verdict != "differs":
        return finding.verdict
    return f"**differs** ({claim.why})" if claim.why else "**differs**"
