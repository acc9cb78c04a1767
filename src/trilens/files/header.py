"""Whether the first row of a text file names the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from trilens.files.spec import Columns
from trilens.statements.roles import names_a_column, roles
from trilens.statements.shapes import complete_shapes

#: Data rows below which recurring names prove nothing.
_FEWEST = 2
#: The share of the names below that must come more than once.
_RECURRING = 0.8


def is_number(cell: str) -> bool:
    """Whether a cell is a number, perhaps with a decimal comma.

    >>> [is_number(cell) for cell in ["7", "-0.5", "1e5", "2,281", "nan", "x7"]]
    [True, True, True, True, False, False]
    """
    try:
        value = float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return value == value


def has_header(
    first: Sequence[str],
    rows: Sequence[Sequence[str]],
    spec: Columns | None,
    objects: Sequence[int],
    listed: Container[str],
) -> bool:
    """Whether the first row names the columns of those below.

    It does where its cells name all columns of a statement; where a cell is the name of a column
    and of nothing below; where text stands above numbers; and where none of its cells comes
    again while most names below do.

    Parameters
    ----------
    objects
        The columns that name objects, as far as they are known.
    listed
        Names of objects; a row of them is no header.
    """
    # of files put one after the other the header comes again, so that nothing below is asked
    if complete_shapes({role.name: role.kind for role in roles(first).values()}):
        return True
    cells = [first[i] for i in objects if i < len(first)]
    if cells and all(cell in listed for cell in cells):
        return False
    if spec is not None and spec.mapping is not None and spec.by_name(first):
        return True
    below = Counter(cell for row in rows for cell in row)
    if any(not below[first[i]] for i in roles(first)):
        return True
    # half a set of names, such as Right without Left
    if any(not below[cell] and names_a_column(cell) and not is_number(cell) for cell in first):
        return True
    if any(map(is_number, first)):
        return False
    if not rows:
        return False
    texts = [cell for cell in cells if cell]
    others = [row for row in rows if list(row) != list(first)] or rows
    if len(texts) == len(cells) > 0 and all(
        _plain_number(row[i]) for row in others for i in objects if i < len(row)
    ):
        return True
    if len(first) > 3 and any(
        all(is_number(row[i]) for row in others if i < len(row)) for i in range(len(first))
    ):
        return True
    names = Counter(row[i] for row in rows for i in objects if i < len(row))
    return (
        len(rows) >= _FEWEST
        and bool(texts)
        and not any(names[cell] for cell in cells)
        and sum(times > 1 for times in names.values()) >= _RECURRING * len(names) > 0
    )


def _plain_number(cell: str) -> bool:
    return cell.removeprefix("-").isdigit()
