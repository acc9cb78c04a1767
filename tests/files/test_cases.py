"""Files as people have them, each with what is read of it, or why it is refused.

``cases.jsonl`` has one in a line: the text, the options, and the statements with all that is known
of them, the notes and the codes of the cautions; or the words of the refusal. After a change that
is meant, ``python test_cases.py`` writes it anew: look at what has changed.
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
from trilens.errors import TrilensError
from trilens.files import Reading, read_statements, scan_statements

LINES = Path(__file__).with_name("cases.jsonl")
CASES = [json.loads(line) for line in LINES.read_text().splitlines()]


def check_table(path: Path, S: tl.Statements, options: dict[str, Any]) -> None:
    """A table of pandas is read as its file is."""
    table = pd.read_csv(path, sep=None, engine="python", dtype=str)
    T = tl.Answers(table, **{name: each for name, each in options.items() if name != "header"})
    assert (T.read().kind, list(T.read()), T.read().names) == (S.kind, list(S), S.names)
    for field in ("raters", "seconds", "places"):
        np.testing.assert_array_equal(getattr(T.read(), field), getattr(S, field))


#: What pandas reads otherwise (rows below the header), rows that are raters, whose numbers begin
#: below the header in a file, and texts such as 7.0, which stay as they are in a table.
NO_TABLES = (
    "as_qualtrics_titles", "as_google_forms", "bad_rows_are_skipped_and_named",
    "a_header_that_comes_again", "line_ends_blank_lines_and_byte_order_mark", "jspsych",
    "rows_that_are_raters", "whole_numbers_with_a_point_are_one_name_in_files_and_tables",
)  # fmt: skip


def outcome(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What becomes of a file: what is read of it, without what there is not; or the refusal."""
    path = folder / f"s{case['ending']}"
    path.write_bytes(case["text"].encode(case.get("encoding", "utf-8")))
    options = dict(case["options"])
    for name, text in case.get("beside", {}).items():
        options[name] = folder / f"{name}.csv"
        options[name].write_bytes(text.encode())
    told: list[Reading] = []

    def here(text: str) -> str:
        return text.replace(f"{folder}/", "")

    try:
        S = read_statements(path, tell=told.append, **options)
    except TrilensError as error:
        with pytest.raises(TrilensError):
            list(scan_statements(path, **options))
        return {"error": here(str(error))}
    parts = [row for part in scan_statements(path, 1, **options) for row in part]
    assert parts == list(S)
    plain_text = case["ending"] == ".csv" and not {"encoding", "beside"} & case.keys()
    if told[0].header and plain_text and case["topic"] not in NO_TABLES:
        check_table(path, S, options)
    columns = {
        name: getattr(S, name) for name in ("raters", "rounds", "seconds", "places", "questions")
    }
    found = {
        "kind": S.kind,
        "told": told[0].kind_told,
        "objects": list(S.names),
        "statements": [list(row) for row in S],
        **{name: plain(values) for name, values in columns.items()},
        "left_out": list(told[0].left_out),
        "cautions": [each.code for each in told[0].concerns],
        "notes": list(told[0].notes),
        "skipped": [[fault.row, fault.problem] for fault in told[0].faults],
    }
    found = {name: value for name, value in found.items() if value not in (None, [])}
    return {"read": json.loads(here(json.dumps(found)))}


def plain(values: Any) -> list[Any] | None:
    return (
        None if values is None else pd.Series(values, dtype=object).replace({np.nan: None}).tolist()
    )


@pytest.mark.parametrize("topic", dict.fromkeys(case["topic"] for case in CASES))
def test_cases(topic, tmp_path):
    for case in CASES:
        if case["topic"] == topic:
            expected = {name: case[name] for name in ("read", "error") if name in case}
            assert outcome(case, tmp_path) == expected, case["options"]
            assert "\n" not in case.get("error", "")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for case in CASES:
            for name in ("read", "error"):
                case.pop(name, None)
            case |= outcome(case, Path(made))
    LINES.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in CASES))
