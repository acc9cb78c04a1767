"""How many answers chosen questions save: random, chosen, and two rivals' rules, by replay.

    python benchmarks/bench_next_questions.py [--studies N] [--cells PATTERN] [--out FILE]
    python benchmarks/bench_next_questions.py --table FILE [FILE ...]

A cell is ``shape/kind/objects/wrong/way``. The objects and the answers come from `designs`, which
shares no code with the package; ``wrong`` is the share of wrong answers, in per cent, whatever the
question. A study starts with six random answers for each object and grows by 20 % at a time.
At each mark a choice map in the plane is fitted to all answers so far, whoever chose them, and the
error of the goal is taken from it:

- ``medoid``: by how much more than the least total distance that of the object found is, which is
  the one with the least total distance on the map;
- ``deepest``: by how much less than the highest depth that of the object of the highest depth on
  the map is;
- ``rank``: 1 - Spearman's correlation of the depths with the true ones;
- ``map``: the share of all questions to which the map gives another answer than the truth;
- ``outliers``: the share of four true outliers that are not the four largest outlier factors;
- ``groups``: the share of objects that k-means puts elsewhere than on the true points.

Ways: ``random``; a goal of `tl.next_questions`; ``gain``, Salmon's rule: the information gain
about one object's place at a time on an embedding of its own (Tamuz and others, 2011; Jamieson
and others, 2015); ``elimination``: the candidates for the medoid are those whose counted intervals
still reach the highest one, and each question has one of them (random partners).

A study that is already in FILE is not run again.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import trilens as tl
from claims import journal, resume
from designs import SHAPES, Shape, _choose, _scores, centrality_of, with_answers
from trilens.statements.combine import question_keys

Array = np.ndarray
Row = dict[str, Any]
#: The goals that are tried with objects that lie so.
GOALS = {
    "plane": ("medoid", "deepest", "rank", "map"),
    "outliers": ("outliers",),
    "three groups, 4 apart": ("groups",),
}
#: Answers for each object at which errors are taken.
MARKS = (10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 452)
#: Up to so many questions are chosen, and drawn at random; and where answers tell very little
#: (`closer` with 30 % wrong, 60 objects).
MOST_CHOSEN, MOST_RANDOM = 57, 226
LONG_CHOSEN, LONG_RANDOM = 160, 452
#: Random answers for each object before any question is chosen, and the growth from step to step.
FIRST, GROWTH = 6, 0.2


def answers(kind: str, D: Array, asked: Array, wrong: float, rng: np.random.Generator) -> Array:
    """The questions with the answer in its place; wrong ones are drawn from all others."""
    scores = _scores(kind, D, asked)
    given = _choose(scores, np.inf, rng)
    options = scores.shape[1]
    bad = rng.random(len(asked)) < wrong
    given = np.where(bad, (given + rng.integers(1, options, len(asked))) % options, given)
    return with_answers(kind, asked, given)


def near_outliers(n: int, rng: np.random.Generator) -> Shape:
    """A Gaussian cloud and four objects 4 to 5 standard deviations away, each by itself."""
    X = rng.standard_normal((n, 2))
    angle = rng.uniform(0, 2 * np.pi) + np.pi / 2 * np.arange(4)
    X[:4] = rng.uniform(4, 5, 4)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    return Shape(X, np.where(np.arange(n) < 4, -1, 0))


def random_questions(n: int, count: int, rng: np.random.Generator) -> Array:
    """Three different objects each."""
    return rng.random((count, n)).argpartition(2, axis=1)[:, :3] if count else np.zeros((0, 3), int)


def fitted(kind: str, n: int, triples: Array) -> tl.ChoiceMap:
    """The map in the plane that errors are taken from."""
    return tl.ChoiceMap(2, n_jobs=1).fit(tl.Statements(triples, n, kind=kind))


# --- errors -----------------------------------------------------------------------------------


def _ranks(values: Array) -> Array:
    return values.argsort().argsort().astype(float)


def error_of(goal: str, kind: str, M: tl.ChoiceMap, truth: dict[str, Array]) -> float:
    """How far the map's answer to the goal is from the truth."""
    X, D = M.embedding_, truth["D"]
    own = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    if goal == "medoid":
        total = D.sum(axis=1)
        return float(total[own.sum(axis=1).argmin()] / total.min() - 1)
    if goal in ("deepest", "rank"):
        depth, true = M.depth().depth, truth["depth"]
        if goal == "rank":
            return float(1 - np.corrcoef(_ranks(depth), _ranks(true))[0, 1])
        return float(1 - true[depth.argmax()] / true.max())
    if goal == "map":
        asked = truth["asked"]
        same = _scores(kind, own, asked).argmax(1) == _scores(kind, D, asked).argmax(1)
        return float(1 - same.mean())
    if goal == "outliers":
        from trilens.questions.outlier_test import outlier_factors

        far = np.argsort(-outlier_factors(X))[:4]
        return float(1 - np.isin(far, np.flatnonzero(truth["labels"] == -1)).mean())
    own, true = _three_groups(X), _three_groups(truth["X"])
    from itertools import permutations

    return float(min((np.array(p)[own] != true).mean() for p in permutations(range(3))))


