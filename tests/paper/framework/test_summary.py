from __future__ import annotations

from pathlib import Path

import pytest

from tiny_experiment import TINY
from trilens_paper.framework.summary import judged
from trilens_paper.registry import EXPERIMENTS, Results, run, write_page


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run([TINY], tmp_path_factory.mktemp("tiny"), processes=1)["tiny"]


@pytest.mark.slow
def test_page_shows_paper_ours_and_verdict(results: Results, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "page.md"
    experiments = [TINY, EXPERIMENTS["recovery"]]
    found = write_page(page, experiments, {"tiny": results}, ["trilens reproduce tiny"])
    assert [one.experiment.name for one in found] == ["tiny"]
    text = page.read_text(encoding="utf-8")
    assert "| claim | paper | ours | verdict | rule |" in text
    assert "- command: `trilens reproduce tiny`" in text
    assert "Not run by this code: recovery." in text
    assert "![Depths of twelve points](page/tiny.png)" in text
    assert (tmp_path / "docs" / "page" / "tiny.png").read_bytes()[:4] == b"\x89PNG"
    right, wrong = (line for line in text.splitlines() if line.startswith(("| The", "| No")))
    assert "| of course | -0." in right
    assert "| agrees |" in right
    assert "| **differs** (It is a claim that fails.) |" in wrong
    # the number of runs is said once, above the table, except where it is another
    assert "3 runs." in text
    assert "(3 runs)" not in text
    assert "(2 runs)" in wrong


@pytest.mark.slow
def test_one_run_judges_nothing_random(results: Results) -> None:
    one = judged(TINY, results.where(run=0))
    assert one.tally == {"not judged": 2}
    assert judged(TINY, results).tally == {"agrees": 1, "differs": 1}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_claims_stand_when_nothing_was_run(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert judged(experiment, Results(())).tally == {"not judged": len(experiment.claims)}
