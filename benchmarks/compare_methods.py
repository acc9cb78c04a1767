"""Which method for which data: the tables of docs/recommend.md.

    python benchmarks/compare_methods.py [--quick] [TABLE ...]

Simulated data with a known truth; every number is the mean over seeds of one method on the same
statements as the others (odd-one-out methods: as many statements about the same points). Methods
run with their defaults, maps in two dimensions, and are not told the error rate unless it says so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trilens.maps.geometry import total_distance
from trilens.maps.registry import coordinates
from trilens.questions.classify.classes import make_classifier
from trilens.questions.cluster.groups import cluster
from trilens.questions.cluster.spectral import purity
from trilens.questions.medoid import medoid, relative_error
from trilens.questions.outliers import outliers
from trilens.simulate import (
    Points,
    far_outliers,
    gaussian,
    mixture,
    n_questions,
    simulate_statements,
    two_moons,
    with_outliers,
)
from trilens.statements import Kind, Statements

#: Share of all questions that are asked, and share of wrong answers.
SETTINGS = [(share, wrong) for share in (0.01, 0.05, 0.25) for wrong in (0.0, 0.3)]
NUMBER_SETTINGS = [(0.05, 0.0), (0.25, 0.0), (0.05, 0.3), (0.25, 0.3)]
TWO_GAUSSIANS = [[0.0, 0.0], [3.0, 0.0]]
THREE_GAUSSIANS = [[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]]
N_LABELLED = 100
BETWEEN = 200


def asked(
    points: Points, share: float, wrong: float, seed: int, kind: Kind = "central"
) -> Statements:
    """A share of the C(n, 3) questions, some answered wrongly; equally many of every kind."""
    m = round(share * n_questions(len(points)))
    return simulate_statements(points, m, kind, error_rate=wrong, random_state=1000 + seed)


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, row by row as they are measured."""
    print(f"\n{title}\n")
    print(f"| {' | '.join(head)} |")
    print(f"|{'---|' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def measured(
    settings: Sequence[tuple[float, float]],
    methods: dict[str, Callable[[Points, float, float, int], float]],
    points_of: Callable[[int], Points],
    n_seeds: int,
) -> Iterable[list[str]]:
    for share, wrong in settings:
        row = [f"{share:.1%}".replace(".0%", "%"), f"{wrong:.0%}"]
        for method in methods.values():
            values = [method(points_of(seed), share, wrong, seed) for seed in range(n_seeds)]
            row.append(f"{np.mean(values):.3f}")
        yield row


def medoids(n_seeds: int) -> None:
    def error(name: str, kind: Kind = "central", dim: int | None = None) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            S = asked(points, share, wrong, seed, kind)
            found = medoid(S, name, n_components=dim, random_state=seed)
            return relative_error(found.index, total_distance(points.points))

        return one

    for true_dim in (2, 20):

        def draw(seed: int, dim: int = true_dim) -> Points:
            return gaussian(100, dim, random_state=seed)

        methods = {
            "default": error("auto"),
            "depth": error("depth"),
            "default (odd)": error("auto", "odd"),
            "Crowd-Median (odd)": error("depth", "odd"),
            "lensmap": error("lensmap", dim=min(true_dim, 5)),
            "soe": error("soe", dim=min(true_dim, 5)),
        }
        table(
            f"Medoid, 100 points of N(0, I) in {true_dim} dimensions (maps in "
            f"{min(true_dim, 5)}): relative error",
            ["asked", "wrong", *methods],
            measured(SETTINGS, methods, draw, n_seeds),
        )


def classes(n_seeds: int) -> None:
    def loss(name: str, **parameters: Any) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            known = points.labels.copy()
            known[N_LABELLED:] = -1
            model = make_classifier(name, random_state=seed, **parameters)
            model.fit(asked(points, share, wrong, seed), known)
            return float((model.transduction_ != points.labels)[N_LABELLED:].mean())

        return one

    methods = {
        "default": loss("choice"),
        "depth (Alg. 3)": loss("depth"),
        "krng (Alg. 4)": loss("krng"),
        "lensmap": loss("lensmap", n_components=2),
        "soe": loss("soe", n_components=2),
    }
    table(
        "Classification, two Gaussians 3 apart, 100 labelled and 40 unlabelled: 0-1 loss",
        ["asked", "wrong", *methods],
        measured(
            [(share, wrong) for wrong in (0.0, 0.3) for share in (0.002, 0.01, 0.05, 0.25)],
            methods,
            lambda seed: mixture(140, TWO_GAUSSIANS, random_state=seed),
            n_seeds,
        ),
    )


