"""How often what the program says is true: one runner, one journal, one page.

    python benchmarks/claims.py run [--claims NAMES] [--cells PATTERN] [--studies N] [--jobs J]
    python benchmarks/claims.py page        # the tables of docs/claims.md, from the journal

The studies are those of `designs`, which shares no code with the package. A cell is
``claim/kind/shape/design/people/objects/answers/raters``; study i of a cell has the seed
`FIRST_SEED` + i, and nothing was ever chosen on these seeds. Each study is a line of
``benchmarks/claims.jsonl``, with the seed and the commit; one that is there is not run again.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import trilens as tl
from designs import Study, answers_to, population, shares_predicted, study

Row = dict[str, Any]
KINDS = ("central", "odd", "closer")
JOURNAL = Path(__file__).with_name("claims.jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "claims.md"
#: Constants of the package were chosen on lower seeds.
FIRST_SEED = 50_000
#: How many questions are chosen before the next are.
QUESTIONS_AT_ONCE = 50
#: Fewer studies do not tell which setting is the worst.
LEAST_STUDIES = 20


# --- what is measured of one study --------------------------------------------------------------


def statements(made: Study, chosen: np.ndarray | None = None) -> tl.Statements:
    """The answers as the package takes them."""
    width = len(str(made.n))
    names = [f"o{i:0{width}d}" for i in range(made.n)]
    return tl.Statements(
        made.triples,
        n_objects=made.n,
        names=names,
        kind=made.kind,
        raters=made.raters,
        chosen=chosen,
    )


def center(made: Study) -> Row:
    """The 95 % set of the most central object, intervals of depth, and the error rate."""
    S = statements(made)
    F = tl.fit(S)
    intervals = F.depth_intervals()
    covered = (intervals.low <= made.expected) & (made.expected <= intervals.high)
    low, high = F.error_rate_interval
    found = F.medoid()
    return {
        **_set_of(found, S, made),
        "not claimed": found.on_ring or found.reason in ("few questions", "loose parts"),
        "intervals": float(covered.mean()),
        "error rate held": low - 1e-9 <= made.wrong <= high + 1e-9,
        "error rate off": abs(F.error_rate - made.wrong),
        "dimensions": F.map.n_components,
    }


def _set_of(found: Any, S: tl.Statements, made: Study) -> Row:
    inside = {S.names.index(name) for name in found.candidates}
    return {
        "nearest": bool(inside & _least(made.distances.sum(axis=1), made.nearest)),
        "deepest": bool(inside & _least(-made.depth, made.deepest)),
        "size": len(inside),
    }


def _least(values: np.ndarray, one: int) -> set[int]:
    """Where they are least; categories have ties."""
    return {one, *np.flatnonzero(values <= values.min() + 1e-9).tolist()}


def passes(made: Study) -> Row:
    """What is said of a file that is held in memory, and of one that is not."""
    import tempfile

    from trilens import answers

    S = statements(made)
    F = tl.fit(S)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.csv"
        tl.write_statements(S, file)
        most, answers.STREAMED_BYTES = answers.STREAMED_BYTES, 0
        try:
            G = tl.fit(tl.Answers(str(file)))
            held, streamed = F.medoid(), G.medoid()
            same_groups = F.cluster().n_clusters == G.cluster().n_clusters
            same_apart = set(F.outliers().names) == set(G.outliers().names)
        finally:
            answers.STREAMED_BYTES = most
    return {
        **_set_of(streamed, S, made),
        "same medoid": held.name == streamed.name,
        "same set": set(held.candidates) == set(streamed.candidates),
        "depths differ": abs(held.depth - streamed.depth),
        "error rates differ": abs(F.error_rate - G.error_rate),
        "same outliers": same_apart,
        "same groups": same_groups,
    }


def adaptive(made: Study) -> Row:
    """The medoid's set, groups and shape after half of the answers were to chosen questions."""
    half = len(made.triples) // 2
    rng = np.random.default_rng(made.triples.ravel()[:50])
    answers = made.triples[rng.permutation(len(made.triples))[:half]]
    chosen = np.zeros(half, dtype=bool)
    goal = "map" if made.points is None or made.points.shape[1] == 1 else "medoid"
    while len(answers) < len(made.triples):
        S = tl.Statements(answers, n_objects=made.n, kind=made.kind, chosen=chosen)
        number = min(QUESTIONS_AT_ONCE, len(made.triples) - len(answers))
        asked = tl.next_questions(S, goal, number, rater="anybody", random_state=half)
        answers = np.r_[answers, answers_to(made, asked.triples, rng)]
        chosen = np.r_[chosen, [reason == "adaptive" for reason in asked.reasons]]
    S = statements(replace(made, triples=answers, raters=None), chosen)
    F = tl.fit(S)
    groups = F.cluster()
    return {
        **_set_of(F.medoid(), S, made),
        "divided": groups.n_clusters > 1,
        "a line": groups.shape == "line",
        "names any": len(F.outliers()) > 0,
    }


