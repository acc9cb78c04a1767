"""What features are worth: maps with them beside maps without, and beside the raw vectors.

    python benchmarks/bench_features.py [--parts things,unasked,useless,usps,time]

``things``: held-out answers about THINGS (a fifth of 50,000) from 2,000 to 40,000 others, with
CLIP vectors, without, and by the vectors alone. ``unasked``: answers with an object that no answer
of the fit names. ``useless``: small studies with features that are drawn, or those of other
objects. ``usps``: classes of 100 digits from 500 answers, pixels as features. ``time``: CPU seconds
for 100,000 answers.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import trilens as tl
from claims import statements
from designs import study

OBJECTS = 1854
TARGETS = {2_000: 0.50, 5_000: 0.525, 10_000: 0.545, 20_000: 0.56, 40_000: None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default="things,unasked,useless,usps,time")
    parser.add_argument("--sizes", default=",".join(map(str, TARGETS)))
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    for part in args.parts.split(","):
        PARTS[part](args)


def load() -> tuple[np.ndarray, np.ndarray]:
    """Answers in an order of their own, the odd object first, and CLIP vectors."""
    folder = Path(os.environ["TRILENS_DATA"]) / "things"
    rows = np.loadtxt(folder / "test_10.txt", dtype=int)[:, [2, 0, 1]]
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return rows, np.load(folder / "clip-vit-base-p32.npy")


def odd(rows: np.ndarray) -> tl.Statements:
    return tl.Statements(rows, n_objects=OBJECTS, kind="odd")


def judged(M: tl.ChoiceMap, S: tl.Statements) -> tuple[float, float]:
    """Accuracy and log-loss."""
    return M.score(S), -float(np.log(M.predict_proba(S)[:, 0]).mean())


def things(args: argparse.Namespace) -> None:
    rows, F = load()
    held = odd(rows[40_000:])
    raw = tl.evaluate(held, embedding=F, metric="dot").accuracy
    print(f"raw CLIP, dot products: {raw:.4f}")
    print("answers  without (log-loss)  with (log-loss)  gain    target  dimensions  share  CPU s")
    for m in map(int, args.sizes.split(",")):
        S, line = odd(rows[:m]), []
        for features in (None, F):
            start = time.process_time()
            M = tl.ChoiceMap(n_jobs=1).fit(S, features=features)
            line.append((*judged(M, held), M, time.process_time() - start))
        (a, la, M0, s0), (b, lb, M1, s1) = line
        print(
            f"{m:7,}  {a:.4f} ({la:.4f})     {b:.4f} ({lb:.4f})  {b - a:+.4f}  {TARGETS.get(m)}"
            f"  {M0.n_components_} and {M1.n_components_}  {M1.feature_shares_['features']:.2f}"
            f"  {s0:.1f} and {s1:.1f}",
            flush=True,
        )


def unasked(args: argparse.Namespace) -> None:
    """A tenth of the objects is taken out; the rival was asked about them."""
    rows, F = load()
    out = np.zeros(OBJECTS, dtype=bool)
    out[np.random.default_rng(1).choice(OBJECTS, OBJECTS // 10, replace=False)] = True
    fit, held = rows[:40_000], rows[40_000:]
    new = odd(held[out[held].any(axis=1)])
    rival = tl.ChoiceMap(n_jobs=1).fit(odd(fit))
    M = tl.ChoiceMap(n_jobs=1).fit(odd(fit[~out[fit].any(axis=1)]), features=F)
    (a, la), (b, lb) = judged(rival, new), judged(M, new)
    print(
        f"{len(new):,} answers with an object that was never asked about: {b:.4f} ({lb:.4f}); "
        f"asked about, without features: {a:.4f} ({la:.4f}); difference {b - a:+.4f} "
        f"(target -0.005); raw CLIP {tl.evaluate(new, embedding=F, metric='dot').accuracy:.4f}",
        flush=True,
    )


def useless(args: argparse.Namespace) -> None:
    found: dict[str, list[float]] = {"drawn": [], "permuted": [], "of the objects": []}
    for seed in range(args.first, args.first + args.studies):
        kind = ("central", "odd", "closer")[seed % 3]
        made = study(kind, "plane", "random", "soft", seed, n=40, answers=2000)
        S, rng = statements(made), np.random.default_rng([7, seed])
        fit, held = S.take(np.arange(len(S)) % 4 == 0), S.take(np.arange(len(S)) % 4 > 0)
        F = vectors(made.points, rng)
        without = tl.ChoiceMap(n_jobs=1).fit(fit).score(held)
        for name, given in (
            ("drawn", rng.standard_normal(F.shape)),
            ("permuted", F[rng.permutation(len(F))]),
            ("of the objects", F),
        ):
            M = tl.ChoiceMap(n_jobs=1).fit(fit, features=given)
            found[name].append(M.score(held) - without)
    for name, gains in found.items():
        error = np.std(gains) / np.sqrt(len(gains))
        print(
            f"features {name}: {np.mean(gains):+.4f} (error {error:.4f}) beside the map without, "
            f"{sum(g == 0 for g in gains)} of {len(gains)} maps the same (target -0.003)",
            flush=True,
        )


def vectors(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Thirty numbers of which ten tell the places, with noise."""
    told = points / points.std() @ rng.standard_normal((points.shape[1], 10))
    rest = rng.standard_normal((len(points), 20))
    return np.column_stack([told + 0.5 * rng.standard_normal(told.shape), rest])


