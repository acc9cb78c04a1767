"""Counting files, beside pyarrow that merely reads them, DuckDB and Polars in the same run.

    python benchmarks/bench_scale.py [--quick] [--statements 1e9] [--folder DIR]

Makes Parquet files of 10^8 statements over 10^5 objects (10^7 with --quick), each written once
and kept for the next run. Every engine runs in a process of its own, whose wall seconds, CPU
seconds and peak memory are told; every result is checked against ours.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_OBJECTS = 100_000
GROUP = 1 << 20
COLUMNS = ("central", "other_1", "other_2")

#: What each process runs: `run(path)` must return (singled, appears), or None for reading alone.
WAYS = {
    "read": """
import pyarrow.dataset as ds
def run(path):
    rows = 0
    for batch in ds.dataset(path).to_batches(columns=["central", "other_1", "other_2"]):
        rows += batch.num_rows
    print(rows, file=sys.stderr)
""",
    "trilens": """
import trilens as tl
def run(path):
    found = tl.count_central(path)
    return found.singled, found.appears
""",
    "trilens, one thread": """
import trilens as tl
def run(path):
    found = tl.count_central(path, n_threads=1)
    return found.singled, found.appears
""",
    "trilens, 2 processes": """
import trilens as tl
def run(path):
    found = tl.count_central(path, cluster="local:2")
    return found.singled, found.appears
""",
    "trilens, 2 Dask workers": """
import trilens as tl
import distributed
def run(path):
    found = tl.count_central(path, cluster=client)
    return found.singled, found.appears
""",
    "trilens scan, chunk by chunk": """
import trilens as tl
def run(path):
    found = sum(tl.count_central(chunk) for chunk in tl.scan_statements(path))
    return found.singled, found.appears
""",
    "duckdb": """
import duckdb, numpy as np
def run(path):
    names = ("central", "other_1", "other_2")
    parts = " union all ".join(
        f"select {name} as o, {int(name == 'central')} as s from '{path}'" for name in names
    )
    query = f"select o, sum(s) as singled, count(*) as appears from ({parts}) group by o order by o"
    found = duckdb.sql(query).fetchnumpy()
    return found["singled"].astype(np.int64), found["appears"].astype(np.int64)
""",
    "polars, streaming": """
import polars as pl
def run(path):
    frame = pl.scan_parquet(path)
    parts = [
        frame.select(pl.col(name).alias("o"), pl.lit(int(name == "central")).alias("s"))
        for name in ("central", "other_1", "other_2")
    ]
    found = (
        pl.concat(parts).group_by("o").agg(pl.col("s").sum().alias("singled"), pl.len())
        .collect(engine="streaming").sort("o")
    )
    return found["singled"].to_numpy(), found["len"].to_numpy()
""",
}

CHILD = """
import hashlib, json, os, resource, sys, time
sys.path[:0] = json.loads(os.environ["BENCH_PATH"])
{setup}
USAGE = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
def cpu():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, USAGE))
def peak():
    return max(u.ru_maxrss for u in map(resource.getrusage, USAGE)) / 1024
{way}
if __name__ == "__main__":
    {begin}
    start = time.perf_counter()
    run(sys.argv[2])  # a small file: what must be imported is imported
    start = time.perf_counter() - start
    before = cpu()
    wall = time.perf_counter()
    found = run(sys.argv[1])
    wall = time.perf_counter() - wall
    {end}
    spent = cpu() - before
    sums = None
    if found is not None:
        sums = hashlib.sha256(b"".join(a.astype("int64").tobytes() for a in found)).hexdigest()
    print(json.dumps([wall, spent, peak(), sums, start]))