def apart(made: Study) -> Row:
    """What is said to stand apart, and the groups and the shape of the rest."""
    from sklearn.metrics import adjusted_rand_score

    S = statements(made)
    F = tl.fit(S)
    found, groups = F.outliers(), F.cluster()
    true = set() if made.labels is None else set(np.flatnonzero(made.labels == -1).tolist())
    named = {S.names.index(name) for name in found.names}
    labels = np.asarray(groups.labels)
    inside = np.array([i not in true for i in range(made.n)])
    number = 1 if made.labels is None else len(set(made.labels[inside].tolist()))
    alike = None
    if number > 1:
        alike = float(adjusted_rand_score(made.labels[inside], labels[inside]))
    return {
        "names any": bool(named),
        "wrongly names": bool(named - true),
        "exactly named": named == true if true else None,
        "far ones named": len(named & true) / len(true) if true else None,
        "a long tail": found.shape == "long tail",
        "divided": groups.n_clusters > 1,
        "number of groups right": groups.n_clusters == number,
        "groups alike": alike,
        "far ones unassigned": all(labels[i] == -1 for i in true) if true else None,
        **{f"a {shape}": groups.shape == shape for shape in ("cloud", "line", "ring")},
        "arms": groups.shape == "arms",
    }


def raters(made: Study) -> Row:
    """What is said of raters, and the interval of the error rate."""
    found = tl.reliability(statements(made))
    said = {check.rater: check.verdict for check in found.raters}
    low, high = found.error_rate_interval or (np.nan, np.nan)
    row: Row = {"said to be noise": "noise" in {caution.code for caution in found.cautions}}
    for sort in ("careful", "other view", "clicker", "inverted"):
        own = [said[rater] for rater in said if made.sort[rater] == sort]
        for verdict in ("careless", "inverted", "differs"):
            row[f"{sort}: {verdict}"] = own.count(verdict) / len(own) if own else None
    held = low - 1e-9 <= made.wrong <= high + 1e-9
    return {**row, "error rate held": held, "width": high - low}


def individuals(made: Study) -> Row:
    """Whether raters are said to see different things, and to fall into groups."""
    from sklearn.metrics import adjusted_rand_score

    found = tl.individuals(statements(made), predict=False)
    true = [made.sort[rater] for rater in found.raters]
    divided = "other view" in true
    return {
        "differ": found.differ,
        "groups": len(found.groups) > 0,
        "alike": float(adjusted_rand_score(true, found.group)) if divided else None,
    }


