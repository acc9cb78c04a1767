"""Grids of the experiments with 100 points."""

from __future__ import annotations

from typing import Any

from trilens_paper.framework.experiment import Point

N_POINTS = 100
#: Up to all statements about 100 points; the third number is the one of the paper's fifth row.
NUMBERS = (500, 1500, 4500, 13500, 40500, 161700)
#: errorprob of Noise model I.
RATES = tuple(round(0.1 * i, 1) for i in range(11))


def against_numbers(panel: str, **fields: Any) -> list[Point]:
    """A panel against the number of statements."""
    return [Point(panel=panel, n_statements=m, **fields) for m in NUMBERS]


def against_rates(panel: str, n_statements: int, **fields: Any) -> list[Point]:
    """A panel against errorprob."""
    return [
        Point(panel=panel, n_statements=n_statements, error_rate=rate, **fields) for rate in RATES
    ]
