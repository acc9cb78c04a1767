"""Counting, beside its rivals in the same run: wall and CPU seconds, best of several.

    python benchmarks/bench_counts.py [--quick]

The rivals: np.sum, which only reads the statements; np.bincount; DuckDB's group-by; scipy's
coo_array for sparse pairs. Every rival's result is checked against ours.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from trilens.counts import count_central, count_classes, count_labelled_pairs, count_pairs
from trilens.statements import Statements


def best(work: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """The least wall and the least CPU seconds of several runs."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def draw(m: int, n: int, seed: int = 0) -> np.ndarray:
    """(m, 3) int32, three different objects a row."""
    rng = np.random.default_rng(seed)
    triples = rng.integers(0, n, (m, 3), dtype=np.int32)
    while True:
        a, b, c = triples.T
        twice = np.flatnonzero((a == b) | (a == c) | (b == c))
        if not len(twice):
            return triples
        triples[twice] = rng.integers(0, n, (len(twice), 3), dtype=np.int32)


def report(
    what: str, ours: tuple[float, float], rivals: dict[str, tuple[float, float, float]]
) -> None:
    """One line for us, one for each rival: seconds and how many times ours they are."""
    print(f"{what}: wall {ours[0]:.4f} s, CPU {ours[1]:.4f} s")
    for name, (wall, cpu, target) in rivals.items():
        aim = f" (target {target:g})" if target else ""
        print(
            f"  {name}: wall {wall:.4f} s, CPU {cpu:.4f} s; "
            f"ratio of wall {wall / ours[0]:.2f}{aim}, of CPU {cpu / ours[1]:.2f}"
        )
    sys.stdout.flush()


def bincount_central(triples: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.bincount(triples[:, 0], minlength=n),
        np.bincount(triples.ravel(), minlength=n),
    )


