"""Every constant on which a claim rests names the part of the documentation that measured it."""

from __future__ import annotations

import re
from pathlib import Path

from trilens import calibration

_CLAIMS = Path(__file__).parents[2] / "docs" / "claims.md"


def test_every_section_names_a_part_of_the_claims():
    sections = re.findall(r"^# ---- .*\"(.+)\"$", Path(calibration.__file__).read_text(), re.M)
    parts = re.findall(r"^#+ (.+)$", _CLAIMS.read_text(), re.M)
    assert sections
    assert set(sections) <= set(parts)
