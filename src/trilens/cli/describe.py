"""`trilens describe`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import Output, note, print_facts, print_json, print_table, save_table

if TYPE_CHECKING:
    from trilens.counts import Counted
    from trilens.files import Reading
    from trilens.statements import Summary

_NOT_IN_COUNTS = (
    "triples covered", "triples asked again", "contradictory triples", "raters", "response times",
)  # fmt: skip


@options.command("describe")
@partial(options.statement_options, reported=False)
@options.cluster_option
@options.table_output("a table of the raters to a file")
def command(answers: options.Answers, out: Output) -> None:
    """Summarize what was collected.

    Statements, objects, coverage, repeated and contradictory questions, raters, response times.

    \b
    Example: trilens describe answers.csv
    """
    from trilens.answers import read_or_count
    from trilens.counts import Counted
    from trilens.maps.kind import doubt_kind
    from trilens.questions.reliability.cautions import about_kind
    from trilens.study_design import about_chosen

    # counts do not know the raters: for their table a large file too is read whole
    whole = out.path is not None and not answers.in_counts
    data = answers.read() if whole else read_or_count(answers)
    if isinstance(data, Counted):
        _describe_counts(data, out)
        return
    doubt_kind(answers, header=True)
    summary, reading = data.summary(), answers.reading
    raters: dict[str, list[Any]] = {
        "rater": [r.rater for r in summary.raters],
        "statements": [r.statements for r in summary.raters],
        "median_seconds": [r.median_seconds for r in summary.raters],
        "agreement": [r.agreement for r in summary.raters],
    }
    if out.path is not None:
        save_table(raters, out.path)
    if out.as_json and out.path != "-":
        print_json(summary.to_dict() | {"reading": None if reading is None else reading.to_dict()})
        return
    if out.path != "-":
        told = reading is None or reading.kind_told
        change = "; change it with --kind" if answers.in_files else ""
        assumed = "" if told else f" (assumed{change})"
        collected = _collected(summary)
        collected["kind"] += assumed
        print_facts(({} if reading is None else _read(reading)) | collected)
    options.tell_kind(answers)
    for said in about_chosen(data):
        note(said)
    if reading is not None:
        if reading.kind_told:
            for caution in about_kind(reading):
                note(f"caution: {caution.what} {caution.remedy}")
        options.tell_doubts(reading)
    if summary.raters and out.path is None:
        click.echo()
        header = ["rater", "statements", "median s", "agreement"]
        print_table(header, list(zip(*raters.values(), strict=True)))


def _read(reading: Reading) -> dict[str, str]:
    facts = {
        "read": ", ".join(reading.files[:5]) + (", ..." if len(reading.files) > 5 else ""),
        "columns": ", ".join(f"{role}={name}" for role, name in reading.columns.items()),
        "header": "" if reading.header else "none: columns by their number",
        "left out": ", ".join(reading.left_out),
        "inferred from the values": "; ".join(reading.notes),
        "checks": "" if reading.checks is None else str(reading.checks),
        "bad rows skipped": f"{len(reading.faults):,}" if reading.faults else "",
    }
    return {name: value for name, value in facts.items() if value}


def _collected(summary: Summary) -> dict[str, str]:
    facts = {
        "kind": summary.kind,
        "statements": summary.statements,
        "objects": summary.objects,
        "triples possible": summary.triples_possible,
        "triples covered": summary.triples_covered,
        "statements / possible": f"{summary.coverage_percent:.3g} %",
        "statements per object": (
            f"{summary.appearances_mean:.2f} on average, "
            f"{summary.appearances_min:,} to {summary.appearances_max:,}"
        ),
        "triples asked again": summary.repeated_triples,
        "of these contradictory": summary.contradictory_triples,
        "objects never seen": summary.objects_never_seen or None,
        "rounds": summary.rounds,
    }
    if summary.median_seconds is not None:
        facts["median response time"] = f"{summary.median_seconds:.2f} s"
    return {
        name: f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in facts.items()
        if value is not None
    }


def _describe_counts(counts: Counted, out: Output) -> None:
    """What counts tell; repeats, raters and times they do not know."""
    if out.path is not None:
        raise click.UsageError("-o writes a table of the raters, which counts do not contain")
    summary = counts.summary()
    counted = ["objects", *(what for what in ("pairs", "classes") if getattr(counts, what))]
    facts = summary.to_dict()
    del facts["rounds"], facts["raters"]
    facts |= {"counted": counted, "not_in_counts": list(_NOT_IN_COUNTS)}
    known = {"counted": ", ".join(counted), "not in counts": ", ".join(_NOT_IN_COUNTS)}
    out.tell(
        _collected(summary) | known,
        facts | {"skipped": counts.n_skipped},
        "for what is not in counts, describe the statements",
    )
