"""The choice map beside SOE: CPU seconds of a fit on the same statements and dimensions.

    python benchmarks/bench_choice_map.py [--large] [--kinds central ...]

Both fit a given number of dimensions from the lens map; the choice map with a given penalty, so
that nothing is cross-validated. Times are CPU seconds of the fit alone, after one short fit that
compiles. The target is a ratio of at most 2. Then the price of choosing everything, and of 60
refits.
"""

from __future__ import annotations

import argparse
import resource
import time

from trilens.maps import SOE, ChoiceMap
from trilens.simulate import gaussian, simulate_statements
from trilens.statements import Statements

#: objects, statements, dimensions
SIZES = [(60, 10_000, 2), (100, 10_000, 5), (200, 100_000, 2), (1000, 1_000_000, 2)]
SIZES += [(800, 1_000_000, 10), (5000, 1_000_000, 2)]
LARGE = [(1000, 10_000_000, 2), (800, 10_000_000, 10)]


def cpu(estimator: object, S: Statements) -> float:
    start = time.process_time()
    estimator.fit(S)  # type: ignore[attr-defined]
    return time.process_time() - start


def compare(n: int, m: int, d: int, kind: str, error_rate: float) -> None:
    points = gaussian(n, d, random_state=1)
    S = simulate_statements(points, m, kind=kind, error_rate=error_rate, random_state=2)
    for estimator in (SOE(d, max_iter=2), ChoiceMap(d, l2=0.01, max_iter=2)):
        estimator.fit(S)
    repeats = 3 if m <= 100_000 else 1
    soe, choice = SOE(d, random_state=0), ChoiceMap(d, l2=0.01)
    theirs = min(cpu(soe, S) for _ in range(repeats))
    ours = min(cpu(choice, S) for _ in range(repeats))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{kind:8s} {n:5d} objects {m:10,d} statements {d:2d}-D {error_rate:.0%} wrong: "
        f"SOE {theirs:8.3f} s ({soe.n_iter_} steps), choice map {ours:8.3f} s "
        f"({choice.n_iter_} steps), ratio {ours / theirs:5.2f}; peak {peak:,.0f} MiB",
        flush=True,
    )


def choosing(n: int, m: int, kind: str) -> None:
    S = simulate_statements(
        gaussian(n, 2, random_state=1), m, kind=kind, error_rate=0.2, random_state=2
    )
    model = ChoiceMap()
    chosen = cpu(model, S)
    start = time.process_time()
    model.bootstrap(S, 60)
    refits = time.process_time() - start
    print(
        f"{kind:8s} {n:5d} objects {m:10,d} statements: everything chosen "
        f"({model.n_components_}-D) {chosen:6.2f} s, 60 refits {refits:6.2f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="also 10^7 statements")
    parser.add_argument("--quick", action="store_true", help="10^4 statements only")
    parser.add_argument("--kinds", nargs="+", default=["central", "odd", "closer"])
    options = parser.parse_args()
    sizes = [size for size in SIZES if size[1] <= 10_000 or not options.quick]
    for n, m, d in sizes + (LARGE if options.large else []):
        for kind in options.kinds:
            for error_rate in (0.0, 0.2):
                compare(n, m, d, kind, error_rate)
    for n, m in ((40, 2_500), (60, 7_000)):
        for kind in options.kinds:
            choosing(n, m, kind)


if __name__ == "__main__":
    main()
