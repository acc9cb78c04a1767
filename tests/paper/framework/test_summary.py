from __future__ import annotations

import re
from pathlib import Path
from zlib import crc32

import pytest
from click.testing import CliRunner

from tiny_experiment import TINY
from trilens.cli import trilens
from trilens.errors import FormatError
from trilens_paper.framework.journal import Entry, Journal
from trilens_paper.framework.results import Results, joined
from trilens_paper.framework.runner import recorded, run
from trilens_paper.framework.summary import judged, write_page
from trilens_paper.registry import EXPERIMENTS


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Entry, ...]:
    out = tmp_path_factory.mktemp("tiny")
    run([TINY], out, runs=5, processes=1)
    return recorded(TINY, out)


@pytest.fixture(scope="module")
def results(kept: tuple[Entry, ...]) -> Results:
    return joined(entry.rows for entry in kept)


@pytest.mark.slow
def test_page_shows_paper_ours_and_verdict(kept: tuple[Entry, ...], tmp_path: Path) -> None:
    page = tmp_path / "docs" / "page.md"
    experiments = [TINY, EXPERIMENTS["recovery"]]
    found = write_page(page, experiments, {"tiny": kept}, ["trilens reproduce tiny"])
    assert [one.experiment.name for one in found] == ["tiny"]
    text = page.read_text(encoding="utf-8")
    assert all(len(line) < 100 for line in text.splitlines())
    assert text.count("<details>") == text.count("</details>") == 1
    assert "\ntrilens reproduce tiny --out paper --any-code\n" in text
    day = kept[0].day
    assert re.search(rf"\| tiny \| 7 of 8 \| 2 to 5 \| [0-9.e-]+ \| {day} \|", text)
    assert "There are no journals of: recovery." in text
    assert "![Depths of twelve points](page/tiny.png)" in text
    assert (tmp_path / "docs" / "page" / "tiny.png").read_bytes()[:4] == b"\x89PNG"
    assert re.search(r"\| Deepest first \| -0\.[0-9]+ ± 0\.[0-9]+ \| agrees \|", text)
    assert (
        "- **agrees**: The deepest is deeper than the least deep.\n  - paper: of course\n"
        "  - ours: -0." in text
    )
    assert "  - reason: It is a claim that fails.\n" in text
    # the number of runs is said once, above the claims
    assert "2 to 5 runs." in text
    assert "(5 runs)" not in text
    # what the paper does not say stands in a list of its own
    ours = text.split("Claims of our own, which are not in the paper:")[1]
    assert "- **differs**: The least deep has no answers at all.\n" in ours
    assert "  - reason: no reason known.\n" in ours
    assert "Of the claims of the paper, 1 agrees and 1 differs. Of the claims of our own, " in text


def test_a_page_is_never_made_from_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("kept", encoding="utf-8")
    for options in (["--page", str(page)], ["--page", str(tmp_path / "page")]):
        found = CliRunner().invoke(trilens, ["reproduce", "--out", str(tmp_path / "no"), *options])
        assert found.exit_code != 0
        assert found.output.startswith(("Error: there are no results in", "Error: --page writes"))
    assert page.read_text(encoding="utf-8") == "kept"
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]


@pytest.mark.parametrize("members", [b'"of":"x"}', b"}", b'"series":3}'])
def test_a_line_that_is_no_result(members: bytes, tmp_path: Path) -> None:
    journal = tmp_path / "cells.jsonl"
    journal.write_bytes(b'{"crc":"%08x",%s\n' % (crc32(members), members))
    if members == b'"of":"x"}':  # of a line that is not there
        assert Journal(journal, "code").read() == {}
        return
    with pytest.raises(FormatError, match="line 1: not a result"):
        Journal(journal, "code").read()


@pytest.mark.slow
def test_one_run_judges_nothing_random(results: Results) -> None:
    one = judged(TINY, results.where(run=0))
    assert one.tally() == {"not judged": 3}
    few = judged(TINY, results.where(run=lambda run: run < 4))
    assert few.tally() == {"undecided": 3}
    assert judged(TINY, results).tally() == {"agrees": 1, "differs": 2}
    assert judged(TINY, results).tally(of_paper=False) == {"differs": 1}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_claims_stand_when_nothing_was_run(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert judged(experiment, Results(())).tally() == {"not judged": len(experiment.claims)}
