"""Bad files: one line with the file, the row, what was seen and what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trilens.errors import FormatError, KindError, ParameterError, StatementError
from trilens.files import read_statements, scan_statements, write_statements
from trilens.files.objects import object_list
from trilens.statements import Statements

HEADER = "central,other_1,other_2\n"


def problem(path: Path | str, **options: object) -> str:
    """The one line that reading must end in."""
    with pytest.raises((FormatError, StatementError)) as caught:
        read_statements(path, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("content", "place", "what"),
    [
        ("", "", "is empty"),
        ("\n \n", "", "is empty"),
        (HEADER, "", "no statements, only a header"),
        ("central,other_1,third\n1,2,3\n", "", "no column other_2; the columns are central"),
        ("1,2,3,4\n", "", "4 columns without a header .* columns="),
        ("1\n2\n", "", "1 column without a header"),
        ("1,2,3\n1,2\n", ", row 2", "2 columns where the first row has 3"),
        ("a,b,c\n\na,b,c,d\n", ", row 3", "4 columns where the first row has 3"),
        ('a,b,"c\nC"\n\na,b\n', ", row 4", "2 columns where"),
        ("1,2,3\n\n4,5,4\n6,6,7\n", ", row 3", r"object '4' appears twice .* \(2 of 3 rows"),
        (HEADER + "a,b,c\nb,c,c\n", ", row 3", "object 'c' appears twice in one statement; a st"),
        (HEADER + '"a\nA",b,c\nb,c,c\n', ", row 4", "object 'c' appears twice"),
        ("chosen,shown_1,shown_2,shown_3\n1,2,3,1\n4,1,2,3\n", ", row 3", "4' is not among .*'1',"),
        ("chosen,shown_1,shown_2,shown_3\n1,1,2,2\n", ", row 2", "object '2' appears twice"),
        ("1,2,3\n1,2,\n", ", row 2", "an empty cell in .* does not name an object"),
        ("a,b,c\na, ,c\n", ", row 2", "an empty cell"),
        ("a,b,c\nd,e,f\na,NaN,c\n", ", row 3", "'NaN' in .* does not name an object"),
        ("1,2,3\n\n4,N/A,3\n", ", row 3", "'N/A' in a column of objects does not name an object"),
        ("none,2,3\n", ", row 1", "'none' in a column of objects does not name an object"),
        ("1,2,3\n4,-5,3\n", ", row 2", "object id -5 is negative"),
        (f"1,2,3\n4,-5,{10**20}\n", ", row 2", "object id -5 is negative"),
        ("left,middle,right\n1,2,3\n", ", row 1", "looks like a header.* columns="),
        ("odd,odd,other_1,other_2\n1,2,3,4\n", "", "the columns 'odd' and 'odd' may both hold odd"),
        ("central,odd,other_1,other_2\n1,2,3,4\n", "", "can be read as .* say which with kind="),
        (HEADER.strip() + ",seconds\n1,2,3,1.5\n1,2,3,fast\n", ", row 3", "'fast' in column secon"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "", "is a binary file"),
        ("a,b,c\n".encode("utf-16") + b"x", "", "is not utf-16 text"),
        (b"a,b,c\nd,e,\xff\n", ", row 2", "byte 0xff is not UTF-8"),
        (b"a,b,c\n" * 20_000 + b"d,e,\xff\n", ", row 20,001", "byte 0xff is not UTF-8"),
        ('"' + "a" * 70_000, ", row 1", "the first row is longer"),
    ],
)
def test_text(content: str | bytes, place: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = problem(path)
    assert text.startswith(f"{path}{place}")
    with pytest.raises((FormatError, StatementError), match=what):
        read_statements(path)
    with pytest.raises((FormatError, StatementError), match=what):
        list(scan_statements(path))


def test_what_the_caller_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("odd,other_1,other_2\n1,2,3\n")
    assert "'odd' says that the statements are of kind odd, but kind central" in problem(
        path, kind="central"
    )
    with pytest.raises(KindError, match="kind is 'weird'; it must be one of central, odd, closer"):
        read_statements(path, kind="weird")
    assert "names 2 columns, but there are 3" in problem(path, columns=["odd", "other_1"])
    assert ", row 2: object '3' is not in the list of objects ('1', '2', '4')" in problem(
        path, objects=["1", "2", "4"]
    )
    assert "numbers from 1 to 3, but the 2 lines of the list" in problem(path, objects=["a", "b"])
    with pytest.raises(ParameterError, match="lists '1' twice"):
        read_statements(path, objects=["1", "1"])
    with pytest.raises(FormatError, match="columns must be a list"):
        read_statements(path, columns=[1, 2, 3])  # type: ignore[list-item]
    path.write_text("chosen,shown_1,shown_2,shown_3\n1,1,2,3\n")
    assert "anchor, near, far" in problem(path, kind="closer")


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for ending in (".csv", ".csv.gz", ".parquet", ".arrow", ".npz", ".jsonl", ""):
        missing = tmp_path / f"missing{ending}"
        assert problem(missing) == f"{missing}: no such file; check the path"
        folder = tmp_path / f"folder{ending}"
        folder.mkdir()
        assert problem(folder).startswith(f"{folder} is a folder")
    assert "cannot be read" in problem("a\0b.csv")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert "permission denied" in problem(tmp_path / "s.csv")


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".npz", ".csv.gz", ".jsonl.gz"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.7, 0.99])
def test_truncated(ending: str, part: float, tmp_path: Path) -> None:
    path = tmp_path / f"s{ending}"
    write_statements(
        Statements(np.array([[0, 1, 2]] * 500), names=["a", "b", "c"], kind="central"), path
    )
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    text = problem(path)
    assert text.startswith(str(path))
    assert "truncated" in text or "is empty" in text
    with pytest.raises(FormatError):
        list(scan_statements(path))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"central": "a", "other_1": "b"}', "no column other_2"),
        ('{"central": "a", "other_1": "b", "other_2": "c"}\n\n[1]\n', "row 3: .* not a JSON obj"),
        ('{"central": "a", "other_1": "b", "other_2": "c"}\n{oops\n', "row 2: not JSON"),
        (
            '{"central": "a", "other_1": "b", "other_2": "c"}\n'
            '{"central": 1, "other_1": "b", "other_2": "c"}',
            "row 2: central is not text here and text in row 1",
        ),
        ('{"central": "a", "other_1": "b"}\n{"other_2": "c"}', "row 2: an empty cell in column c"),
        ('{"central": 1.5, "other_1": 2, "other_2": 3}', "row 1: 1.5 in column central"),
        ('{"central": true, "other_1": 2, "other_2": 3}', "column central holds bool"),
        ('{"central": {"a": 1}, "other_1": 2, "other_2": 3}', "no column central"),
        ('{"central": "a", "other_1": "b", "other_2": "c", "seconds": "x"}', "row 1: 'x' in c"),
        ("\0\1\2", "binary"),
        (" \n", "is empty"),
    ],
)
def test_json_lines(content: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(content)
    problem(path)
    with pytest.raises((FormatError, StatementError), match=what):
        read_statements(path)


def test_json_column_that_comes_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trilens.files.json._FIRST_BLOCK", 64)
    row = '{"central": "a", "other_1": "b", "other_2": "c"}\n'
    (tmp_path / "s.jsonl").write_text(row * 3 + row.replace("}", ', "seconds": 1}'))
    assert "seconds is first given far down the file" in problem(tmp_path / "s.jsonl")


def test_invalid_utf8_in_json(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(b'{"central": "\xff", "other_1": "b", "other_2": "c"}')
    assert ", row 1: byte 0xff is not UTF-8" in problem(tmp_path / "s.jsonl")


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"

    def wrong(table: dict[str, object], **options: object) -> str:
        pq.write_table(pa.table(table), path)
        return problem(path, **options)

    good = {"central": ["a"], "other_1": ["b"], "other_2": ["c"]}
    assert "row 1: an empty cell in column other_2" in wrong(good | {"other_2": [None]})
    assert "row 1: 'nan' in column" in wrong(good | {"other_2": [np.nan]})
    assert "holds binary" in wrong(good | {"other_2": [b"c"]})
    assert "holds list" in wrong(good | {"rater": [["c"]]})
    assert "kind central, but kind odd" in wrong(good, kind="odd")
    assert "names 1 columns, but there are 3" in wrong(good, columns=["odd"])
    shown = {"chosen": [1], "shown_1": [1], "shown_2": [2], "shown_3": [3]}
    metadata = {"trilens": '{"kind": "odd", "names": ["1", "2", "3"]}'}
    pq.write_table(pa.table(shown).replace_schema_metadata(metadata), path)
    assert "kind odd, but kind central" in problem(path, kind="central")


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    good = np.array([[0, 1, 2]])

    def wrong(options: dict[str, object] | None = None, **arrays: object) -> str:
        np.savez(path, **arrays)  # type: ignore[arg-type]
        return problem(path, **(options or {}))

    assert "no array triples" in wrong(names=np.array(["a"]))
    assert "shape (1, 3) of float64" in wrong(triples=good * 0.5)
    assert "kind is weird" in wrong(triples=good, kind=np.array("weird"))
    assert "kind odd, but kind central" in wrong(
        {"kind": "central"}, triples=good, kind=np.array("odd")
    )
    assert "pickled" in wrong(triples=good, names=np.array(["a", "b", None], dtype=object))
    assert "row 2: object id -1 is negative" in wrong(triples=np.array([[0, 1, 2], [0, 1, -1]]))
    assert "row 1: object '1' appears twice" in wrong(triples=np.array([[0, 1, 1]]))
    assert "two objects have the name" in wrong(triples=good, names=np.array(["a", "a", "b"]))
    assert "shape" in wrong(triples=good, seconds=np.zeros(2))
    assert "names is an array of shape" in wrong(triples=good, names=np.zeros(3))
    assert "does not apply to NPZ" in wrong({"columns": ["odd"]}, triples=good)
    assert "row 1: object '2' is not in the list" in wrong({"objects": ["0", "1"]}, triples=good)


def test_object_lists(tmp_path: Path) -> None:
    path = tmp_path / "objects.txt"
    for content, what in [
        (b"", "is empty"),
        (b"a\nb\n\na\n", "row 4: object 'a' is already in row 1"),
        (b"a\n\xff\n", "row 2: byte 0xff"),
        (b"a\0", "binary"),
    ]:
        path.write_bytes(content)
        with pytest.raises(FormatError, match=what):
            object_list(path)