def _three_groups(X: Array) -> Array:
    from sklearn.cluster import KMeans

    return KMeans(3, n_init=10, random_state=0).fit_predict(X)


# --- rivals -----------------------------------------------------------------------------------


def gain_questions(
    kind: str, n: int, triples: Array, count: int, rng: np.random.Generator
) -> Array:
    """Information gain about the place of one object, the others where an embedding has them.

    The posterior of the object is over the places of all objects (and its own), by its answers so
    far; of random pairs to compare it with, that with the largest gain is asked. The embedding is
    t-STE's, which knows no lapses.
    """
    X = tl.TSTE(2, random_state=0).fit(tl.Statements(triples, n, kind=kind)).embedding_
    rows = _as_comparisons(kind, triples)
    heads = rng.permutation(np.resize(np.arange(n), count))
    found = []
    for head in heads:
        own = rows[rows[:, 0] == head]
        at = X[np.arange(n) != head]
        chance = _nearer(at, X, own)
        weight = np.exp((np.log(chance).sum(axis=1)) - np.log(chance).sum(axis=1).max())
        weight /= weight.sum()
        pairs = rng.random((100, n - 1)).argpartition(1, axis=1)[:, :2]
        pairs = np.delete(np.arange(n), head)[pairs]
        p = _nearer(at, X, np.c_[np.full(100, head), pairs])
        mean = weight @ p
        gain = _entropy(mean) - weight @ _entropy(p)
        found.append([head, *pairs[gain.argmax()]])
    return np.array(found)


def _as_comparisons(kind: str, triples: Array) -> Array:
    """(anchor, near, far): two for each central or odd answer."""
    a, b, c = triples.T
    if kind == "closer":
        return triples
    if kind == "central":
        return np.concatenate([np.c_[b, a, c], np.c_[c, a, b]])
    return np.concatenate([np.c_[b, c, a], np.c_[c, b, a]])


def _nearer(at: Array, X: Array, rows: Array) -> Array:
    """The chance, for an anchor at each of some places, that it is nearer to the first."""
    near = 1 / (1 + ((at[:, None] - X[rows[:, 1]]) ** 2).sum(axis=2))
    far = 1 / (1 + ((at[:, None] - X[rows[:, 2]]) ** 2).sum(axis=2))
    return np.clip(near / (near + far), 1e-9, 1 - 1e-9)


def _entropy(p: Array) -> Array:
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


def elimination_questions(
    kind: str, n: int, triples: Array, count: int, rng: np.random.Generator
) -> Array:
    """Each with one of the objects whose interval (Hoeffding's) still reaches the highest one."""
    first = 1 if kind == "closer" else 0
    times = np.bincount(triples[:, first:].ravel(), minlength=n)
    share = np.bincount(triples[:, first], minlength=n) / np.maximum(times, 1)
    if kind == "odd":
        share = 1 - share
    wide = np.sqrt(np.log(2 * n / 0.05) / (2 * np.maximum(times, 1)))
    left = np.flatnonzero(share + wide >= (share - wide).max())
    who = rng.permutation(np.resize(left, count))
    found = random_questions(n - 1, count, rng)[:, :2]
    found = found + (found >= who[:, None])
    if kind == "closer":  # a candidate is compared, so it is no anchor
        return np.c_[found[:, 0], who, found[:, 1]]
    return np.c_[who, found]


RIVALS: dict[str, Callable[..., Array]] = {
    "gain": gain_questions,
    "elimination": elimination_questions,
}


# --- replay -----------------------------------------------------------------------------------


