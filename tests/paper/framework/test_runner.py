from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from zlib import crc32

import pytest
from click.testing import CliRunner

import tiny_experiment
from tiny_experiment import TINY, kills_itself
from trilens.cli import trilens
from trilens.errors import DatasetError, FormatError, ParameterError, TrilensError
from trilens_paper import registry
from trilens_paper.command import command
from trilens_paper.framework import fingerprint as module
from trilens_paper.framework.experiment import Point, Seeds
from trilens_paper.framework.fingerprint import fingerprint
from trilens_paper.framework.journal import Journal
from trilens_paper.framework.results import COLUMNS, Results, joined
from trilens_paper.framework.runner import journal_of, outdated, recorded, run
from trilens_paper.framework.summary import judged, write_page
from trilens_paper.registry import EXPERIMENTS

N_CELLS = 6 * 3 + 2


def without_times(results):
    return [{c: v for c, v in row.items() if c != "cpu_seconds"} for row in results.rows]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    return out, run([TINY], out, processes=1)["tiny"]


def test_grid_and_seeds():
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
def test_more_runs_go_on_and_two_processes_find_the_same(undisturbed, tmp_path):
    shares: list[float] = []
    few = run([TINY], tmp_path, runs=1, processes=2, progress=shares.append)["tiny"]
    assert without_times(few) == without_times(undisturbed[1].where(run=0))
    assert len(shares) == 7
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    more = run([TINY], tmp_path, runs=3, processes=1)["tiny"]
    assert without_times(more) == without_times(undisturbed[1])
    assert len(more) == 3 * N_CELLS


def test_tables_on_disk(undisturbed):
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
    # a cell that were done again would kill the process
    again = run([replace(TINY, measure=tiny_experiment.kills_itself)], out, processes=1)
    assert again["tiny"].rows == results.rows
    for bad in ("runs", "processes"):
        with pytest.raises(ParameterError, match=f"{bad} is 0"):
            run([TINY], out, **{bad: 0})


@pytest.mark.slow
def test_torn_and_corrupted_lines_are_done_again(undisturbed, tmp_path):
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
def test_cells_of_other_code_are_done_again(undisturbed, tmp_path, monkeypatch):
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
def test_five_kills_give_the_same_table(undisturbed, tmp_path):
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
def test_a_dead_worker_is_one_line(tmp_path):
    dying = replace(TINY, measure=tiny_experiment.kills_itself)
    with pytest.raises(TrilensError, match=r"was killed.*run the same command again"):
        run([dying], tmp_path, runs=1, processes=1)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    out = tmp_path_factory.mktemp("tiny")
    run([TINY], out, runs=5, processes=1)
    return recorded(TINY, out)


@pytest.mark.slow
def test_page_shows_paper_ours_and_verdict(kept, tmp_path):
    page = tmp_path / "docs" / "page.md"
    experiments = [TINY, EXPERIMENTS["recovery"]]
    found = write_page(page, experiments, {"tiny": kept}, ["trilens reproduce tiny"])
    assert [one.experiment.name for one in found] == ["tiny"]
    text = page.read_text(encoding="utf-8")
    assert all(len(line) < 100 for line in text.splitlines())
    assert text.count("<details>") == text.count("</details>") == 1
    assert "\ntrilens reproduce tiny --out paper --any-code\n" in text
    day = kept[0].day
    assert re.search(rf"\| tiny \| 7 of 8 \| 2 to 5 \| [0-9.e-]+ \| {day} \|", text)
    assert "There are no journals of: recovery." in text
    assert "![Depths of twelve points](page/tiny.png)" in text
    assert (tmp_path / "docs" / "page" / "tiny.png").read_bytes()[:4] == b"\x89PNG"
    assert re.search(r"\| Deepest first \| -0\.[0-9]+ ± 0\.[0-9]+ \| agrees \|", text)
    assert (
        "- **agrees**: The deepest is deeper than the least deep.\n  - paper: of course\n"
        "  - ours: -0." in text
    )
    assert "  - reason: It is a claim that fails.\n" in text
    # the number of runs is said once, above the claims
    assert "2 to 5 runs." in text
    assert "(5 runs)" not in text
    # what the paper does not say stands in a list of its own
    ours = text.split("Claims of our own, which are not in the paper:")[1]
    assert "- **differs**: The least deep has no answers at all.\n" in ours
    assert "  - reason: no reason known.\n" in ours
    assert "Of the claims of the paper, 1 agrees and 1 differs. Of the claims of our own, " in text


def test_a_page_is_never_made_from_nothing(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("kept", encoding="utf-8")
    for options in (["--page", str(page)], ["--page", str(tmp_path / "page")]):
        found = CliRunner().invoke(trilens, ["reproduce", "--out", str(tmp_path / "no"), *options])
        assert found.exit_code != 0
        assert found.output.startswith(("Error: there are no results in", "Error: --page writes"))
    assert page.read_text(encoding="utf-8") == "kept"
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]


@pytest.mark.parametrize("members", [b'"of":"x"}', b"}", b'"series":3}'])
def test_a_line_that_is_no_result(members, tmp_path):
    journal = tmp_path / "cells.jsonl"
    journal.write_bytes(b'{"crc":"%08x",%s\n' % (crc32(members), members))
    if members == b'"of":"x"}':  # of a line that is not there
        assert Journal(journal, "code").read() == {}
        return
    with pytest.raises(FormatError, match="line 1: not a result"):
        Journal(journal, "code").read()


