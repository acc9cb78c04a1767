"""What trilens finds in a simulated study, beside the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trilens.tasks.classify.classes import classify
from trilens.tasks.cluster.groups import cluster
from trilens.tasks.medoid import medoid
from trilens.tasks.outliers import outliers

if TYPE_CHECKING:
    from trilens.simulate import Study


def compare_with_truth(made: Study, random_state: int = 0) -> list[tuple[str, str, str]]:
    """A row for each question: what was asked, what was found, what is true.

    >>> from trilens.simulate import study
    >>> made = study(n_statements=3000)
    >>> [row[0] for row in compare_with_truth(made)]
    ['medoid', 'outliers', 'classes', 'clusters']
    """
    S = made.statements
    names = S.names
    best, apart = medoid(S, random_state=random_state), outliers(S, random_state=random_state)
    shown = made.half_labelled()
    predicted = classify(S, shown, random_state=random_state).predicted
    asked = [i for i, label in enumerate(made.labels) if label >= 0 and shown[i] is None]
    right = sum(predicted[names[i]] == made.classes[made.labels[i]] for i in asked)
    inside = [i for i, label in enumerate(made.labels) if label >= 0]
    groups = cluster(
        S.subset(inside), labels=made.labels[inside].tolist(), random_state=random_state
    )
    truth = ", ".join(sorted(names[i] for i in made.outliers))
    return [
        ("medoid", best.name, names[made.medoid]),
        ("outliers", ", ".join(sorted(apart.names)) or "none", truth),
        ("classes", f"{right} of {len(asked)} unlabelled shapes right", ", ".join(made.classes)),
        ("clusters", f"{groups.n_clusters} groups, purity {groups.purity:.2f}", "3 groups"),
    ]
