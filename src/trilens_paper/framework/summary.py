"""The page: for every claim the paper's words, ours, and the verdict; and how it was run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import get_args

from trilens.files.output import atomic_write
from trilens_paper.framework.experiment import Experiment
from trilens_paper.framework.figures import save
from trilens_paper.framework.journal import Entry
from trilens_paper.framework.results import Results, joined
from trilens_paper.framework.verdicts import LEAST_RUNS, Claim, Finding, Verdict

WIDTH = 99

_HEAD = """# The paper, reproduced

The figures and tables of Kleindessner and von Luxburg, "Lens depth function and k-relative
neighborhood graph: versatile tools for ordinal data analysis" (JMLR 18(58), 2017), computed
again. The table has the main claims; all the others, with the paper's words, our numbers, the
rules and the figures, are beneath, folded by experiment. Every verdict is computed by a rule:

- *agrees* or *differs*: the runs tell;
- *undecided*: the runs are too few to tell;
- *not comparable*: the claim is about the running times of other programs than ours;
- *not judged*: not run, or a single run of something random.

"2 of 4" says for how many of its methods or settings a claim holds.
"""

_READING = f"""## How to read the numbers

"a ± b" is a mean with its standard error, se. A rule is met when all of mean ± 2 se meets it and
missed when none of it does; so fewer runs make a verdict undecided, and with fewer than
{LEAST_RUNS} runs nothing that depends on chance agrees or differs. Where nothing does, one run is
enough. Where a rule says *below* or *above*, the se is that of a difference, taken run by run.
Where the paper gives a standard deviation over its 100 runs, its own se counts as well: the
interval is that of the difference. A share of the runs has the score interval of Wilson (1927) in
place of mean ± 2 se. A claim about several methods or settings is judged for each of them; those
for which it does not hold are marked *not* or *undecided*. What is marked as found afterwards was
tried when the results were known.

Words of the paper:

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
  4 every labeled object is left out once, where the paper leaves out one at random twenty times.
- Labels of a single class are refused: there is nothing to learn. No draw here had such labels.
- Where several objects tie for the medoid, their errors are averaged.
- Numbers of statements, and other values that the paper shows in figures alone, are our choice;
  the notes of each experiment name them.

What is true by proof, or without chance, is no claim that runs can decide. The tests hold it
(`tests/paper/test_facts.py`):

- A true k-RNG is always connected (Sections 3.2 and 5.3).
- On the line lens depth is simplicial depth (Section 7).
- The directed k-nearest neighbor graph as an input (Section 5.1.1): each neighbor and each other
  object give a statement "closer", every one of them true, and the map of these statements gives
  the neighbors back.
"""


_RUNS_OF_THE_PAPER = 100
_RUNS = """## Runs

Each line of the journals `paper/*/cells.jsonl` holds the results of one run of one setting, that
is of one point of an experiment's grid. This page is made from these; figures that show single
objects draw them again, those of the cars from the survey's data:

```shell
trilens reproduce --out paper --page docs/reproduction.md
```

More runs are added to the same journals, and an interrupted run goes on where it stopped. Results
of other versions of the code stay with `--any-code`; without it they are computed again:
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
    found = tuple((claim, claim.finding(results)) for claim in experiment.claims)
    return Judged(experiment, results, found)


