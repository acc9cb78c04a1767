"""What the defaults cost: `ChoiceMap()` beside one start of cblearn's SOE, and whole questions.

    TRILENS_DATA=... python benchmarks/bench_defaults.py [--quick] [--rival-python PATH]

`ChoiceMap()` chooses its dimensions, its penalty and its lapse, and knows the interval of its
error rate; SOE is told the dimensions. Both get the same answers about points in the plane, one
in ten of them wrong, SOE as triplets (two for each central or odd answer). CPU seconds of the fit
alone, the best of several, after a fit that compiles. cblearn lives in a virtual environment of
its own; its interpreter is given by --rival-python or TRILENS_CBLEARN_PYTHON.

Then `outliers` on the answers of `trilens demo`, in CPU seconds, and
`trilens analyze` of the cars as a process, from its start to its end.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_embeddings import INSTALL, rivals
from bench_startup import best
from trilens.maps import ChoiceMap
from trilens.questions.outliers import outliers
from trilens.simulate import gaussian, simulate_statements, study
from trilens.statements import Statements

#: objects, answers, the most that the choice map may take, in fits of SOE
SIZES = [(60, 6_000, 6.0), (300, 100_000, 3.0)]
KINDS = ("closer", "central", "odd")


def cpu(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds, the best of several, after one that compiles."""
    work()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def rival(python: str, S: Statements, repeats: int) -> float:
    """CPU seconds of cblearn's SOE with one start, the best of several."""
    return float(rivals(python, "SOE", S, list(range(100, 100 + repeats)))[:, 0].min())


def verdict(value: float, target: float) -> str:
    return f"target {target:g}: {'met' if value <= target else 'missed'}"


def maps(python: str | None, repeats: int) -> None:
    for n, m, target in SIZES:
        for kind in KINDS:
            points = gaussian(n, 2, random_state=1)
            S = simulate_statements(points, m, kind=kind, error_rate=0.1, random_state=2)
            ours = cpu(lambda S=S: ChoiceMap().fit(S), repeats)
            line = f"{kind:8}{n:4} objects {m:8,} answers: ChoiceMap() {ours:6.3f} s"
            if python is not None:
                theirs = rival(python, S, repeats)
                ratio = ours / theirs
                line += f", cblearn's SOE {theirs:6.3f} s, ratio {ratio:5.2f}   "
                line += verdict(ratio, target)
            print(line, flush=True)


def questions(repeats: int) -> None:
    S = study().statements
    used = cpu(lambda: outliers(S), repeats)
    print(f"outliers, the demo's answers            {used:6.2f} s CPU   {verdict(used, 1)}")


def cars(repeats: int) -> None:
    folder = os.environ.get("TRILENS_DATA")
    if folder is None:
        print("the cars are not measured; set TRILENS_DATA to the folder of the data sets")
        return
    answers = Path(folder, "cars", "ordinal_data_preprocessed", "T_ALL.csv")
    trilens = [sys.executable, "-m", "trilens"]
    with tempfile.TemporaryDirectory() as target:
        report = [*trilens, "analyze", str(answers), "-o", f"{target}/report.html"]
        best(report, 1)  # what is compiled stays on the disk
        wall, used = best(report, repeats)
    start = best([*trilens, "--version"], repeats)[0]
    print(
        f"trilens analyze, the cars               {used:6.2f} s CPU, {wall:.2f} s wall, of which "
        f"{start:.2f} s before the command begins   {verdict(used, 4)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two repeats instead of five")
    parser.add_argument("--rival-python", default=os.environ.get("TRILENS_CBLEARN_PYTHON"))
    options = parser.parse_args()
    repeats = 2 if options.quick else 5
    if options.rival_python is None:
        print(f"cblearn is not measured; to install it: {INSTALL}")
    maps(options.rival_python, repeats)
    questions(repeats)
    cars(repeats)


if __name__ == "__main__":
    main()
