"""`trilens medoid`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trilens.cli import options
from trilens.cli.output import Output, listed

if TYPE_CHECKING:
    from trilens.questions.medoid import ClassMedoid, Medoid


@options.command("medoid")
@options.statement_options
@options.fit_options
@options.labels_option
@options.method_option(
    "medoid", "By counting (depth, Algorithm 1), by the choice model, or on a map."
)
@options.seed_option
@options.cluster_option
@options.table_output("the table to a file")
def command(
    answers: options.Answers, labels: str | None, method: str, random_state: int, out: Output
) -> None:
    """Find the most central object, overall and within each class.

    \b
    Example: trilens medoid answers.csv --labels classes.csv
    """
    from trilens.questions.medoid import medoid
    from trilens.study_design import about_chosen

    options.fit_if_needed(answers, method, random_state)
    known = options.read_labels_of(labels, answers)
    found = medoid(answers, method, labels=known, random_state=random_state)
    classes = found.per_class or {}
    used = options.n_used(answers, found.method)
    columns: dict[str, list[Any]] = {
        "class": ["all", *classes],
        "medoid": [found.name, *(one.medoid for one in classes.values())],
        "depth": [found.depth, *(one.depth for one in classes.values())],
        "statements": [used, *(one.statements for one in classes.values())],
    }
    out.show(columns, found.to_dict(), [*about_chosen(answers), *_notes(found)], left=2)


def _notes(found: Medoid) -> Iterator[str]:
    from trilens import words

    if found.caution is not None:
        yield found.caution
    classes = found.per_class or {}
    yield from _about_classes(classes)
    of_all = "all: " if classes else ""
    if found.tied:
        yield f"{of_all}equally central: {listed(found.tied)}"
    if found.reason != "guesses":  # of guesses the caution says all
        yield f"{of_all}{_others(found)}"
    yield f"{of_all}method: {found.method}{words.whose_depth(found.method)}"


def _others(found: Medoid) -> str:
    others = [name for name in found.candidates if name != found.name]
    sure = f"({found.level:.0%} confidence)"
    if not found.stands_out:
        may = f"{len(found.candidates):,} of {len(found.scores):,} objects"
        return f"no object stands out: {may} could be the most central {sure}"
    if others:
        return f"could also be the most central {sure}: {listed(others)}"
    return f"no other object could be the most central {sure}"


def _about_classes(classes: Mapping[str, ClassMedoid]) -> Iterator[str]:
    from trilens import words

    unclear = [label for label, one in classes.items() if one.statements and not one.stands_out]
    if unclear:
        yield words.unclear_class_medoids(unclear)
    by_method: dict[str, list[str]] = {}
    for label, one in classes.items():
        if one.method is None:
            yield f"class {label!r} has no medoid: no statement is about its objects alone"
        else:
            by_method.setdefault(one.method, []).append(label)
    for method, labels in by_method.items():
        yield f"{listed(labels)}: {words.how_of_a_class(method)}"