def clusters(n_seeds: int) -> None:
    def pure(
        name: str, n_clusters: int, told: bool = False, **parameters: Any
    ) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            found = cluster(
                asked(points, share, wrong, seed),
                n_clusters,
                name,
                error_rate=wrong if told else 0.0,
                random_state=seed,
                **parameters,
            )
            return purity(found.labels, points.labels)

        return one

    for title, n_clusters, draw in (
        (
            "three Gaussians 4 apart, 90 points",
            3,
            lambda seed: mixture(90, THREE_GAUSSIANS, random_state=seed),
        ),
        ("two moons, 100 points", 2, lambda seed: two_moons(100, 0.05, random_state=seed)),
    ):
        methods = {
            "default": pure("auto", n_clusters),
            "krng (Alg. 5)": pure("krng", n_clusters),
            "krng, error rate told": pure("krng", n_clusters, told=True),
            "krng, k = 20": pure("krng", n_clusters, k=20),
            "lensmap": pure("lensmap", n_clusters),
            "soe": pure("soe", n_clusters),
        }
        table(
            f"Clustering, {title}: purity",
            ["asked", "wrong", *methods],
            measured(SETTINGS, methods, draw, n_seeds),
        )


def groups_of(n_groups: int, apart: float, seed: int) -> Points:
    """Gaussians of twenty points in a ring, each so far from the next."""
    angle = 2 * np.pi * np.arange(n_groups) / n_groups
    radius = apart / (2 * np.sin(np.pi / n_groups))
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return mixture(20 * n_groups, ring, random_state=seed)


def cloud(length: float, seed: int) -> Points:
    """Sixty points without groups, so many times as long as wide."""
    round_ = gaussian(60, 2, seed)
    return replace(round_, points=round_.points * [length, 1.0])


def numbers(n_seeds: int) -> None:
    def suggested(points: Points, share: float, wrong: float, seed: int) -> list[int]:
        """By default, and on the lens map and SOE's."""
        S = asked(points, share, wrong, seed)
        methods = ("auto", "lensmap", "soe")
        return [cluster(S, method=m, random_state=seed).n_clusters for m in methods]

    data: dict[str, tuple[int, Callable[[int], Points]]] = {
        "round cloud": (1, lambda seed: cloud(1, seed)),
        "cloud 2 : 1": (1, lambda seed: cloud(2, seed)),
        "cloud 3 : 1": (1, lambda seed: cloud(3, seed)),
    }
    for n_groups in (2, 3, 4, 5):
        for apart in (6, 4):
            data[f"{n_groups} groups {apart} apart"] = (
                n_groups,
                lambda seed, n=n_groups, a=apart: groups_of(n, a, seed),
            )

    def rows() -> Iterable[list[str]]:
        for title, (true, draw) in data.items():
            row = [title]
            for share, wrong in NUMBER_SETTINGS:
                # seeds that nothing was tuned on
                seeds = range(500, 500 + n_seeds)
                found = np.array([suggested(draw(seed), share, wrong, seed) for seed in seeds])
                row.append(" / ".join(f"{right:.1f}" for right in (found == true).mean(axis=0)))
            yield row

    settings = [f"{share:.0%} asked, {wrong:.0%} wrong" for share, wrong in NUMBER_SETTINGS]
    table(
        "The suggested number of groups: share right (default, lens map, SOE)",
        ["", *settings],
        rows(),
    )


def outlying(n_seeds: int) -> None:
    def found(name: str) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            listed = outliers(asked(points, share, wrong, seed), 4, method=name, random_state=seed)
            return float(np.isin(points.outliers, listed.indices).mean())

        return one

    def rank(name: str) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            S = asked(points, share, wrong, seed)
            score = outliers(S, 4, method=name, random_state=seed).all_scores
            return float(1 + (score < score[BETWEEN]).sum())

        return one

    table(
        "Outliers, 100 points of N(0, I2) and 4 far out: share of the four among the four found",
        ["asked", "wrong", "default", "depth", "lensmap", "soe"],
        measured(
            SETTINGS,
            {name: found(name) for name in ("auto", "depth", "lensmap", "soe")},
            lambda seed: far_outliers(gaussian(100, random_state=seed), 4, 500 + seed),
            n_seeds,
        ),
    )
    table(
        "Outliers, two moons of 200 points, 3 far out and 1 between: rank of the last, of 204",
        ["asked", "wrong", "default", "depth", "lensmap", "soe"],
        measured(
            SETTINGS,
            {name: rank(name) for name in ("auto", "depth", "lensmap", "soe")},
            lambda seed: with_outliers(
                two_moons(BETWEEN, 0.06, random_state=seed),
                [[0.5, 0.25], [-1.5, 1.8], [2.5, 1.8], [0.5, -1.6]],
            ),
            n_seeds,
        ),
    )


