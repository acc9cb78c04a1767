from __future__ import annotations

import json

import numpy as np
import pytest

from trilens import Answers
from trilens.errors import FormatError
from trilens.files import read_features, read_vectors
from trilens.files.vectors import read_matched_matrix, read_vector_table

NAMED = {"a": [0.0, 1.0], "b": [2.0, 3.5], "c d": [-1.0, 0.0]}


def _same(found):
    assert {name: vector.tolist() for name, vector in found.items()} == NAMED


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("csv", "object,x1,x2\na,0,1\nb,2,3.5\nc d,-1,0\n"),
        ("csv", "a,0,1\nb,2,3.5\nc d,-1,0\n"),
        ("csv", "object|x1|x2\na|0|1\nb|2|3.5\nc d|-1|0\n"),
        ("tsv", "x1\tname\tx2\n0\ta\t1\n2\tb\t3.5\n-1\tc d\t0\n"),
        ("csv", "\ufeffObject;x;y\na;0;1\nb;2;3.5\nc d;-1;0\n"),
    ],
)
def test_text(tmp_path, ending, text):
    file = tmp_path / f"v.{ending}"
    file.write_text(text, encoding="utf-8")
    _same(read_vectors(file))


@pytest.mark.parametrize(
    ("text", "named_by", "columns"),
    [
        ("item,x,y\n7,0,1\n9,2,3.5\n4,-1,0\n", "item", ("x", "y")),
        ("Unnamed: 0,x,y\n7,0,1\n9,2,3.5\n4,-1,0\n", "Unnamed: 0", ("x", "y")),
        (",0,1\n7,0,1\n9,2,3.5\n4,-1,0\n", "the first column", ("0", "1")),
        (",concept,x,y\n0,7,0,1\n1,9,2,3.5\n2,4,-1,0\n", "concept", ("x", "y")),
        ("id,x,name,y\n0,0,7,1\n1,2,9,3.5\n2,-1,4,0\n", "name", ("x", "y")),
    ],
)
def test_numbers_are_names_where_the_column_says_so(tmp_path, text, named_by, columns):
    (tmp_path / "v.csv").write_text(text)
    found = read_vector_table(tmp_path / "v.csv")
    assert (found.names, found.named_by, found.columns) == (["7", "9", "4"], named_by, columns)
    np.testing.assert_array_equal(found.rows, list(NAMED.values()))


def test_a_first_column_that_counts_the_rows_is_no_coordinate(tmp_path):
    file = tmp_path / "v.csv"
    file.write_text("2,0.5,1\n0,2,3.5\n1,-1,0\n")
    assert list(read_vectors(file)) == ["2", "0", "1"]
    file.write_text("a1,x,y\n2,0.5,1\n3,2,3.5\n1,-1,0\n")
    assert list(read_vectors(file)) == ["2", "3", "1"]
    file.write_text("a1,x,y\n12,0.5,1\n13,2,3.5\n11,-1,0\n")
    assert read_vectors(file).shape == (3, 3)
    assert read_vectors(file, ["11", "14"]).shape == (3, 3)
    assert list(read_vectors(file, ["11", "13"])) == ["12", "13", "11"]
    # distances may well be 0, 1, 2
    file.write_text("0,1,2\n1,0,1\n2,1,0\n")
    assert read_matched_matrix(file)[0].shape == (3, 3)
    (tmp_path / "v.jsonl").write_text('{"vector": [0, 5]}\n{"vector": [1, 7]}\n')
    assert read_vectors(tmp_path / "v.jsonl").shape == (2, 2)


