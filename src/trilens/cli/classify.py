"""`trilens classify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trilens.cli.counting import counts_of, reading_of
from trilens.cli.options import (
    Source,
    error_rate_option,
    json_option,
    method_option,
    read_labels_for,
    seed_option,
    statement_options,
)
from trilens.cli.progress import status
from trilens.cli.tables import note, output_option, print_json, print_table, save_table

if TYPE_CHECKING:
    from trilens.tasks.classify.classes import Classification


def _read(labels: str) -> dict[str, str]:
    from trilens.files import read_labels

    return dict(read_labels(labels))


@click.command("classify")
@statement_options
@click.option("--labels", metavar="FILE", required=True, help="A table: object,label.")
@method_option("classify", "depth: Algorithm 3; krng: Algorithm 4; or a classifier on a map.")
@click.option(
    "--classifier",
    type=click.Choice(["knn", "svm-linear", "svm-gauss", "max-depth"]),
    help="On top of depth or a map; by default knn. max-depth: on top of depth alone.",
)
@click.option("-k", "k", type=click.IntRange(min=1), help="Of krng; by default by leave-one-out.")
@error_rate_option
@click.option("--dim", type=click.IntRange(min=1), help="Of the map; by default cross-validated.")
@seed_option
@output_option("the class of every object, as a label file")
@json_option
def command(
    source: Source,
    labels: str,
    method: str,
    classifier: str | None,
    k: int | None,
    error_rate: Any,
    dim: int | None,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Predict the class of every object that the label file leaves out.

    Also says how well hidden labels are found again, and which labels the answers contradict.

    \b
    Example: trilens classify answers.csv --labels some.csv
    """
    from trilens.tasks.classify.classes import classify

    found: Classification
    counts = counts_of(source, streamed=False)
    reading = None
    if counts is None and method in ("auto", "choice", "lensmap"):
        reading = reading_of(source)
    if counts is not None:
        found = classify(
            counts,
            _read(labels),
            method,
            classifier=classifier,
            k=k,
            error_rate=error_rate,
            n_components=dim,
            random_state=seed,
        )
    elif reading is not None:
        if k is not None or error_rate:
            raise click.UsageError("-k and --error-rate belong to --method krng")
        if classifier == "max-depth":
            raise click.UsageError("max-depth belongs to --method depth")
        from trilens.tasks.streamed import classify_files

        with status("mapping and classifying"):
            found = classify_files(
                source.file,
                _read(labels),
                method=method,
                classifier=classifier,
                n_components=dim,
                random_state=seed,
                **reading,
            )
    else:
        statements = source.read()
        found = classify(
            statements,
            read_labels_for(statements, labels),
            method,
            classifier=classifier,
            k=k,
            error_rate=error_rate,
            n_components=dim,
            random_state=seed,
        )
    _tell(found, output, as_json)


def _tell(found: Classification, output: str | None, as_json: bool) -> None:
    predicted = found.predicted
    if output is not None:
        every = [
            str(predicted.get(name, given))
            for name, given in zip(found.names, found.given, strict=True)
        ]
        guessed = [name in predicted for name in found.names]
        save_table({"object": found.names, "label": every, "predicted": guessed}, output)
    if as_json and output != "-":
        print_json(found.to_dict())
        return
    if predicted and output is None:
        print_table(["object", "class"], list(predicted.items()), left=2)
    elif not predicted:
        note("every object is labelled; leave an object out of the label file to predict it")
    chosen = {"method": found.method, **found.parameters}
    note(", ".join(f"{name} {value}" for name, value in chosen.items()))
    check, interval = found.check, found.error_interval
    if check is None or interval is None:
        return
    low, high = interval
    note(
        f"{check.error:.1%} of hidden labels are missed (95 % interval {low:.1%} to {high:.1%}); "
        f"always naming the largest class misses "
        f"{check.baseline:.1%}"
    )
    if not check.learnable:
        note(
            "the labels cannot be learnt from the answers: guesses would do as well too often; "
            + ("take the classes above for guesses, or " if predicted else "")
            + "label more objects"
        )
    for wrong in found.contradictions:
        note(f"{wrong.object!r} is labelled {wrong.label!r}; the answers say {wrong.answers_say!r}")
    for remark in found.remarks:
        note(remark)