def kinds(n_seeds: int) -> None:
    def loss(kind: Kind) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            known = points.labels.copy()
            known[N_LABELLED:] = -1
            model = make_classifier("choice", random_state=seed)
            model.fit(asked(points, share, wrong, seed, kind), known)
            return float((model.transduction_ != points.labels)[N_LABELLED:].mean())

        return one

    def error(kind: Kind, name: str) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            found = medoid(asked(points, share, wrong, seed, kind), name, random_state=seed)
            return relative_error(found.index, total_distance(points.points))

        return one

    def rim(kind: Kind, name: str) -> Callable[..., float]:
        def one(points: Points, share: float, wrong: float, seed: int) -> float:
            X = coordinates(asked(points, share, wrong, seed, kind), name, random_state=seed)
            from_centre = np.linalg.norm(X - X.mean(axis=0), axis=1)
            return float(1 + from_centre.argsort().argsort()[points.outliers].mean())

        return one

    every: tuple[Kind, ...] = ("central", "odd", "closer")
    table(
        "Kind of question, equally many answers, default; classification as above: 0-1 loss",
        ["asked", "wrong", *every],
        measured(
            SETTINGS,
            {kind: loss(kind) for kind in every},
            lambda seed: mixture(140, TWO_GAUSSIANS, random_state=seed),
            n_seeds,
        ),
    )
    for what, one, draw in (
        (
            "medoid, 100 points of N(0, I2): relative error",
            error,
            lambda seed: gaussian(100, random_state=seed),
        ),
        (
            "mean rank of four far outliers by their distance from the centre of the map, of 104",
            rim,
            lambda seed: far_outliers(gaussian(100, random_state=seed), 4, 500 + seed),
        ),
    ):
        methods = {
            f"{kind}, {name}": one(kind, name) for name in ("choice", "soe") for kind in every
        }
        table(
            f"Kind of question, equally many answers; {what}",
            ["asked", "wrong", *methods],
            measured(SETTINGS, methods, draw, n_seeds),
        )


def speed(n_seeds: int) -> None:
    def rows() -> Iterable[list[str]]:
        for n, m in ((100, 10**4), (100, 10**5), (1000, 10**5), (1000, 10**6), (10_000, 10**6)):
            if n_seeds < 3 and m > 10**5:
                continue
            points = gaussian(n, random_state=0)
            S = simulate_statements(points, m, error_rate=0.1, random_state=1)
            row = [f"{n:,}", f"{m:,}"]
            for name in ("auto", "depth", "lensmap", "soe"):
                if name != "depth":
                    medoid(S.take(np.arange(1000)), name)  # imports and compiles
                start = time.process_time()
                found = medoid(S, name)
                seconds = time.process_time() - start
                error = relative_error(found.index, total_distance(points.points))
                row.append(f"{seconds:.3f} s, {error:.3f}")
            yield row

    table(
        "Many objects in the plane, 10% wrong: CPU seconds of the medoid, relative error",
        ["objects", "statements", "default", "depth", "lensmap", "soe"],
        rows(),
    )


TABLES = {
    "medoid": medoids,
    "classification": classes,
    "clustering": clusters,
    "numbers": numbers,
    "outliers": outlying,
    "kinds": kinds,
    "speed": speed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--quick", action="store_true", help="2 seeds instead of 20")
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    unknown = set(given.tables) - set(TABLES)
    if unknown:
        parser.error(f"no table {', '.join(sorted(unknown))}; the tables are {', '.join(TABLES)}")
    n_seeds = 2 if given.quick else given.seeds
    print(f"means over {n_seeds} seeds")
    for name in given.tables or TABLES:
        TABLES[name](n_seeds)


if __name__ == "__main__":
    main()
