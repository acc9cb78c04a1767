"""The choice map on a GPU and on the processor: time, and held-out answers predicted.

    python benchmarks/bench_choice_map_gpu.py                  # 4.7 million answers, 49 dimensions
    python benchmarks/bench_choice_map_gpu.py --answers 400000 --dim 20 --device numpy

Answers are drawn from the softmax of dot products of sparse positive vectors, as people's
odd-one-out answers about the 1854 THINGS objects are modelled. It needs the extra ``gpu``.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from trilens.errors import TrilensError
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.device import open_device
from trilens.statements import Statements

OBJECTS, DIMENSIONS, TRUE = 1854, 49, 49
L2, TARGET, WITHIN = 1.0, 10.0, 0.001


def answers(m: int, seed: int = 0) -> tuple[np.ndarray, float]:
    """(m, 3) triples with the odd one first, and the best accuracy that a model can reach."""
    rng = np.random.default_rng(seed)
    V = rng.gamma(0.35, 0.55, size=(OBJECTS, TRUE)).astype(np.float32)
    G = 1.35 * (V @ V.T)
    triples = np.empty((m, 3), dtype=np.int64)
    best = 0.0
    for start in range(0, m, 1 << 19):
        k = min(1 << 19, m - start)
        a, b, c = (rng.integers(OBJECTS - i, size=k) for i in range(3))
        b = b + (b >= a)
        low, high = np.minimum(a, b), np.maximum(a, b)
        c = c + (c >= low)
        c = c + (c >= high)
        asked = np.stack([a, b, c], axis=1)
        U = np.stack([G[b, c], G[a, c], G[a, b]], axis=1)
        P = np.exp(U - U.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        best += float(P.max(axis=1).sum())
        odd = (rng.random(k)[:, None] > P.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        at = np.arange(k)
        triples[start : start + k] = np.stack([asked[at, (odd + i) % 3] for i in range(3)], axis=1)
    return triples, best / m


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=4_700_000)
    parser.add_argument("--dim", type=int, default=DIMENSIONS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--l2", type=float, default=L2)
    parser.add_argument("--no-cpu", action="store_true", help="leave the processor out")
    given = parser.parse_args()

    try:
        open_device(given.device)
    except TrilensError as error:
        print(error)
        return
    triples, best = answers(given.answers + 100_000)
    S = Statements(triples[:-100_000], OBJECTS, kind="odd")
    T = Statements(triples[-100_000:], OBJECTS, kind="odd")
    print(
        f"{len(S):,} odd answers about {OBJECTS:,} objects, {given.dim} dimensions, l2 {given.l2}; "
        f"held out {len(T):,}, best reachable accuracy {best:.4f}"
    )
    ways = [given.device] if given.no_cpu else [given.device, "cpu"]
    scores, seconds = {}, {}
    for device in ways:
        kwargs = {"n_components": given.dim, "l2": given.l2, "lapses": "one", "device": device}
        if device != "cpu":  # starting the GPU is not part of a fit
            ChoiceMap(**kwargs | {"n_components": 2}).fit(S.take(np.arange(1000)))
        wall, cpu = time.perf_counter(), time.process_time()
        M = ChoiceMap(**kwargs).fit(S)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        P = M.predict_proba(T)
        right, loss = float((P.argmax(axis=1) == 0).mean()), float(-np.log(P[:, 0]).mean())
        scores[device], seconds[device] = right, wall
        print(
            f"  {device:>6}: wall {wall:.1f} s, CPU {cpu:.1f} s, {M.n_iter_} iterations; "
            f"held out: accuracy {right:.4f}, log-loss {loss:.4f}"
        )
        if device.startswith("cuda"):
            print(f"          target {TARGET:.0f} s: {'reached' if wall <= TARGET else 'missed'}")
    if len(scores) == 2:
        gap = abs(scores[given.device] - scores["cpu"])
        ratio = seconds["cpu"] / seconds[given.device]
        print(
            f"  accuracies differ by {gap:.4f} (target {WITHIN}); times by a factor of {ratio:.1f}"
        )


if __name__ == "__main__":
    main()