def compared(made: Study) -> Row:
    """Groups of raters: those of the other view, or a third of the raters where all see alike."""
    names = sorted(made.sort)
    other = [made.sort[name] == "other view" for name in names]
    second = other if any(other) else [i >= 2 * len(names) // 3 for i in range(len(names))]
    by = {name: "b" if is_second else "a" for name, is_second in zip(names, second, strict=True)}
    p = tl.compare_groups(statements(made), by).p_value
    return {"refused": p is None, "said to differ": None if p is None else p <= 0.05}


def models(made: Study) -> Row:
    """The accuracy of two models for raters and questions like these, which is better, and the
    ceiling: how often two raters agree.

    The first is the true distances with noise, the second these again with as much noise.
    """
    from trilens.agreement import agreement_between
    from trilens.questions.evaluate.evaluation import Yardstick

    S = statements(made)
    rng = np.random.default_rng(made.triples.ravel()[:50])
    noise = 0.25 * rng.standard_normal((2, made.n, made.n))
    two = [np.abs(made.distances + x + x.T) * (1 - np.eye(made.n)) for x in noise]
    true = shares_predicted(made, two)
    none = Yardstick(None, None, None, "not asked for")
    found = [
        tl.evaluate(S, distances=D, name=name, yardstick=none)
        for D, name in zip(two, ("one", "two"), strict=True)
    ]
    pair = tl.compare_models(found).differences[0]
    gap = true[0] - true[1] if pair.first == "one" else true[1] - true[0]
    low, high = found[0].interval
    between = agreement_between(S, S.raters)
    agree = float((population(made)[1] ** 2).sum(axis=1).mean())
    return {
        "accuracy held": low <= true[0] <= high,
        "difference held": pair.low <= gap <= pair.high,
        "agreement held": None if between is None else between.low <= agree <= between.high,
        "width": high - low,
    }


def tree(made: Study) -> Row:
    """How many branches are claimed and true, and how many distances lie within two errors.

    A branch is true if it is one of the tree behind the distances, a group, or a branch of the
    tree that the true distances give.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    S = statements(made)
    F = tl.fit(S)
    number = {name: i for i, name in enumerate(S.names)}
    parts = [frozenset([i]) for i in range(made.n)]
    for one, other in linkage(squareform(made.distances, checks=False), "average")[:, :2]:
        parts.append(parts[int(one)] | parts[int(other)])
    true = {*made.branches, *parts[made.n : -1]}
    claimed = [frozenset(number[name] for name in each.objects) for each in F.hierarchy().claimed]
    found = F.distances()
    at = np.triu_indices(made.n, 1)
    scaled = made.distances[at] / made.distances[at].mean()
    near = np.abs(found.matrix[at] - scaled) <= 2 * found.errors[at]
    return {
        "claims a branch": len(claimed) > 0,
        "claimed": len(claimed),
        "claimed branches true": sum(each in true for each in claimed),
        "distances held": float(near.mean()),
    }


def labels(made: Study) -> Row:
    """Whether labels are said to be learnable, and how well hidden ones are predicted.

    Half of the labels are given, 5 % of these wrong ones; where the objects have no groups,
    labels are drawn.
    """
    rng = np.random.default_rng(made.triples.ravel()[:50])
    drawn = made.labels is None
    true = rng.integers(2, size=made.n) if drawn else np.asarray(made.labels)
    known = np.arange(made.n) // 2 % 2 == 0
    given = true.copy()
    wrong = np.zeros(made.n, dtype=bool)
    if not drawn:
        wrong[rng.choice(np.flatnonzero(known), max(1, round(0.05 * known.sum())), False)] = True
        given[wrong] = (given[wrong] + 1) % (true.max() + 1)
    y = [int(given[i]) if known[i] else None for i in range(made.n)]
    found = tl.classify(statements(made), y)
    against = np.zeros(made.n, dtype=bool)
    against[known] = np.asarray(found.check.contradicted)[: known.sum()]
    hidden = ~known
    predicted = np.asarray(found.found)[hidden].astype(int)
    sure = None
    if not drawn:
        sure = float((predicted == true[hidden]).mean())
    return {
        "learnable": bool(found.check.learnable),
        "hidden labels right": sure,
        "right labels doubted": float(against[known & ~wrong].mean()),
        "wrong labels found": None if drawn else float(against[wrong].mean()),
    }


def plan(made: Study) -> Row:
    """Whether as many answers as a plan without a pilot says are enough for the goal medoid."""
    rng_seed = int(made.triples.ravel()[:20].sum())
    made_plan = tl.plan(made.n, "medoid", kind=made.kind, random_state=rng_seed)
    again = study(
        made.kind, "plane", "random", made.people, rng_seed, made.n, made_plan.answers,
        made_plan.raters or 20,
    )  # fmt: skip
    return {
        "reached": len(tl.medoid(statements(again)).candidates) <= 3,
        "answers": made_plan.answers,
    }


def stop(made: Study) -> Row:
    """A study of raters in any order, up to the moment at which the rule says stop."""
    from trilens.questions.stopping import looks

    rng = np.random.default_rng(made.triples.ravel()[:50])
    names, rater = np.unique(made.raters, return_inverse=True)
    order = np.argsort(rng.permutation(len(names))[rater], kind="stable")
    S = statements(made).take(order)
    at = looks(made.n, 0)[2]
    found = None
    while at <= len(S):
        found = tl.stopping(S.take(np.arange(at)), "medoid", at_most=3)
        if found.stop:
            break
        at = looks(made.n, at)[2]
    if found is None or not found.stop:
        return {"stopped": False}
    inside = {S.names.index(name) for name in found.candidates}
    return {
        "stopped": True,
        "nearest": made.nearest in inside,
        "deepest": made.deepest in inside,
        "answers": int(at),
    }


def features(made: Study) -> Row:
    """The medoid's set with features that tell the places, say nothing, or mislead."""
    S = statements(made)
    rng = np.random.default_rng(made.triples.ravel()[:50])
    assert made.points is not None
    tell = made.points @ rng.standard_normal((2, 10)) + 0.5 * rng.standard_normal((made.n, 10))
    rest = rng.standard_normal((made.n, 20))
    row: Row = {}
    for name, first in (
        ("useful", tell),
        ("useless", rng.standard_normal(tell.shape)),
        ("misleading", tell[rng.permutation(made.n)]),
    ):
        found = _set_of(tl.fit(S, features=np.c_[first, rest]).medoid(), S, made)
        row |= {f"{name}: {key}": value for key, value in found.items()}
    return row


def kind_doubt(made: Study) -> Row:
    """Whether the right kind is suggested for rows of which nobody said what was asked."""
    from trilens.maps.kind import kind_fit

    S = tl.Statements(made.triples, made.n, kind="central")
    fits = kind_fit(S).fitting
    wrong = fits is not None and fits != made.kind
    return {"wrong kind suggested": wrong, "right kind suggested": fits == made.kind}


CLAIMS: dict[str, Callable[[Study], Row]] = {
    "center": center,
    "passes": passes,
    "adaptive": adaptive,
    "apart": apart,
    "raters": raters,
    "individuals": individuals,
    "compared": compared,
    "models": models,
    "tree": tree,
    "labels": labels,
    "plan": plan,
    "stop": stop,
    "features": features,
    "kind": kind_doubt,
}


# --- in which settings --------------------------------------------------------------------------

#: Worlds with far objects, and without: shape, objects, answers.
FAR = (
    ("three groups, one at 8", 25, 2500),
    ("three groups, one at 10", 25, 2500),
    ("three groups, two at 10", 26, 2500),
    ("cloud, one at 7", 40, 3000),
    ("cloud, three at 6.7", 40, 2500),
    ("cloud, two together at 7", 40, 3000),
    ("cloud, three together at 7", 40, 3000),
)
NOT_FAR = (
    ("plane", 40, 2500),
    ("five dimensions", 40, 2500),
    ("square", 40, 2500),
    ("ring", 40, 2500),
    ("line", 40, 2500),
    ("arms", 42, 2500),
    ("core in a halo", 40, 2500),
    ("three groups, 7 apart", 24, 2500),
    ("three groups", 30, 2500),
    ("24 and 6", 30, 2500),
    ("cloud, four together at 6", 40, 3000),
    ("t3", 40, 2500),
    ("log-normal", 40, 2500),
    ("even steps", 30, 2500),
)


#: Studies that are held in memory, and not: shape, questions, people, size.
PASSES = (
    ("plane", "random", "hard", "30/1500/20"),
    ("plane", "one list", "soft", "20/3000/60"),
    ("three groups", "random", "clickers", "40/4000/20"),
    ("five dimensions", "one rater half", "soft, unequal", "40/4000/20"),
    ("plane", "random", "guesses", "15/300/5"),
)


def cells() -> Iterator[str]:
    """All settings, claim by claim."""
    for kind in KINDS:
        for people in ("right", "hard", "hard 30", "soft", "weights", "noisy", "clickers"):
            yield f"center/{kind}/plane/random/{people}/60/2500/20"
        for people in ("hard", "guesses"):
            yield f"center/{kind}/plane/random/{people}/15/300/5"
        for shape in ("line", "five dimensions", "log-normal", "t3", "three groups", "ring"):
            yield f"center/{kind}/{shape}/random/hard/40/3000/20"
        for design in ("one list", "blocks", "landmarks", "uneven", "one rater half"):
            yield f"center/{kind}/plane/{design}/hard/40/4000/20"
        yield f"center/{kind}/plane/one list/soft/20/3000/60"
        yield f"center/{kind}/plane/random/two factions/40/4000/20"
        yield f"center/{kind}/plane/random/hard/300/20000/20"
        yield f"center/{kind}/plane/random/hard/1200/60000/40"
        for shape, design, people, size in PASSES:
            yield f"passes/{kind}/{shape}/{design}/{people}/{size}"
        yield f"adaptive/{kind}/plane/random/hard/20/600/20"
        yield f"adaptive/{kind}/even steps/random/right 95/30/1500/20"
    for kind in KINDS:
        for shape, n, answers in FAR + NOT_FAR:
            yield f"apart/{kind}/{shape}/random/right 95/{n}/{answers}/20"
        yield f"apart/{kind}/plane/random/guesses/40/2500/20"
        yield f"apart/{kind}/plane/one list/hard/40/4000/20"
    for kind in KINDS:
        for people in ("soft, unequal", "another view", "weights", "clickers", "inverted"):
            yield f"raters/{kind}/plane/random/{people}/40/4000/20"
        yield f"raters/{kind}/plane/random/guesses/40/4000/20"
        yield f"raters/{kind}/plane/one list/clickers/40/4000/20"
        for people in ("soft, unequal", "clickers", "two factions", "weights"):
            yield f"individuals/{kind}/plane/random/{people}/40/4000/20"
        for people in ("soft, unequal", "weights", "three elsewhere", "two factions"):
            yield f"compared/{kind}/plane/random/{people}/30/2100/21"
        yield f"compared/{kind}/plane/one list/soft, unequal/30/2100/21"
        for design in ("one list", "pool", "one rater half"):
            yield f"models/{kind}/plane/{design}/soft, unequal/12/1200/12"
        for shape in ("tree", "three groups", "plane"):
            yield f"tree/{kind}/{shape}/random/soft/30/3000/20"
        yield f"tree/{kind}/plane/random/guesses/30/3000/20"
        for shape, people in (("three groups", "hard"), ("plane", "hard"), ("plane", "guesses")):
            yield f"labels/{kind}/{shape}/random/{people}/60/2400/20"
        yield f"plan/{kind}/plane/random/soft/30/300/20"
        for people in ("hard", "soft, unequal", "guesses"):
            yield f"stop/{kind}/plane/random/{people}/20/3500/20"
        yield f"stop/{kind}/plane/one list/hard/20/3500/20"
        yield f"features/{kind}/plane/random/soft/30/450/20"
        for people in ("hard", "guesses"):
            yield f"kind/{kind}/plane/random/{people}/25/700/10"


def measured(cell: str, seed: int) -> Row:
    """One study of one cell."""
    claim, kind, shape, design, people, n, answers, raters_ = cell.split("/")
    made = study(kind, shape, design, people, seed, int(n), int(answers), int(raters_))
    start = time.process_time()
    try:
        found = CLAIMS[claim](made)
    except tl.errors.TrilensError as refused:
        found = {"refused": str(refused)}
    row = {key: x.item() if isinstance(x, np.generic) else x for key, x in found.items()}
    return {"cell": cell, "seed": seed, **row, "cpu": round(time.process_time() - start, 2)}


def run(args: argparse.Namespace) -> None:
    """Measure the studies that the journal does not hold yet, a study of each cell in turn."""
    wanted = [
        cell
        for cell in cells()
        if cell.split("/")[0] in (args.claims or ",".join(CLAIMS)).split(",")
        and fnmatch.fnmatch(cell, args.cells)
    ]
    seeds = range(FIRST_SEED, FIRST_SEED + args.studies)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=PAGE.parent
    ).stdout.strip()
    jobs = [(cell, seed) for seed in seeds for cell in wanted]
    resume(args.journal, jobs, _measured, args.jobs, commit=commit)


