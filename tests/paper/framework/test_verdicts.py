from __future__ import annotations

import numpy as np
import pytest

from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import (
    Finding,
    above,
    at_least,
    at_most,
    below,
    equal,
    mean_and_error,
    near,
    near_exactly,
    not_above,
    not_below,
    quorum,
    shown,
    within,
)

#: Mean 0.5 and standard error 0.1.
FOUR = np.array([0.5, 0.5, 0.5 + 0.1 * np.sqrt(6), 0.5 - 0.1 * np.sqrt(6)])


def test_mean_and_error() -> None:
    mean, error, runs = mean_and_error(FOUR)
    assert (round(mean, 12), round(error, 12), runs) == (0.5, 0.1, 4)
    assert shown(FOUR, 2) == "0.50 ± 0.10 (4 runs)"
    assert shown([0.25], 2) == "0.25 (1 run)"


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        # the interval [0.3, 0.7] against paper ± tolerance
        (near(FOUR, 0.5, 0.21), "agrees"),
        (near(FOUR, 0.5, 0.19), "undecided"),
        (near(FOUR, 0.75, 0.051), "undecided"),
        (near(FOUR, 0.75, 0.049), "differs"),
        (near(FOUR, 0.25, 0.049), "differs"),
        # 3 * sqrt(0.75^2 / 100 + 0.1^2) = 0.375
        (near(FOUR, 0.88, 0.01, paper_sd=0.75), "agrees"),
        (near(FOUR, 0.89, 0.01, paper_sd=0.75), "differs"),
        (near([0.5], 0.5, 0.1), "not judged"),
        (near([], 0.5, 0.1), "not judged"),
        (near_exactly(0.46, 0.47, 0.01), "agrees"),
        (near_exactly(0.45, 0.47, 0.01), "differs"),
        (within(FOUR, 0.29, 0.71), "agrees"),
        (within(FOUR, 0.31, 0.71), "undecided"),
        (within(FOUR, 0.69, 0.8), "undecided"),
        (within(FOUR, 0.71, 0.8), "differs"),
        (within(FOUR, 0.2, 0.31), "undecided"),
        (within(FOUR, 0.2, 0.29), "differs"),
        (at_most(FOUR, 0.71), "agrees"),
        (at_most(FOUR, 0.69), "undecided"),
        (at_most(FOUR, 0.29), "differs"),
        (at_least(FOUR, 0.29), "agrees"),
        (at_least(FOUR, 0.31), "undecided"),
        (at_least(FOUR, 0.71), "differs"),
        (at_least([0.9], 0.1), "not judged"),
        (below(FOUR - 0.71), "agrees"),
        (below(FOUR - 0.69), "undecided"),
        (below(FOUR - 0.31), "undecided"),
        (below(FOUR - 0.29), "differs"),
        (below([-0.5]), "not judged"),
        (below([-0.5, -0.5]), "agrees"),
        (below([0.0, 0.0]), "undecided"),
        (above(0.71 - FOUR), "agrees"),
        (above(0.29 - FOUR), "differs"),
        (not_below(FOUR - 0.71, 0.5), "differs"),
        (not_below(FOUR - 0.69, 0.4), "agrees"),
        (not_below(FOUR - 0.69, 0.3), "undecided"),
        (not_below(FOUR - 0.29, 0.0), "agrees"),
        (not_below([-0.5], 1.0), "not judged"),
        (not_above(0.71 - FOUR, 0.5), "differs"),
        (not_above(0.69 - FOUR, 0.4), "agrees"),
        (not_above(0.69 - FOUR, 0.3), "undecided"),
        (not_above([], 0.3), "not judged"),
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
        ("aan", 3, "differs"),
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