@pytest.mark.slow
def test_one_run_judges_nothing_random(kept):
    results = joined(entry.rows for entry in kept)
    one = judged(TINY, results.where(run=0))
    assert one.tally() == {"not judged": 3}
    few = judged(TINY, results.where(run=lambda run: run < 4))
    assert few.tally() == {"undecided": 3}
    assert judged(TINY, results).tally() == {"agrees": 1, "differs": 2}
    assert judged(TINY, results).tally(of_paper=False) == {"differs": 1}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_claims_stand_when_nothing_was_run(name):
    experiment = EXPERIMENTS[name]
    assert judged(experiment, Results(())).tally() == {"not judged": len(experiment.claims)}


PACKAGES = Path(module.__file__).parents[2]
Change = tuple[str, str, str]


@pytest.fixture
def folders(tmp_path):
    """New folders, one after another."""
    return (tmp_path / str(i) for i in range(9))


def changes_it(folders, change):
    """Whether the fingerprint is another when a text in a file is another.

    The package has this file alone: to read all of it would take longer than all else here.
    """
    file, old, new = change
    text = (PACKAGES / file).read_text(encoding="utf-8")
    assert old in text
    found = set()
    for content in (text, text.replace(old, new, 1)):
        folder = next(folders)
        copy = folder / file
        copy.parent.mkdir(parents=True)
        copy.write_text(content, encoding="utf-8")
        found.add(fingerprint(TINY.measure, folder))
    return len(found) == 2


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (("trilens/simulate/answers.py", "1", "2"), True),
        (("trilens/maps/lens_map.py", "_MORE = 8", "_MORE = 9"), True),
        (("trilens_paper/ingredients/methods.py", "times: int = 5", "times: int = 6"), True),
        (("trilens_paper/framework/experiment.py", "2**31", "2**30"), True),
        (("trilens/simulate/answers.py", '"""', '"""Other words. '), False),
        (("trilens/simulate/answers.py", "import numpy as np", "import numpy as np  # so"), False),
        (("trilens/__init__.py", '__version__ = "', '__version__ = "9.'), False),
        (("trilens_paper/command.py", "experiments", "studies"), False),
        (("trilens/plots/style.py", "#0072B2", "#000000"), False),
        (("trilens_paper/paper.py", "354.85", "354.86"), False),
        (("trilens_paper/recovery.py", "N_POINTS = 100", "N_POINTS = 101"), False),
    ],
)
def test_code_that_measures_counts_and_all_else_does_not(change, counts, folders):
    assert changes_it(folders, change) == counts


def test_the_measuring_file_counts_and_its_neighbors_do_not(folders):
    empty = next(folders)
    found = {name: fingerprint(e.measure, empty) for name, e in EXPERIMENTS.items()}
    assert found["recovery"] != found["speed"]
    assert found["outliers-gauss"] == found["outliers-usps"]


def test_versions_of_the_libraries_count(folders, monkeypatch):
    before = fingerprint(TINY.measure, next(folders))
    monkeypatch.setattr(module, "version", lambda name: "0.0")
    assert fingerprint(TINY.measure, next(folders)) != before


@pytest.mark.slow
def test_tables_figure_and_page(tmp_path, monkeypatch):
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", TINY)
    out, page = tmp_path / "out", tmp_path / "docs" / "reproduction.md"
    arguments = ["tiny", "--runs", "2", "--processes", "1", "--out", str(out)]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1].split() == ["tiny", "2", "0", "0", "3", "0", "0"]
    for file in ("tiny/results.csv", "tiny/results.parquet", "summary.md", "summary/tiny.png"):
        assert (out / file).stat().st_size > 0
    again = CliRunner().invoke(command, arguments)
    assert again.stdout == result.stdout
    assert again.stderr == result.stderr == f"summary: {out / 'summary.md'}\n"

    # the page comes from the journals alone, whatever code has written them: nothing is run
    monkeypatch.setattr("trilens_paper.framework.runner.fingerprint", lambda measure: "other code")
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", replace(TINY, measure=kills_itself))
    journal = (out / "tiny" / "cells.jsonl").read_bytes()
    made = CliRunner().invoke(command, ["tiny", "--out", str(out), "--page", str(page)])
    assert made.exit_code == 0, made.output
    assert made.stdout == result.stdout
    assert (out / "tiny" / "cells.jsonl").read_bytes() == journal
    assert (tmp_path / "docs" / "reproduction" / "tiny.png").exists()
    text = page.read_text(encoding="utf-8")
    assert "\ntrilens reproduce tiny --runs 2 --out paper --any-code\n" in text
    assert "(reproduction/tiny.png)" in text
    # without the page, what other code has computed is computed again
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", TINY)
    kept = CliRunner().invoke(command, [*arguments, "--any-code"])
    assert "computed by other code" not in kept.stderr
    assert (out / "tiny" / "cells.jsonl").read_bytes() == journal
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(
        "14 results were computed by other code and will be computed again\n"
    )
    assert len((out / "tiny" / "cells.jsonl").read_bytes()) > len(journal)


def test_the_names_of_experiments_and_missing_data(tmp_path, monkeypatch):
    listed = CliRunner().invoke(command, ["--list"])
    assert listed.exit_code == 0
    names = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
    assert names == list(registry.EXPERIMENTS)

    def missing():
        raise DatasetError("cars are not to be had")

    monkeypatch.setitem(registry.EXPERIMENTS, "broken", replace(TINY, prepare=missing))
    for name, error, said in (
        ("medoids", ParameterError, ", ".join(names)),
        ("broken", DatasetError, "cars are not to be had"),
    ):
        result = CliRunner().invoke(command, [name, "--out", str(tmp_path / name)])
        assert isinstance(result.exception, error)
        assert said in str(result.exception)
        assert "\n" not in str(result.exception)
    assert not (tmp_path / "medoids").exists()