def write_page(
    path: Path,
    experiments: Sequence[Experiment],
    kept: Mapping[str, Sequence[Entry]],
    commands: Sequence[str] = (),
) -> list[Judged]:
    """The page at ``path``, and the figures in a folder of the same name beside it.

    ``kept`` is what was measured, by the experiment's name; one without cells is named as not run.
    ``commands`` is what was typed, for the page.
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
    parts = [_HEAD, _main_claims(found)]
    if missing:
        parts.append(_wrapped(f"There are no journals of: {', '.join(missing)}.") + "\n")
    parts.append(_READING)
    parts += [_section(one, kept[one.experiment.name]) for one in found]
    parts.append(_runs([(one.experiment, kept[one.experiment.name]) for one in found], commands))
    return "\n".join(parts)


def _judged_cells(experiment: Experiment, entries: Sequence[Entry]) -> Judged:
    return judged(experiment, joined(entry.rows for entry in entries))


def _main_claims(found: Sequence[Judged]) -> str:
    """The table of the main claims, under the names of their experiments, and all in numbers."""
    lines = ["| claim | ours | verdict |", "|---|---|---|"]
    linked = []
    for one in found:
        main = [(claim, finding) for claim, finding in one.findings if claim.main]
        if main:
            name = one.experiment.name
            lines.append(f"| **{one.experiment.title}** [{name}] | | |")
            linked.append(f"[{name}]: #{name}")
        for claim, finding in main:
            lines.append(f"| {claim.main} | {_headline(finding.ours)} | {_marked(finding)} |")
    counts = [
        f"Of the claims of {whose}, {_counted(tally)}."
        for whose, tally in (
            ("the paper", sum((one.tally(True) for one in found), Counter[str]())),
            ("our own", sum((one.tally(False) for one in found), Counter[str]())),
        )
        if tally
    ]
    return "\n".join([*lines, "", _wrapped(" ".join(counts)), "", *linked, ""])


def _counted(tally: Mapping[str, int]) -> str:
    """
    >>> _counted({"agrees": 2, "undecided": 1})
    '2 agree and 1 is undecided'
    """
    listed = []
    for verdict in get_args(Verdict):
        number = tally.get(verdict, 0)
        if number and verdict in ("agrees", "differs"):
            listed.append(f"{number} {verdict if number == 1 else verdict.removesuffix('s')}")
        elif number:
            listed.append(f"{number} {'is' if number == 1 else 'are'} {verdict}")
    return " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))


def _headline(ours: str) -> str:
    """What the main table says of a finding.

    >>> _headline("2 of 3: SOE 0.1; not STE 0.3"), _headline("0.408 ± 0.006: 0.78 and 0.37")
    ('2 of 3', '0.408 ± 0.006')
    """
    share = re.search(r"\d+ of \d+", ours)
    return share.group() if share else re.split(r"[:;(]", ours)[0].strip()


def _marked(finding: Finding) -> str:
    return f"**{finding.verdict}**" if finding.verdict == "differs" else finding.verdict


def _section(one: Judged, entries: Sequence[Entry]) -> str:
    """An experiment: one line to be seen, and all else folded."""
    e, runs = one.experiment, one.results.runs
    tally = one.tally()
    claims = f"{sum(tally.values())} claims" if sum(tally.values()) > 1 else "1 claim"
    lines = [
        f"## {e.name}",
        "",
        _wrapped(f"{e.title} ({e.paper}), {_run_range(entries)} run{'s' * (runs != 1)}."),
        "",
        "<details>",
        _wrapped(f"<summary>{claims}: {_counted(tally)}</summary>"),
        "",
        *(
            _item(text)
            for text in (
                f"objects: {e.drawn}",
                f"statements: {e.asked}",
                f"errors: {e.spoiled}",
                f"methods: {e.compared}",
                *e.notes,
            )
        ),
        "",
    ]
    for whose, of_paper in (("the paper", True), ("our own, which are not in the paper", False)):
        chosen = [(c, f) for c, f in one.findings if c.of_paper == of_paper]
        if chosen:
            lines += [f"Claims of {whose}:", ""]
            lines += [line for c, f in chosen for line in _claim_lines(c, f, runs)]
            lines.append("")
    return "\n".join([*lines, f"![{e.title}]({e.name})", "", "</details>", ""])


def _run_range(entries: Sequence[Entry]) -> str:
    """The least and the most runs of a setting."""
    each = Counter(entry.cell.point.key for entry in entries).values()
    return " to ".join(str(number) for number in sorted({min(each), max(each)}))


def _claim_lines(claim: Claim, finding: Finding, runs: int) -> list[str]:
    # the number of runs is said once, above; where there were fewer it stays
    ours = finding.ours.replace(f" ({runs} runs)", "")
    lines = [_item(f"**{finding.verdict}**: {claim.text}")]
    if claim.of_paper:
        lines.append(_item(f"paper: {claim.paper}", 1))
    lines += [_item(f"ours: {ours}", 1), _item(f"rule: {claim.rule}", 1)]
    reason = claim.reason(finding)
    if reason:
        lines.append(_item(f"reason: {reason}", 1))
    return lines


def _item(text: str, level: int = 0) -> str:
    return _wrapped(text, "  " * level + "- ", "  " * (level + 1))


def _wrapped(text: str, first: str = "", later: str = "") -> str:
    """Lines below 100 characters; a sign between spaces never begins one, as if it were a list."""
    kept = re.sub(r" (?=[-+*] )", "\N{NO-BREAK SPACE}", text)
    return fill(
        kept,
        WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _hours_missing(kept: Sequence[tuple[Experiment, Sequence[Entry]]]) -> float:
    """CPU hours of the runs that the paper has and the journals do not."""
    seconds = 0.0
    for _, entries in kept:
        each = Counter(entry.cell.point.key for entry in entries)
        if max(each.values()) == 1:  # nothing is drawn
            continue
        for entry in entries:
            runs = each[entry.cell.point.key]
            seconds += max(_RUNS_OF_THE_PAPER - runs, 0) * entry.seconds / runs
    return seconds / 3600


def _runs(kept: Sequence[tuple[Experiment, Sequence[Entry]]], commands: Sequence[str]) -> str:
    """The table of runs: how many, how long, and when."""
    lines = [
        _RUNS,
        "```shell",
        *(f"{command} --out paper --any-code" for command in commands),
        "```",
        "",
        _wrapped(
            "Where not all settings have equally many runs, the least and the most are given. CPU "
            "seconds are those of one run of all settings. The paper has 100 runs of each; those "
            f"that are missing here would take about {_hours_missing(kept):.0f} more CPU hours."
        ),
        "",
        "| experiment | settings | runs | CPU seconds per run | measured |",
        "|---|---:|---:|---:|---|",
    ]
    for experiment, entries in kept:
        each = Counter(entry.cell.point.key for entry in entries)
        seconds = sum(entry.seconds / each[entry.cell.point.key] for entry in entries)
        days = sorted({entry.day for entry in entries})
        cells = [
            experiment.name,
            f"{len(each)} of {len(experiment.grid)}",
            _run_range(entries),
            f"{seconds:.3g}",
            days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    machines = dict.fromkeys(entry.machine for _, entries in kept for entry in entries)
    versions = dict.fromkeys(entry.version for _, entries in kept for entry in entries)
    lines += ["", f"trilens {', '.join(versions)} on {'; '.join(machines)}.", ""]
    return "\n".join(lines)
