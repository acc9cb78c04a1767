"""`trilens classify`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.output import Output, status

if TYPE_CHECKING:
    from trilens.questions.classify.classes import Classification


@options.command("classify")
@options.statement_options
@options.fit_options
@click.option(
    "--labels",
    type=options.READ,
    metavar="FILE",
    help="Table with the columns object,label.",
    show_default="the column label of --objects",
)
@options.method_option(
    "classify", "By depth (Algorithm 3), by the k-RNG (Algorithm 4), or on a map."
)
@click.option(
    "--classifier",
    type=click.Choice(["knn", "svm-linear", "svm-gauss", "max-depth"]),
    help="Classifier on depths or on a map; max-depth works with --method depth only.",
    show_default="knn",
)
@click.option(
    "-k", "k", type=options.AT_LEAST_1, help="k of the k-RNG.", show_default="by leave-one-out"
)
@options.error_rate_option
@click.option(
    "--alone",
    type=click.Choice(["nearest", "random"]),
    help="With --method krng, the class of an object without a labeled neighbor: that of the "
    "nearest ones, or any, as in the paper.",
    show_default="nearest",
)
@options.seed_option
@options.cluster_option
@options.table_output("the classes of all objects to a label file")
def command(answers: options.Answers, labels: str | None, out: Output, **settings: Any) -> None:
    """Predict the class of unlabeled objects.

    These are the objects that the label file leaves out. Also reports how many hidden labels are
    recovered, and which labels the answers contradict.

    \b
    Example: trilens classify answers.csv --labels some.csv
    """
    from trilens.questions.classify.classes import classify

    known = options.read_labels_of(labels, answers)
    if known is None:
        raise click.UsageError(
            "Missing option '--labels'; or give --objects a table of objects with a column label."
        )
    options.fit_if_needed(answers, settings["method"], settings["random_state"])
    with status("classifying"):
        found = classify(answers, known, **settings)
    predicted = found.predicted
    columns = {
        "object": found.names,
        "label": [str(label) for label in found.labels],
        "predicted": [name in predicted for name in found.names],
    }
    shown: dict[str, list[Any]] = {"object": list(predicted), "class": list(predicted.values())}
    if found.probabilities is not None:
        shown["probability"] = list(found.probabilities.values())
    out.show(columns, found.to_dict(), _notes(found), left=2, shown=shown)


def _notes(found: Classification) -> Iterator[str]:
    if not found.predicted:
        yield "every object is labeled; leave an object out of the label file to predict its class"
    chosen = {"method": found.method, **found.parameters}
    yield ", ".join(f"{name} {value}" for name, value in chosen.items())
    check, interval = found.check, found.error_interval
    if check is not None and interval is not None:
        yield (
            f"error rate on hidden labels: {check.error:.1%} (95% confidence interval "
            f"{interval[0]:.1%} to {interval[1]:.1%}); always predicting the largest class: "
            f"{check.baseline:.1%}"
        )
        if not check.learnable:
            yield (
                "the labels cannot be learned from the answers: guessing often does as well; "
                + ("treat the predictions as guesses, or " if found.predicted else "")
                + "label more objects"
            )
    for wrong in found.contradictions:
        yield f"{wrong.object!r} is labeled {wrong.label!r}; the answers say {wrong.answers_say!r}"
    yield from found.remarks
