"""Small tables for notebooks: what results show as ``_repr_html_``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

#: More rows than these are cut, with a line that says so.
MOST_ROWS = 60


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str | None = None) -> str:
    """An HTML table of plain values; every value is shown as text.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences
        Numbers stand to the right, floats with three digits; None is a dash.
    caption : str, optional

    Examples
    --------
    >>> print(table(["object", "depth"], [["<a>", 0.25]], caption="Medoid"))
    <table><caption>Medoid</caption><thead><tr><th>object</th><th>depth</th></tr></thead><tbody>
    <tr><td style="text-align:left">&lt;a&gt;</td><td style="text-align:right">0.250</td></tr>
    </tbody></table>
    """
    listed = list(rows)
    top = "".join(f"<th>{escape(name)}</th>" for name in header)
    title = "" if caption is None else f"<caption>{escape(caption)}</caption>"
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed[:MOST_ROWS])
    more = len(listed) - MOST_ROWS
    if more > 0:
        body += f'\n<tr><td colspan="{len(header)}">and {more:,} more</td></tr>'
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _cell(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is None:
        shown = "\N{EN DASH}"
    elif isinstance(value, float):
        shown = f"{value:.3f}"
    else:
        shown = f"{value:,}" if number else escape(str(value))
    return f'<td style="text-align:{"right" if number else "left"}">{shown}</td>'
