"""Files as people have them, each with what it is to be read as beside it.

``golden/NAME.expected.json`` has the options, the kind, the statements and what else is known of
them, and the codes of the cautions; or the words of the refusal. ``cases.jsonl`` has the same of
small files, one in a line. After a change that is meant, ``python test_golden.py`` writes
``cases.jsonl`` anew: look at what has changed.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import trilens as tl
from trilens.errors import TrilensError
from trilens.files import Reading, read_statements, scan_statements

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(path.name.removesuffix(".expected.json") for path in FOLDER.glob("*.expected.json"))
LINES = Path(__file__).with_name("cases.jsonl")
CASES = [json.loads(line) for line in LINES.read_text().splitlines()]


@pytest.mark.parametrize("topic", dict.fromkeys(re.sub(r"_\d+", "", name) for name in FILES))
def test_golden(topic):
    for name in FILES:
        if re.sub(r"_\d+", "", name) == topic:
            check(name)


def check(name: str) -> None:
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text())
    options = expected.get("options", {})
    if "error" in expected:
        with pytest.raises(TrilensError) as caught:
            read_statements(FOLDER / name, **options)
        assert "\n" not in str(caught.value)
        for words in expected["error"]:
            assert words in str(caught.value)
        return
    told: list[Reading] = []
    S = read_statements(FOLDER / name, tell=told.append, **options)
    assert (S.kind, told[0].kind_told) == (expected["kind"], expected["kind_told"])
    assert [list(row) for row in S] == expected["statements"]
    assert (None if S.raters is None else S.raters.tolist()) == expected.get("raters")
    assert (None if S.seconds is None else S.seconds.tolist()) == expected.get("seconds")
    if "places" in expected:
        assert S.places.tolist() == expected["places"]
    assert [each.code for each in told[0].concerns] == expected["cautions"]
    parts = [list(row) for part in scan_statements(FOLDER / name, 1, **options) for row in part]
    assert parts == expected["statements"]
    if told[0].header and name.endswith(".csv") and name not in NO_TABLES:
        check_table(FOLDER / name, S, options)


def check_table(path: Path, S: tl.Statements, options: dict[str, Any]) -> None:
    """A table of pandas is read as its file is."""
    table = pd.read_csv(path, sep=None, engine="python", dtype=str)
    T = tl.Answers(table, **{name: each for name, each in options.items() if name != "header"})
    assert (T.read().kind, list(T.read()), T.read().names) == (S.kind, list(S), S.names)
    for field in ("raters", "seconds", "places"):
        np.testing.assert_array_equal(getattr(T.read(), field), getattr(S, field))


#: What pandas reads otherwise (rows below the header, another encoding), and rows that are raters,
#: whose numbers begin below the header in a file; of small files, the topics.
NO_TABLES = (
    "qualtrics_titles.csv", "utf16.csv", "google_forms.csv", "bad_rows_are_skipped_and_named",
    "a_header_that_comes_again", "line_ends_blank_lines_and_byte_order_mark", "jspsych",
    "rows_that_are_raters",
)  # fmt: skip


def test_every_file_has_its_expectation():
    files = {path.name for path in FOLDER.iterdir() if not path.name.endswith(".expected.json")}
    assert files == set(FILES)


def outcome(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What becomes of a file: what is read of it, without what there is not; or the refusal."""
    path = folder / f"s{case['ending']}"
    path.write_bytes(case["text"].encode() if "text" in case else case["latin_1"].encode("latin-1"))
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
    plain_text = case["ending"] == ".csv" and "text" in case and "beside" not in case
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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for case in CASES:
            for name in ("read", "error"):
                case.pop(name, None)
            case |= outcome(case, Path(made))
    LINES.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in CASES))
