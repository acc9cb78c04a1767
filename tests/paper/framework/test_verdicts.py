from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import (
    Claim,
    Finding,
    Verdict,
    above,
    at_least,
    at_most,
    below,
    equal,
    mean_and_error,
    near,
    near_exactly,
    quorum,
    share_within,
    shown,
    within,
)

#: Mean 0.5 and standard error 0.1.
FIVE = 0.5 + 0.1 * np.sqrt(10) * np.array([-1.0, 0.0, 0.0, 0.0, 1.0])


def test_mean_and_error() -> None:
    mean, error, runs = mean_and_error(FIVE)
    assert (round(mean, 12), round(error, 12), runs) == (0.5, 0.1, 5)
    assert shown(FIVE, 2) == "0.50 ± 0.10 (5 runs)"
    assert shown([0.25], 2) == "0.25 (1 run)"


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        # the interval [0.3, 0.7] against paper ± tolerance
        (near(FIVE, 0.5, 0.21), "agrees"),
        (near(FIVE, 0.5, 0.19), "undecided"),
        (near(FIVE, 0.75, 0.051), "undecided"),
        (near(FIVE, 0.75, 0.049), "differs"),
        (near(FIVE, 0.25, 0.049), "differs"),
        # 2 sqrt(0.75^2 / 100 + 0.1^2) = 0.25 about the difference
        (near(FIVE, 0.5, 0.26, paper_sd=0.75), "agrees"),
        (near(FIVE, 0.5, 0.24, paper_sd=0.75), "undecided"),
        (near(FIVE, 0.88, 0.12, paper_sd=0.75), "differs"),
        (near(FIVE, 0.88, 0.14, paper_sd=0.75), "undecided"),
        # what three runs said of a cell of Table 3: 0.23 beside the paper's 0.16
        (near([0.13, 0.25, 0.31], 0.16, 0.02, paper_sd=0.1), "undecided"),
        (near(np.tile([0.13, 0.25, 0.31], 30), 0.16, 0.02, paper_sd=0.1), "differs"),
        # fewer than five runs decide nothing, however alike they are
        (near([0.5] * 4, 0.5, 0.1), "undecided"),
        (within([0.5] * 4, 0.6, 0.7), "undecided"),
        (below([-0.5] * 4), "undecided"),
        (at_least([-0.5] * 4, -0.1), "undecided"),
        (share_within([1.0] * 4, 0.0, 0.1), "undecided"),
        # the score interval of 9 of 10 is [0.59, 0.98]
        (share_within([1.0] * 9 + [0.0], 0.58, 1.0), "agrees"),
        (share_within([1.0] * 9 + [0.0], 0.61, 1.0), "undecided"),
        (share_within([1.0] * 9 + [0.0], 0.0, 0.58), "differs"),
        # all alike, and on the bound: that share may still be less
        (share_within([1.0] * 9, 1.0, 1.0), "undecided"),
        (share_within([1.0], 0.0, 0.1), "not judged"),
        (share_within([], 0.0, 0.1), "not judged"),
        (near([0.5], 0.5, 0.1), "not judged"),
        (near([], 0.5, 0.1), "not judged"),
        (near_exactly(0.46, 0.47, 0.01), "agrees"),
        (near_exactly(0.45, 0.47, 0.01), "differs"),
        (within(FIVE, 0.29, 0.71), "agrees"),
        (within(FIVE, 0.31, 0.71), "undecided"),
        (within(FIVE, 0.69, 0.8), "undecided"),
        (within(FIVE, 0.71, 0.8), "differs"),
        (within(FIVE, 0.2, 0.31), "undecided"),
        (within(FIVE, 0.2, 0.29), "differs"),
        (at_most(FIVE, 0.71), "agrees"),
        (at_most(FIVE, 0.69), "undecided"),
        (at_most(FIVE, 0.29), "differs"),
        (at_least(FIVE, 0.29), "agrees"),
        (at_least(FIVE, 0.31), "undecided"),
        (at_least(FIVE, 0.71), "differs"),
        (at_least([0.9], 0.1), "not judged"),
        (below(FIVE - 0.71), "agrees"),
        (below(FIVE - 0.69), "undecided"),
        (below(FIVE - 0.31), "undecided"),
        (below(FIVE - 0.29), "differs"),
        (below([-0.5]), "not judged"),
        (below([-0.5] * 5), "agrees"),
        (below([0.0] * 5), "undecided"),
        (above(0.71 - FIVE), "agrees"),
        (above(0.29 - FIVE), "differs"),
        (at_least(FIVE - 0.71, -0.5), "agrees"),
        (at_least(FIVE - 0.99, -0.2), "differs"),
        (at_least(FIVE - 0.69, -0.4), "agrees"),
        (at_least(FIVE - 0.69, -0.3), "undecided"),
        (at_least(FIVE - 0.29, -0.0), "agrees"),
        (at_least([-0.5], -1.0), "not judged"),
        (at_most(0.71 - FIVE, 0.5), "agrees"),
        (at_most(0.99 - FIVE, 0.2), "differs"),
        (at_most(0.69 - FIVE, 0.4), "agrees"),
        (at_most(0.69 - FIVE, 0.3), "undecided"),
        (at_most([], 0.3), "not judged"),
        (equal("a", "a"), "agrees"),
        (equal("a", "b"), "differs"),
    ],
)
def test_verdict(finding: Finding, verdict: str) -> None:
    assert finding.verdict == verdict


