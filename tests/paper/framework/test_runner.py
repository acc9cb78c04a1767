from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import tiny_experiment
from tiny_experiment import TINY
from trilens.errors import ParameterError, TrilensError
from trilens_paper.framework.experiment import Point, Seeds
from trilens_paper.framework.results import COLUMNS, Results, joined
from trilens_paper.framework.runner import journal_of, outdated, recorded, run

N_CELLS = 6 * 3 + 2


def without_times(results: Results) -> list[dict[str, object]]:
    return [{c: v for c, v in row.items() if c != "cpu_seconds"} for row in results.rows]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    out = tmp_path_factory.mktemp("undisturbed")
    return out, run([TINY], out, processes=1)["tiny"]


def test_grid_and_seeds() -> None:
    cells = list(TINY.cells())
    assert len(cells) == N_CELLS
    assert len({cell.key for cell in cells}) == N_CELLS
    assert len(list(TINY.cells(runs=5))) == 6 * 5 + 2
    assert len(list(TINY.cells(full=True))) == N_CELLS + 3
    # neither the place in the grid nor the limits of the runs are part of the seed
    point = Point(n_statements=20)
    again = replace(point, costly=True, most_runs=1)
    assert Seeds("tiny", point, 1).integer("a") == Seeds("tiny", again, 1).integer("a")
    seeds = {
        Seeds(name, replace(point, n_statements=m), r).integer(purpose)
        for name in ("tiny", "other")
        for m in (20, 30)
        for r in (0, 1)
        for purpose in ("points", "SOE")
    }
    assert len(seeds) == 16


@pytest.mark.slow
def test_more_runs_go_on_and_two_processes_find_the_same(
    undisturbed: tuple[Path, Results], tmp_path: Path
) -> None:
    shares: list[float] = []
    few = run([TINY], tmp_path, runs=1, processes=2, progress=shares.append)["tiny"]
    assert without_times(few) == without_times(undisturbed[1].where(run=0))
    assert len(shares) == 7
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    more = run([TINY], tmp_path, runs=3, processes=1)["tiny"]
    assert without_times(more) == without_times(undisturbed[1])
    assert len(more) == 3 * N_CELLS


def test_tables_on_disk(undisturbed: tuple[Path, Results]) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    out, results = undisturbed
    table = pyarrow.parquet.read_table(out / "tiny" / "results.parquet")
    assert table.column_names == list(COLUMNS)
    assert table.to_pylist() == list(results.rows)
    text = pyarrow.csv.read_csv(out / "tiny" / "results.csv")
    assert text.num_rows == len(results)
    assert text.column("value").to_pylist() == results.column("value")
    journal = journal_of(out, TINY).path.read_text(encoding="utf-8")
    assert len(journal) < 60 * len(results)
    assert str(out) not in journal
    assert str(Path.home()) not in journal
    entries = recorded(TINY, out)
    assert len(entries) == N_CELLS
    assert all(each.seconds > 0 and date.fromisoformat(each.day) for each in entries)
    for bad in ("runs", "processes"):
        with pytest.raises(ParameterError, match=f"{bad} is 0"):
            run([TINY], out, **{bad: 0})


@pytest.mark.slow
def test_torn_and_corrupted_lines_are_done_again(
    undisturbed: tuple[Path, Results], tmp_path: Path
) -> None:
    lines = journal_of(undisturbed[0], TINY).path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"0", b"1", 1)
    lines[5] = b"\xff\xfe no journal line\n"
    lines[-1] = lines[-1][: len(lines[-1]) // 2]
    journal = journal_of(tmp_path, TINY)
    journal.path.parent.mkdir()
    journal.path.write_bytes(b"".join(lines))
    assert len(journal.read()) == N_CELLS - 3
    mended = run([TINY], tmp_path, processes=1)["tiny"]
    assert without_times(mended) == without_times(undisturbed[1])
    assert len(journal.read()) == N_CELLS


@pytest.mark.slow
def test_cells_of_other_code_are_done_again(
    undisturbed: tuple[Path, Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = journal_of(tmp_path, TINY)
    journal.path.parent.mkdir()
    journal.path.write_bytes(journal_of(undisturbed[0], TINY).path.read_bytes())
    assert outdated([TINY], tmp_path) == 0
    # another cell would kill the process, so nothing is done here
    killing = replace(TINY, measure=tiny_experiment.kills_itself)
    resumed = run([killing], tmp_path, processes=1)
    assert resumed["tiny"].rows == undisturbed[1].rows
    assert joined(entry.rows for entry in recorded(TINY, tmp_path)).rows == undisturbed[1].rows

    monkeypatch.setattr("trilens_paper.framework.runner.fingerprint", lambda measure: "other code")
    assert outdated([TINY], tmp_path) == N_CELLS
    assert outdated([TINY], tmp_path, runs=1) == 7
    assert len(recorded(TINY, tmp_path)) == 0
    # unless they are to be kept
    kept = run([killing], tmp_path, any_code=True, processes=1)
    assert kept["tiny"].rows == undisturbed[1].rows
    assert len(recorded(TINY, tmp_path, any_code=True)) == N_CELLS
    again = run([TINY], tmp_path, processes=1)["tiny"]
    assert without_times(again) == without_times(undisturbed[1])
    # and the line that says what all cells have in common
    assert len(journal.path.read_bytes().splitlines()) == 2 * (N_CELLS + 1)
    assert outdated([TINY], tmp_path) == 0


@pytest.mark.slow
def test_five_kills_give_the_same_table(undisturbed: tuple[Path, Results], tmp_path: Path) -> None:
    journal = journal_of(tmp_path, TINY)
    program = [sys.executable, tiny_experiment.__file__, str(tmp_path), "2"]
    sizes = []
    for kill in range(5):
        # the moment: when the journal has grown past a point that lies within a line
        target = (journal.path.stat().st_size if journal.path.exists() else 0) + 90 * (kill % 3)
        child = subprocess.Popen(program, stderr=subprocess.DEVNULL)
        while not (journal.path.exists() and journal.path.stat().st_size >= target):
            with suppress(subprocess.TimeoutExpired):
                child.wait(timeout=0.002)
                break
        child.send_signal(signal.SIGKILL)
        child.wait()
        sizes.append(len(journal.read()))
    assert sizes == sorted(sizes)
    assert sizes[0] < N_CELLS
    resumed = run([TINY], tmp_path, processes=2)["tiny"]
    assert without_times(resumed) == without_times(undisturbed[1])


@pytest.mark.slow
def test_a_dead_worker_is_one_line(tmp_path: Path) -> None:
    dying = replace(TINY, measure=tiny_experiment.kills_itself)
    with pytest.raises(TrilensError, match=r"was killed.*run the same command again"):
        run([dying], tmp_path, runs=1, processes=1)
