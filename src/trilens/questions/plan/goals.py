"""What a study is for, and how well a simulated one does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from trilens.kinds import chance
from trilens.questions.clouds import LEVEL
from trilens.questions.medoid import medoid_set
from trilens.questions.model import AnswerModel
from trilens.questions.plan.worlds import World, asked_of
from trilens.questions.reliability.forecast import Prior

Goal: TypeAlias = Literal["medoid", "rank", "map", "groups", "classes", "difference"]
GOALS: tuple[Goal, ...] = get_args(Goal)

#: Permutations that decide about a difference.
_PERMUTATIONS = 199
#: Questions that the share of predictable answers is a mean over.
ASKED = 4000


@dataclass(frozen=True)
class Aim:
    """A goal: what its quality is, the usual target, and how the quality falls short of 1."""

    quality: str
    target: float
    #: Values that a target may have.
    least: float
    most: float
    #: How the log odds of what is missing fall with the logarithm of the number of answers; None
    #: where a study reaches the goal or not.
    prior: Prior | None = None
    #: What the target is measured in, where it is not the quality.
    scale: str | None = None


_LINE = Prior(slope=0.8, slope_error=0.3, part_error=0.3, own_error=0.3)
AIMS: dict[Goal, Aim] = {
    "medoid": Aim(
        "objects that could be the most central one",
        3.0,
        1.0,
        np.inf,
        Prior(slope=0.9, slope_error=0.25, part_error=0.4, own_error=0.4),
    ),
    "rank": Aim("rank correlation of centrality with the truth", 0.95, 0.1, 0.995, _LINE),
    "map": Aim("share of what a perfect map would predict", 0.95, 0.1, 0.995, _LINE),
    "groups": Aim(
        "studies that find the groups", 0.9, 0.1, 1.0, scale="adjusted Rand index with the truth"
    ),
    "classes": Aim(
        "studies that find the classes", 0.9, 0.1, 1.0, scale="share of objects in the right class"
    ),
    "difference": Aim("studies that find the difference (power)", 0.8, 0.1, 0.99),
}


def missing(goal: Goal, world: World, fitted: AnswerModel, rng: np.random.Generator) -> float:
    """What the study falls short of the truth, as a share of what there is."""
    truth = world.model
    if goal == "medoid":
        n = len(truth.embedding)
        return float(medoid_set(fitted).sum()) / (n + 1)
    if goal == "rank":
        from scipy.stats import spearmanr

        found = fitted.centrality
        if np.ptp(found) == 0:
            return 1.0
        return 1 - float(spearmanr(found, truth.depth(random_state=0).depth).statistic)
    asked = asked_of(truth, ASKED, rng)
    P = truth.probabilities(asked)
    said = fitted.map.model_.probabilities(asked).argmax(axis=1)
    got, best = P[np.arange(len(P)), said].mean(), P.max(axis=1).mean()
    return float((best - got) / max(best - chance(truth.kind), 1e-9))


def reached(goal: Goal, world: World, fitted: AnswerModel, target: float, seed: int) -> bool:
    """Whether the study finds what there is."""
    S = fitted.statements
    if goal == "difference":
        from trilens.questions.group_test import differing_groups

        assert S.raters is not None
        rater = np.asarray(S.raters, dtype=np.int64)
        test = differing_groups(S, rater, rater % 2, fitted, seed, _PERMUTATIONS)
        return test.p_value is not None and test.p_value <= LEVEL
    assert world.labels is not None
    if goal == "groups":
        from sklearn.metrics import adjusted_rand_score

        from trilens.questions.cluster.groups import groups_on_map

        number = fitted.examined.suggestion.n_clusters
        if number == 1:
            return False
        found = groups_on_map(fitted.map.embedding_, number, S.names, seed)
        return float(adjusted_rand_score(world.labels, found)) >= target
    from trilens.questions.classify.classes import classify

    known = [int(x) if i // 2 % 2 else None for i, x in enumerate(world.labels)]
    hidden = np.array([x is None for x in known])
    found = classify(S, known, model=fitted, random_state=seed).found
    right = [int(a) == b for a, b in zip(found[hidden], world.labels[hidden], strict=True)]
    return float(np.mean(right)) >= target