def _measured(job: tuple[str, int]) -> Row:
    return measured(*job)


def resume(
    file: Path,
    jobs: Iterable[tuple[str, int]],
    measure: Callable[[tuple[str, int]], Row],
    processes: int,
    **about: str,
) -> None:
    """Measure the cells and seeds that a journal does not hold yet, and add each as it is done."""
    done = {(row["cell"], row["seed"]) for row in journal(file)}
    with ProcessPoolExecutor(processes) as pool:
        missing = [job for job in jobs if job not in done]
        for row in pool.map(measure, missing, chunksize=1):
            with file.open("a") as lines:
                lines.write(json.dumps({**row, **about}) + "\n")


def journal(file: Path = JOURNAL) -> list[Row]:
    """The studies that were measured."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


# --- the page -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """What the program says, and the share of studies in which it must hold.

    Attributes
    ----------
    said : str
        In words; the anchor of its part of the page in brackets.
    claim, fact : str
        Where it is measured.
    at_least : float or None
        None where no share is promised.
    shapes, people : tuple of str
        Those for which it is promised; empty for all.
    negated : bool
        It holds where the fact does not.
    unless : str
        The fact that the program said that nothing is promised; such studies do not count.
    """

    said: str
    claim: str
    fact: str
    at_least: float | None
    shapes: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    negated: bool = False
    unless: str = ""

    def covers(self, cell: str) -> bool:
        """Whether it is promised for this setting."""
        claim, _, shape, _, people, *_ = cell.split("/")
        return (
            claim == self.claim
            and (not self.shapes or shape in self.shapes)
            and (not self.people or people in self.people)
        )


#: Worlds that are no groups.
NO_GROUPS = ("plane", "five dimensions", "square", "ring", "line", "arms", "core in a halo")
NO_GROUPS += ("t3", "log-normal", "even steps", "cloud, one at 7", "cloud, three at 6.7")
TAILS = ("t3", "log-normal")
NO_TAILS = tuple(shape for shape, *_ in FAR + NOT_FAR if shape not in TAILS)
GROUPS = ("three groups", "three groups, 7 apart", "24 and 6", "cloud, four together at 6")
GROUPS += ("three groups, one at 8", "three groups, one at 10", "three groups, two at 10")
#: People of whom it is known how many of their answers are wrong.
KNOWN_ERRORS = ("right", "hard", "hard 30", "soft", "clickers")
ALIKE = ("soft, unequal", "weights")
PROMISES = (
    Promise(
        "the 95 % set has the object [nearest to all](#the-most-central-object)",
        "center", "nearest", 0.95, unless="not claimed",
    ),
    Promise(
        "the 95 % set has the deepest object", "center", "deepest", 0.95, unless="not claimed"
    ),
    Promise(
        "the interval holds the [error rate](#how-good-the-answers-are)",
        "center", "error rate held", 0.95, people=KNOWN_ERRORS,
    ),
    Promise(
        "[no outlier](#what-stands-apart) is named where there is none",
        "apart", "wrongly names", 0.95, NO_TAILS, negated=True,
    ),
    Promise(
        "no end of a long tail is named as an outlier",
        "apart", "wrongly names", 0.85, TAILS, negated=True,
    ),
    Promise(
        "the same of [questions chosen](#questions-chosen-by-earlier-answers) by earlier answers",
        "adaptive", "names any", 0.95, negated=True,
    ),
    Promise("exactly the far objects are named", "apart", "exactly named", None),
    Promise(
        "[no groups](#how-many-groups) are claimed where there are none",
        "apart", "divided", 0.95, NO_GROUPS, negated=True,
    ),
    Promise("the number of groups is right", "apart", "number of groups right", None, GROUPS),
    Promise(
        "a rater who is not [careless](#careless-raters) is not called so",
        "raters", "careful: careless", 0.99, negated=True,
    ),
    Promise(
        "a rater who only clicks is called careless",
        "raters", "clicker: careless", None, people=("clickers",),
    ),
    Promise(
        "raters who see alike are not said to [differ](#who-is-careless-who-sees-differently)",
        "individuals", "differ", 0.95, people=("soft, unequal", "clickers"), negated=True,
    ),
    Promise(
        "[groups of people](#groups-and-conditions-compared) who see alike are not said to differ",
        "compared", "said to differ", 0.95, people=ALIKE, negated=True,
    ),
    Promise(
        "the interval holds a [model's accuracy](#few-or-unequal-raters)",
        "models", "accuracy held", 0.95,
    ),
    Promise(
        "the interval holds how often two raters agree", "models", "agreement held", 0.95
    ),
    Promise(
        "labels drawn at random are said not to be [learnable](#labels)",
        "labels", "learnable", 0.95, ("plane",), negated=True,
    ),
    Promise("a [plan's](#plans) answers are enough", "plan", "reached", 0.8),
    Promise(
        "the set has the nearest object when the rule says [stop](#when-to-stop)",
        "stop", "nearest", 0.95,
    ),
    Promise("no wrong [kind](files.md) is suggested", "kind", "wrong kind suggested", 0.95,
            negated=True),
)  # fmt: skip


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share that was seen in n independent studies.

    >>> [round(float(x), 3) for x in wilson(0.95, 200)]
    [0.91, 0.973]
    """
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def _held(rows: Iterable[Row], promise: Promise) -> np.ndarray:
    """The share that held, study by study."""
    promised = [row for row in rows if not row.get(promise.unless)]
    known = [float(row[promise.fact]) for row in promised if row.get(promise.fact) is not None]
    return 1 - np.array(known) if promise.negated else np.array(known)


