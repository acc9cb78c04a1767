"""`trilens classify`."""

from __future__ import annotations

from typing import Any

import click

from trilens.cli.options import (
    Source,
    json_option,
    read_labels_for,
    seed_option,
    statement_options,
)
from trilens.cli.tables import note, print_json, print_table


@click.command("classify")
@statement_options
@click.option("--labels", metavar="FILE", required=True, help="A table: object,label.")
@click.option(
    "--method",
    type=click.Choice(["depth", "krng", "lensmap", "soe", "ste", "tste", "gnmds"]),
    default="lensmap",
    show_default=True,
    help="depth: Algorithm 3; krng: Algorithm 4; or a classifier on a map.",
)
@click.option(
    "--classifier",
    type=click.Choice(["knn", "svm-linear", "svm-gauss"]),
    help="On top of depth or a map; by default knn.",
)
@click.option("-k", "k", type=click.IntRange(min=1), help="Of krng; by default by leave-one-out.")
@click.option("--dim", type=click.IntRange(min=1), help="Of the map; by default cross-validated.")
@seed_option
@json_option
def command(
    source: Source,
    labels: str,
    method: str,
    classifier: str | None,
    k: int | None,
    dim: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Predict the class of every object that the label file leaves out.

    \b
    Example: trilens classify answers.csv --labels some.csv
    """
    from trilens.tasks.classify.classes import make_classifier

    statements = source.read()
    label_of = read_labels_for(statements, labels)
    model = make_classifier(method, classifier, k=k, n_components=dim, random_state=seed)
    model.fit(statements, label_of)
    predicted: dict[str, Any] = {
        name: label
        for name, given, label in zip(
            statements.names, label_of, model.transduction_.tolist(), strict=True
        )
        if given is None
    }
    parameters = model.chosen_parameters_
    if as_json:
        print_json({"labels": predicted, "method": method, "parameters": parameters})
        return
    if not predicted:
        note("every object is labelled; leave an object out of the label file to predict it")
    else:
        print_table(["object", "class"], list(predicted.items()), left=2)
    note(", ".join(f"{name} {value}" for name, value in {"method": method, **parameters}.items()))
    if method == "krng":
        for how, text in (
            ("nearest", "no neighbour in the graph, so by the nearest"),
            ("unknown", "never compared with two labelled objects, so the most frequent class"),
        ):
            those = [n for n, h in zip(statements.names, model.how_, strict=True) if h == how]
            if those:
                note(f"{text}: {', '.join(those)}")
