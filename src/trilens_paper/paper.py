"""The paper's numbers, as it prints them. Data only: what is measured does not depend on it."""

from __future__ import annotations

from typing import TypeAlias

#: Mean and standard deviation for each of the four collections.
Row: TypeAlias = tuple[tuple[float, float], ...]

#: CPU seconds for all statements about 100 points (2015, one laptop, Matlab and R).
SECONDS = {"Algorithm 1": 0.01, "Crowd-Median": 0.01, "SOE": 10.0, "t-STE": 141.0}

#: The four cars of least depth: Formula One, fire truck, motortruck and tractor.
LEAST_DEEP = {48, 53, 21, 23}

#: Rows of Tables 1 and 2, and what the text says of the rounds: for ALL, ALL_REDUCED, T_ALL and
#: T_ALL_REDUCED, or as many as there are.
COLLECTIONS = {
    "statements": "7097 / 6338 / 6757 / 6056",
    "percent": "20.74 / 18.52 / 19.75 / 17.70",
    "mean": "354.85 / 316.90 / 337.85 / 302.80",
    "min": "307 / 286 / 292 / 269",
    "max": "503 / 347 / 478 / 333",
    "seconds": "4.02 / 4.15",
    "statements of 56": "5624 / 5121 / 5349 / 4886",
    "percent of 56": "20.29 / 18.47 / 19.30 / 17.63",
    "rounds": "146",
    "failed rounds": "7",
}


def _rows(text: str) -> dict[str, Row]:
    """``name | .19 .11 | ...``: mean and standard deviation for each collection."""
    rows = {}
    for line in text.strip().splitlines():
        name, *cells = (part.strip() for part in line.split("|"))
        pairs = [tuple(map(float, cell.split())) for cell in cells]
        rows[name] = tuple((mean, sd) for mean, sd in pairs)
    return rows


TABLE3 = _rows("""
Algorithm 3 k-NN | .19 .11 | .23 .12 | .16 .10 | .17 .10
Algorithm 3 SVM linear | .17 .09 | .16 .09 | .13 .07 | .16 .08
Algorithm 3 SVM Gauss | .17 .10 | .18 .10 | .14 .10 | .16 .09
Algorithm 4 | .15 .09 | .18 .10 | .13 .09 | .13 .09
GNMDS k-NN | .05 .05 | .05 .05 | .04 .04 | .04 .04
GNMDS SVM linear | .07 .07 | .06 .06 | .07 .07 | .04 .05
GNMDS SVM Gauss | .05 .06 | .04 .05 | .04 .05 | .04 .05
SOE k-NN | .06 .05 | .07 .05 | .06 .06 | .07 .06
SOE SVM linear | .10 .08 | .12 .09 | .11 .08 | .10 .09
SOE SVM Gauss | .05 .07 | .07 .08 | .05 .05 | .07 .06
STE k-NN | .05 .04 | .03 .04 | .05 .04 | .04 .04
STE SVM linear | .07 .08 | .06 .06 | .08 .07 | .06 .06
STE SVM Gauss | .05 .05 | .03 .05 | .04 .05 | .04 .05
t-STE k-NN | .09 .07 | .10 .07 | .06 .06 | .08 .07
t-STE SVM linear | .12 .09 | .15 .11 | .11 .09 | .13 .09
t-STE SVM Gauss | .09 .08 | .08 .08 | .07 .06 | .08 .08
""")

#: By method, k and sigma; the standard deviation of Algorithm 5 is that of a machine number.
TABLE4 = _rows("""
Algorithm 5 weighted, k 5, sigma 0.5 | .82 0 | .82 0 | .86 0 | .88 0
Algorithm 5 weighted, k 5, sigma 3.0 | .84 0 | .82 0 | .86 0 | .86 0
Algorithm 5 weighted, k 10, sigma 0.5 | .91 0 | .84 0 | .95 0 | .93 0
Algorithm 5 weighted, k 10, sigma 3.0 | .84 0 | .91 0 | .86 0 | .89 0
Algorithm 5 unweighted, k 5 | .84 0 | .82 0 | .84 0 | .88 0
Algorithm 5 unweighted, k 10 | .84 0 | .84 0 | .86 0 | .89 0
GNMDS, k 5, sigma 0.5 | .79 .12 | .83 .12 | .78 .15 | .80 .15
GNMDS, k 5, sigma 3.0 | .78 .12 | .84 .11 | .76 .14 | .83 .15
GNMDS, k 10, sigma 0.5 | .83 .11 | .92 .03 | .93 .04 | .89 .13
GNMDS, k 10, sigma 3.0 | .78 .12 | .88 .09 | .92 .06 | .95 .03
SOE, k 5, sigma 0.5 | .87 .01 | .87 .04 | .82 .08 | .79 .10
SOE, k 5, sigma 3.0 | .82 .09 | .83 .11 | .75 .10 | .73 .10
SOE, k 10, sigma 0.5 | .90 .04 | .90 .03 | .91 .04 | .90 .03
SOE, k 10, sigma 3.0 | .93 .03 | .93 .03 | .91 .05 | .89 .08
STE, k 5, sigma 0.5 | .75 .11 | .73 .11 | .74 .10 | .73 .11
STE, k 5, sigma 3.0 | .75 .12 | .76 .11 | .74 .10 | .76 .11
STE, k 10, sigma 0.5 | .90 .04 | .87 .01 | .90 .03 | .88 .01
STE, k 10, sigma 3.0 | .90 .04 | .87 .01 | .77 .14 | .88 .01
t-STE, k 5, sigma 0.5 | .87 .02 | .87 .02 | .86 .04 | .88 .05
t-STE, k 5, sigma 3.0 | .85 .08 | .89 .03 | .76 .12 | .79 .12
t-STE, k 10, sigma 0.5 | .92 .03 | .92 .03 | .92 .04 | .91 .04
t-STE, k 10, sigma 3.0 | .94 .03 | .94 .02 | .92 .04 | .91 .06
""")


def printed(row: Row) -> str:
    """A row as the page shows it."""
    return " / ".join(f"{mean:.2f} ({sd:.2f})" if sd else f"{mean:.2f}" for mean, sd in row)