"""


def make(path: Path, m: int, seed: int = 0) -> None:
    """A Parquet file of ``m`` statements."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists():
        return
    rng = np.random.default_rng(seed)
    schema = pa.schema([(name, pa.int32()) for name in COLUMNS])
    draft = path.with_suffix(".part")
    with pq.ParquetWriter(draft, schema, use_dictionary=False) as writer:
        for start in range(0, m, GROUP):
            size = min(GROUP, m - start)
            a = rng.integers(0, N_OBJECTS, size, dtype=np.int32)
            # different from a, and from both, without drawing again
            b = (a + rng.integers(1, N_OBJECTS, size, dtype=np.int32)) % N_OBJECTS
            c = (a + rng.integers(1, N_OBJECTS, size, dtype=np.int32)) % N_OBJECTS
            same = b == c
            c[same] = (c[same] + 1) % N_OBJECTS
            again = same & (c == a)
            c[again] = (c[again] + 1) % N_OBJECTS
            writer.write_table(pa.table([a, b, c], schema=schema))
    draft.rename(path)


def measure(name: str, path: Path, repeats: int) -> tuple[float, float, float, str | None, float]:
    """Least wall and CPU seconds, memory and result of the last run, seconds to start."""
    setup, begin, end = "", "pass", "pass"
    if "Dask" in name:
        setup = "import distributed"
        begin = (
            "cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, "
            "dashboard_address=None); globals()['client'] = distributed.Client(cluster)"
        )
        end = "client.close(); cluster.close()"
    small = path.parent / "statements-small.parquet"
    make(small, 1 << 18)
    code = CHILD.format(setup=setup, way=WAYS[name], begin=begin, end=end)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(code)
        script.flush()
        found = []
        for _ in range(repeats):
            done = subprocess.run(
                [sys.executable, script.name, str(path), str(small)],
                capture_output=True,
                text=True,
                env=os.environ | {"BENCH_PATH": json.dumps([p for p in sys.path if p])},
            )
            if done.returncode:
                raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
            found.append(json.loads(done.stdout.strip().splitlines()[-1]))
    first = min(f[4] for f in found)
    return min(f[0] for f in found), min(f[1] for f in found), found[-1][2], found[-1][3], first


def bench_central(folder: Path, m: int, repeats: int) -> None:
    path = folder / f"statements-{m}.parquet"
    make(path, m)
    size = path.stat().st_size
    print(f"central counts of {m:,} statements over {N_OBJECTS:,} objects, {size:,} bytes")
    results = {}
    for name in WAYS:
        if name.endswith("chunk by chunk") and m > 10**8:
            continue
        try:
            results[name] = measure(name, path, repeats)
        except RuntimeError as error:
            print(f"  {name}: failed, {error}")
            continue
        wall, cpu, memory, sums, start = results[name]
        ours = results.get("trilens")
        if sums is not None and ours is not None:
            assert sums == ours[3], f"{name} counts something else"
        ratio = "" if ours is None else f"; {wall / ours[0]:.2f} of our wall time"
        print(
            f"  {name}: wall {wall:.2f} s, CPU {cpu:.2f} s, peak {memory:,.0f} MiB, "
            f"first call {start:.2f} s{ratio}"
        )
        sys.stdout.flush()
    ours = results["trilens"]
    print(
        f"  reading alone takes {ours[0] / results['read'][0]:.2f} times less (target: at most 2)"
    )
    print(f"  peak memory {ours[2]:,.0f} MiB (target: under 1024)")


def bench_linear(folder: Path, most: int, repeats: int) -> None:
    print("time per statement, threads of this process")
    sizes = [m for m in (10**6, 10**7, 10**8, 10**9) if m <= most]
    for m in sizes[-3:]:
        path = folder / f"statements-{m}.parquet"
        make(path, m)
        wall, cpu, *_ = measure("trilens", path, repeats)
        print(f"  {m:,}: wall {1e9 * wall / m:.2f} ns, CPU {1e9 * cpu / m:.2f} ns a statement")


