"""Rows of the paper's tables of the cars, judged and drawn beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trilens_paper.framework.figures import new_figure
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import NOT_RUN, Finding, near, worst
from trilens_paper.ingredients.data import COLLECTIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def row_finding(mine: Results, paper: Any, tolerance: float) -> Finding:
    """One row of a table: all four collections near the paper's; those that are not, marked.

    The interval is that of the difference between the paper's mean and ours. A row agrees when
    all four do, differs when one does, and is undecided in between. ``paper`` has a mean and a
    standard deviation for each collection.
    """
    texts, verdicts = [], set()
    for name, (mean, sd) in zip(COLLECTIONS, paper, strict=True):
        values = mine.where(collection=name).per_run()
        if not len(values):
            return NOT_RUN
        verdict = near(values, mean, tolerance, paper_sd=sd).verdict
        mark = {"differs": " ↑" if values.mean() > mean else " ↓", "undecided": " ?"}.get(
            verdict, ""
        )
        texts.append(mean_and_spread(values) + mark)
        verdicts.add(verdict)
    return Finding(" / ".join(texts), worst(verdicts))


def mean_and_spread(values: Any) -> str:
    """A mean and the standard deviation over the runs, as the paper's tables print them."""
    spread = f" ({values.std(ddof=1):.2f})" if len(values) > 1 else ""
    return f"{values.mean():.2f}{spread}"


def table_figure(
    results: Results,
    metric: str,
    paper: Mapping[str, Any],
    label: Callable[[dict[str, Any]], str],
) -> Figure:
    """A dot for each row of the table and each collection: ours, and the paper's beside it."""
    from trilens.plots.style import FAINT, PALETTE, plain

    mine = Results(
        tuple(row | {"row": label(row)} for row in results.rows if row["metric"] == metric)
    )
    rows = mine.levels("row")
    figure, axes = new_figure(1, 4, (2.6, 0.25 * len(rows) + 1))
    for i, (ax, name) in enumerate(zip(axes, COLLECTIONS, strict=True)):
        for y, row in enumerate(rows):
            values = mine.where(collection=name, row=row).values
            if not len(values):
                continue
            ax.errorbar(
                values.mean(), y, xerr=values.std(), fmt="o", color=PALETTE[0], markersize=4
            )
            if row in paper:
                mean, sd = paper[row][i]
                ax.errorbar(mean, y + 0.3, xerr=sd, fmt="D", color=FAINT, markersize=4)
        ax.set_yticks(range(len(rows)), rows if i == 0 else [""] * len(rows), fontsize="small")
        ax.invert_yaxis()
        ax.set_title(name, fontsize="medium")
        ax.set_xlabel(f"{metric} (gray: paper)", fontsize="small")
        plain(ax, grid="x")
    return figure
