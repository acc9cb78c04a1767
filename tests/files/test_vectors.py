"""Vectors, features and matrices in arrays and tables; ``cases.jsonl`` has those in text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trilens.errors import FormatError
from trilens.files import read_features, read_vectors
from trilens.files.vectors import read_matched_matrix

NAMED = {"a": [0.0, 1.0], "b": [2.0, 3.5], "c d": [-1.0, 0.0]}


def test_tables_and_arrays(tmp_path):
    names, X = list(NAMED), np.array(list(NAMED.values()))
    columns = {"object": names, "x1": X[:, 0], "x2": X[:, 1]}
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    pq.write_table(pa.table({"name": names, "vector": X.tolist()}), tmp_path / "w.parquet")
    np.savez(tmp_path / "v.npz", vectors=X, names=np.array(names))
    for name in ("v.parquet", "w.parquet", "v.npz"):
        found = read_vectors(tmp_path / name)
        assert {name: vector.tolist() for name, vector in found.items()} == NAMED
    np.save(tmp_path / "v.npy", X)
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.npy"), X)
    np.save(tmp_path / "v.npy", np.zeros(3))
    with pytest.raises(FormatError, match="exactly one must hold"):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("0,1\n2,3.5\n-1,0\n", None),
        # distances may well be 0, 1, 2
        ("0,1,2\n1,0,1\n2,1,0\n", None),
        # one that is symmetric is in the order of the objects, whatever these are called
        ("0,1,2\n1,0,3\n2,3,0\n", ["van", "bus", "car"]),
        ("0,1,2\n1,0,3\n2,3,0\n", ["1", "2", "3"]),
    ],
)
def test_a_matrix_without_names(text, objects, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    found, _ = read_matched_matrix(tmp_path / "m.csv", objects)
    assert found.tolist() == [[float(x) for x in row.split(",")] for row in text.split()]
    (tmp_path / "m.csv").write_text("object,x\na,1\n")
    with pytest.raises(FormatError, match="leave the names out"):
        read_matched_matrix(tmp_path / "m.csv")


def test_features_are_blocks(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "f.npz", names=["a", "b", "c"], clip=X.astype(np.float16), words=X[:, :1])
    found = read_features(tmp_path / "f.npz", ["c", "a", "b"])  # the file's own names count
    assert list(found) == ["clip", "words"]
    assert found["clip"]["b"].tolist() == [2.0, 3.0]
    assert found["clip"]["b"].dtype == np.float64
    np.save(tmp_path / "dino.v2.npy", X)
    np.testing.assert_array_equal(read_features(tmp_path / "dino.v2.npy")["dino"], X)
    named = read_features(tmp_path / "dino.v2.npy", ["x", "y", "z"])["dino"]
    assert named["z"].tolist() == [4.0, 5.0]
    np.savez(tmp_path / "g.npz", X)
    assert list(read_features(tmp_path / "g.npz")) == ["g"]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.zeros((3, 2))}, "3 rows without names, but there are 2 objects"),
        ({"x": np.zeros((0, 2)), "names": np.zeros(0, "U1")}, "is empty, of shape (0, 2)"),
        ({"x": np.zeros((2, 0)), "names": ["a", "b"]}, "is empty, of shape (2, 0)"),
        ({"x": np.zeros((2, 2)), "names": ["a", "a"]}, "'a' has two rows"),
        ({"x": np.zeros((2, 2)), "names": ["a"]}, "1 names for 2 vectors"),
        ({"x": np.array([["a", "b"]])}, "must hold (n, d) numbers"),
        (
            {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 100_000]},
            "a sparse matrix of shape (1, 100000); reduce it",
        ),
    ],
)
def test_arrays_that_are_no_features(tmp_path, arrays, words):
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(FormatError) as caught:
        read_features(tmp_path / "f.npz", ["a", "b"])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