def _by_cell(rows: list[Row], claim: str) -> dict[str, list[Row]]:
    """The studies of each setting of a claim."""
    found: dict[str, list[Row]] = {}
    for cell in cells():
        of = [row for row in rows if row["cell"] == cell]
        if of and cell.startswith(f"{claim}/"):
            found[cell] = of
    return found


def summary(rows: list[Row]) -> list[str]:
    """The first table: every promise over all settings, for each kind, and in the worst setting."""
    head = ("what is said", "promised", "settings", "held in", "95 % interval", *KINDS)
    lines = [
        f"| {' | '.join(head)} | the worst setting |",
        "|" + "---|" * (len(head) + 1),
    ]
    for promise in PROMISES:
        own = {
            cell: _held(of, promise)
            for cell, of in _by_cell(rows, promise.claim).items()
            if promise.covers(cell)
        }
        own = {cell: held for cell, held in own.items() if len(held)}
        if not own:
            continue
        every = np.concatenate(list(own.values()))
        low, high = wilson(float(every.mean()), len(every))
        short = promise.at_least is not None and high < promise.at_least
        of_kind = [
            [held for cell, held in own.items() if cell.split("/")[1] == kind] for kind in KINDS
        ]
        shown = [
            promise.said,
            _percent(promise.at_least),
            str(len(own)),
            f"{_amount(every.sum())} of {len(every):,}",
            _interval(low, high) + (", **short of it**" if short else ""),
            *(_percent(float(np.concatenate(held).mean())) if held else "-" for held in of_kind),
            _worst(own, promise),
        ]
        lines.append(f"| {' | '.join(shown)} |")
    return lines


