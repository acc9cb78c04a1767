"""Questions that stand in a table of their own: which objects each of them shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trilens.errors import FormatError
from trilens.statements.columns import one_line, quoted
from trilens.statements.names import is_missing
from trilens.statements.roles import SHOWN, key, roles

#: What the column of ids may be called.
_ID = frozenset(
    {
        *("id", "question", "questionid", "qid", "trial", "trialid", "item", "itemid", "triplet"),
        *("tripletid", "name", "number", "nr", "code", "variable", "column"),
    }
)
_LETTERS = (("a", "b", "c"), ("x", "y", "z"), ("1", "2", "3"))


@dataclass(frozen=True)
class Questions:
    """What each question shows.

    Attributes
    ----------
    label
        How messages name the table.
    id_name
        Of its column of ids.
    of : dict from id to tuple of str
        The objects to choose from: three, or two beside an anchor.
    anchors : dict from id to str
        What they are compared with; empty where there is no anchor.
    """

    label: str
    id_name: str
    of: Mapping[str, tuple[str, ...]] = field(repr=False)
    anchors: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of_rows(
        cls, names: Sequence[str], rows: Sequence[Sequence[str]], label: str = "questions"
    ) -> Questions:
        """From a table with the columns ``id``, ``a``, ``b``, ``c``, or ``anchor``, ``a``, ``b``.

        Raises
        ------
        FormatError
            For missing columns, empty cells, or an id that comes twice.

        Examples
        --------
        >>> Questions.of_rows(["id", "a", "b", "c"], [["Q1", "van", "bus", "car"]]).of
        {'Q1': ('van', 'bus', 'car')}
        """
        at_id, anchor, shown = _columns(names, label)
        of: dict[str, tuple[str, ...]] = {}
        anchors: dict[str, str] = {}
        for number, row in enumerate(rows, 2):
            where = f"{label}, row {number:,}"
            cells = [row[i].strip() for i in (at_id, *shown, *([] if anchor is None else [anchor]))]
            if any(map(is_missing, cells)):
                raise FormatError(f"{where}: an empty cell; every question has its objects")
            name, *objects = cells
            if name in of:
                raise FormatError(f"{where}: the id {quoted(name)} comes twice; list it once")
            if len(set(objects)) < len(objects):
                raise FormatError(f"{where}: an object comes twice in question {quoted(name)}")
            of[name] = tuple(objects[: len(shown)])
            if anchor is not None:
                anchors[name] = objects[-1]
        if not of:
            raise FormatError(f"{label} has no questions, only a header")
        return cls(label, names[at_id], of, anchors)

    @property
    def width(self) -> int:
        """Objects to choose from in each question."""
        return len(next(iter(self.of.values())))

    def find(self, names: Sequence[str], titles: Sequence[str] = ()) -> dict[int, str]:
        """The columns that are called as questions are, by their positions.

        >>> Questions("q.csv", "id", {"Q1": ("a", "b", "c")}).find(["age", "q1"])
        {1: 'Q1'}
        """
        exact = {name: name for name in self.of}
        alike = {key(name): name for name in self.of}
        alike = alike if len(alike) == len(self.of) else {}
        found: dict[int, str] = {}
        for listed in (names, titles):
            for i, name in enumerate(listed):
                told = exact.get(name.strip()) or alike.get(key(name))
                if told is not None and i not in found and told not in found.values():
                    found[i] = told
        return found


def _columns(names: Sequence[str], label: str) -> tuple[int, int | None, list[int]]:
    """Where the id, the anchor and the objects to choose from are."""
    keys = [key(name) for name in names]
    found = {role.name: i for i, role in reversed(roles(names).items())}
    anchor = found.get("anchor")
    wanted = 2 if anchor is not None else 3
    sets = [[found[role] for role in SHOWN[:wanted] if role in found]]
    sets += [[keys.index(c) for c in line[:wanted] if c in keys] for line in _LETTERS]
    shown = next((each for each in sets if len(each) == wanted), None)
    ids = [i for i, name in enumerate(keys) if name in _ID and i not in (shown or ())]
    if shown is None or not ids:
        raise FormatError(
            f"{label}: a table of questions has the columns id, a, b, c (or id, anchor, a, b); "
            f"it has {one_line(', '.join(names), 120)}"
        )
    return ids[0], anchor, shown
