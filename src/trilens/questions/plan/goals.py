"""What a study is for, and how well a simulated one does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from trilens.kinds import chance
from trilens.maps.fitted import Fit
from trilens.maps.support import LEAST_PER_OBJECT
from trilens.questions.clouds import LEVEL
from trilens.questions.depth import centrality_of, medoid_set
from trilens.questions.plan.worlds import World, asked_of

Goal: TypeAlias = Literal["medoid", "rank", "map", "groups", "classes", "difference"]
GOALS: tuple[Goal, ...] = get_args(Goal)

#: Permutations that decide about a difference.
_PERMUTATIONS = 199
#: Questions that the share of predictable answers is a mean over.
ASKED = 4000


@dataclass(frozen=True)
class Prior:
    """How such curves usually fall: what one study cannot show comes from many."""

    #: Against the logarithm of the number of answers.
    slope: float
    slope_error: float
    #: Of a single study about the line.
    error: float


@dataclass(frozen=True)
class Aim:
    """A goal: its usual target, and how its quality falls short of 1."""

    target: float
    #: Values that a target may have.
    least: float
    most: float
    #: How the log odds of what is missing fall with the logarithm of the number of answers; None
    #: where a study reaches the goal or not.
    prior: Prior | None = None


_LINE = Prior(slope=0.8, slope_error=0.3, error=0.3)
AIMS: dict[Goal, Aim] = {
    "medoid": Aim(3.0, 1.0, np.inf, Prior(slope=0.9, slope_error=0.25, error=0.4)),
    "rank": Aim(0.95, 0.1, 0.995, _LINE),
    "map": Aim(0.95, 0.1, 0.995, _LINE),
    "groups": Aim(0.9, 0.1, 1.0),
    "classes": Aim(0.9, 0.1, 1.0),
    "difference": Aim(0.8, 0.1, 0.99),
}


def fewest_answers(n: int) -> int:
    """So few answers about n objects make a map; of fewer nothing is planned."""
    return -(-LEAST_PER_OBJECT * n // 3)


def missing(goal: Goal, world: World, fitted: Fit, rng: np.random.Generator) -> float:
    """What the study falls short of the truth, as a share of what there is.

    The order of the fit is that of the world, whose objects have no names.
    """
    truth = world.model
    if goal == "medoid":
        return float(medoid_set(fitted).sum()) / (truth.n_objects + 1)
    if goal == "rank":
        from scipy.stats import spearmanr

        found = centrality_of(fitted)
        if np.ptp(found) == 0:
            return 1.0
        return 1 - float(spearmanr(found, truth.depth(random_state=0).depth).statistic)
    asked = asked_of(truth, ASKED, rng)
    P = truth.probabilities(asked)
    said = fitted.map.probabilities(asked).argmax(axis=1)
    got, best = P[np.arange(len(P)), said].mean(), P.max(axis=1).mean()
    return float((best - got) / max(best - chance(truth.kind), 1e-9))


def reached(goal: Goal, world: World, fitted: Fit, target: float, seed: int) -> bool:
    """Whether the study finds what there is."""
    if goal == "difference":
        from trilens.questions.group_test import differing_groups

        S = fitted.sample
        assert S.raters is not None
        rater = np.asarray(S.raters, dtype=np.int64)
        test = differing_groups(S, rater, rater % 2, fitted, seed, _PERMUTATIONS)
        return test.p_value is not None and test.p_value <= LEVEL
    assert world.labels is not None
    if goal == "groups":
        from sklearn.metrics import adjusted_rand_score

        from trilens.questions.cluster.groups import cluster

        groups = cluster(fitted, random_state=seed)
        if groups.n_clusters == 1:
            return False
        return float(adjusted_rand_score(world.labels, groups.labels)) >= target
    from trilens.questions.classify.classes import classify

    known = [int(x) if i // 2 % 2 else None for i, x in enumerate(world.labels)]
    hidden = np.array([x is None for x in known])
    found = classify(fitted, known, random_state=seed).found
    right = [int(a) == b for a, b in zip(found[hidden], world.labels[hidden], strict=True)]
    return float(np.mean(right)) >= target
