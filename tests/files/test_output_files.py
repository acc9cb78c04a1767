"""An output file appears whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from trilens.errors import FormatError
from trilens.files import atomic_write, write_statements
from trilens.files.results import write_graph
from trilens.statements import Statements

S = Statements([[0, 1, 2]], kind="central")


def test_replaces_on_success_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "out") as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def write_half(path: Path, error: type[BaseException]) -> None:
    with atomic_write(path) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_any_failure_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "old").write_bytes(b"old")
    for name in ("old", "new"):
        with pytest.raises(error):
            write_half(tmp_path / name, error)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".csv.gz", ".parquet", ".arrow", ".npz"])
def test_full_disk(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    path = tmp_path / f"s{ending}"
    with pytest.raises(FormatError, match=f"^{path}: the disk is full; [^\n]*$"):
        write_statements(S, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".csv.gz", ".parquet", ".arrow", ".npz"])
def test_full_device(tmp_path: Path, ending: str) -> None:
    link = tmp_path / f"full{ending}"
    link.symlink_to("/dev/full")
    with pytest.raises(FormatError, match=f"^{link}: the disk is full; [^\n]*$"):
        write_statements(S, link)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_bytes(b"old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_statements(S, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"central,other_1,other_2\n0,1,2\n"


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=out))
    write_statements(S, "-")
    assert out.getvalue() == b"central,other_1,other_2\n0,1,2\n"


def test_a_pipe_that_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb", buffering=0) as out:
        monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=out))
        with pytest.raises(FormatError, match=r"^standard output: the reader closed the pipe"):
            write_statements(S, "-")


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, what in [
        (tmp_path / "none" / "s.csv", "the folder .* does not exist"),
        (Path("a\0b.csv"), "cannot be written"),
        (tmp_path / ("x" * 300 + ".csv"), "cannot be written"),
    ]:
        with pytest.raises(FormatError, match=what):
            write_statements(S, path)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FormatError, match="is a folder"):
        write_statements(S, tmp_path / "folder.csv")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(FormatError, match="permission denied"):
        write_statements(S, tmp_path / "s.csv")


def test_the_callers_own_errors_pass(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "out"):
        (tmp_path / "missing").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_graphml_replaces_what_xml_cannot_hold(tmp_path: Path) -> None:
    graph = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    write_graph(graph, ["\ud800", "b"], tmp_path / "x.graphml")
    assert "\N{REPLACEMENT CHARACTER}" in (tmp_path / "x.graphml").read_text(encoding="utf-8")
