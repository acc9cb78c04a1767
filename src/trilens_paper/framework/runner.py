"""The runner: cells in several processes, each written down when it is done."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from pathlib import Path

from trilens._parameters import thread_count, whole_number
from trilens._typing import Progress
from trilens.errors import TrilensError
from trilens_paper.framework.experiment import Cell, Experiment, MeasureCell
from trilens_paper.framework.fingerprint import fingerprint
from trilens_paper.framework.journal import Entry, Journal, Rows
from trilens_paper.framework.results import Results, joined

#: One thread per process: the processes share the cores, and a sum that is split over
#: threads may differ in its last digit.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def run(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    runs: int | None = None,
    full: bool = False,
    any_code: bool = False,
    processes: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Results]:
    """Do the cells that this code has not done under ``out`` yet; return all results.

    The results are the same whatever the number of processes, and however often the run was
    killed on the way; only the column ``cpu_seconds`` differs. Each experiment has a folder in
    ``out``, with its journal ``cells.jsonl``, and ``results.csv`` and ``results.parquet`` at the
    end. ``full`` does the costly points of the grids too, ``any_code`` leaves cells that other code
    has done as they are. Rows are in the order of the grid and the runs.
    """
    if runs is not None:
        whole_number("runs", runs, least=1)
    if processes is not None:
        whole_number("processes", processes, least=1)
    n_processes = thread_count(processes)
    for experiment in experiments:
        if experiment.prepare is not None:
            experiment.prepare()
    cells = {e.name: list(e.cells(runs, full)) for e in experiments}
    journals = {e.name: journal_of(out, e, any_code) for e in experiments}
    done = {name: journal.read() for name, journal in journals.items()}
    # run by run, so that what is interrupted leaves whole runs
    waiting = [
        (experiment.measure, cell)
        for experiment in experiments
        for cell in sorted(cells[experiment.name], key=lambda cell: cell.run)
        if cell.key not in done[experiment.name]
    ]
    total = sum(map(len, cells.values()))
    n_done = total - len(waiting)
    with ExitStack() as open_journals:
        for journal in journals.values():
            open_journals.enter_context(journal)
        for cell, (rows, seconds) in _in_processes(waiting, n_processes):
            journals[cell.experiment].append(cell, rows, seconds)
            done[cell.experiment][cell.key] = rows
            n_done += 1
            if progress is not None:
                progress(n_done / total)
    results = {}
    for name, wanted in cells.items():
        results[name] = joined(done[name][cell.key] for cell in wanted)
        results[name].write(out / name)
    return results


def recorded(experiment: Experiment, out: Path, any_code: bool = False) -> tuple[Entry, ...]:
    """Every cell of an experiment that stands under ``out``, in the order of the grid."""
    done = journal_of(out, experiment, any_code).entries()
    n_most = max((entry.cell.run + 1 for entry in done.values()), default=0)
    wanted = experiment.cells(runs=n_most, full=True)
    return tuple(done[cell.key] for cell in wanted if cell.key in done)


def outdated(
    experiments: Sequence[Experiment], out: Path, runs: int | None = None, full: bool = False
) -> int:
    """How many of the cells that `run` would do stand under ``out``, but by other code."""
    return sum(
        len(journal_of(out, e).outdated().intersection(cell.key for cell in e.cells(runs, full)))
        for e in experiments
    )


def journal_of(out: Path, experiment: Experiment, any_code: bool = False) -> Journal:
    """The journal of an experiment under ``out``, for the code that runs now."""
    path = out / experiment.name / "cells.jsonl"
    return Journal(path, fingerprint(experiment.measure), any_code)


def _in_processes(
    waiting: Sequence[tuple[MeasureCell, Cell]], n_processes: int
) -> Iterator[tuple[Cell, tuple[Rows, float]]]:
    """The cells with their rows and their CPU seconds, as they are finished."""
    import multiprocessing

    if not waiting:
        return
    with _one_thread_each():
        pool = ProcessPoolExecutor(
            min(n_processes, len(waiting)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_in_worker,
        )
        todo = iter(waiting)
        under_way: dict[Future[tuple[Rows, float]], Cell] = {}
        try:
            while True:
                # a few ahead, so that no process waits, and little is lost on an error
                while len(under_way) < 2 * n_processes and (following := next(todo, None)):
                    measure, cell = following
                    under_way[pool.submit(_work, measure, cell)] = cell
                if not under_way:
                    break
                finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield under_way.pop(future), future.result()
        except BrokenProcessPool:
            raise TrilensError(
                "a process of the run was killed, perhaps for want of memory; run the same "
                "command again to go on where it stopped, with fewer --processes"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _work(measure: MeasureCell, cell: Cell) -> tuple[Rows, float]:
    start = time.process_time()
    rows = cell.measured(measure)
    return rows, time.process_time() - start


def _in_worker() -> None:
    """A worker ends with its parent, and with Ctrl-C, without a word."""
    import multiprocessing
    from multiprocessing.connection import wait as wait_for

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        wait_for([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Linear algebra in the processes that start meanwhile takes one thread."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