def usps(args: argparse.Namespace) -> None:
    from trilens.datasets import load_usps
    from trilens.simulate import simulate_statements

    digits, losses = load_usps(), []
    for draw in range(10):
        rng = np.random.default_rng(draw)
        chosen = rng.choice(len(digits.labels), 100, replace=False)
        pixels, truth = digits.images[chosen].reshape(100, -1).astype(float), digits.labels[chosen]
        S = simulate_statements(pixels, 500, random_state=draw)
        y = [*truth[:50].tolist(), *[None] * 50]
        found = [
            tl.classify(S, y, "choice", features=features, random_state=draw).found[50:]
            for features in (None, pixels)
        ]
        losses.append([(each.astype(int) != truth[50:]).mean() for each in found])
        print(f"draw {draw}: {losses[-1][1]:.2f} with, {losses[-1][0]:.2f} without", flush=True)
    without, ours = np.mean(losses, axis=0)
    print(
        f"USPS, 500 answers about 100 digits, 10 draws: loss {ours:.3f} with pixels, "
        f"{without:.3f} without, ratio {ours / without:.2f} (target 0.5)",
        flush=True,
    )


def timed(args: argparse.Namespace) -> None:
    """Answers of a fitted map to 100,000 random questions."""
    rows, F = load()
    M = tl.ChoiceMap(10, l2=1.0, feature_share=0.5, n_jobs=1).fit(odd(rows), features=F)
    rng = np.random.default_rng(2)
    asked = rng.integers(OBJECTS, size=(101_000, 3))
    asked = asked[(np.diff(np.sort(asked, axis=1), axis=1) > 0).all(axis=1)][:100_000]
    P = M.predict_proba(odd(asked)).cumsum(axis=1)
    which = (rng.random((len(asked), 1)) > P[:, :-1]).sum(axis=1)
    S = odd(np.array([np.roll(row, -k) for row, k in zip(asked, which, strict=True)]))
    seconds = []
    for features in (None, F):
        start = time.process_time()
        N = tl.ChoiceMap(n_jobs=1).fit(S, features=features)
        seconds.append(time.process_time() - start)
        print(f"100,000 answers: {seconds[-1]:.1f} CPU s, {N.n_components_} dimensions", flush=True)
    print(f"ratio {seconds[1] / seconds[0]:.2f} (target 2)")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "things": things,
    "unasked": unasked,
    "useless": useless,
    "usps": usps,
    "time": timed,
}

if __name__ == "__main__":
    main()
