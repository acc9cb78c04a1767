"""The figure of a plan: quality against the number of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trilens.plots.style import ACCENT, INK, PALETTE, axes_or_new, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.questions.plan import Plan


def plan_curve(found: Plan, *, ax: Axes | None = None) -> Axes:
    """The quality that a number of answers gives, with its interval, and what the plan takes."""
    ax = axes_or_new(ax, (6.4, 3.8))
    m, value, low, high = (np.array(column) for column in found.columns().values())
    ax.fill_between(m, low, high, color=PALETTE[0], alpha=0.18, linewidth=0, label="95 % interval")
    ax.plot(m, value, color=PALETTE[0], label="expected")
    share = found.goal in ("groups", "classes")
    level = 0.8 if share else found.target
    ax.axhline(level, color=INK, linewidth=0.8, linestyle=":")
    ax.annotate(
        f"{'four of five studies' if share else f'target {found.target:g}'}",
        (m[-1], level),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
        color=INK,
    )
    ax.axvline(found.answers, color=ACCENT, linewidth=1.4)
    ax.axvspan(found.low, found.high, color=ACCENT, alpha=0.07, linewidth=0)
    ax.annotate(
        f"plan: {found.answers:,}",
        (found.answers, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -10),
        textcoords="offset points",
        fontsize=8.5,
        color=ACCENT,
    )
    ax.set_xscale("log")
    ticks = _ticks(float(m[0]), float(m[-1]))
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
    ax.minorticks_off()
    ax.set_xlim(float(m[0]), float(m[-1]))
    if found.goal == "medoid":
        ax.set_ylim(0, min(float(high.max()) * 1.05, found.n_objects))
    else:
        ax.set_ylim(max(min(float(low.min()), 1.0), 0.0), 1.02)
    ax.set_xlabel(f"{found.kind} answers")
    ax.set_ylabel(found.quality)
    ax.legend(frameon=False, fontsize=8, loc="center right")
    plain(ax, grid="y")
    return ax


def _ticks(low: float, high: float) -> list[int]:
    steps = [k * 10**e for e in range(9) for k in (1, 2, 5)]
    return [step for step in steps if low <= step <= high]
