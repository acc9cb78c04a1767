"""`trilens structure`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trilens.cli import options
from trilens.cli.output import Output

if TYPE_CHECKING:
    from trilens.questions.structure import Structure


@options.command("structure")
@options.statement_options
@options.fit_options
@options.seed_option
@options.table_output("where each object lies to a file")
def command(answers: options.Answers, random_state: int, out: Output) -> None:
    """Name the shape that the objects form: a part of what trilens cluster prints.

    A cloud, a line, a ring, arms, groups or groups in groups. Says "cloud" unless another shape
    stands out from chance. Lists where each object lies.

    \b
    Example: trilens structure answers.csv
    """
    from trilens.questions.cluster.groups import structure

    options.fit_if_needed(answers, "choice", random_state)
    found = structure(answers, random_state=random_state)
    # of a cloud there is nothing to list
    shown = {} if found.position is None and found.part is None else found.columns()
    out.show(found.columns(), found.to_dict(), _notes(found), shown=shown)


def _notes(found: Structure) -> Iterator[str]:
    from trilens.words import groups_tested

    yield found.sentence
    # a map of one dimension is a line, whatever describes it better
    if found.scores and found.scores.get(found.shape, 0.0) >= 0:
        others = sorted(found.scores.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {score:+.1f}" for name, score in others if name != "cloud")
        yield f"compared with a cloud, in log-likelihood: {listed}"
    if found.p_value is not None:
        yield groups_tested(found.p_value)
    if found.caution is not None and found.reason is None:  # else the sentence has said it
        yield found.caution
