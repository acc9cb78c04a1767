"""How often what is said about the ceiling, groups and models is true: docs/claims.md.

    python benchmarks/claims_reliability.py [--studies N] [--cells PATTERN] [--out FILE]

A cell is a claim and a way to simulate a study; each claim has a table of its own. Points are a
Gaussian in the plane; people choose by the softmax of the distances, each with their own share of
blind answers (Beta, mean as given) and, where tastes differ, their own stretch of the axes. A
study that the file already holds is not run again.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from claims_run import run_studies
from trilens.agreement import agreement_between, agreement_within, cells_of
from trilens.maps.fitted import fit_answers
from trilens.maps.fitting import How
from trilens.questions.evaluate import compare_models
from trilens.questions.evaluate.evaluation import evaluations_of
from trilens.questions.group_test import differing_groups
from trilens.statements import Statements

#: kind/raters/blind/tastes
CEILING = ["central/20/0.1/0", "central/20/0.4/0", "central/20/0.1/0.6", "central/8/0.1/0.3"]
CEILING += ["odd/40/0.1/0.3", "closer/20/0.1/0", "closer/6/0.1/0.6"]
#: kind/raters/blind/what the second group sees
GROUPS = [
    "central/30/0.1/alike",
    "odd/30/0.1/alike",
    "closer/30/0.3/alike",
    "central/30/0.1/tastes",
]
GROUPS += ["central/8/0.1/alike", "central/30/0.1/half", "central/30/0.1/other"]
GROUPS += ["odd/30/0.1/other", "closer/30/0.1/other", "central/8/0.1/other"]
#: kind/sharpness of the answers/blind
EVALUATE = ["central/3/0.1", "central/30/0.15", "odd/3/0.1", "closer/3/0.1"]
CELLS = [
    *(f"ceiling/{cell}" for cell in CEILING),
    *(f"groups/{cell}" for cell in GROUPS),
    *(f"evaluate/{cell}" for cell in EVALUATE),
]


class People:
    """A population that looks at the same points."""

    def __init__(self, rng, points, kind, blind=0.1, tastes=0.0, sharp=3.0):
        self.rng, self.points, self.kind = rng, points, kind
        self.blind, self.tastes, self.sharp = blind, tastes, sharp

    def person(self):
        """The stretch of the axes, and the share of blind answers."""
        stretch = np.exp(self.tastes * self.rng.standard_normal(self.points.shape[1]))
        blind = self.rng.beta(20 * self.blind, 20 * (1 - self.blind)) if self.blind else 0.0
        return stretch, blind

    def chances(self, triples, person):
        """The probability of each answer to questions."""
        X, (a, b, c) = self.points * person[0], triples.T
        sides = [(a, b), (a, c)] if self.kind == "closer" else [(b, c), (a, c), (a, b)]
        u = np.stack([np.sqrt(((X[i] - X[j]) ** 2).sum(axis=1)) for i, j in sides], axis=1)
        u *= self.sharp if self.kind == "central" else -self.sharp
        P = np.exp(u - u.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        return (1 - person[1]) * P + person[1] / P.shape[1]

    def answer(self, triples, person):
        """One answer to each question, as statements."""
        P = self.chances(triples, person)
        chosen = (self.rng.random((len(P), 1)) > P.cumsum(axis=1)[:, :-1]).sum(axis=1)
        order = np.array([[0, 1, 2], [0, 2, 1]] if self.kind == "closer" else
                         [[0, 1, 2], [1, 0, 2], [2, 0, 1]])  # fmt: skip
        return np.take_along_axis(triples, order[chosen], axis=1)

    def questions(self, count):
        """Drawn at random."""
        n = len(self.points)
        return self.rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)[:, :3]


def survey(people, raters, per, pool, common=0.5, again=0.1, persons=None):
    """Raters who share some questions, and get some of them twice."""
    rows, who = [], []
    for r in range(raters):
        k = min(int(per * common), len(pool))
        shared = pool[people.rng.choice(len(pool), k, replace=False)] if k else pool[:0]
        asked = np.concatenate([shared, people.questions(per - k)])
        asked = np.concatenate([asked, asked[: int(per * again)]])
        person = people.person() if persons is None else persons(r)
        rows.append(people.answer(asked, person))
        who += [r] * len(asked)
    return Statements(np.concatenate(rows), len(people.points), kind=people.kind, raters=who)


def ceiling(cell, rng, study):
    kind, raters, blind, tastes = cell.split("/")
    people = People(rng, rng.standard_normal((30, 2)), kind, float(blind), float(tastes))
    S = survey(people, int(raters), 100, people.questions(150))
    asked = people.questions(3000)
    P = np.stack([people.chances(asked, people.person()) for _ in range(100)])
    same, both = (P**2).sum(axis=(0, 2)), (P.sum(axis=0) ** 2).sum(axis=1)
    true = float(((both - same) / (len(P) * (len(P) - 1))).mean())
    true_within = float(same.mean() / len(P))
    between, within = agreement_between(S, S.raters), agreement_within(S, S.raters)
    votes = cells_of(S, S.raters).all_votes
    asked_again = votes[votes.sum(axis=1) > 1]
    majority = float((asked_again.max(axis=1) / asked_again.sum(axis=1)).mean())
    best = float(P.mean(axis=0).max(axis=1).mean())
    return {
        "covered": between.low <= true <= between.high,
        "within_covered": within.low <= true_within <= within.high,
        "true": true,
        "found": between.share,
        "true_within": true_within,
        "within": within.share,
        "width": between.high - between.low,
        "majority_excess": majority - best,
        "told_apart": within.share - between.share,
    }


def groups(cell, rng, study):
    kind, raters, blind, what = cell.split("/")
    n = int(raters)
    points = rng.standard_normal((24, 3))
    tastes = 0.6 if what == "tastes" else 0.0
    people = People(rng, points, kind, float(blind), tastes)
    second = rng.permutation(n) < n // 2

    def person(r):
        stretch, share = people.person()
        stretch[2] = 0.0
        if what in ("other", "half") and second[r]:
            # the second group sees the third dimension in place of the second, or half of it
            part = 1.0 if what == "other" else 0.6
            stretch[1:] = np.sqrt(1 - part**2), part
        return stretch, share

    S = survey(people, n, 60, people.questions(10), common=0.0, again=0.0, persons=person)
    rater = np.asarray(S.raters)
    # any model of all answers keeps the level; this one is quick
    fitted = fit_answers(S, How(2, 0.1, lapses="one", max_iter=30, tol=1e-3))
    p = differing_groups(S, rater, second.astype(np.int64)[rater], fitted, study, 199).p_value
    return {"rejected": p <= 0.05, "p": p}


def evaluate_models(cell, rng, study):
    kind, sharp, blind = cell.split("/")
    people = People(rng, rng.standard_normal((30, 2)), kind, float(blind), 0.0, float(sharp))
    S = survey(people, 20, 100, people.questions(150))
    asked = people.questions(3000)
    P = np.mean([people.chances(asked, people.person()) for _ in range(50)], axis=0)
    X = people.points
    blurred = X + 0.3 * rng.standard_normal(X.shape)
    worse = X + 1.0 * rng.standard_normal(X.shape)
    noise = rng.standard_normal((30, 2))
    models = {
        "perfect": {"embedding": X},
        "blurred": {"embedding": blurred},
        "worse": {"embedding": worse},
        "random": {"embedding": noise},
    }
    found = {each.name: each for each in evaluations_of(S, models, study)}
    order = [m.name for m in compare_models(list(found.values())).models]
    perfect, guess = found["perfect"], found["random"]
    low, high = perfect.of_ceiling_interval
    return {
        "perfect": perfect.of_ceiling,
        "perfect_covered": low <= 1.0 <= high,
        "random": guess.of_ceiling,
        "ceiling_error": perfect.ceiling - float(P.max(axis=1).mean()),
        "ceiling_covered": perfect.ceiling_interval[0]
        <= float(P.max(axis=1).mean())
        <= perfect.ceiling_interval[1],
        "ordered": order == ["perfect", "blurred", "worse", "random"],
    }


MEASURES = {
    "ceiling": ceiling,
    "groups": groups,
    "evaluate": evaluate_models,
}


def measure(job: tuple[str, int]) -> dict[str, Any]:
    cell, study = job
    claim, rest = cell.split("/", 1)
    rng = np.random.default_rng([zlib.crc32(cell.encode()), study])
    found = MEASURES[claim](rest, rng, study)
    plain = {k: (v.item() if isinstance(v, np.generic) else v) for k, v in found.items()}
    return {"cell": cell, "study": study, **plain}


def table(rows: list[dict[str, Any]]) -> None:
    for claim in MEASURES:
        cells = [cell for cell in CELLS if cell.startswith(f"{claim}/")]
        own = [row for row in rows if row["cell"] in cells]
        if not own:
            continue
        keys = [key for key in max(own, key=len) if key not in ("cell", "study")]
        print(f"\n| {claim} | studies | {' | '.join(keys)} |\n|{'---|' * (len(keys) + 2)}")
        for cell in cells:
            of = [row for row in own if row["cell"] == cell]
            if not of:
                continue
            shown = []
            for key in keys:
                known = [row[key] for row in of if row.get(key) is not None]
                shown.append(f"{np.mean(known):.3f}" if known else "-")
            print(f"| {cell.split('/', 1)[1]} | {len(of)} | {' | '.join(shown)} |")


if __name__ == "__main__":
    run_studies(__doc__, CELLS, measure, table)
