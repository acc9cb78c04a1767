"""Statements and checkpoints behind URLs: whatever file system of fsspec they lie in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem

import trilens as tl
from trilens.cli import trilens
from trilens.counts.counting import CountReport, count_files
from trilens.counts.file import to_bytes
from trilens.errors import FormatError

DAYS = ("day-1.parquet", "day-2.parquet", "day-3.parquet")


class Locked(MemoryFileSystem):
    """A file system to which nobody has the key."""

    protocol = "locked"

    def _refuse(self, *given: Any, **options: Any) -> Any:
        raise RuntimeError("403: the key is wrong")

    info = ls = _open = glob = isdir = makedirs = pipe_file = cat_file = _refuse


@pytest.fixture(autouse=True)
def locked() -> None:
    fsspec.register_implementation("locked", Locked, clobber=True)


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Three files of answers."""
    folder = tmp_path_factory.mktemp("days")
    rng = np.random.default_rng(0)
    for name in DAYS:
        triples = rng.permuted(np.tile(np.arange(20), (200, 1)), axis=1)[:, :3]
        names = np.array([f"o{j}" for j in range(20)])[triples]
        columns = dict(zip(("central", "other_1", "other_2"), names.T.tolist(), strict=True))
        pq.write_table(pa.table(columns), folder / name, row_group_size=50)
    return {name: (folder / name).read_bytes() for name in DAYS}


@pytest.fixture
def days(whole: dict[str, bytes], tmp_path: Path) -> Path:
    folder = tmp_path / "days"
    folder.mkdir()
    for name, content in whole.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(("pattern", "cluster"), [("/day-*.parquet", "local:2"), ("", None)])
def test_a_pattern_and_a_folder_are_counted(days: Path, pattern: str, cluster) -> None:
    found = count_files(f"{days.as_uri()}{pattern}", cluster=cluster)
    assert to_bytes(found) == to_bytes(count_files(days))


def test_every_format_is_read(memory, days: Path, tmp_path: Path) -> None:
    expected = tl.read_statements(days / DAYS[0])
    for ending in ("csv", "csv.gz", "csv.zst", "jsonl", "arrow", "npz"):
        file = tmp_path / f"one.{ending}"
        tl.write_statements(expected, file)
        memory.pipe(f"/answers/{file.name}", file.read_bytes())
        assert tl.read_statements(f"memory://answers/{file.name}") == expected, ending
        assert count_files(f"memory://answers/{file.name}").statements == 200


def test_commands(days: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    url = f"{days.as_uri()}/day-*.parquet"
    far = run(trilens, ["medoid", url, "--method", "depth", "--json"])
    near = run(trilens, ["medoid", str(days), "--method", "depth", "--json"])
    assert far.exit_code == 0, far.output
    assert far.stdout == near.stdout
    out = tmp_path / "counts.npz"
    assert run(trilens, ["count", url, "-o", str(out)]).exit_code == 0
    assert out.read_bytes() == to_bytes(count_files(days))


def test_checkpoints_behind_a_url(days: Path, tmp_path: Path, monkeypatch) -> None:
    from trilens.counts import counting

    monkeypatch.setattr(counting, "_TASK_FILES", 1)
    (tmp_path / "kept").mkdir()
    kept = {"checkpoint": (tmp_path / "kept").as_uri()}
    url = days.as_uri()
    count_files([f"{url}/{name}" for name in DAYS[:2]], cluster="local:2", **kept)
    first, _ = (tmp_path / "kept").iterdir()
    first.write_bytes(first.read_bytes()[:100])  # cut short: it is counted again
    told: list[CountReport] = []
    found = count_files(f"{url}/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == to_bytes(count_files(days))
    assert told[0].resumed == 1
    (days / DAYS[0]).write_bytes((days / DAYS[1]).read_bytes())  # another file, counted anew
    found = count_files(f"{url}/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == to_bytes(count_files(days))
    assert told[1].resumed == 2


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory://nowhere/day-1.parquet", "no such file"),
        ("memory://nowhere/day-*.parquet", "no file matches the pattern"),
        ("memory://nowhere", "memory://nowhere"),
        ("locked://answers/day-1.parquet", "locked://answers/day-1.parquet cannot be reached: 403"),
        ("unheard-of://day-1.parquet", "unheard-of://day-1.parquet cannot be reached"),
    ],
)
@pytest.mark.parametrize("command", ["count", "medoid"])
def test_what_cannot_be_reached(tmp_path: Path, url: str, said: str, command: str) -> None:
    more = ["-o", str(tmp_path / "counts.npz")] if command == "count" else []
    done = CliRunner().invoke(trilens, [command, url, *more])
    assert done.exit_code == 1, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "counts.npz").exists()


def test_checkpoints_that_cannot_be_kept_stop_the_count(days: Path, tmp_path: Path) -> None:
    kept = "locked://answers/kept"
    arguments = ["count", str(days), "-o", str(tmp_path / "counts.npz"), "--checkpoint", kept]
    done = CliRunner().invoke(trilens, arguments)
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith(f"Error: {kept}")
    assert len(done.stderr.splitlines()) == 1


def test_a_corrupt_file_is_named_or_skipped(days: Path) -> None:
    url = days.as_uri()
    data = (days / DAYS[1]).read_bytes()
    (days / DAYS[1]).write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match=rf"{url}/day-2\.parquet is truncated"):
        count_files(f"{url}/day-*.parquet")
    found = count_files(f"{url}/day-*.parquet", skip_bad=True)
    assert found.statements == 400
    assert f"{url}/day-2.parquet is left out" in found.skipped[0]