def replay(
    kind: str, way: str, n: int, wrong: float, number: int, shape: str
) -> dict[str, list[float]]:
    """The errors of a shape's goals at the marks."""
    rng = np.random.default_rng([number, n, int(100 * wrong), len(shape)])
    drawn = near_outliers(n, rng) if shape == "outliers" else SHAPES[shape](n, rng)
    D = drawn.distances()
    asked = random_questions(n, 4000, rng)
    truth = {"D": D, "X": drawn.points, "labels": drawn.labels, "asked": asked}
    goals = GOALS[shape]
    if shape == "plane":
        truth["depth"] = centrality_of(kind, D)
    triples = answers(kind, D, random_questions(n, FIRST * n, rng), wrong, rng)
    found: dict[str, list[float]] = {goal: [] for goal in goals}
    M = fitted(kind, n, triples)
    long = kind == "closer" and wrong >= 0.3 and n <= 60
    chosen, by_chance = (LONG_CHOSEN, LONG_RANDOM) if long else (MOST_CHOSEN, MOST_RANDOM)
    for mark in MARKS:
        if mark > (by_chance if way == "random" else chosen):
            break
        while len(triples) < mark * n:
            count = min(int(GROWTH * len(triples)) + 1, mark * n - len(triples))
            if way == "random":
                new = random_questions(n, mark * n - len(triples), rng)
            elif way in RIVALS:
                new = RIVALS[way](kind, n, triples, count, rng)
            else:
                S = tl.Statements(triples, n, kind=kind)
                new = tl.next_questions(S, way, count, start=M).triples
            triples = np.concatenate([triples, answers(kind, D, new, wrong, rng)])
        M = fitted(kind, n, triples)
        for goal in goals:
            found[goal].append(error_of(goal, kind, M, truth))
    return found


