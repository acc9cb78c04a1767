"""Section 1 of the report: what was collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.tasks.reliability import Diagnosis

Facts = dict[str, Any]


def collected(statements: Statements, summary: Any, diagnosis: Diagnosis) -> Facts:
    facts: Facts = summary.to_dict()
    checks = {check.rater: check for check in diagnosis.raters}
    rows = facts["raters"]
    if diagnosis.unit == "round":
        rows = facts["raters"] = _rounds(statements)
    rank = {rater: i for i, rater in enumerate(checks)}
    rows.sort(key=lambda row: rank.get(row["rater"], 0))
    for row in rows:
        check = checks.get(row["rater"])
        row["predicted"] = None if check is None else check.predicted
        row["same_place"] = None if check is None else check.same_place
        row["guessing"] = check is not None and check.guessing
        row["one_place"] = check is not None and check.one_place
    appears = np.bincount(statements.triples.ravel(), minlength=statements.n_objects)
    facts["rater_unit"] = diagnosis.unit
    facts["predicted"] = diagnosis.predicted
    facts["chance"] = diagnosis.chance
    facts["appearances_histogram"] = _histogram(appears.astype(np.float64), whole=True)
    facts["seconds"] = _seconds(statements)
    facts["cautions"] = [
        {
            "code": caution.code,
            "what": caution.what,
            "therefore": caution.therefore,
            "remedy": caution.remedy,
            "names": list(caution.names),
        }
        for caution in diagnosis.cautions
    ]
    return facts


def _rounds(statements: Statements) -> list[Facts]:
    assert statements.rounds is not None
    names, which = np.unique(statements.rounds, return_inverse=True)
    rows = []
    for i, name in enumerate(names):
        mine = which == i
        times = None if statements.seconds is None else statements.seconds[mine]
        known = None if times is None else times[~np.isnan(times)]
        rows.append(
            {
                "rater": str(name),
                "statements": int(mine.sum()),
                "median_seconds": float(np.median(known))
                if known is not None and len(known)
                else None,
                "agreement": None,
            }
        )
    return rows


def _seconds(statements: Statements) -> Facts | None:
    if statements.seconds is None:
        return None
    known = statements.seconds[~np.isnan(statements.seconds)]
    if not len(known):
        return None
    low, middle, high = np.quantile(known, [0.1, 0.5, 0.9])
    shown = known[known <= np.quantile(known, 0.98)]
    return {
        "p10": float(low),
        "median": float(middle),
        "p90": float(high),
        "histogram": _histogram(shown, whole=False),
    }


def _histogram(values: FloatArray, whole: bool) -> list[Facts]:
    if not len(values):
        return []
    spread = float(np.ptp(values))
    bins: int | FloatArray = 24
    if whole:
        width = max(1, int(np.ceil((spread + 1) / 24)))
        bins = np.arange(values.min(), values.max() + width + 1, width) - 0.5
    count, edge = np.histogram(values, bins=bins)
    return [
        {"from": float(edge[i]), "to": float(edge[i + 1]), "count": int(count[i])}
        for i in range(len(count))
    ]
