"""The table of results: one row per cell, method and metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trilens._typing import FloatArray
from trilens.files.output import atomic_write
from trilens_paper.framework.verdicts import LEAST_RUNS

#: The columns and their types, in order.
COLUMNS = {
    "experiment": "string",
    "panel": "string",
    "n_statements": "int64",
    "error_rate": "float64",
    "noise_param": "float64",
    "sampling": "string",
    "dim": "int64",
    "collection": "string",
    "run": "int64",
    "method": "string",
    "k": "int64",
    "sigma": "float64",
    "item": "int64",
    "metric": "string",
    "value": "float64",
    "cpu_seconds": "float64",
}
#: What a value was measured at, beside the run.
_SETTING = tuple(name for name in COLUMNS if name not in ("run", "value", "cpu_seconds"))


@dataclass(frozen=True, eq=False)
class Results:
    """Rows of the table, and ways to pick from them.

    >>> rows = [
    ...     {"method": "a", "run": 0, "n_statements": 5, "value": 1.0},
    ...     {"method": "a", "run": 0, "n_statements": 9, "value": 3.0},
    ...     {"method": "b", "run": 0, "n_statements": 5, "value": 4.0},
    ... ]
    >>> results = Results(tuple(rows))
    >>> results.where(method="a").per_run()
    array([2.])
    >>> results.where(n_statements=lambda n: n > 5).values
    array([3.])
    """

    rows: tuple[dict[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, **conditions: Any) -> Results:
        """The rows whose columns equal a value, are in a tuple, or satisfy a function."""
        tests = [(name, _test(wanted)) for name, wanted in conditions.items()]
        return Results(tuple(row for row in self.rows if all(ok(row[c]) for c, ok in tests)))

    def mapped(self, value: Callable[[dict[str, Any]], float]) -> Results:
        """The same rows with other values."""
        return Results(tuple(row | {"value": float(value(row))} for row in self.rows))

    def log_seconds(self) -> Results:
        """The logarithm of the CPU seconds as the value."""
        return self.mapped(lambda row: np.log(max(row["cpu_seconds"], 1e-9)))

    def best(self, *names: str) -> Results:
        """Of the rows that agree in these columns, those of the highest mean value."""
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[name] for name in names), []).append(row)
        parts = [Results(tuple(groups[key])) for key in sorted(groups, key=str)]
        return max(parts, key=lambda part: float(part.values.mean()))

    @property
    def values(self) -> FloatArray:
        """The column ``value``."""
        return np.array([row["value"] for row in self.rows], dtype=np.float64)

    def column(self, name: str) -> list[Any]:
        """A column."""
        return [row[name] for row in self.rows]

    def levels(self, name: str) -> list[Any]:
        """The different values of a column, in the order of appearance."""
        return list(dict.fromkeys(self.column(name)))

    def plane(self, method: str) -> FloatArray:
        """The places of the objects on a plane, (n, 2)."""
        return np.column_stack([self.where(method=method, metric=c).values for c in "xy"])

    @property
    def runs(self) -> int:
        """The number of different runs."""
        return len(set(self.column("run")))

    def by_run(self) -> dict[int, float]:
        """The mean value of each run, over the settings that all of these runs have.

        A setting with fewer than five runs is left out where another one has five: a few dear
        ones beside many cheap ones must not take these away.

        >>> rows = [
        ...     {"n_statements": n, "run": run, "value": float(run)}
        ...     for n, runs in ((5, 7), (9, 6), (99, 1))
        ...     for run in range(runs)
        ... ]
        >>> Results(tuple(rows)).per_run()
        array([0., 1., 2., 3., 4., 5.])
        """
        by_setting: dict[tuple[Any, ...], dict[int, float]] = {}
        for row in self.rows:
            setting = tuple(row.get(name) for name in _SETTING)
            by_setting.setdefault(setting, {})[row["run"]] = row["value"]
        most = max(map(len, by_setting.values()), default=0)
        least = LEAST_RUNS if most >= LEAST_RUNS else 1
        kept = [each for each in by_setting.values() if len(each) >= least]
        runs = sorted(set[int]().union(*kept))
        return {
            run: float(np.mean([each[run] for each in kept]))
            for run in runs
            if all(run in each for each in kept)
        }

    def per_run(self) -> FloatArray:
        """The mean value of each complete run, in the order of the runs."""
        return np.array(list(self.by_run().values()), dtype=np.float64)

    def differences(self, method: str, other: str, **conditions: Any) -> FloatArray:
        """Run by run, the mean value of one method minus that of another one."""
        return self.where(method=method, **conditions).minus(self.where(method=other, **conditions))

    def minus(self, other: Results) -> FloatArray:
        """Run by run, the mean value of these rows minus that of others."""
        a, b = in_common((self, other))
        return a - b

    def means(self, over: str) -> dict[Any, float]:
        """The mean value at each level of a column."""
        return {
            level: float(self.where(**{over: level}).values.mean())
            for level in sorted(self.levels(over))
        }

    def write(self, folder: Path) -> None:
        """``results.csv`` and ``results.parquet`` in the folder."""
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        table = pa.table(
            {
                name: pa.array([row[name] for row in self.rows], type=pa.type_for_alias(kind))
                for name, kind in COLUMNS.items()
            }
        )
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / "results.csv") as file:
            pyarrow.csv.write_csv(table, file)
        with atomic_write(folder / "results.parquet") as file:
            pyarrow.parquet.write_table(table, file)


def _test(wanted: Any) -> Callable[[Any], bool]:
    if callable(wanted):
        return wanted  # type: ignore[no-any-return]
    if isinstance(wanted, (tuple, set, frozenset)):
        return lambda value: value in wanted
    return lambda value: bool(value == wanted)


def in_common(parts: Iterable[Results]) -> list[FloatArray]:
    """The mean value of each run that all of the parts have, in the order of the runs."""
    by_run = [part.by_run() for part in parts]
    runs = sorted(set.intersection(*map(set, by_run)))
    return [np.array([each[run] for run in runs], dtype=np.float64) for each in by_run]


def joined(parts: Iterable[list[dict[str, Any]]]) -> Results:
    """The rows of many cells, one after another."""
    return Results(tuple(row for part in parts for row in part))
