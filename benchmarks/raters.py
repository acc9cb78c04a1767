"""One map for all raters, or weights for each: held-out answers that are predicted.

    python benchmarks/raters.py                 # the public studies, and simulated ones
    python benchmarks/raters.py --studies 20    # so many simulated studies a cell

A fifth of each rater's answers is held out at random. The faces and the simulated studies are
read as they come; the rounds of the car survey stand for its raters. THINGS' file names no rater:
there ``"auto"`` is one map, and the row shows raters drawn at random, about 430 answers each, for
whom there is nothing to find. Folder ``$TRILENS_DATA`` holds the data; a study that is not there
is left out.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import trilens as tl
from designs import study
from trilens.datasets import load_cars, load_things_odd_one_out
from trilens.errors import DatasetError

#: People, kind, shape, design, answers.
CELLS = [
    ("soft", "central", "plane", "random", 4000),
    ("soft", "closer", "five dimensions", "random", 4000),
    ("soft, unequal", "odd", "plane", "one list", 4000),
    ("soft", "closer", "plane", "random", 1000),
    ("weights", "central", "plane", "random", 4000),
    ("weights", "closer", "five dimensions", "random", 4000),
    ("weights", "odd", "plane", "one list", 4000),
    ("weights", "closer", "plane", "random", 1000),
    ("weights, hard", "central", "five dimensions", "random", 4000),
]


def faces() -> tl.Statements:
    """Half of the raters of a study of 36 faces, without its catch questions."""
    path = Path(os.environ.get("TRILENS_DATA", "data")) / "faces" / "faces.csv"
    if not path.exists():
        raise DatasetError(f"{path} is not there")
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(r["head"], r["winner"], r["loser"], r["worker_id"]) for r in csv.DictReader(file)]
    rows = [row for row in rows if len(set(row[:3])) == 3]
    names, ids = np.unique([row[:3] for row in rows], return_inverse=True)
    return tl.Statements(
        ids.reshape(-1, 3).astype(np.int32),
        len(names),
        kind="closer",
        raters=[row[3] for row in rows],
    )


def cars() -> tl.Statements:
    """The car survey, a rater for each round."""
    S = load_cars(pictures=False).survey
    return tl.Statements(S.triples, S.n_objects, kind=S.kind, raters=S.rounds)


def things() -> tl.Statements:
    """THINGS, with raters drawn at random."""
    S = load_things_odd_one_out().statements
    raters = np.random.default_rng(0).permutation(len(S)) % (len(S) // 430)
    return tl.Statements(S.triples, S.n_objects, kind=S.kind, raters=raters)


def split(S: tl.Statements, seed: int) -> tuple[tl.Statements, tl.Statements]:
    """A fifth of each rater's answers held out."""
    rng = np.random.default_rng(seed)
    raters, held = np.asarray(S.raters), np.zeros(len(S), dtype=bool)
    for rater in np.unique(raters):
        rows = np.flatnonzero(raters == rater)
        held[rng.permutation(rows)[: round(0.2 * len(rows))]] = True
    return S.take(np.flatnonzero(~held)), S.take(np.flatnonzero(held))


def fitted(train: tl.Statements, test: tl.Statements, raters: str) -> dict[str, object]:
    start = time.process_time()
    M = tl.ChoiceMap(raters=raters).fit(train)
    seconds = time.process_time() - start
    return {
        "map": M,
        "accuracy": M.score(test),
        "log-loss": -float(np.log(M.predict_proba(test)[:, 0]).mean()),
        "seconds": seconds,
    }


def public(name: str, load: Callable[[], tl.Statements], splits: int) -> None:
    try:
        S = load()
    except DatasetError as error:
        print(f"{name}: {error}")
        return
    for seed in range(splits):
        train, test = split(S, seed)
        cells = [name, str(seed)]
        for raters in ("one", "auto"):
            found = fitted(train, test, raters)
            M = found["map"]
            cells += [
                f"{M.raters_}, d = {M.n_components_}",
                f"{found['accuracy']:.4f}",
                f"{found['log-loss']:.4f}",
                f"{found['seconds']:.1f}",
            ]
        print("| " + " | ".join(cells) + " |", flush=True)


def simulated(cell: tuple[str, str, str, str, int], studies: int, first: int) -> None:
    people, kind, shape, design, answers = cell
    gains, losses, weights, accuracy, holds, seconds = [], [], 0, [], 0, []
    for seed in range(first, first + studies):
        made = study(kind, shape, design, people, seed, answers=answers)
        S = tl.Statements(made.triples, made.n, kind=kind, raters=made.raters)
        train, test = split(S, seed)
        one, auto = fitted(train, test, "one"), fitted(train, test, "auto")
        M = auto["map"]
        weights += M.raters_ == "weights"
        gains.append(auto["accuracy"] - one["accuracy"])
        losses.append(one["log-loss"] - auto["log-loss"])
        accuracy.append((one["accuracy"], auto["accuracy"]))
        low, high = M.error_rate_interval_
        holds += low <= made.wrong <= high
        seconds.append(auto["seconds"])
    before, after = np.mean(accuracy, axis=0)
    print(
        f"| {people} | {kind} | {shape} | {design} | {answers} | {weights} of {studies} | "
        f"{before:.3f} | {after:.3f} | {min(gains):+.3f} | {np.mean(losses):+.3f} | "
        f"{holds} of {studies} | {np.mean(seconds):.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first study")
    parser.add_argument("--only", choices=("public", "simulated"))
    given = parser.parse_args()
    if given.only != "simulated":
        head = ["study", "split", "one", "accuracy", "log-loss", "CPU s"]
        head += ["auto", "accuracy", "log-loss", "CPU s"]
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        public("36 faces", faces, 4)
        public("cars", cars, 2)
        public("THINGS", things, 1)
    if given.only != "public":
        print(
            "\n| people | kind | shape | design | answers | weights taken | one map | auto | "
            "least gain | log-loss gained | error interval holds | CPU s |\n|" + "---|" * 12
        )
        for cell in CELLS:
            simulated(cell, given.studies, given.first)


if __name__ == "__main__":
    main()
