"""A growing folder, each file counted once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import trilens as tl
from trilens.counts import follow, partition
from trilens.errors import FormatError


def put(folder: Path, name: str, rows: str) -> None:
    draft = folder / f".{name}"
    draft.write_text(rows)
    draft.rename(folder / name)


def look(folder: Path, output: Path):
    (found,) = follow(folder, output)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "counts.npz"


def test_each_file_is_counted_once(folder: Path, output: Path) -> None:
    assert look(folder, output).counted == 0
    put(folder, "b.csv", "x,y,z\n")
    assert look(folder, output).counted == 1
    put(folder, "a.csv", "y,x,z\nw,x,y\n")
    put(folder, "c.csv", "z,x,w\n")
    second = look(folder, output)
    assert (second.counted, second.files, second.statements) == (2, 3, 4)
    assert look(folder, output).counted == 0
    found = tl.read_counts(output)
    expected = tl.count_central(tl.read_statements(folder))
    at = [found.names.index(name) for name in expected.names]
    assert found.central.singled[at].tolist() == expected.singled.tolist()
    assert found.central.appears[at].tolist() == expected.appears.tolist()
    # one that changes later is told and not counted again
    put(folder, "b.csv", "x,y,z\nx,z,y\n")
    third = look(folder, output)
    assert (third.counted, third.changed, third.statements) == (0, ("b.csv",), 4)
    # the output may stand in the folder
    assert [look(folder, folder / "counts.npz").counted for _ in range(2)] == [3, 0]


def test_a_file_that_grows_waits_for_the_next_look(folder: Path, output: Path, monkeypatch) -> None:
    put(folder, "a.csv", "x,y,z\n")
    put(folder, "b.csv", "x,y,z\n")
    honest = partition._count

    def growing(part, plan):
        if part.path.endswith("b.csv"):
            with open(part.path, "a") as more:
                more.write("z,y,x\n")
        return honest(part, plan)

    with monkeypatch.context() as patch:
        patch.setattr(partition, "_count", growing)
        found = look(folder, output)
        # it is no bad file, but one that is not there yet
        for skip_bad in (False, True):
            with pytest.raises(FormatError, match=r"b\.csv changed while it was being read"):
                tl.counts.counting.count_files(folder, skip_bad=skip_bad)
    assert (found.counted, found.files, found.statements) == (1, 1, 1)
    found = look(folder, output)
    assert (found.counted, found.files, found.changed) == (1, 2, ())


def test_it_waits_between_looks(folder: Path, output: Path) -> None:
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        put(folder, f"{len(waited)}.csv", "x,y,z\n")

    looks = follow(folder, output, every=7.0, wait=wait)
    assert [next(looks).statements for _ in range(4)] == [0, 1, 2, 3]
    assert waited == [7.0] * 3


def test_other_counts_are_not_written_over(folder: Path, output: Path, tmp_path: Path) -> None:
    tl.write_counts(tl.Statements([[0, 1, 2]], kind="central"), output)
    with pytest.raises(FormatError, match="does not say which files were counted"):
        look(folder, output)
    with pytest.raises(FormatError, match="pairs and classes cannot be counted"):
        next(follow(folder, tmp_path / "other.npz", pairs=True))
    with pytest.raises(FormatError, match="no such file"):
        look(tmp_path / "none", tmp_path / "other.npz")


CRASH = """
import os, signal, sys
from trilens.counts import follow

replace = os.replace
def crash(*paths):
    if sys.argv[3] == "after":
        replace(*paths)
    os.kill(os.getpid(), signal.SIGKILL)

follow.__globals__["_FILES"] = 2
os.replace = crash
list(follow(sys.argv[1], sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_the_worst_moment_every_file_is_still_counted_once(
    folder: Path, output: Path, moment: str
) -> None:
    for i in range(5):
        put(folder, f"{i}.csv", "x,y,z\n" * (i + 1))
    counted = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", CRASH, str(folder), str(output), moment],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert done.returncode == -signal.SIGKILL
        counted.append(tl.read_counts(output).statements if output.exists() else 0)
    assert counted == ([0, 0] if moment == "before" else [3, 10])
    assert look(folder, output).statements == 15


def test_what_cannot_be_read_is_named_and_tried_again(folder: Path, output: Path) -> None:
    (folder / "good.csv").write_text("a,b,c\nb,c,d\n")
    (folder / "rows.csv").write_text("a,b,c\na,a,b\nc,d,a\n")
    late = folder / "late.parquet"
    tl.write_statements(tl.Statements([[0, 1, 2], [1, 2, 3]], names=list("abcd")), late)
    whole = late.read_bytes()
    late.write_bytes(whole[: len(whole) // 2])
    (look,) = follow(folder, output, skip_bad=True)
    assert (look.counted, look.statements, look.skipped) == (2, 4, 1)
    assert "late.parquet" in " ".join(look.left_out)
    assert "late.parquet" in str(look)
    late.write_bytes(whole)
    (look,) = follow(folder, output, skip_bad=True)
    assert (look.counted, look.statements, look.left_out) == (1, 6, ())
