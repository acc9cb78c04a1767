"""Statements and checkpoints in a bucket: a real S3-compatible server on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import boto3
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import s3fs
from click.testing import CliRunner

import trilens as tl
from trilens.cli import trilens
from trilens.counts.counting import CountReport, count_files
from trilens.counts.file import to_bytes
from trilens.errors import FormatError

DAYS = ("day-1.parquet", "day-2.parquet", "day-3.parquet")


class Server:
    """moto's server, a process of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.address = found.group()
                return
        raise AssertionError("the server did not start")

    def post(self, path: str, data: bytes = b"") -> None:
        request = urllib.request.Request(
            f"{self.address}/moto-api/{path}", data, {"Content-Type": "text/plain"}
        )
        urllib.request.urlopen(request).close()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    started = Server()
    try:
        yield started
    finally:
        started.close()


@pytest.fixture
def storage(server: Server, monkeypatch):
    """A client of an empty storage; the environment leads to it, for worker processes too."""
    for name, value in {
        "AWS_ENDPOINT_URL": server.address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_MAX_ATTEMPTS": "1",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    server.post("reset-auth", b"1000000")
    server.post("reset")
    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="answers")
    yield client
    client.close()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def days(storage, tmp_path: Path) -> Path:
    """The same three files here and in the bucket."""
    folder = tmp_path / "days"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name in DAYS:
        triples = rng.permuted(np.tile(np.arange(20), (200, 1)), axis=1)[:, :3]
        names = np.array([f"o{j}" for j in range(20)])[triples]
        columns = dict(zip(("central", "other_1", "other_2"), names.T.tolist(), strict=True))
        pq.write_table(pa.table(columns), folder / name, row_group_size=50)
        storage.put_object(Bucket="answers", Key=name, Body=(folder / name).read_bytes())
    return folder


@pytest.mark.parametrize(
    ("url", "cluster"), [("s3://answers/day-*.parquet", "local:2"), ("s3://answers", None)]
)
def test_a_pattern_and_a_bucket_are_counted(days: Path, url: str, cluster) -> None:
    found = count_files(url, cluster=cluster)
    assert to_bytes(found) == to_bytes(count_files(days))


def test_every_format_is_read(storage, days: Path, tmp_path: Path) -> None:
    expected = tl.read_statements(days / DAYS[0])
    for ending in ("csv", "csv.gz", "csv.zst", "jsonl", "arrow", "npz"):
        file = tmp_path / f"one.{ending}"
        tl.write_statements(expected, file)
        storage.put_object(Bucket="answers", Key=file.name, Body=file.read_bytes())
        assert tl.read_statements(f"s3://answers/{file.name}") == expected, ending
        assert count_files(f"s3://answers/{file.name}").statements == 200


