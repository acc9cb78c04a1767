"""Figures of how good the answers are, and how good models are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from trilens.errors import ParameterError
from trilens.plots.style import ACCENT, INK, PALETTE, axes_or_new, name_rows, plain, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.questions.evaluate import Comparison, Evaluation
    from trilens.questions.reliability import Reliability

#: More raters than these are not named.
_MOST_NAMED = 60


def rater_intervals(found: Reliability, *, ax: Axes | None = None) -> Axes:
    """The share of careless answers of each rater, with its interval.

    Those who seem to guess, or to choose one place, are marked.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> from trilens.questions.reliability import reliability
    >>> S = study(n_objects=16, n_statements=400, n_raters=5).statements
    >>> ax = rater_intervals(reliability(S))
    >>> ax.get_xlabel()
    'share of careless answers'
    """
    result_of("reliability", found, "guessing_share")
    known = [row for row in found.raters if row.blind is not None]
    if not known:
        raise ParameterError("no raters can be judged, so there is nothing to plot")
    rows = sorted(known, key=lambda row: row.blind or 0)
    ax = axes_or_new(ax, (6.0, float(np.clip(0.9 + 0.16 * len(rows), 2.0, 11.0))))
    at = np.arange(len(rows))
    odd = np.array([row.guessing or row.one_place for row in rows])
    low = np.array([row.blind_low for row in rows])
    high = np.array([row.blind_high for row in rows])
    lapse = np.array([row.blind for row in rows])
    for mask, colour, marker, label in (
        (~odd, PALETTE[0], "o", "not shown to be careless"),
        (odd, ACCENT, "D", "careless, or always one place"),
    ):
        if mask.any():
            ax.hlines(at[mask], low[mask], high[mask], color=colour, alpha=0.45, linewidth=1.6)
            ax.scatter(
                lapse[mask], at[mask], s=16, color=colour, marker=marker, label=label, zorder=3
            )
    named = len(rows) <= _MOST_NAMED
    name_rows(ax, at if named else [], [row.rater for row in rows] if named else [])
    ax.tick_params(axis="y", labelsize=7, length=0)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-1, len(rows))
    ax.set_xlabel("share of careless answers")
    ax.set_ylabel(f"{found.unit or 'rater'}s, most careful first" if not named else "")
    if odd.any():
        ax.legend(frameon=False, loc="lower right", fontsize=8)
    plain(ax, grid="x")
    return ax


def ceiling_bar(found: Reliability, *, ax: Axes | None = None) -> Axes:
    """On one bar: chance, prediction, agreement and the best possible score.

    Examples
    --------
    >>> from trilens.questions.reliability import reliability
    >>> from trilens.statements import Statements
    >>> S = Statements([[0, 1, 2]] * 30 + [[3, 4, 5], [1, 2, 5]] * 20, kind="central")
    >>> ax = ceiling_bar(reliability(S))
    >>> ax.get_xlabel()
    'share of the answers'
    """
    result_of("reliability", found, "guessing_share")
    ax = axes_or_new(ax, (6.4, 2.3))
    ax.barh(0, 1.0, height=0.5, color="#F0F0F0")
    ax.barh(0, found.chance, height=0.5, color="#D9D9D9")
    marks: list[tuple[str, float, tuple[float, float] | None, str]] = [
        ("guessing", found.chance, None, INK)
    ]
    if found.predicted is not None:
        ax.barh(
            0,
            found.predicted - found.chance,
            left=found.chance,
            height=0.5,
            color=PALETTE[5],
            alpha=0.8,
        )
        marks.append(("predicted by a map", found.predicted, None, PALETTE[0]))
    if found.between is not None:
        text = f"two {found.unit or 'answer'}s agree"
        marks.append((text, found.between.share, found.between.interval, PALETTE[2]))
    if found.reachable is not None:
        marks.append(("best possible", found.reachable, found.reachable_interval, ACCENT))
    marks.sort(key=lambda mark: mark[1])
    for i, (text, value, ends, colour) in enumerate(marks):
        # labels of near values must not meet: above, below, and again farther off
        at = (0.38, -0.38, 0.66, -0.66)[i % 4]
        ax.plot([value, value], [-0.33, 0.33], color=colour, linewidth=2)
        ax.plot([value, value], [0.0, at], color=colour, linewidth=0.8)
        if ends is not None:
            ax.plot(ends, [0.0, 0.0], color=colour, linewidth=5, alpha=0.45, solid_capstyle="butt")
        ax.annotate(
            f"{text} {value:.0%}",
            (value, at),
            ha="center",
            va="bottom" if at > 0 else "top",
            fontsize=8.5,
            color=colour,
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(-1.0, 1.0)
    ax.set_yticks([])
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    ax.set_xlabel("share of the answers")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def models_against_ceiling(
    models: Comparison | Sequence[Evaluation], *, ax: Axes | None = None
) -> Axes:
    """The accuracy of each model with its interval, between chance and the ceiling.

    Of a `Comparison` also, as rings, that of the models after a linear map.
    """
    from trilens.questions.evaluate import Comparison

    bent = {}
    if isinstance(models, Comparison):
        if models.aligned is not None:
            bent = {model.name: model for model in models.aligned.models}
        models = models.models
    for model in models:
        result_of("evaluate", model, "of_ceiling")
    if not models:
        raise ParameterError("no models to plot; give at least one evaluation", parameter="models")
    ax = axes_or_new(ax, (6.4, 1.5 + 0.42 * len(models)))
    first = models[0]
    lines = [("guessing", first.chance, INK, ":")]
    if first.agreement is not None:
        lines.append(("two raters", first.agreement, PALETTE[2], "--"))
    if first.ceiling is not None:
        lines.append(("ceiling", first.ceiling, ACCENT, "-"))
        if first.ceiling_interval is not None:
            ax.axvspan(*first.ceiling_interval, color=ACCENT, alpha=0.15, linewidth=0)
    for text, value, colour, style in lines:
        ax.axvline(value, color=colour, linewidth=1.2, linestyle=style)
        ax.annotate(
            text,
            (value, 1.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontsize=8,
            color=colour,
        )
    for i, model in enumerate(models):
        at = len(models) - 1 - i
        ax.hlines(at, *model.interval, color=PALETTE[0], linewidth=4, alpha=0.4)
        ax.scatter(model.accuracy, at, s=30, color=PALETTE[0], zorder=3)
        if model.name in bent:
            aligned = bent[model.name]
            ax.hlines(at - 0.22, *aligned.interval, color=PALETTE[1], linewidth=4, alpha=0.4)
            ax.scatter(
                aligned.accuracy,
                at - 0.22,
                s=30,
                facecolor="none",
                edgecolor=PALETTE[1],
                zorder=3,
                label="after a linear map" if len(ax.get_legend_handles_labels()[1]) == 0 else None,
            )
    if bent:
        ax.legend(loc="best", frameon=False, fontsize=8)
    name_rows(ax, range(len(models)), [model.name for model in reversed(models)])
    ax.set_ylim(-0.6, len(models) - 0.4)
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    ax.set_xlabel("share of people's answers that the model predicts")
    plain(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