def replay_people(name: str, way: str, number: int) -> dict[str, list[float]]:
    """The answers of a study in its own order, or in that of chosen questions.

    A fifth of the questions is held out: the error of the map is the share of their answers that
    it does not predict. Questions are chosen among those that have answers which are not yet
    used. The medoid's error is by the distances on the map of all answers.
    """
    if name == "cars":
        cars = tl.datasets.load_cars(pictures=False).statements
        S = cars["ALL"]
    else:
        file = Path(os.environ["TRILENS_DATA"]) / "faces" / "faces.csv"
        S = tl.read_statements(file, kind="closer")
    n, kind = S.n_objects, S.kind
    rng = np.random.default_rng([number, n])
    key = question_keys(S)[0]
    held = np.isin(key, rng.permutation(np.unique(key))[: len(np.unique(key)) // 5])
    pool, test = S.triples[~held], S.triples[held]
    keys = key[~held]
    reference = fitted(kind, n, S.triples).embedding_
    total = np.sqrt(((reference[:, None] - reference) ** 2).sum(axis=2)).sum(axis=1)
    used = np.arange(len(pool)) < FIRST * n
    found: dict[str, list[float]] = {"medoid": [], "map": []}
    M = fitted(kind, n, pool[used])
    for mark in MARKS:
        if mark * n > (len(pool) if way == "random" else len(pool) * 0.6):
            break
        while used.sum() < mark * n:
            left = np.flatnonzero(~used)
            count = min(int(GROWTH * used.sum()) + 1, mark * n - int(used.sum()))
            if way == "random":
                used[left[: mark * n - int(used.sum())]] = True
                continue
            given = tl.Statements(pool[used], n, kind=kind)
            asked = tl.next_questions(given, way, count, start=M, rater="new", among=pool[left])
            wanted = question_keys(tl.Statements(asked.triples, n, kind=kind))[0]
            # one unused answer of each, the earliest
            _, first = np.unique(keys[left], return_index=True)
            used[left[first][np.isin(keys[left][first], wanted)]] = True
        M = fitted(kind, n, pool[used])
        right = M.predict_proba(tl.Statements(test, n, kind=kind)).argmax(axis=1) == 0
        found["map"].append(float(1 - right.mean()))
        found["medoid"].append(float(total[M.depth().depth.argmax()] / total.min() - 1))
    return found


def cells() -> Iterator[str]:
    """Shape, kind, objects, wrong answers, and the way (the goal of chosen questions)."""
    for world in ("cars/central/60/people", "faces/closer/36/people"):
        for way in ("random", "map", "medoid"):
            yield f"{world}/{way}"
    for n in (60, 200):
        for wrong in (20, 0, 30):
            for kind in ("central", "odd", "closer"):
                for shape, goals in GOALS.items():
                    ways = [goal for goal in goals if goal != "deepest"]
                    rivals = RIVALS if shape == "plane" else ()
                    for way in ("random", *ways, *rivals):
                        yield f"{shape}/{kind}/{n}/{wrong}/{way}"


def measure(job: tuple[str, int]) -> Row:
    """The errors of one study of a cell."""
    cell, number = job
    shape, kind, n, wrong, way = cell.split("/")
    begin = time.process_time()
    if wrong == "people":
        errors = replay_people(shape, way, number)
    else:
        errors = replay(kind, way, int(n), int(wrong) / 100, number, shape)
    return {"cell": cell, "seed": number, "errors": errors, "cpu": time.process_time() - begin}


def table(rows: list[Row]) -> None:
    """Mean errors at the marks, and how many times as many random answers give the same.

    Lines for each cell, then for each number of objects with all kinds and shares together (their
    curves are added after each is divided by the mean of its random one).
    """
    curves: dict[tuple[str, ...], list[list[float]]] = {}
    for row in rows:
        *world, way = row["cell"].split("/")
        for goal, errors in row["errors"].items():
            wanted = "medoid" if goal == "deepest" else goal
            if way in ("random", "gain", "elimination", wanted):
                way_said = "chosen" if way == wanted else way
                curves.setdefault((goal, *world[1:], way_said), []).append(errors)
    print(f"{len(rows)} studies, {sum(row['cpu'] for row in rows) / 60:.1f} min of CPU")
    print(f"answers per object: {MARKS}")
    together: dict[tuple[str, ...], list[tuple[Array, Array, int]]] = {}
    for (goal, kind, n, wrong, way), errors in curves.items():
        by_chance = curves.get((goal, kind, n, wrong, "random"))
        if by_chance is None:
            continue
        own, random = _mean(errors), _mean(by_chance)
        _line(f"{goal}/{kind}/{n}/{wrong}/{way}", len(errors), own, random, way)
        if random.mean() > 0 and wrong != "people":
            scaled = own / random.mean(), random / random.mean(), len(errors)
            together.setdefault((goal, n, way), []).append(scaled)
    for (goal, n, way), found in together.items():
        own, random = (_mean([each[i].tolist() for each in found]) for i in (0, 1))
        _line(f"{goal}, {n} objects, {way}", sum(each[2] for each in found), own, random, way)


def _mean(errors: list[list[float]]) -> Array:
    """The mean curve, up to the mark that all of them reach."""
    least = min(map(len, errors))
    return np.mean([each[:least] for each in errors], axis=0)


def _line(head: str, count: int, own: Array, random: Array, way: str) -> None:
    said = ""
    if way != "random":
        ratios = saved(own, random)
        each = " ".join(f"{'>' if least else ''}{ratio:.1f}" for ratio, least in ratios)
        last = ratios[-3:]
        mean = np.exp(np.mean([np.log(ratio) for ratio, _ in last]))
        said = f"  x{'>' if any(least for _, least in last) else ''}{mean:.1f} ({each})"
    print(f"{head:34} {count:3}  {' '.join(f'{x:.4f}' for x in own)}{said}")


def saved(own: Array, by_chance: Array) -> list[tuple[float, bool]]:
    """At each mark, how many times as many random answers have the same mean error.

    Errors are made to fall (the least so far), and interpolated in the logarithm of the answers; of
    equal ones the first counts. The second value is whether random questions never got there. The
    headline is the mean over the last three marks.
    """
    falling = np.minimum.accumulate(by_chance)
    marks = np.log(MARKS[: len(by_chance)])
    found = []
    for mark, error in zip(np.log(MARKS[: len(own)]), own, strict=True):
        there = np.flatnonzero(falling <= error + 1e-12)
        if not len(there):
            found.append((float(np.exp(marks[-1] - mark)), True))
            continue
        first = int(there[0])
        at = marks[first]
        if first:
            above, below = falling[first - 1], falling[first]
            at -= (error - below) / (above - below) * (at - marks[first - 1])
        found.append((float(np.exp(at - mark)), False))
    return found


def main() -> None:
    """Measure the studies that the command line asks for and the file does not hold yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cells", default="*", help="patterns, with commas between")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--first", type=int, default=0, help="the number of the first study")
    parser.add_argument("--quick", action="store_true", help="two studies a cell")
    parser.add_argument(
        "--table", type=Path, nargs="+", help="print the table of these files, and measure nothing"
    )
    args = parser.parse_args()
    if args.table:
        table([row for file in args.table for row in journal(file)])
        return
    wanted = [
        cell for cell in cells() if any(fnmatch.fnmatch(cell, p) for p in args.cells.split(","))
    ]
    studies = range(args.first, args.first + (2 if args.quick else args.studies))
    with tempfile.TemporaryDirectory() as folder:
        file = args.out or Path(folder) / "studies.jsonl"
        resume(file, [(cell, study) for study in studies for cell in wanted], measure, args.jobs)
        table([row for row in journal(file) if row["cell"] in wanted])


if __name__ == "__main__":
    main()
