from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import (
    Claim,
    Finding,
    above,
    at_least,
    at_most,
    below,
    equal,
    near,
    near_exactly,
    quorum,
    share_within,
    within,
)

#: Mean 0.5 and standard error 0.1.
FIVE = 0.5 + 0.1 * np.sqrt(10) * np.array([-1.0, 0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        # the interval [0.3, 0.7] against paper ± tolerance
        (near(FIVE, 0.5, 0.21), "agrees"),
        (near(FIVE, 0.5, 0.19), "undecided"),
        (near(FIVE, 0.75, 0.049), "differs"),
        # 2 sqrt(0.75^2 / 100 + 0.1^2) = 0.25 about the difference
        (near(FIVE, 0.5, 0.26, paper_sd=0.75), "agrees"),
        (near(FIVE, 0.5, 0.24, paper_sd=0.75), "undecided"),
        (near(FIVE, 0.88, 0.12, paper_sd=0.75), "differs"),
        # what three runs said of a cell of Table 3: 0.23 beside the paper's 0.16
        (near([0.13, 0.25, 0.31], 0.16, 0.02, paper_sd=0.1), "undecided"),
        (near(np.tile([0.13, 0.25, 0.31], 30), 0.16, 0.02, paper_sd=0.1), "differs"),
        # fewer than five runs decide nothing, however alike they are
        (at_least([-0.5] * 4, -0.1), "undecided"),
        (share_within([1.0] * 4, 0.0, 0.1), "undecided"),
        # the score interval of 9 of 10 is [0.59, 0.98]
        (share_within([1.0] * 9 + [0.0], 0.58, 1.0), "agrees"),
        (share_within([1.0] * 9 + [0.0], 0.0, 0.58), "differs"),
        # all alike, and on the bound: that share may still be less
        (share_within([1.0] * 9, 1.0, 1.0), "undecided"),
        (share_within([], 0.0, 0.1), "not judged"),
        (near([0.5], 0.5, 0.1), "not judged"),
        (near_exactly(0.46, 0.47, 0.01), "agrees"),
        (near_exactly(0.45, 0.47, 0.01), "differs"),
        (within(FIVE, 0.29, 0.71), "agrees"),
        (within(FIVE, 0.31, 0.71), "undecided"),
        (within(FIVE, 0.71, 0.8), "differs"),
        (within(FIVE, 0.2, 0.29), "differs"),
        (at_most(FIVE, 0.71), "agrees"),
        (at_most(FIVE, 0.29), "differs"),
        (at_least(FIVE, 0.29), "agrees"),
        (at_least(FIVE, 0.71), "differs"),
        (below(FIVE - 0.71), "agrees"),
        (below(FIVE - 0.69), "undecided"),
        (below(FIVE - 0.29), "differs"),
        (below([-0.5]), "not judged"),
        (below([0.0] * 5), "undecided"),
        (above(0.71 - FIVE), "agrees"),
        (at_least([-0.5], -1.0), "not judged"),
        (at_most([], 0.3), "not judged"),
        (equal("a", "a"), "agrees"),
    ],
)
def test_verdict(finding, verdict):
    assert finding.verdict == verdict


@pytest.mark.parametrize(
    ("verdicts", "need", "expected"),
    [
        ("aaad", 3, "agrees"),
        ("aadd", 3, "differs"),
        ("aaud", 3, "undecided"),
        ("adn", 3, "differs"),
        ("aun", 3, "not judged"),
        ("aan", 2, "agrees"),
        ("nn", 1, "not judged"),
        ("ad", 0.5, "agrees"),
        ("add", 0.5, "differs"),
        ("aaad", 0.75, "agrees"),
    ],
)
def test_quorum(verdicts, need, expected):
    full = {"a": "agrees", "d": "differs", "u": "undecided", "n": "not judged"}
    findings = {str(i): Finding("x", full[v]) for i, v in enumerate(verdicts)}  # type: ignore[arg-type]
    assert quorum(findings, need).verdict == expected


def test_results_pair_methods_run_by_run():
    # the last run of a is not complete, and counts in no average over the grid
    values = {"a": [(1.0, 2.0), (3.0, 4.0), (9.0,)], "b": [(1.0, 1.0), (1.0, 1.0)]}
    rows = [
        {"method": method, "run": run, "n_statements": m, "value": value}
        for method, runs in values.items()
        for run, found in enumerate(runs)
        for m, value in zip((5, 9), found, strict=False)
    ]
    results = Results(tuple(rows))
    assert results.where(method="a").by_run() == {0: 1.5, 1: 3.5}
    assert results.differences("a", "b").tolist() == [0.5, 2.5]
    assert results.differences("a", "b", n_statements=9).tolist() == [1.0, 3.0]
    assert results.where(method="a").means("n_statements") == {5: 13 / 3, 9: 3.0}
    assert results.runs == 3
    assert results.where(n_statements=(9,), method="b").values.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("verdict", "why", "reason"),
    [
        ("agrees", "It rains.", ""),
        ("not judged", "It rains.", ""),
        ("differs", "It rains.", "It rains."),
        ("differs", "", "no reason known."),
        ("undecided", "It rains.", "A limit lies within 2 se of what was found. It rains."),
        ("not comparable", "", "The paper timed other programs, in Matlab and R."),
    ],
)
def test_every_finding_that_does_not_agree_has_a_reason(verdict, why, reason):
    claim = Claim("It is so.", "so", "at most 1", lambda r: Finding("1", verdict), why=why)
    assert claim.reason(Finding("1", verdict)) == reason
    # times of other programs are not compared
    timed = replace(claim, other_programs=True)
    expected = "not judged" if verdict == "not judged" else "not comparable"
    assert timed.finding(Results(())).verdict == expected