def _worst(own: dict[str, np.ndarray], promise: Promise) -> str:
    """The setting in which it held least; of few studies the worst is a matter of chance."""
    known = {cell: held for cell, held in own.items() if len(held) >= LEAST_STUDIES}
    if not known:
        return "-"
    cell = min(known, key=lambda each: known[each].mean())
    held = known[cell]
    low, high = wilson(float(held.mean()), len(held))
    short = promise.at_least is not None and high < promise.at_least
    return (
        f"{setting(cell)}: {_amount(held.sum())} of {len(held)} ({_interval(low, high)})"
        f"{', **short of it**' if short else ''}"
    )


def setting(cell: str) -> str:
    """A cell in words.

    >>> setting("center/odd/plane/random/hard/60/2500/20")
    '`odd`, plane, random questions, hard, 60 objects'
    """
    _, kind, shape, design, people, n, *_ = cell.split("/")
    questions = "random questions" if design == "random" else design
    return f"`{kind}`, {shape}, {questions}, {people}, {n} objects"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _amount(number: float) -> str:
    return f"{number:,.0f}" if abs(number - round(number)) < 0.005 else f"{number:,.1f}"


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} %"


#: What stands in the columns of each table, beside the setting.
COLUMNS: dict[str, tuple[str, ...]] = {
    "center": ("nearest", "deepest", "size", "not claimed", "intervals", "error rate held",
               "error rate off"),
    "passes": ("same medoid", "same set", "depths differ", "error rates differ", "same outliers",
               "same groups", "nearest"),
    "adaptive": ("nearest", "deepest", "size", "divided", "a line", "names any"),
    "apart": ("names any", "exactly named", "a long tail", "divided", "number of groups right",
              "far ones unassigned"),
    "shapes": ("a cloud", "a line", "a ring", "arms", "divided"),
    "raters": ("careful: careless", "clicker: careless", "inverted: inverted",
               "other view: differs", "careful: differs", "error rate held", "said to be noise"),
    "individuals": ("differ", "groups", "alike"),
    "compared": ("said to differ", "refused"),
    "models": ("accuracy held", "difference held", "agreement held", "width"),
    "tree": ("claims a branch", "claimed", "claimed branches true", "distances held"),
    "labels": ("learnable", "hidden labels right", "right labels doubted", "wrong labels found"),
    "plan": ("reached", "answers"),
    "stop": ("stopped", "nearest", "deepest", "answers"),
    "features": ("useful: nearest", "useful: size", "useless: nearest", "useless: size",
                 "misleading: nearest", "misleading: size"),
    "kind": ("wrong kind suggested", "right kind suggested"),
}  # fmt: skip


