"""Every constant on which a claim rests names the part of the documentation that measured it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trilens import calibration

_CLAIMS = Path(__file__).parents[2] / "docs" / "claims.md"


def test_every_section_names_a_part_of_the_claims():
    sections = re.findall(r"^# ---- .*\"(.+)\"$", Path(calibration.__file__).read_text(), re.M)
    parts = re.findall(r"^#+ (.+)$", _CLAIMS.read_text(), re.M)
    assert sections
    assert set(sections) <= set(parts)


def test_the_tables_are_those_of_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(_CLAIMS.parents[1] / "benchmarks"))
    import claims

    page, journal = _CLAIMS.read_text(), claims.journal()
    assert claims.with_tables(page, journal) == page
    assert claims.with_tables(page, journal[:50]) != page
