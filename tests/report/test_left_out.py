"""What was left out is in the paragraph for a paper, whatever left it out."""

from __future__ import annotations

import numpy as np
import pytest

from commandline import facts
from trilens.answers import Answers
from trilens.questions.reliability import reliability


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["odd,other_1,other_2,rater,seconds,country"]
    for i in range(40):
        objects = ",".join(f"o{x}" for x in rng.permutation(6)[:3])
        lines.append(f"{objects},r{i % 4},{i / 10},{('DE', 'FR')[i % 2]}")
    lines.append("o1,,o2,r1,3,DE")
    lines += ["o1,o2,o2,r0,3,DE", "o2,o2,o1,r0,3,DE", "o3,o4,o4,r1,3,FR"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "a.csv"


@pytest.mark.parametrize(
    ("options", "said", "used", "asked", "right"),
    [
        ({}, "No other answers were excluded.", 40, 3, 2),
        ({"exclude_raters": ["r1"]}, "10 (rater r1 left out), leaving 30 answers", 30, 2, 1),
        ({"min_seconds": 1.0}, "10 (faster than 1 s), leaving 30 answers", 30, 3, 2),
        ({"where": ["country = DE"]}, "20 (not country = DE), leaving 20 answers", 20, 2, 1),
        # r0 passed one check and failed one, r1 passed one
        ({"min_checks": 0.9}, "(fewer than 90 % of the checks right)", 30, 1, 1),
    ],
)
def test_the_paragraph_says_it(file, options, said, used, asked, right):
    answers = Answers(file, skip_bad=True, **options)
    found = reliability(answers)
    assert "1 further row of the data could not be read as an answer" in found.methods
    assert "3 further rows show an object twice: they were taken as test questions" in found.methods
    assert said in found.methods
    assert len(answers.read()) == used
    assert found.collected == {
        "answers": 40, "used": used, "raters": 4, "objects": 6, "skipped": 1, "checks": 3,
    }  # fmt: skip
    assert found.catch == {"asked": asked, "right": right}


def test_the_command_and_the_report_say_the_same(file):
    line = [file, "--skip-bad", "--exclude-raters", "r1,r2"]
    alone, together = facts("reliability", *line), facts("analyze", *line)["reliability"]
    assert alone["methods"] == together["methods"]
    assert "20 (rater r1, r2 left out), leaving 20 answers" in together["methods"]
    assert "No answers were left out" not in together["methods"]


def test_conditions_on_files_too_large_to_hold_are_told(file, monkeypatch):
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 1)
    found = reliability(Answers(file, skip_bad=True, where=["country = DE"]))
    assert "Only answers with country = DE were counted" in found.methods
    assert "No answers were excluded" not in found.methods


def test_what_a_survey_set_aside_is_told(tmp_path):
    rows = [f"o{i % 5},o{(i + 1) % 5},o{(i + 2) % 5},r{i % 2},random,passed,true" for i in range(9)]
    rows += ["o0,o1,o2,r0,test,passed,true", "o0,o1,o2,r1,test,failed,true"]
    head = "central,other_1,other_2,rater,reason,test,counted"
    (tmp_path / "export.csv").write_text("\n".join([head, *rows]) + "\n")
    answers = Answers(tmp_path / "export.csv")
    assert len(answers.read()) == 9
    said = reliability(answers).methods
    assert "Answers to the survey's own questions are no part of the findings: 2 " in said
    assert "No other answers were excluded." in said
