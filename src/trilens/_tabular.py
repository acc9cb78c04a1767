"""Results as tables: HTML in a notebook, and pandas where it is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from unicodedata import combining

from trilens.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

#: More rows than these are cut, with a line that says so.
MOST_ROWS = 60


class AsDict:
    """A dataclass whose fields are the facts that it reports."""

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return facts(self, *(field.name for field in fields(self)))  # type: ignore[arg-type]


def facts(result: Any, *names: str) -> dict[str, Any]:
    """Some attributes of a result, in the types that JSON knows."""
    return {name: plain(getattr(result, name)) for name in names}


def plain(value: Any) -> Any:
    """The value in the types that JSON knows: arrays and tuples as lists, NaN as None.

    >>> plain({"a": (1, [0.5, float("nan")])})
    {'a': [1, [0.5, None]]}
    """
    if is_dataclass(value):
        return value.to_dict() if hasattr(value, "to_dict") else AsDict.to_dict(value)  # type: ignore[arg-type]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and value != value else value


def records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a table, each by the names of its columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class Tabular(ABC):
    """A result that is a table.

    It shows itself in two lines: what was found, and how to get at the rest.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # a dataclass keeps a __repr__ that its class has, and writes all fields out otherwise
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        columns = self.columns()
        n = len(next(iter(columns.values()), ()))
        rows = f"{counted(n, 'row')} of {', '.join(columns)}" if n else "no rows"
        more = f"({_begun(rows, 60)}; .to_frame(), .to_dict())"
        return f"{type(self).__name__}: {_begun(self._headline(), 180)}\n  {more}"

    def _headline(self) -> str:
        """What was found, in a line: by default the fields that are single values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        shown = {
            name: float(f"{value:.3g}") if type(value) is float else value
            for name, value in values.items()
            if isinstance(value, str | int | float)
        }
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns by their names, all of the same length."""

    def to_frame(self) -> pd.DataFrame:
        """The result as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("to_frame()", "pandas") from None
        return pd.DataFrame(dict(self.columns()))

    def _repr_html_(self) -> str:
        columns = self.columns()
        rows = zip(*columns.values(), strict=True)
        return table(list(columns), rows, caption=type(self).__name__)


def text_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """A table in plain text: the first column to the left, the others to the right.

    >>> print(text_table({"object": ["a", "bus"], "depth": [0.25, None]}))
    object  depth
    a       0.250
    bus         -
    """
    rows = [list(map(as_text, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(aligned([list(columns), *rows]))


def aligned(
    lines: Sequence[Sequence[str]], left: int = 1, width: Callable[[str], int] = len
) -> Iterator[str]:
    """Lines of cells below each other, the first ``left`` of each line to the left."""
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = []
        for i, (text, widest) in enumerate(zip(line, widths, strict=True)):
            space = " " * (widest - width(text))
            cells.append(text + space if i < left else space + text)
        yield "  ".join(cells).rstrip()


def as_text(value: Any, missing: str = "-") -> str:
    """A value as a table for people shows it."""
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "answer"), counted(1200, "class", "classes")
    ('1 answer', '1,200 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def and_list(texts: Sequence[str]) -> str:
    """Texts in a sentence.

    >>> and_list(["a", "b", "c"]), and_list(["a"])
    ('a, b and c', 'a')
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def shorten(text: str, most: int = 24) -> str:
    """A name cut in the middle where it is too long: names differ at their ends.

    >>> shorten("scene_0001_left_bright_a.png", 18)
    'scene_000…ht_a.png'
    >>> shorten("cat")
    'cat'
    """
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    end = text[len(text) - tail :]
    # an accent, or the second half of a joined sign, does not stand alone
    while end and (combining(end[0]) or end[0] in "\u200d\ufe0e\ufe0f"):
        end = end[1:]
    return f"{text[: most - 1 - tail]}…{end}"


def _begun(text: str, most: int) -> str:
    """The first whole words of a text that is too long.

    >>> _begun("rows of object, label, height", 20)
    'rows of object, …'
    """
    if len(text) <= most:
        return text
    words = text[: most - 1].rpartition(" ")[0]
    return f"{words} …" if words else shorten(text, most)


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
    shown = escape(as_text(value, "\N{EN DASH}"))
    return f'<td style="text-align:{"right" if number else "left"}">{shown}</td>'


def natural(name: str) -> tuple[bool, int, str, str]:
    """A key by which numbers come by their size, before other names.

    >>> sorted(["b", "10", "9"], key=natural)
    ['9', '10', 'b']
    """
    if not name.isdecimal():
        return True, 0, "", name
    digits = name.lstrip("0")
    return False, len(digits), digits, name
