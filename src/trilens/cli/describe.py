"""`trilens describe`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from trilens.cli.counting import counts_of
from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import (
    note,
    output_option,
    print_facts,
    print_json,
    print_table,
    save_table,
)

if TYPE_CHECKING:
    from trilens.counts import Counted


def _describe_counts(counts: Counted, as_json: bool) -> None:
    """What counts tell; repeats, raters and times they do not know."""
    facts = counts.summary().to_dict()
    del facts["rounds"], facts["raters"]
    facts |= {
        "counted": ["objects", *(what for what in ("pairs", "classes") if getattr(counts, what))],
        "not_in_counts": [
            "triples covered",
            "triples asked again",
            "contradictory triples",
            "raters",
            "response times",
        ],
        "skipped": counts.n_skipped,
    }
    if as_json:
        print_json(facts)
        return
    appears = facts["appearances"]
    print_facts(
        {
            "kind": counts.kind,
            "statements": f"{counts.statements:,}",
            "objects": f"{counts.n_objects:,}",
            "triples possible": f"{facts['triples_possible']:,}",
            "statements / possible": f"{facts['coverage_percent']:.3g} %",
            "statements per object": (
                f"{appears['mean']:.2f} on average, {appears['min']:,} to {appears['max']:,}"
            ),
            "objects never seen": f"{facts['objects_never_seen']:,}",
            "counted": ", ".join(facts["counted"]),
            "not in counts": ", ".join(facts["not_in_counts"]),
        }
    )
    note("what is not in counts, the statements tell")


@click.command("describe")
@statement_options
@output_option("the raters, one by one,")
@json_option
def command(source: Source, output: str | None, as_json: bool) -> None:
    """Say what was collected.

    Statements, objects, coverage, repeats, contradictions, raters, response times.

    \b
    Example: trilens describe answers.csv
    """
    # counts do not know the raters: for their table a large file too is read whole
    counts = counts_of(source, streamed=output is None)
    if counts is not None:
        if output is not None:
            raise click.UsageError("-o writes the raters, which counts do not know")
        _describe_counts(counts, as_json)
        return
    statements, reading = replace(source, quiet=True).read_and_tell()
    summary = statements.summary()
    raters: dict[str, list[Any]] = {
        "rater": [r.rater for r in summary.raters],
        "statements": [r.statements for r in summary.raters],
        "median_seconds": [r.median_seconds for r in summary.raters],
        "agreement": [r.agreement for r in summary.raters],
    }
    if output is not None:
        save_table(raters, output)
    if as_json and output != "-":
        print_json(summary.to_dict() | {"reading": reading.to_dict()})
        return
    understood = {
        "read": ", ".join(reading.files[:5]) + (", ..." if len(reading.files) > 5 else ""),
        "columns": ", ".join(f"{role}={name}" for role, name in reading.columns.items()),
        "header": "" if reading.header else "none: columns by their number",
        "left out": ", ".join(reading.left_out),
        "decided by the values": "; ".join(reading.notes),
        "bad rows skipped": f"{len(reading.faults):,}" if reading.faults else "",
    }
    facts = {name: value for name, value in understood.items() if value} | {
        "kind": summary.kind + ("" if reading.kind_told else " (assumed; --kind says otherwise)"),
        "statements": f"{summary.statements:,}",
        "objects": f"{summary.objects:,}",
        "triples possible": f"{summary.triples_possible:,}",
        "triples covered": f"{summary.triples_covered:,}",
        "statements / possible": f"{summary.coverage_percent:.3g} %",
        "statements per object": (
            f"{summary.appearances_mean:.2f} on average, "
            f"{summary.appearances_min:,} to {summary.appearances_max:,}"
        ),
        "triples asked again": f"{summary.repeated_triples:,}",
        "of these contradictory": f"{summary.contradictory_triples:,}",
    }
    if summary.objects_never_seen:
        facts["objects never seen"] = f"{summary.objects_never_seen:,}"
    if summary.rounds is not None:
        facts["rounds"] = f"{summary.rounds:,}"
    if summary.median_seconds is not None:
        facts["median response time"] = f"{summary.median_seconds:.2f} s"
    if output != "-":
        print_facts(facts)
    for fault in reading.named_faults():
        note(f"skipped {fault}")
    if summary.raters and output is None:
        click.echo()
        header = ["rater", "statements", "median s", "agreement"]
        print_table(header, list(zip(*raters.values(), strict=True)))
