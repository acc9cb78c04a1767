"""The process: its streams, its signals, its end; and outputs that are inputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from commandline import run

TRILENS = [sys.executable, "-m", "trilens"]
GOOD = "a,b,c\nb,c,d\nd,a,c\na,d,b\n"


def shell(command, tmp_path, **environment):
    """A command line in a shell, with `trilens` standing for this one."""
    text = command.replace("trilens", " ".join(TRILENS), 1)
    return subprocess.run(
        ["sh", "-c", text],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def good(tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("trilens medoid - <&-", b"standard input is closed"),
        ("trilens convert good.csv - >&-", b"output: Bad file descriptor"),
        ("trilens depth good.csv >/dev/full", b"No space left on device"),
        ("trilens --help >/dev/full", b"No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full(good, command, words):
    done = shell(command, good)
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_pipe_that_closes(tmp_path):
    rows = np.random.default_rng(0).integers([0, 1500, 3000], [1500, 3000, 4500], (4000, 3))
    np.savetxt(tmp_path / "many.csv", rows, fmt="%d", delimiter=",")
    done = shell("trilens depth many.csv | head -1", tmp_path)
    assert b"Traceback" not in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_a_closed_stderr_takes_no_number_that_a_file_could_get(good):
    assert shell("trilens convert good.csv out.csv 2>&-", good).returncode == 0
    assert (good / "out.csv").read_text().splitlines()[0] == "central,other_1,other_2"


def test_a_terminal_that_lacks_the_letters(tmp_path):
    (tmp_path / "cars.csv").write_text("é€🚗,b,c\nb,c,d\nd,b,c\n", encoding="utf-8")
    done = shell("trilens depth cars.csv --json", tmp_path, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert "é€🚗" in json.loads(done.stdout.decode("latin-1"))["depth"]
    table = shell("trilens depth cars.csv", tmp_path, PYTHONIOENCODING="latin-1")
    assert "é\\u20ac" in table.stdout.decode("latin-1")


def test_names_with_lone_surrogates(tmp_path):
    names = np.array(["\ud800", "b", "c", "d"])
    file = tmp_path / "s.npz"
    np.savez(file, triples=[[0, 1, 2], [1, 2, 3], [3, 0, 2]], names=names)
    for words in (["depth", file], ["convert", file, tmp_path / "x.csv"]):
        assert "lone surrogate" in run(*words, status=1).stderr


def test_a_signal_leaves_nothing_half_written(tmp_path):
    script = """
import os, signal, sys
from trilens.cli import leave_when_terminated
from trilens.files import atomic_write

for number in (signal.SIGTERM, signal.SIGHUP):
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    # whoever runs the tests under nohup has SIGHUP ignored, in this process too
    signal.signal(number, signal.SIG_DFL)
    leave_when_terminated()
    with atomic_write("out.csv") as file:
        file.write(b"half")
        os.kill(os.getpid(), number)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, timeout=60, check=True, capture_output=True
    )
    assert done.stdout.split() == [b"143", b"129"]
    assert list(tmp_path.iterdir()) == []


#: Lines of which an output is an input, or would be one when the line is run again.
OVER_INPUTS = {
    "convert good.csv ./good.csv": "is an input file",
    "reduce good.csv link.csv": "is an input file",
    "embed good.csv -o good.csv": "is an input file",
    "convert good.csv objects.txt --objects objects.txt": "is an input file",
    "medoid good.csv -o labels.csv --labels labels.csv": "is an input file",
    "evaluate good.csv labels.csv -o labels.csv": "is an input file",
    "reliability good.csv --by labels.csv::group -o labels.csv": "is an input file",
    "reliability good.csv --catch labels.csv -o labels.csv": "is an input file",
    "evaluate good.csv labels.csv --figure labels.csv": "is an input file",
    "convert days/*.csv -o days/b.csv": "is an input file",
    "depth days --bad-rows days/b.csv": "is an input file",
    "count days -o linked/b.csv": "is an input file",
    "count days -o days/c.npz": "would be one of the files of days",
    "convert days/*.csv days/c.csv": "would be one of the files of days/*.csv",
}


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", OVER_INPUTS)
def test_an_output_over_an_input_is_refused(good, command, monkeypatch):
    monkeypatch.chdir(good)
    (good / "link.csv").symlink_to("good.csv")
    (good / "objects.txt").write_text("a\nb\nc\nd\n")
    (good / "labels.csv").write_text("object,label\na,1\nb,1\nc,2\nd,2\n")
    (good / "days").mkdir()
    (good / "linked").symlink_to("days")
    for name in ("days/a.csv", "days/b.csv"):
        (good / name).write_text(GOOD)
    before = contents(good)
    assert OVER_INPUTS[command] in run(*command.split(), status=1).stderr
    assert contents(good) == before


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="has no /proc")
def test_a_folder_that_takes_no_files_is_not_said_to_be_missing(good):
    error = run("convert", good / "good.csv", "-o", "/proc/x.csv", status=1).stderr
    assert "no file can be made in /proc; write elsewhere" in error


def test_an_output_beside_the_files_of_the_input_is_written(good):
    out = good / "out"
    out.mkdir()
    run("convert", f"{good}/*.csv", "--kind", "central", "-o", good / "all.parquet")
    run("convert", good, "--kind", "central", "-o", out / "all.csv")
    assert (good / "all.parquet").exists()


def test_simulated_statements_and_their_truth_are_two_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("simulate", "-n", 5, "-o", "s.csv", "--truth", "./s.csv", status=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_no_place_for_the_compilers_cache_and_an_ordinary_end(tmp_path):
    rows = np.tile([[0, 1, 2], [1, 2, 3]], (35_000, 1))
    np.savetxt(tmp_path / "many.csv", rows, fmt="%d", delimiter=",")
    script = (
        "import atexit, sys\n"
        "from numba.core import caching\n"
        "def refuse(self): raise OSError('read-only')\n"
        "caching._CacheLocator.ensure_cache_path = refuse\n"
        "from trilens.cli import main\n"
        "atexit.register(print, '\\nthe end')\n"
        "sys.argv = ['trilens', 'medoid', 'many.csv', '--json']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    *found, last = done.stdout.decode().splitlines()
    assert json.loads("".join(found))["medoid"] == "0"
    assert last == "the end"


def test_a_pipe_is_read_once(tmp_path):
    # more than a pipe holds
    many = "".join(f"n{i},n{i + 1},n{i + 2}\n" for i in range(5_000))
    (tmp_path / "many.csv").write_text("odd,other_1,other_2\n" + many)
    os.mkfifo(tmp_path / "pipe.csv")
    for command in (
        "cat many.csv | trilens describe /dev/stdin --json",
        "cat many.csv > pipe.csv & trilens describe pipe.csv --json",
    ):
        found = json.loads(shell(command, tmp_path).stdout)
        assert (found["statements"], found["objects"]) == (5_000, 5_002)


def test_the_help_loads_nothing_heavy():
    code = "import sys, trilens.cli as c; c.trilens(['--help'], standalone_mode=False); "
    code += "sys.exit(', '.join({'numpy', 'pyarrow', 'sklearn', 'numba'} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
