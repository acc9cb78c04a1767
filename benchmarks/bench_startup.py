"""How long a user waits: the command line from start to end, beside importing what it needs.

    TRILENS_DATA=... python benchmarks/bench_startup.py

Targets, in CPU seconds: `import trilens` 0.05, `trilens --help` 0.15, `trilens medoid` on the cars
1.5, `trilens analyze` on the cars 5 and on 1000 objects with 10^6 statements 30. Their rivals are a
Python that imports nothing, click, or what a map needs.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def best(command: list[str], repeats: int) -> tuple[float, float]:
    """Wall and CPU seconds, the best of several."""
    # byte code is kept, as after an installation
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            env=kept,
        )
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append((wall, cpu))
    return min(wall for wall, _ in found), min(cpu for _, cpu in found)


def line(what: str, command: list[str], repeats: int, target: float | None = None) -> None:
    wall, cpu = best(command, repeats)
    aim = (
        "" if target is None else f"   target {target:g} s: {'met' if cpu <= target else 'missed'}"
    )
    print(f"{what:48}{wall:8.2f} s wall{cpu:8.2f} s CPU{aim}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few repeats, no large report")
    quick = parser.parse_args().quick
    repeats = 2 if quick else 5
    trilens = [sys.executable, "-m", "trilens"]
    cars = Path(os.environ["TRILENS_DATA"]) / "cars"
    answers = str(cars / "ordinal_data_preprocessed" / "T_ALL.csv")
    line("python -c pass", [sys.executable, "-c", "pass"], repeats)
    line("import trilens", [sys.executable, "-c", "import trilens"], repeats, 0.05)
    line("import click", [sys.executable, "-c", "import click"], repeats)
    line("trilens --help", [*trilens, "--help"], repeats, 0.15)
    imports = "import pyarrow.csv, scipy.optimize"
    line(imports, [sys.executable, "-c", imports], repeats)
    medoid = [*trilens, "medoid", answers]
    line("trilens medoid, the cars", [*medoid, "--kind", "central"], repeats, 1.5)
    line("trilens medoid, the cars, kind not said", medoid, repeats)
    with tempfile.TemporaryDirectory() as folder:
        page = str(Path(folder) / "report.html")
        pictures = str(cars / "car_data_set_images")
        report = [*trilens, "analyze", answers, "-o", page, "--images", pictures]
        line("trilens analyze, the cars with pictures", report, repeats, 5)
        if quick:
            return
        large = str(Path(folder) / "large.parquet")
        asked = ["--shape", "mixture", "-n", "1000", "--statements", "1000000", "-o", large]
        subprocess.run([*trilens, "simulate", *asked], check=True, stderr=subprocess.DEVNULL)
        report = [*trilens, "analyze", large, "-o", page]
        line("trilens analyze, 1000 objects, 10^6 statements", report, 2, 30)


if __name__ == "__main__":
    main()
