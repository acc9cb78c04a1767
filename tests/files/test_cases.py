"""Files as people have them, each with what is read of it, or why it is refused.

``cases.jsonl`` has one in a line: the text (of a folder, those of its files), the options, and the
statements with all that is known of them, the notes and the cautions; or the refusal. ``as`` names
what is read where it is not statements. After a change that is meant, ``python test_cases.py``
writes it anew: look at what has changed.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import trilens as tl
from trilens.errors import FormatError, TrilensError
from trilens.files import Reading, read_features, read_statements, scan_statements
from trilens.files.objects import object_list, read_object_table
from trilens.files.side_tables import read_comparisons, read_groups, read_labels
from trilens.files.vectors import read_vector_table

LINES = Path(__file__).with_name("cases.jsonl")
CASES = [json.loads(line) for line in LINES.read_text().splitlines()]

#: What pandas reads otherwise (rows below the header), rows that are raters, whose numbers begin
#: below the header in a file, and texts such as 7.0, which stay as they are in a table.
NO_TABLES = (
    "as_qualtrics_titles", "as_qualtrics_in_three_rows", "as_google_forms", "jspsych",
    "bad_rows_are_skipped_and_named", "a_header_that_comes_again", "rows_that_are_raters",
    "line_ends_blank_lines_and_byte_order_mark",
    "whole_numbers_with_a_point_are_one_name_in_files_and_tables",
)  # fmt: skip


def check_table(path: Path, case: dict[str, Any]) -> None:
    """A table of pandas is read as its file is."""
    options = {name: each for name, each in case["options"].items() if name != "header"}
    table = pd.read_csv(path, sep=None, engine="python", dtype=str)
    T = tl.Answers(table, **options).read()
    known = {name: plain(getattr(T, name)) for name in ("raters", "seconds", "places")}
    found = {"kind": T.kind, "objects": list(T.names), "statements": [list(row) for row in T]}
    assert found | known == {name: case["read"].get(name) for name in (*found, *known)}


def labels(path: Path) -> dict[str, Any]:
    found = read_labels(path)
    return {name: [label, found.place(name)] for name, label in found.items()}


def comparisons(path: Path) -> dict[str, Any]:
    found = read_comparisons(path)
    return {"objects": found.names, "rows": found.rows.tolist()}


def objects(path: Path) -> dict[str, Any]:
    found = read_object_table(path)
    features = None if found.features is None else found.features.tolist()
    known = {"ids": found.ids, "labels": found.labels, "pictures": found.pictures}
    return {"names": found.names, "features": features, **known}


def vectors(path: Path, objects: list[str] | None = None) -> dict[str, Any]:
    found = read_vector_table(path, objects)
    return {
        "names": found.names,
        "rows": found.rows.tolist(),
        "named_by": found.named_by,
        "columns": found.columns,
    }


def features(path: Path) -> dict[str, Any]:
    return {
        block: {name: plain(row) for name, row in rows.items()}
        for block, rows in read_features(path).items()
    }


def statements(path: Path, **options: Any) -> dict[str, Any]:
    told: list[Reading] = []
    try:
        S = read_statements(path, tell=told.append, **options)
    except TrilensError:
        with pytest.raises(TrilensError):
            list(scan_statements(path, **options))
        raise
    names = ("raters", "rounds", "seconds", "places", "questions", "chosen")
    known = {name: plain(getattr(S, name)) for name in names}
    parts = list(scan_statements(path, 1, **options))
    assert [row for part in parts for row in part] == list(S)
    for name in names:
        of_parts = [getattr(part, name) for part in parts]
        if all(each is not None for each in of_parts):
            assert plain(np.concatenate(of_parts)) == known[name]
    if not isinstance(options.get("objects"), list):  # -1 is then a name, and no count's
        n_chosen = 0 if S.chosen is None else S.chosen.sum()
        assert tl.Answers(path, **options).count().statements == len(S) - n_chosen
    return {
        "kind": S.kind,
        "told": told[0].kind_told,
        "header": told[0].header,
        "objects": list(S.names),
        "statements": [list(row) for row in S],
        **known,
        "left_out": list(told[0].left_out),
        "cautions": {each.code: str(each) for each in told[0].concerns},
        "notes": list(told[0].notes),
        "skipped": [[fault.row, fault.problem] for fault in told[0].faults],
    }


READERS = {
    "statements": statements,
    "labels": labels,
    "groups": read_groups,
    "comparisons": comparisons,
    "objects": objects,
    "names": lambda path: {"names": object_list(path).names},
    "vectors": vectors,
    "features": features,
}


def outcome(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What becomes of a file: what is read of it, without what there is not; or the refusal."""
    folder.mkdir()
    path = folder / f"s{case.get('ending', '')}"
    if "files" in case:
        path.mkdir()
        for name, text in case["files"].items():
            (path / name).write_bytes(text.encode())
    else:
        path.write_bytes(case["text"].encode(case.get("encoding", "utf-8")))
    options = dict(case["options"])
    for name, text in case.get("beside", {}).items():
        options[name] = folder / f"{name}.csv"
        options[name].write_bytes(text.encode())
    try:
        found = READERS[case.get("as", "statements")](path, **options)
    except TrilensError as error:
        return {"error": f"{type(error).__name__}: {error}".replace(f"{folder}/", "")}
    found = {name: value for name, value in found.items() if value not in (None, [], {})}
    return {"read": json.loads(json.dumps(found).replace(f"{folder}/", ""))}


def plain(values: Any) -> list[Any] | None:
    return (
        None if values is None else pd.Series(values, dtype=object).replace({np.nan: None}).tolist()
    )


@pytest.mark.parametrize("topic", dict.fromkeys(case["topic"] for case in CASES))
def test_cases(topic, tmp_path):
    for number, case in enumerate(CASES):
        if case["topic"] == topic:
            folder = tmp_path / str(number)
            expected = {name: case[name] for name in ("read", "error") if name in case}
            assert outcome(case, folder) == expected, case["options"]
            assert "\n" not in case.get("error", "")
            has_header = case.get("ending") == ".csv" and case.get("read", {}).get("header")
            if has_header and topic not in NO_TABLES and not {"encoding", "beside"} & case.keys():
                check_table(folder / "s.csv", case)


@pytest.mark.parametrize("what", READERS)
def test_a_file_that_is_not_there(what, tmp_path):
    for ending in ("", ".csv", ".csv.gz", ".json", ".parquet", ".arrow", ".npz", ".npy"):
        missing = tmp_path / f"missing{ending}"
        with pytest.raises(FormatError) as caught:
            READERS[what](missing)
        assert str(caught.value) == f"{missing}: no such file; check the path"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for number, case in enumerate(CASES):
            for name in ("read", "error"):
                case.pop(name, None)
            case |= outcome(case, Path(made) / str(number))
    LINES.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in CASES))