def bench_resume(folder: Path, m: int) -> None:
    """A run killed at half, started again."""
    kept = Path(tempfile.mkdtemp(dir=folder))
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    files = [parts / f"{i:02}.parquet" for i in range(16)]
    for i, file in enumerate(files):
        make(file, m // 16, seed=i)
    code = (
        "import json, os, sys; sys.path[:0] = json.loads(os.environ['BENCH_PATH'])\n"
        "from trilens import Answers\n"
        "Answers(sys.argv[1]).count(checkpoint=sys.argv[2], n_threads=1)\n"
    )
    environment = os.environ | {"BENCH_PATH": json.dumps([p for p in sys.path if p])}
    process = subprocess.Popen([sys.executable, "-c", code, str(parts), str(kept)], env=environment)
    while len(list(kept.glob("*.npz"))) < 8 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = len(list(kept.glob("[!.]*.npz")))
    from trilens import Answers
    from trilens.counts.counting import CountReport

    told: list[CountReport] = []
    found = Answers(parts).count(checkpoint=kept, tell=told.append)
    plain = Answers(parts).count()
    assert (found.first == plain.first).all()
    assert (found.rest == plain.rest).all()
    again = finished - told[0].resumed
    print(
        f"killed with {finished} of 16 parts finished: {told[0].resumed} of them were gone on "
        f"from, {again} counted a second time ({100 * again / max(finished, 1):.0f} %, target 5)"
    )


MAP = """
import json, os, resource, sys, time
sys.path[:0] = json.loads(os.environ["BENCH_PATH"])
import numpy as np
import trilens as tl
truth = np.load(sys.argv[2])
labels = {str(i): str(truth[i]) for i in range(0, len(truth), 20)}
wall, cpu = time.perf_counter(), time.process_time()
found = tl.classify(tl.Answers(sys.argv[1]), labels)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
right = np.mean([found.predicted[str(i)] == str(truth[i]) for i in range(1, len(truth), 20)])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"  map and classes: wall {wall:.1f} s (target 300), CPU {cpu:.1f} s, peak {peak:,.0f} MiB "
      f"(target 8192); {100 * right:.1f} % of hidden labels right, {found.parameters}")
"""


def bench_map(folder: Path, m: int) -> None:
    """The map of 10^5 objects by passes, then classes for all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, labels = folder / f"answers-{m}.parquet", folder / "classes.npy"
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N_OBJECTS)
    points = rng.standard_normal((N_OBJECTS, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[truth]
    np.save(labels, truth)
    if not path.exists():
        schema = pa.schema([(name, pa.int32()) for name in COLUMNS])
        draft = path.with_suffix(".part")
        with pq.ParquetWriter(draft, schema) as writer:
            for start in range(0, m, GROUP):
                triples = rng.integers(0, N_OBJECTS, (min(GROUP, m - start), 3))
                x, y, z = triples.T
                triples = triples[(x != y) & (x != z) & (y != z)]
                sides = [
                    ((points[triples[:, i]] - points[triples[:, j]]) ** 2).sum(axis=1)
                    for i, j in ((1, 2), (0, 2), (0, 1))
                ]
                # the most central one lies opposite the longest side
                order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[np.argmax(sides, axis=0)]
                answers = np.take_along_axis(triples, order, 1).astype(np.int32)
                writer.write_table(pa.table(list(answers.T), schema=schema))
        draft.rename(path)
    print(f"{N_OBJECTS:,} objects in three groups, {m:,} statements, every 20th object labelled")
    sys.stdout.flush()
    environment = os.environ | {"BENCH_PATH": json.dumps([p for p in sys.path if p])}
    command = [sys.executable, "-c", MAP, str(path), str(labels)]
    subprocess.run(command, env=environment, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^7 statements")
    parser.add_argument("--statements", type=float, default=1e8)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "trilens-bench"
    )
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    m = 10**7 if given.quick else int(given.statements)
    given.folder.mkdir(exist_ok=True)
    bench_central(given.folder, m, given.repeats)
    bench_linear(given.folder, m, given.repeats)
    bench_resume(given.folder, m)
    bench_map(given.folder, m)


if __name__ == "__main__":
    main()
