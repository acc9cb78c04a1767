"""The page in the documentation is what the journals in ``paper/`` say, to the last letter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trilens_paper.framework.runner import recorded
from trilens_paper.framework.summary import page_text
from trilens_paper.registry import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "paper"


@pytest.mark.slow
def test_the_page_is_made_from_the_journals():
    kept = {e.name: recorded(e, PAPER, any_code=True) for e in EXPERIMENTS.values()}
    commands = (PAPER / "commands.txt").read_text(encoding="utf-8").splitlines()
    text = page_text(list(EXPERIMENTS.values()), kept, commands)
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    shown = re.sub(r"\]\(reproduction/([a-z0-9-]+)\.(?:png|jpg)\)", r"](\1)", page)
    assert shown == text, (
        "the page is not made from the journals: run "
        "`trilens reproduce --out paper --page docs/reproduction.md`, which needs the data"
    )


def test_journals_are_small_and_say_nothing_of_the_machine_but_its_kind():
    journals = sorted(PAPER.glob("*/cells.jsonl"))
    assert {path.parent.name for path in journals} <= set(EXPERIMENTS)
    text = b"".join(path.read_bytes() for path in journals)
    assert len(text) < 3 * 2**20
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    assert not re.search(rb"/(home|root|tmp|work|Users)\b", text)


def test_thirty_main_claims_short_lines_and_each_figure():
    claims = [claim for experiment in EXPERIMENTS.values() for claim in experiment.claims]
    main = [claim for claim in claims if claim.main]
    assert len(main) == 30
    assert all(claim.of_paper for claim in main)
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert all(f"\n| {claim.main} | " in page for claim in main)
    assert all(len(line) < 100 for line in page.splitlines())
    shown = set(re.findall(r"\]\((reproduction/[^)]+)\)", page))
    assert shown == {f"reproduction/{p.name}" for p in (ROOT / "docs" / "reproduction").iterdir()}