def bincount_central_columns(triples: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The same with the first column counted once."""
    singled = np.bincount(triples[:, 0], minlength=n)
    others = np.bincount(triples[:, 1], minlength=n) + np.bincount(triples[:, 2], minlength=n)
    return singled, singled + others


def bincount_pairs(triples: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """bincount on i * n + j, as one writes it."""
    a, b, c = triples.astype(np.int64).T
    i, j = np.concatenate([a, a, b]), np.concatenate([b, c, c])
    appears = np.bincount(i * n + j, minlength=n * n).reshape(n, n)
    third = np.bincount(b * n + c, minlength=n * n).reshape(n, n)
    return third + third.T, appears + appears.T


def bincount_pairs_columns(triples: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The same with each pair counted once and less copying."""
    a, b, c = (triples[:, k].astype(np.int64) for k in range(3))
    third = np.bincount(b * n + c, minlength=n * n).reshape(n, n)
    rest = np.bincount(a * n + b, minlength=n * n)
    rest += np.bincount(a * n + c, minlength=n * n)
    third, rest = third + third.T, rest.reshape(n, n)
    return third, third + rest + rest.T


def coo_pairs(triples: np.ndarray, n: int) -> tuple[Any, Any]:
    from scipy.sparse import coo_array

    a, b, c = triples.T
    ones = np.ones(6 * len(triples), dtype=np.int32)
    i, j = np.concatenate([b, c, a, b, a, c]), np.concatenate([c, b, b, a, c, a])
    k = 2 * len(triples)
    third = coo_array((ones[:k], (i[:k], j[:k])), shape=(n, n)).tocsr()
    return third, coo_array((ones, (i, j)), shape=(n, n)).tocsr()


def bench_central(m: int, n: int, repeats: int) -> None:
    S = Statements(draw(m, n), n_objects=n, kind="central")
    T = S.triples
    counts = count_central(S)
    for rival in (bincount_central, bincount_central_columns):
        singled, appears = rival(T, n)
        assert (singled == counts.singled).all()
        assert (appears == counts.appears).all()
    ours = best(lambda: count_central(S), 3 * repeats)
    one = best(lambda: count_central(S, n_threads=1), 3 * repeats)
    report("  one thread", one, {})
    rivals = {
        "np.sum": (*best(lambda: np.sum(T), 3 * repeats), 0.6),
        "np.bincount": (*best(lambda: bincount_central(T, n), repeats), 30),
        "np.bincount by column": (*best(lambda: bincount_central_columns(T, n), repeats), 0),
    }
    rivals |= duckdb_central(T, counts, repeats)
    report(f"count_central, {m:,} statements, {n:,} objects", ours, rivals)


def duckdb_central(
    triples: np.ndarray, counts: Any, repeats: int
) -> dict[str, tuple[float, float, float]]:
    """The group-by, over numpy columns, an Arrow table and DuckDB's own table, two queries."""
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    columns = {name: np.ascontiguousarray(triples[:, k]) for k, name in enumerate("abc")}
    connection.register("in_arrow", pa.table(columns))
    connection.execute("create table own as select * from in_arrow")
    connection.register("in_numpy", columns)
    queries = {
        "unpivot": """
            select x, sum(s)::bigint, count(*) from (
                select a as x, 1 as s from {0} union all select b, 0 from {0}
                union all select c, 0 from {0}) group by x order by x""",
        "three groups": """
            select x, sum(s)::bigint, sum(k)::bigint from (
                select a as x, count(*) as s, count(*) as k from {0} group by a
                union all select b, 0, count(*) from {0} group by b
                union all select c, 0, count(*) from {0} group by c) group by x order by x""",
    }
    taken = {}
    for query, text in queries.items():
        for table in ("in_numpy", "in_arrow", "own"):
            sql = text.format(table)
            found = connection.execute(sql).fetchnumpy()
            x, singled, appears = (np.asarray(column) for column in found.values())
            assert (counts.singled[x] == singled).all()
            assert (counts.appears[x] == appears).all()
            taken[query, table] = best(
                lambda sql=sql: connection.execute(sql).fetchnumpy(), repeats
            )
    # its best over data that it is given, as ours are; and its best over its own table
    given = min(taken[query, table] for query in queries for table in ("in_numpy", "in_arrow"))
    own = min(taken[query, "own"] for query in queries)
    return {"DuckDB, arrays or Arrow": (*given, 10), "DuckDB, its own table": (*own, 10)}


def bench_pairs(m: int, n: int, repeats: int, target: float) -> None:
    S = Statements(draw(m, n), n_objects=n, kind="central")
    T = S.triples
    counts = count_pairs(S, layout="dense")
    rivals = {}
    for name, rival, aim in (
        ("np.bincount on i * n + j", bincount_pairs, target),
        ("np.bincount by column", bincount_pairs_columns, 0),
    ):
        third, appears = rival(T, n)
        assert (third == counts.third).all()
        assert (appears == counts.appears).all()
        del third, appears
        rivals[name] = (*best(lambda rival=rival: rival(T, n), max(2, repeats - 2)), aim)
    del counts
    report("  one thread", best(lambda: count_pairs(S, 1, "dense"), 2 * repeats), {})
    ours = best(lambda: count_pairs(S, layout="dense"), 2 * repeats)
    report(f"count_pairs, dense, {m:,} statements, {n:,} objects", ours, rivals)


def bench_sparse(m: int, n: int, repeats: int) -> None:
    S = Statements(draw(m, n), n_objects=n, kind="central")
    counts = count_pairs(S)
    third, appears = coo_pairs(S.triples, n)
    assert counts.is_sparse
    assert (third != counts.third).nnz == (appears != counts.appears).nnz == 0
    del counts, third, appears
    ours = best(lambda: count_pairs(S), repeats)
    rival = best(lambda: coo_pairs(S.triples, n), max(1, repeats - 2))
    report(
        f"count_pairs, sparse, {m:,} statements, {n:,} objects", ours, {"scipy coo": (*rival, 0)}
    )


def bench_labels(m: int, n: int, repeats: int) -> None:
    S = Statements(draw(m, n), n_objects=n, kind="central")
    y = np.arange(n, dtype=np.int32) % 10
    y[n // 2 :] = -1
    labelled = np.arange(0, n, max(1, n // 200))
    for what, work in (
        ("count_classes, 10 classes", lambda: count_classes(S, y, 10)),
        (f"count_labelled_pairs, {len(labelled)}", lambda: count_labelled_pairs(S, labelled)),
    ):
        work()
        report(f"{what}, {m:,} statements, {n:,} objects", best(work, repeats), {})


_MEMORY = {
    "count_central, Statements": "Statements(T, {n})",
    "count_central, array": "T",
    "count_pairs, sparse": "Statements(T, {n})",
}


def bench_memory(m: int, n_central: int, m_sparse: int, n_sparse: int) -> None:
    """Peak memory beyond the array, in a process of its own; numba is loaded before."""
    for what, prepare in _MEMORY.items():
        rows, n = (m_sparse, n_sparse) if "sparse" in what else (m, n_central)
        function = what.partition(",")[0]
        program = f"""
import numpy as np
from trilens.counts import {function}
from trilens.statements import Statements
warm = np.tile(np.array([[0, 1, 2]], np.int32), (70_000, 1))
{function}(warm{', layout="sparse"' if "sparse" in what else ""})
def peak():  # not ru_maxrss: a process inherits that of the one that started it
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
T = np.empty(({rows}, 3), np.int32)
for start in range(0, {rows}, 100_000):
    rows = min(100_000, {rows} - start)
    drawn = np.random.default_rng(start).integers(0, {n} // 3, (rows, 3))
    T[start : start + rows] = 3 * drawn + [0, 1, 2]
X = {prepare.format(n=n)}
before = peak()
counts = {function}(X)
array = T.nbytes / 2**20
print(f"array {{array:.0f}} MiB, peak before {{before:.0f}} MiB, after {{peak():.0f}} MiB")
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        print(
            f"memory of {what}, {rows:,} statements, {n:,} objects: {done.stdout.strip()}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the statements")
    parser.add_argument("--only", default="", help="run the parts whose name has this in it")
    options = parser.parse_args()
    m, repeats = (2_000_000, 3) if options.quick else (20_000_000, 5)
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    parts: dict[str, Callable[[], None]] = {
        "central": lambda: bench_central(m, 8638, repeats),
        "pairs 8638": lambda: bench_pairs(m, 8638, repeats, 12),
        "pairs 800": lambda: bench_pairs(m, 800, repeats, 25),
        "sparse": lambda: bench_sparse(m // 2, 100_000 if options.quick else 1_000_000, 3),
        "labels": lambda: bench_labels(m, 8638, repeats),
        "memory": lambda: bench_memory(m, 8638, m // 2, 1_000_000),
    }
    for name, run in parts.items():
        if options.only in name:
            run()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of this benchmark: {peak:.1f} GiB")


if __name__ == "__main__":
    main()
