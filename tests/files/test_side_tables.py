"""Label files, groups of raters, and comparisons d(A, B) < d(C, D) with the commands for them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from trilens.cli import trilens
from trilens.errors import FormatError, LabelError, StatementError
from trilens.files import (
    read_comparisons,
    read_labels,
)
from trilens.files.side_tables import labels_by_name, read_groups
from trilens.maps import violations
from trilens.statements import Statements

S = Statements([[0, 1, 2]], names=["a", "b b", "c,d"], kind="central")


@pytest.mark.parametrize(
    "content",
    [
        'object,label\nb b,red\n"c,d",blue\n',
        "\ufefflabel;note;Object\r\nred;x;b b\r\n\r\nblue;y;c,d\r\n",
        "object\tlabel\nb b\tred\nc,d\tblue\nb b\tred\n",
        "Objekt;Klasse\nb b;red\nc,d;blue\n",
    ],
)
def test_labels(content: str, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(content, newline="")
    labels = read_labels(tmp_path / "l.csv")
    assert labels == {"b b": "red", "c,d": "blue"}
    assert labels_by_name(S.names, labels) == [None, "red", "blue"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b"object,label\n", "no labels, only a header"),
        (
            b"a,red\n",
            "must have the columns object and label, once each; it has a, red; name its columns so",
        ),
        (b"object,label,label\na,b,c\n", "once each"),
        (b"object,label\na,red\n\nb,\n", "row 4: the label of object 'b' is empty"),
        (b"object,label\n ,red\n", "row 2: the object is empty"),
        (b"object,label\na,red\nb,red,x\n", "row 3: 3 columns where the first row has 2"),
        (b"object,label\na,red\na,blue\n", "row 3: object 'a' has the label 'blue', but 'red' in"),
        (b"object,label\na,\xff\n", "row 2: byte 0xff is not UTF-8"),
        (b"\0\1", "binary"),
    ],
)
def test_bad_label_files(content: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_bytes(content)
    with pytest.raises(LabelError, match=what) as caught:
        read_labels(tmp_path / "l.csv")
    assert str(caught.value).startswith(str(tmp_path / "l.csv"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.json", '[{"object": "b b", "label": "red"}, {"object": "c,d", "label": 2.0}]'),
        ("l.json", '{"Name": ["b b", "c,d"], "class": ["red", "2"]}'),
        ("l.jsonl", '{"object": "b b", "label": "red", "n": 1}\n{"object": "c,d", "label": 2}\n'),
        ("-no-ending", '[{"object": "b b", "group": "red"}, {"object": "c,d", "group": "2"}]'),
    ],
)
def test_labels_as_json(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    labels = read_labels(tmp_path / name)
    assert labels == {"b b": "red", "c,d": "2"}
    assert labels.place("c,d") == f"{tmp_path / name}, row 2"


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_labels_in_tables(ending: str, tmp_path: Path) -> None:
    texts = pa.array(["b b", "c,d"]).dictionary_encode()
    table = pa.table({"nr": [1, 2], "object": texts, "cluster": [1, 2]})
    if ending == ".parquet":
        pq.write_table(table, tmp_path / f"l{ending}")
    else:
        with pa.ipc.new_file(str(tmp_path / f"l{ending}"), table.schema) as writer:
            writer.write_table(table)
    assert read_labels(tmp_path / f"l{ending}") == {"b b": "1", "c,d": "2"}


@pytest.mark.parametrize(
    ("content", "error", "what"),
    [
        ("[]", LabelError, "it must have the columns object and label, once each; it has none"),
        ('[{"object": "a"}]', LabelError, "it has object"),
        ('[{"object": "a", "label": null}]', LabelError, "row 1: the label of object 'a' is empty"),
        ('[{"object": "a", "label": "x"}, {"object": "a", "label": "y"}]', LabelError, "row 2: .*"),
        ('["a", "b"]', FormatError, "is not a JSON object"),
        ('{"a": ', FormatError, "not JSON"),
        ("", FormatError, "is empty"),
    ],
)
def test_bad_label_tables(content: str, error: type[Exception], what: str, tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(content)
    with pytest.raises(error, match=what) as caught:
        read_labels(tmp_path / "l.json")
    assert str(caught.value).startswith(str(tmp_path / "l.json"))
    assert "\n" not in str(caught.value)


def test_missing_label_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        read_labels(tmp_path / "l.csv")


def test_labels_of_other_objects(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("object,label\na,red\n\nz,blue\n")
    labels = read_labels(tmp_path / "l.csv")
    with pytest.raises(LabelError, match=r"l\.csv, row 4: object 'z' is not in the st.* \(1 of 2"):
        labels_by_name(S.names, labels)
    with pytest.raises(LabelError, match="the labels: object 'z' is not in the statements"):
        labels_by_name(S.names, dict(labels))
    (tmp_path / "l.csv").write_text("object,label\ny,red\nz,blue\n")
    with pytest.raises(LabelError, match="none of the 2 objects is in the statements, whose obj"):
        labels_by_name(S.names, read_labels(tmp_path / "l.csv"))


def test_groups_of_raters(tmp_path):
    file = tmp_path / "groups.csv"
    file.write_text("group;rater\nold;1\nyoung;2\n")
    assert read_groups(file) == {"1": "old", "2": "young"}
    file.write_text("rater,group\n1,old\n1,young\n")
    with pytest.raises(FormatError, match="two groups"):
        read_groups(file)
    file.write_text("who,group\n1,old\n")
    with pytest.raises(FormatError, match="which column names the raters"):
        read_groups(file)


def test_groups_of_raters_in_other_formats(tmp_path):
    (tmp_path / "g.json").write_text('[{"rater": 1, "group": "old"}, {"rater": 2, "group": "new"}]')
    assert read_groups(tmp_path / "g.json") == {"1": "old", "2": "new"}
    (tmp_path / "g.txt").write_text("rater group\n1 old\n2 new\n")
    assert read_groups(tmp_path / "g.txt") == {"1": "old", "2": "new"}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("near_1;near_2;far_1;far_2\n5;6;7;8\n", [[0, 1, 2, 3]]),
        ("rater far_2 far_1 near_2 near_1\nx 9 8 7 6\n", [[0, 1, 2, 3]]),
        ("\ufeffnear_1\tnear_2\tfar_1\tfar_2\nu\tv\tu\tw\n", [[0, 1, 0, 2]]),
    ],
)
def test_layouts(text, rows, tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text(text, encoding="utf-8")
    assert read_comparisons(path).rows.tolist() == rows


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (b"", FormatError, "is empty"),
        (b"near_1,near_2,far_1,far_2\n", FormatError, "only a header"),
        (b"one,two,three,four\n1,2,3,4\n", FormatError, "must have the columns near_1"),
        (b"0,1,2\n", FormatError, "must have the columns"),
        (
            b"near_1,near_2,far_1,far_2\n0,1,2\n",
            FormatError,
            "row 2: 3 columns where the first row has 4",
        ),
        (b"near_1,near_2,far_1,far_2\n0,1,1,0\n", StatementError, "row 2: .*two different pairs"),
        (b"near_1,near_2,far_1,far_2\n0,0,1,2\n", StatementError, "row 2: .*different objects"),
        (b"near_1,near_2,far_1,far_2\nx,,y,z\n", StatementError, "row 2: the object .* is missing"),
        (b"near_1,near_2,far_1,far_2\n\xff,2,3,4\n", FormatError, "row 2: byte 0xff is not UTF-8"),
        (b"a\0b", FormatError, "binary file"),
    ],
)
def test_bad_files(data, error, said, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(data)
    with pytest.raises(error, match=said):
        read_comparisons(path)


def run(*arguments):
    return CliRunner().invoke(trilens, [str(a) for a in arguments])


@pytest.fixture
def pairs(tmp_path):
    """Comparisons of the distances of ten points in the plane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    rows = np.array([rng.permutation(10)[:4] for _ in range(1500)])
    near, far = (np.linalg.norm(X[rows[:, i]] - X[rows[:, i + 1]], axis=1) for i in (0, 2))
    rows[near > far] = rows[near > far][:, [2, 3, 0, 1]]
    path = tmp_path / "pairs.csv"
    lines = [",".join(f"p{i}" for i in row) for row in rows.tolist()]
    path.write_text("\n".join(["near_1,near_2,far_1,far_2", *lines]))
    return path, X


def test_embed_comparisons(pairs, tmp_path):
    path, _ = pairs
    out = tmp_path / "map.csv"
    result = run("embed", path, "--comparisons", "-o", out, "--json")
    facts = json.loads(result.stdout)
    assert (facts["method"], facts["dim"]) == ("soe", 2)
    assert facts["violations"] < 0.05
    lines = out.read_text().replace('"', "").splitlines()
    assert lines[0] == "object,x1,x2"
    found = np.array([line.split(",")[1:] for line in lines[1:]], dtype=float)
    C = read_comparisons(path)
    assert violations(found, C) == pytest.approx(facts["violations"])
    # the names come back with the coordinates
    assert [line.split(",")[0] for line in lines[1:]] == list(C.names)
    result = run("embed", path, "--comparisons", "--method", "lensmap", "-o", out)
    assert result.exit_code == 1
    assert "takes statements about three objects" in result.stderr
    result = run("embed", path, "--comparisons", "--kind", "odd", "-o", out)
    assert "--kind cannot be used with --comparisons" in result.stderr
