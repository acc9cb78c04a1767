"""Bad input gets one clear line and a status, and leaves nothing half-written."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from commandline import run

GOOD = "a,b,c\nb,c,d\nd,a,c\na,d,b\n"
TRILENS = [sys.executable, "-m", "trilens"]


def refused(*arguments, words, status=1):
    """A command that fails says why in its last line."""
    last = run(*arguments, status=status).stderr.strip().splitlines()[-1]
    for word in words:
        assert word in last


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"central,other_1\na,b\n", ["other_2"]),
        (b"a,b,c\nb,b,c\n", ["row 2", "'b'", "twice"]),
        (b"\x00\x01\x02\xff\xfe\x00binary\x00", []),
    ],
)
def test_files(tmp_path, content, words):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    refused("medoid", path, words=["bad.csv", *words])


def test_a_truncated_parquet_file(good, tmp_path):
    whole = tmp_path / "whole.parquet"
    run("convert", good, whole)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    refused("describe", cut, words=["cut.parquet"])


def test_no_such_file_and_a_folder(tmp_path):
    refused("describe", tmp_path / "none.csv", words=["none.csv"])
    refused("describe", tmp_path, words=[tmp_path.name])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("object,label\na,1\nb,1\nzebra,2\nd,2\n", ["zebra"]),
        ("object,label\na,1\nb,1\n", ["two classes"]),
        ("thing,label\na,1\n", ["labels.csv", "object"]),
    ],
)
def test_label_files(good, tmp_path, labels, words):
    path = tmp_path / "labels.csv"
    path.write_text(labels)
    refused("classify", good, "--labels", path, words=words)


def test_wrong_flags(good, tmp_path):
    refused("cluster", good, "--n-clusters", 2, "-k", 0, words=["-k"], status=2)
    refused("outliers", good, "--contamination", 0.9, words=["contamination"], status=2)
    refused("medoid", good, "--kind", "median", words=["central"], status=2)
    refused("nonsense", words=["nonsense"], status=2)
    refused("cluster", good, "--n-clusters", 9, words=["9 clusters of 4 objects"])
    refused("cluster", good, "--n-clusters", 2, "--error-rate", 0.7, words=["2/3"])
    refused("graph", good, "-k", 1, "-o", tmp_path / "g.xyz", words=["g.xyz", ".graphml"])


def test_statements_of_the_wrong_kind(good, tmp_path):
    krng = ("--kind", "odd", "--method", "krng")
    refused("cluster", good, *krng, "--n-clusters", 2, words=["map"])
    refused("graph", good, *krng, "-k", 1, "-o", tmp_path / "g.csv", words=["map"])
    assert not (tmp_path / "g.csv").exists()


def test_a_pipe_that_closes(good):
    rows = np.random.default_rng(0).integers([0, 1500, 3000], [1500, 3000, 4500], (4000, 3))
    many = "".join(f"{a},{b},{c}\n" for a, b, c in rows.tolist()).encode()
    with subprocess.Popen(
        [*TRILENS, "depth", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write(many)
        process.stdin.close()
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait() in (0, 1)


def test_nothing_is_left_where_writing_fails(good, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "taken.csv").mkdir()
    refused("convert", good, folder / "taken.csv", words=["taken.csv"])
    refused("convert", good, folder / "missing" / "x.csv", words=["missing"])
    assert [p.name for p in folder.iterdir()] == ["taken.csv"]