def test_commands(days: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    url = "s3://answers/day-*.parquet"
    far = run(trilens, ["medoid", url, "--method", "depth", "--json"])
    near = run(trilens, ["medoid", str(days), "--method", "depth", "--json"])
    assert far.exit_code == 0, far.output
    assert far.stdout == near.stdout
    out = tmp_path / "counts.npz"
    assert run(trilens, ["count", url, "-o", str(out)]).exit_code == 0
    assert out.read_bytes() == to_bytes(count_files(days))


def test_checkpoints_in_a_bucket(storage, days: Path, monkeypatch) -> None:
    from trilens.counts import counting

    monkeypatch.setattr(counting, "_TASK_FILES", 1)
    kept = {"checkpoint": "s3://answers/kept/week"}
    plain = to_bytes(count_files(days))
    count_files([f"s3://answers/{name}" for name in DAYS[:2]], cluster="local:2", **kept)
    objects = storage.list_objects_v2(Bucket="answers", Prefix="kept/week/")["Contents"]
    assert len(objects) == 2
    # one is cut short: it is counted again
    cut = storage.get_object(Bucket="answers", Key=objects[0]["Key"])["Body"].read()[:100]
    storage.put_object(Bucket="answers", Key=objects[0]["Key"], Body=cut)
    told: list[CountReport] = []
    found = count_files("s3://answers/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == plain
    assert told[0].resumed == 1
    count_files("s3://answers/day-*.parquet", tell=told.append, **kept)
    assert told[1].resumed == 3


def test_an_object_that_was_replaced_is_counted_anew(storage, days: Path) -> None:
    storage.create_bucket(Bucket="kept")
    url = "s3://answers"
    told: list[CountReport] = []
    kept = {"checkpoint": "s3://kept", "tell": told.append}
    count_files(url, **kept)
    other = (days / DAYS[1]).read_bytes()
    storage.put_object(Bucket="answers", Key=DAYS[0], Body=other)
    (days / DAYS[0]).write_bytes(other)
    assert to_bytes(count_files(url, **kept)) == to_bytes(count_files(days))
    assert [one.resumed for one in told] == [0, 2]


def test_an_object_that_changes_while_it_is_read(storage, days: Path, monkeypatch) -> None:
    from trilens.counts import partition

    counting = partition._count

    def replaced(partition, plan):
        found = counting(partition, plan)
        storage.put_object(Bucket="answers", Key=DAYS[0], Body=(days / DAYS[1]).read_bytes())
        return found

    monkeypatch.setattr(partition, "_count", replaced)
    with pytest.raises(FormatError, match=r"day-1\.parquet changed while it was being read"):
        count_files("s3://answers", n_threads=1)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://nowhere/day-1.parquet", "no such file"),
        ("s3://nowhere/day-*.parquet", "no such file"),
        ("s3://nowhere", "s3://nowhere"),
        ("s3://answers/day-9.parquet", "no such file"),
        ("s3://answers/night-*.parquet", "no file matches the pattern"),
    ],
)
@pytest.mark.parametrize("command", ["count", "medoid"])
def test_what_is_not_there(days: Path, tmp_path: Path, url: str, said: str, command: str) -> None:
    more = ["-o", str(tmp_path / "counts.npz")] if command == "count" else []
    done = CliRunner().invoke(trilens, [command, url, *more])
    assert done.exit_code == 1, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "counts.npz").exists()


@pytest.mark.parametrize("kept", ["s3://nowhere/kept", "s3://answers/kept"])
def test_checkpoints_that_cannot_be_kept_stop_the_count(
    server: Server, storage, days: Path, kept: str, tmp_path: Path
) -> None:
    if "answers" in kept:
        server.post("reset-auth", b"0")
    arguments = ["count", str(days), "-o", str(tmp_path / "counts.npz"), "--checkpoint", kept]
    done = CliRunner().invoke(trilens, arguments)
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith(f"Error: {kept}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["count", "medoid"])
def test_a_wrong_key(server: Server, days: Path, tmp_path: Path, command: str) -> None:
    server.post("reset-auth", b"0")  # from now on keys are looked at, and nobody has this one
    more = ["-o", str(tmp_path / "counts.npz")] if command == "count" else []
    done = CliRunner().invoke(trilens, [command, "s3://answers/day-1.parquet", *more])
    assert done.exit_code == 1, done.output
    assert "s3://answers/day-1.parquet cannot be reached" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_server(days: Path, monkeypatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(FormatError, match=r"day-1\.parquet cannot be reached"):
        count_files("s3://answers/day-1.parquet")


def test_a_corrupt_object_is_named_or_skipped(storage, days: Path) -> None:
    data = bytearray((days / DAYS[1]).read_bytes())
    storage.put_object(Bucket="answers", Key=DAYS[1], Body=bytes(data[: len(data) // 2]))
    with pytest.raises(FormatError, match=r"s3://answers/day-2\.parquet is truncated"):
        count_files("s3://answers/day-*.parquet")
    found = count_files("s3://answers/day-*.parquet", skip_bad=True)
    assert found.statements == 400
    assert "s3://answers/day-2.parquet is left out" in found.skipped[0]
