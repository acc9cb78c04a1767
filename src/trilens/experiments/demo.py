"""What trilens finds in a simulated study, beside the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trilens.tasks.classify.classes import classify
from trilens.tasks.cluster.groups import cluster
from trilens.tasks.medoid import medoid
from trilens.tasks.outliers import outliers

if TYPE_CHECKING:
    from trilens.simulate import Study
    from trilens.statements import Statements


def compare_with_truth(
    made: Study, statements: Statements | None = None, random_state: int = 0
) -> list[tuple[str, str, str]]:
    """A row for each question: what was asked, what was found, what is true.

    Parameters
    ----------
    statements : Statements, optional
        The answers as they were read from a file, with the objects in another order.

    >>> from trilens.simulate import study
    >>> made = study(n_statements=3000)
    >>> [row[0] for row in compare_with_truth(made)]
    ['medoid', 'outliers', 'classes', 'clusters']
    """
    S = made.statements if statements is None else statements
    names = S.names
    place = made.statements.object_ids(list(names))
    labels, half = made.labels[place], made.half_labelled()
    best, apart = medoid(S, random_state=random_state), outliers(S, random_state=random_state)
    shown = [half[i] for i in place]
    predicted = classify(S, shown, random_state=random_state).predicted
    asked = [i for i, label in enumerate(labels) if label >= 0 and shown[i] is None]
    right = sum(predicted[names[i]] == made.classes[labels[i]] for i in asked)
    inside = [i for i, label in enumerate(labels) if label >= 0]
    groups = cluster(S.subset(inside), labels=labels[inside].tolist(), random_state=random_state)
    true_names = made.statements.names
    truth = ", ".join(sorted(true_names[i] for i in made.outliers))
    return [
        ("medoid", best.name, true_names[made.medoid]),
        ("outliers", ", ".join(sorted(apart.names)) or "none", truth),
        ("classes", f"{right} of {len(asked)} unlabelled shapes right", ", ".join(made.classes)),
        ("clusters", f"{groups.n_clusters} groups, purity {groups.purity:.2f}", "3 groups"),
    ]