@pytest.mark.parametrize(
    ("verdicts", "need", "expected"),
    [
        ("aaad", 3, "agrees"),
        ("aadd", 3, "differs"),
        ("aaud", 3, "undecided"),
        ("aan", 3, "not judged"),
        ("adn", 3, "differs"),
        ("aun", 3, "not judged"),
        ("aan", 1.0, "not judged"),
        ("aan", 2, "agrees"),
        ("nn", 1, "not judged"),
        ("ad", 0.5, "agrees"),
        ("add", 0.5, "differs"),
        ("aaad", 0.75, "agrees"),
    ],
)
def test_quorum(verdicts: str, need: int | float, expected: str) -> None:
    full = {"a": "agrees", "d": "differs", "u": "undecided", "n": "not judged"}
    findings = {str(i): Finding("x", full[v]) for i, v in enumerate(verdicts)}  # type: ignore[arg-type]
    assert quorum(findings, need).verdict == expected


def test_results_pair_methods_run_by_run() -> None:
    rows = [
        {"method": method, "run": run, "n_statements": m, "value": value}
        for method, run, m, value in [
            ("a", 0, 5, 1.0),
            ("a", 0, 9, 2.0),
            ("a", 1, 5, 3.0),
            ("a", 1, 9, 4.0),
            ("a", 2, 5, 9.0),  # a run that is not complete counts in no average over the grid
            ("b", 0, 5, 1.0),
            ("b", 0, 9, 1.0),
            ("b", 1, 5, 1.0),
            ("b", 1, 9, 1.0),
        ]
    ]
    results = Results(tuple(rows))
    assert results.where(method="a").by_run() == {0: 1.5, 1: 3.5}
    assert results.differences("a", "b").tolist() == [0.5, 2.5]
    assert results.differences("a", "b", n_statements=9).tolist() == [1.0, 3.0]
    assert results.where(method="a").means("n_statements") == {5: 13 / 3, 9: 3.0}
    assert results.runs == 3
    assert results.where(n_statements=(9,), method="b").values.tolist() == [1.0, 1.0]


def test_a_few_dear_settings_take_no_runs_away() -> None:
    rows = [
        {"n_statements": n, "run": run, "value": float(run)}
        for n, runs in ((5, 7), (9, 6), (99, 4))
        for run in range(runs)
    ]
    assert Results(tuple(rows)).per_run().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_times_of_other_programs_are_not_compared(value: float) -> None:
    claim = Claim("It is quick.", "quick", "at most 0.5", lambda r: at_most(r.per_run(), 0.5))
    measured = Results(tuple({"run": run, "value": value} for run in range(6)))
    assert claim.finding(measured).verdict == ("differs" if value else "agrees")
    timed = replace(claim, other_programs=True)
    assert timed.finding(measured).verdict == "not comparable"
    assert timed.finding(Results(())).verdict == "not judged"


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
def test_every_finding_that_does_not_agree_has_a_reason(
    verdict: Verdict, why: str, reason: str
) -> None:
    claim = Claim("It is so.", "so", "at most 1", lambda r: Finding("1", verdict), why=why)
    assert claim.reason(Finding("1", verdict)) == reason
