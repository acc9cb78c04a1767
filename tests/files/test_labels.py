"""Label files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trilens.errors import FormatError, LabelError
from trilens.files import labels_for, read_labels
from trilens.statements import Statements

S = Statements([[0, 1, 2]], names=["a", "b b", "c,d"])


@pytest.mark.parametrize(
    "content",
    [
        'object,label\nb b,red\n"c,d",blue\n',
        "\ufefflabel;note;Object\r\nred;x;b b\r\n\r\nblue;y;c,d\r\n",
        "object\tlabel\nb b\tred\nc,d\tblue\nb b\tred\n",
    ],
)
def test_labels(content: str, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(content, newline="")
    labels = read_labels(tmp_path / "l.csv")
    assert labels == {"b b": "red", "c,d": "blue"}
    assert labels_for(S, labels) == [None, "red", "blue"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b"object,label\n", "no labels, only a header"),
        (b"a,red\n", "must name the columns object and label, once each; it is a, red"),
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
        labels_for(S, labels)
    with pytest.raises(LabelError, match="the labels: object 'z' is not in the statements"):
        labels_for(S, dict(labels))
    (tmp_path / "l.csv").write_text("object,label\ny,red\nz,blue\n")
    with pytest.raises(LabelError, match="none of the 2 objects is in the statements, whose obj"):
        labels_for(S, read_labels(tmp_path / "l.csv"))