def table(rows: list[Row], name: str) -> list[str]:
    """The table of one claim: means over the studies of each setting."""
    claim = "apart" if name == "shapes" else name
    head = ("kind", "shape", "questions", "people", "objects", "answers", "studies", *COLUMNS[name])
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for cell, of in _by_cell(rows, claim).items():
        facts = [
            _mean([row[key] for row in of if row.get(key) is not None]) for key in COLUMNS[name]
        ]
        shown = [*cell.split("/")[1:7], str(len(of)), *facts]
        lines.append(f"| {' | '.join(shown)} |")
    return lines


def _mean(values: list[Any]) -> str:
    if not values:
        return "-"
    mean = float(np.mean(values))
    return f"{mean:,.0f}" if mean >= 100 else f"{mean:.1f}" if mean > 1 else f"{mean:.2f}"


def with_tables(text: str, rows: list[Row]) -> str:
    """The page with the tables of these studies between their marks."""

    def made(mark: re.Match[str]) -> str:
        name = mark[1]
        lines = summary(rows) if name == "summary" else table(rows, name)
        return f"<!-- {name} -->\n" + "\n".join(lines) + f"\n<!-- end of {name} -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end of \1 -->", made, text, flags=re.S)


def page(args: argparse.Namespace) -> None:
    """Write the tables between their marks on the page."""
    PAGE.write_text(with_tables(PAGE.read_text(), journal(args.journal)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--journal", type=Path, default=JOURNAL)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run", help="measure what the journal does not hold yet")
    runner.add_argument("--claims", help="names, with commas between")
    runner.add_argument("--cells", default="*", help="a pattern")
    runner.add_argument("--studies", type=int, default=200)
    runner.add_argument("--jobs", type=int, default=os.cpu_count())
    runner.set_defaults(do=run)
    commands.add_parser("page", help="write the tables of docs/claims.md").set_defaults(do=page)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
