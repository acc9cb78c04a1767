"""Statements and checkpoints behind URLs: whatever file system of fsspec they lie in."""

from __future__ import annotations

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import trilens as tl
from commandline import run
from trilens.counts import counting
from trilens.counts.counting import count_files
from trilens.counts.file import to_bytes

DAYS = ("day-1.parquet", "day-2.parquet", "day-3.parquet")


class Locked(MemoryFileSystem):
    """A file system to which nobody has the key."""

    protocol = "locked"

    def _refuse(self, *given, **options):
        raise RuntimeError("403: the key is wrong")

    info = ls = _open = glob = isdir = makedirs = pipe_file = cat_file = _refuse


@pytest.fixture(autouse=True)
def locked():
    fsspec.register_implementation("locked", Locked, clobber=True)


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three files of answers."""
    folder = tmp_path_factory.mktemp("days")
    names = [f"o{j}" for j in range(20)]
    for seed, name in enumerate(DAYS):
        S = tl.simulate_statements(np.arange(20.0)[:, None], 200, error_rate=0.5, random_state=seed)
        tl.write_statements(tl.Statements(S.triples, 20, names, "central"), folder / name)
    return {name: (folder / name).read_bytes() for name in DAYS}


@pytest.fixture
def days(whole, tmp_path):
    folder = tmp_path / "days"
    folder.mkdir()
    for name, content in whole.items():
        (folder / name).write_bytes(content)
    return folder


def test_every_format_is_read(memory, days, tmp_path):
    expected = tl.read_statements(days / DAYS[0])
    for ending in ("csv", "csv.gz", "csv.zst", "jsonl", "arrow", "npz"):
        file = tmp_path / f"one.{ending}"
        tl.write_statements(expected, file)
        memory.pipe(f"/answers/{file.name}", file.read_bytes())
        assert tl.read_statements(f"memory://answers/{file.name}") == tl.read_statements(file)
        assert count_files(f"memory://answers/{file.name}").statements == 200


def test_commands_take_a_pattern_and_a_folder(days, tmp_path):
    far, near = (
        run("medoid", place, "--method", "depth", "--json").stdout
        for place in (f"{days.as_uri()}/day-*.parquet", days)
    )
    assert far == near
    out = tmp_path / "counts.npz"
    run("count", days.as_uri(), "-o", out)
    assert out.read_bytes() == to_bytes(count_files(days))


def test_checkpoints_behind_a_url(days, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "_TASK_FILES", 1)
    (tmp_path / "kept").mkdir()
    kept = {"checkpoint": (tmp_path / "kept").as_uri()}
    url = days.as_uri()
    count_files([f"{url}/{name}" for name in DAYS[:2]], cluster="local:2", **kept)
    first, _ = (tmp_path / "kept").iterdir()
    first.write_bytes(first.read_bytes()[:100])  # cut short: it is counted again
    told: list[counting.CountReport] = []
    found = count_files(f"{url}/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == to_bytes(count_files(days))
    assert told[0].resumed == 1
    (days / DAYS[0]).write_bytes((days / DAYS[1]).read_bytes())  # another file, counted anew
    found = count_files(f"{url}/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == to_bytes(count_files(days))
    assert told[1].resumed == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("medoid memory://nowhere/day-1.parquet", "no such file"),
        ("count memory://nowhere/day-*.parquet -o OUT", "no file matches the pattern"),
        ("medoid memory://nowhere", "memory://nowhere"),
        ("medoid locked://answers/day-1.parquet", "day-1.parquet cannot be reached: 403"),
        ("count locked://answers/day-1.parquet -o OUT", "day-1.parquet cannot be reached: 403"),
        ("count unheard-of://day-1.parquet -o OUT", "unheard-of://day-1.parquet cannot be reached"),
        ("count DAYS -o OUT --checkpoint locked://answers/kept", "Error: locked://answers/kept"),
    ],
)
def test_what_cannot_be_reached(days, tmp_path, line, said):
    out = tmp_path / "counts.npz"
    words = line.replace("DAYS", str(days)).replace("OUT", str(out)).split()
    assert said in run(*words, status=1).stderr
    assert not out.exists()
