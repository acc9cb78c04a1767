"""The command line that the measurements of claims share: resumable, study by study."""

from __future__ import annotations

import argparse
import fnmatch
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def run_studies(
    description: str,
    cells_of: Iterable[str],
    measure: Callable[[tuple[str, int]], Row],
    table: Callable[[list[Row]], None],
) -> None:
    """Measure the studies that the command line asks for and the file does not hold yet."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cells", default="*", help="patterns, with commas between")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--first", type=int, default=0, help="the number of the first study")
    parser.add_argument("--quick", action="store_true", help="two studies a cell")
    parser.add_argument(
        "--table", type=Path, nargs="+", help="print the table of these files, and measure nothing"
    )
    args = parser.parse_args()
    if args.table:
        table([row for file in args.table for row in _rows(file)])
        return
    rows = _rows(args.out) if args.out is not None and args.out.exists() else []
    done = {(row["cell"], row["study"]) for row in rows}
    studies = range(args.first, args.first + (2 if args.quick else args.studies))
    cells = [
        cell for cell in cells_of if any(fnmatch.fnmatch(cell, p) for p in args.cells.split(","))
    ]
    jobs = [(cell, study) for study in studies for cell in cells if (cell, study) not in done]
    with ProcessPoolExecutor(args.jobs) as pool:
        for row in pool.map(measure, jobs, chunksize=1):
            rows.append(row)
            if args.out is not None:
                with args.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    table([row for row in rows if row["cell"] in cells])


def _rows(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text().splitlines()]
