"""`trilens describe`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli.options import Source, json_option, statement_options
from trilens.cli.tables import output_option, print_facts, print_json, print_table, save_table


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
    summary = source.read().summary()
    raters: dict[str, list[Any]] = {
        "rater": [r.rater for r in summary.raters],
        "statements": [r.statements for r in summary.raters],
        "median_seconds": [r.median_seconds for r in summary.raters],
        "agreement": [r.agreement for r in summary.raters],
    }
    if output is not None:
        save_table(raters, output)
    if as_json and output != "-":
        print_json(summary.to_dict())
        return
    facts = {
        "kind": summary.kind,
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
    if summary.raters and output is None:
        click.echo()
        header = ["rater", "statements", "median s", "agreement"]
        print_table(header, list(zip(*raters.values(), strict=True)))
