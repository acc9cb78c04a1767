"""`trilens fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trilens.cli import options
from trilens.cli.output import Output, counted, note


@options.command("fit")
@options.statement_options
@options.output_options("File for the fit, such as study.fit.", required=True)
@options.features_option
@options.dim_option()
@options.choice(
    "--raters",
    ("auto", "one", "weights"),
    "A share of careless answers for each rater (auto), one for all (one), or also weights "
    "of the dimensions for each rater (weights).",
)
@click.option("--device", help="Fit on a GPU: cuda or cuda:1.")
@options.cluster_option
@options.seed_option
def command(
    answers: options.Answers,
    features: tuple[str, ...],
    n_components: int | None,
    random_state: int,
    out: Output,
    **settings: Any,
) -> None:
    """Fit a map to the answers once, to ask many questions of it.

    Every other command takes the fit in place of FILE.

    \b
    Example: trilens fit answers.csv -o study.fit
             trilens medoid study.fit
    """
    from trilens.words import ERROR_RATE_OF_A_FIT, against_the_map, little_to_conclude

    assert out.path is not None
    if answers.fitted is not None:
        raise click.UsageError("FILE is a fit already; give the answers")
    if Path(out.path).suffix.lower() not in ("", ".fit"):
        raise click.UsageError(f"a fit ends in .fit, not {Path(out.path).suffix}")
    if n_components is not None:
        settings["n_components"] = n_components
    fitted = options.fit_answers(answers, random_state, features, **settings)
    fitted.save(out.path)
    note(f"wrote {out.path}")
    shares = {}
    if fitted.features is not None:
        names = fitted.features.names
        used = fitted.settings.shares or (0.0,) * len(names)
        shares = dict(zip(names, used, strict=True))
    low, high = fitted.error_rate_interval
    facts = {
        "answers": fitted.n_answers,
        "objects": fitted.n_objects,
        "kind": fitted.kind,
        "dim": fitted.map.n_components,
        "violations": fitted.violations,
        "error_rate": fitted.error_rate,
        "error_rate_interval": [low, high],
        "feature_shares": shares,
    }
    dimensions = counted(fitted.map.n_components, "dimension")
    said = (
        f"{counted(fitted.n_answers, 'answer')} about {counted(fitted.n_objects, 'object')}, "
        f"{dimensions}"
    )
    notes = [said]
    if fitted.support.reason != "guesses":
        notes = [f"{said}; {against_the_map(fitted.error_rate, (low, high))}", ERROR_RATE_OF_A_FIT]
    for name, share in shares.items():
        notes.append(
            f"{name}: {share:.0%} of the map's spread expected by these features"
            if share
            else f"{name}: these features do not help to predict answers, and were left out"
        )
    if fitted.support.reason is not None:
        notes.append(little_to_conclude(fitted.support.reason))
    out.report(facts, *notes)