def test_tables_and_arrays(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, X = list(NAMED), np.array(list(NAMED.values()))
    columns = {"object": names, "x1": X[:, 0], "x2": X[:, 1]}
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    _same(read_vectors(tmp_path / "v.parquet"))
    pq.write_table(pa.table({"name": names, "vector": X.tolist()}), tmp_path / "w.parquet")
    _same(read_vectors(tmp_path / "w.parquet"))
    lines = [json.dumps({"object": n, "x": x[0], "y": x[1]}) for n, x in NAMED.items()]
    (tmp_path / "v.jsonl").write_text("\n".join(lines))
    _same(read_vectors(tmp_path / "v.jsonl"))
    np.savez(tmp_path / "v.npz", vectors=X, names=np.array(names))
    _same(read_vectors(tmp_path / "v.npz"))
    np.save(tmp_path / "v.npy", X)
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.npy"), X)
    (tmp_path / "m.csv").write_text("0,1\n2,3.5\n-1,0\n")
    np.testing.assert_array_equal(read_matched_matrix(tmp_path / "m.csv")[0], X)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.csv", b"", "is empty"),
        ("v.csv", b"object,x\na,1\nb,z\n", "row 3: 'z' is not a number"),
        ("v.csv", b"object,x\na,1\nb\n", "row 3: 1 columns"),
        ("v.csv", b"object,x\na,1\na,2\n", "'a' has two rows"),
        ("v.csv", b"\xff\xfe\x00", "is a binary file"),
        ("v.csv", b"object,x\n\xff,1\n", "row 2: byte 0xff is not UTF-8"),
        ("v.csv", b"object,x\n\na,1\n\nb,z\n", "row 5: 'z' is not a number"),
        ("v.jsonl", b'{"vector": [1, 2]}\n{"vector": [1]}', "the same number of coordinates"),
        ("v.npy", b"nothing", "is not a numpy file"),
        ("v.parquet", b"PAR1", "not a Parquet file"),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_vectors(tmp_path / name)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_arrays_of_other_shapes(tmp_path):
    np.save(tmp_path / "v.npy", np.zeros(3))
    with pytest.raises(FormatError, match="exactly one must hold"):
        read_vectors(tmp_path / "v.npy")
    (tmp_path / "v.csv").write_text("object,x\na,1\n")
    with pytest.raises(FormatError, match="leave the names out"):
        read_matched_matrix(tmp_path / "v.csv")


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
    (tmp_path / "t.csv").write_text("object,x\na,1\nb,\n")
    assert np.isnan(read_features(tmp_path / "t.csv")["t"]["b"][0])
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


def test_a_text_column_is_named(tmp_path):
    (tmp_path / "v.csv").write_text("object,x,maker\na,1,Ford\n")
    with pytest.raises(FormatError, match=r"'Ford' is not a number \(column 'maker'\)"):
        read_features(tmp_path / "v.csv")


def test_further_columns(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("central,other_1,other_2,Age,rater\na,b,c,31,x\n\nb,a,c,,y\n")
    assert Answers(file).column("age").tolist() == ["31", ""]
    with pytest.raises(FormatError, match="no column 'sex'"):
        Answers(file).column("sex")
    named = ["central", "other_1", "other_2", "age", "rater"]
    assert Answers(file, columns=named, header=True).column("age").tolist() == ["31", ""]
    mapped = "odd=central,other_1=2,other_2=3,round=rater"
    assert Answers(file, columns=mapped).column("rater").tolist() == ["x", "y"]
    file.write_text("central,other_1,other_2,age\na,b,c,31\nb,b,c,32\nc,a,b,33\n")
    assert Answers(file, skip_bad=True).column("age").tolist() == ["31", "33"]
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"central": ["a"], "other_1": ["b"], "other_2": ["c"], "age": [31]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert Answers(tmp_path / "a.parquet").column("age").tolist() == ["31"]


def test_a_symmetric_matrix_without_names_is_in_the_order_of_the_objects(tmp_path):
    D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    np.savetxt(tmp_path / "d.csv", D, delimiter=",", fmt="%g")
    for objects in (["van", "bus", "car"], ["1", "2", "3"]):
        found, _ = read_matched_matrix(tmp_path / "d.csv", objects)
        np.testing.assert_array_equal(found, D)
