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


def problem(path: Path | str, **options: object) -> str:
    """The one line that reading must end in."""
    with pytest.raises((FormatError, StatementError)) as caught:
        read_statements(path, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_far_down_and_very_long(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"a,b,c\n" * 20_000 + b"d,e,\xff\n")
    assert f"{path}, row 20,001: byte 0xff is not UTF-8" in problem(path)
    path.write_text('"' + "a" * 70_000)
    assert f"{path}, row 1: the first row is longer" in problem(path)


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
def test_truncated(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"s{ending}"
    write_statements(
        Statements(np.array([[0, 1, 2]] * 500), names=["a", "b", "c"], kind="central"), path
    )
    data = path.read_bytes()
    for part in (0.0, 0.3, 0.7, 0.99):
        path.write_bytes(data[: int(len(data) * part)])
        text = problem(path)
        assert text.startswith(str(path))
        assert "truncated" in text or "is empty" in text
        with pytest.raises(FormatError):
            list(scan_statements(path))


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


def test_a_wrong_bit_in_a_parquet_file_of_ours_makes_no_other_answers(tmp_path: Path) -> None:
    names = [f"object {i}" for i in range(40)]
    triples = np.arange(600)[:, None] % 38 + np.arange(3)
    path = tmp_path / "s.parquet"
    seconds = np.random.default_rng(0).gamma(2, 2, size=600)
    write_statements(Statements(triples, names=names, kind="odd", seconds=seconds), path)
    facts, data = pq.ParquetFile(path).metadata, path.read_bytes()
    whole = read_statements(path)
    refused = 0
    for i in range(facts.num_columns):
        chunk = facts.row_group(0).column(i)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        for at in np.linspace(start, start + chunk.total_compressed_size - 1, 30, dtype=int):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            try:
                assert read_statements(path) == whole
            except FormatError:
                refused += 1
    assert refused > 60
