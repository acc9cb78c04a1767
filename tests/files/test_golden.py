"""Files as people have them, each with what it is to be read as beside it.

``golden/NAME.expected.json`` has the options, the kind, the statements and what else is known of
them, and the codes of the cautions; or the words of the refusal.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trilens.errors import TrilensError
from trilens.files import Reading, read_statements, scan_statements

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(path.name.removesuffix(".expected.json") for path in FOLDER.glob("*.expected.json"))


@pytest.mark.parametrize("name", FILES)
def test_golden(name):
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


def test_every_file_has_its_expectation():
    files = {path.name for path in FOLDER.iterdir() if not path.name.endswith(".expected.json")}
    assert files == set(FILES)
