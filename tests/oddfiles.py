"""Answer files as labs have them, drawn with the truth beside them.

A file is a layout of columns, a way to write answers, separators, encodings, names of objects and
columns that say nothing of the answers. What is true of each row is known, so that a reader can be
held to it. Nothing of the package is used here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

WORDS = (
    "apple", "anchor", "bell", "bridge", "candle", "castle", "drum", "eagle", "fern", "flute",
    "garden", "glove", "harbor", "hat", "island", "jacket", "kettle", "lamp", "ladder", "mirror",
    "needle", "ocean", "paper", "piano", "quilt", "ribbon", "saddle", "tiger", "umbrella",
    "valley", "violin", "whale",
)  # fmt: skip


@dataclass
class Truth:
    """What was asked and answered: ``rows`` has the singled-out object first, or the anchor, the
    near and the far one; ``shown`` is the order on the screen, of the two beside an anchor."""

    kind: str
    rows: list[tuple[str, str, str]]
    shown: list[tuple[str, ...]]
    raters: list[str]
    seconds: list[float]

    def place(self, row: int) -> int:
        return self.shown[row].index(self.rows[row][0 if self.kind != "closer" else 1])


@dataclass
class OddFile:
    """A file with its truth; ``told`` says whether its columns tell the kind."""

    name: str
    content: bytes | dict[str, list[Any]]
    truth: Truth
    told: bool
    options: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write it, and what lies beside it: the path; options that name such a file do so."""
        path = folder / self.name
        assert isinstance(self.content, bytes)
        path.write_bytes(self.content)
        for name, content in self.beside.items():
            (folder / name).write_bytes(content)
        for option, value in self.options.items():
            if value in self.beside:
                self.options[option] = folder / str(value)
        return path


def draw_truth(rng: np.random.Generator, kind: str) -> Truth:
    n_rows = int(rng.choice([14, 40, 240, 240, 600]))
    n_objects = int(rng.choice([rng.integers(5, 9), rng.integers(9, 32), rng.integers(9, 32), 90]))
    names = _names(rng, n_objects)
    at = rng.normal(size=(len(names), 2))
    n_raters = int(rng.integers(6, 11)) if n_rows > 100 else int(rng.integers(1, 4))
    rows, shown, raters = [], [], []
    style = rng.choice(["P{:03d}", "vp{:d}", "{:d}", "rater {:d}"])
    for r in range(n_rows):
        i, j, k = rng.choice(len(names), 3, replace=False).tolist()
        d = np.array([np.hypot(*(at[a] - at[b])) for a, b in ((j, k), (i, k), (i, j))])
        d = d + rng.normal(scale=0.3, size=3)
        three = [names[i], names[j], names[k]]
        if kind == "closer":
            near, far = (three[1], three[2]) if d[2] < d[1] else (three[2], three[1])
            rows.append((three[0], near, far))
            shown.append((three[1], three[2]))
        else:
            first = int(d.argmax() if kind == "central" else d.argmin())
            others = [name for t, name in enumerate(three) if t != first]
            rows.append((three[first], others[0], others[1]))
            shown.append(tuple(three))
        raters.append(style.format(1 + r * n_raters // n_rows))
    seconds = np.round(np.exp(rng.normal(0.8, 0.5, n_rows)), 3) + 0.125
    return Truth(kind, rows, shown, raters, seconds.tolist())


def _names(rng: np.random.Generator, n: int) -> list[str]:
    words = [f"{WORDS[i % 32]}{i // 32 or ''}" for i in rng.permutation(n).tolist()]
    style = rng.integers(6)
    if style == 0:
        return [str(i) for i in rng.permutation(n).tolist()]
    if style == 1:
        return [f"{word}.jpg" for word in words]
    if style == 2:
        return [f"stimuli/{word}_{i:02d}.png" for i, word in enumerate(words)]
    if style == 3:
        return [word.replace("a", "ä").replace("o", "ö").title() for word in words]
    if style == 4:
        return [str(i) for i in rng.choice(np.arange(100, 999), n, replace=False).tolist()]
    return words


Columns = dict[str, list[str]]
Layout = Callable[[np.random.Generator, Truth], tuple[Columns, bool]]


def _three(truth: Truth, names: tuple[str, str, str], at: tuple[int, ...] = (0, 1, 2)) -> Columns:
    return {name: [row[k] for row in truth.shown] for name, k in zip(names, at, strict=True)}


def _coded(truth: Truth, codes: tuple[str, ...]) -> list[str]:
    return [codes[truth.place(r)] for r in range(len(truth.rows))]


def _singled(truth: Truth) -> list[str]:
    return [row[0 if truth.kind != "closer" else 1] for row in truth.rows]


def letters(rng, truth):
    code = rng.choice(["upper", "lower"])
    codes = ("A", "B", "C") if code == "upper" else ("a", "b", "c")
    return _three(truth, ("A", "B", "C")) | {"answer": _coded(truth, codes)}, False


def image_sides(rng, truth):
    names = ("image_left", "image_center", "image_right")
    codes = [("left", "middle", "right"), ("left", "center", "right"), ("Left", "Centre", "Right")]
    word = codes[rng.integers(len(codes))]
    return _three(truth, names) | {"response": _coded(truth, word)}, False


def item_sides(rng, truth):
    names = ("item_left", "item_mid", "item_right")
    codes = [("left", "mid", "right"), ("l", "m", "r"), ("item_left", "item_mid", "item_right")]
    return _three(truth, names) | {"resp": _coded(truth, codes[rng.integers(3)])}, False


def sides_in_another_order(rng, truth):
    columns = _three(truth, ("pic_right", "pic_left", "pic_middle"), (2, 0, 1))
    return columns | {"selected_side": _coded(truth, ("left", "middle", "right"))}, False


def clicked(rng, truth):
    """PsychoPy's own columns beside three pictures."""
    n = len(truth.rows)
    columns: Columns = {
        "trials.thisN": [str(i % 40) for i in range(n)],
        "stimL": [row[0] for row in truth.shown],
        "stimC": [row[1] for row in truth.shown],
        "stimR": [row[2] for row in truth.shown],
        "mouse.x": [f"{x:.4f}" for x in rng.normal(size=n)],
        "mouse.clicked_name": _coded(truth, ("left", "center", "right")),
        "date": [f"2025-03-{1 + i % 9:02d}" for i in range(n)],
    }
    return columns, False


def numbered(rng, truth):
    base = int(rng.integers(2))
    stem = rng.choice(["image", "stimulus", "obj"])
    names = tuple(f"{stem}{k + 1}" for k in range(3))
    codes = tuple(str(k + base) for k in range(3))
    return _three(truth, names) | {"choice": _coded(truth, codes)}, False


def unknown_names(rng, truth):
    columns = _three(truth, ("x", "y", "z")) | {"w": _singled(truth)}
    order = rng.permutation(4).tolist()
    listed = list(columns.items())
    return dict(listed[i] for i in order), False


def german(rng, truth):
    columns = _three(truth, ("Bild 1", "Bild 2", "Bild 3"))
    answers = [_singled(truth), _coded(truth, ("1", "2", "3"))][int(rng.integers(2))]
    return columns | {"Antwort": answers}, False


def with_decoys(rng, truth):
    """A right answer that is known, a condition of three, and what the participant chose."""
    n = len(truth.rows)
    right = [row[int(k)] for row, k in zip(truth.shown, rng.integers(3, size=n), strict=True)]
    columns = _three(truth, ("opt_a", "opt_b", "opt_c"))
    columns["correct_answer"] = right
    columns["condition"] = [str(1 + int(k)) for k in rng.integers(3, size=n)]
    columns["response"] = _coded(truth, ("a", "b", "c"))
    return columns, False


def response_id(rng, truth):
    columns = {"ResponseId": [f"R_{i:07x}" for i in rng.integers(16**7, size=len(truth.rows))]}
    columns |= _three(truth, ("Image 1", "Image 2", "Image 3"))
    return columns | {"Q1": _singled(truth)}, False


def only_shown(rng, truth):
    """Nothing says what was chosen: no advice is right."""
    n = len(truth.rows)
    columns = {"trial": [str(i + 1) for i in range(n)]} | _three(truth, ("p1", "p2", "p3"))
    return columns | {"condition": [str(1 + int(k)) for k in rng.integers(3, size=n)]}, False


def named_odd(rng, truth):
    first = {"odd": "odd_one_out", "central": "most_central", "closer": "anchor"}[truth.kind]
    rest = ("near", "far") if truth.kind == "closer" else ("other_1", "other_2")
    names = (first, *rest)
    return {name: [row[k] for row in truth.rows] for k, name in enumerate(names)}, True


def odd_and_unknown(rng, truth):
    first = {"odd": "odd", "central": "central"}[truth.kind]
    names = (first, "rest a", "rest b")
    return {name: [row[k] for row in truth.rows] for k, name in enumerate(names)}, True


def odd_among_shown(rng, truth):
    name = {"odd": "odd_choice", "central": "chosen_central"}[truth.kind]
    return _three(truth, ("item1", "item2", "item3")) | {name: _singled(truth)}, True


def no_header(rng, truth):
    return {f"#{k}": [row[k] for row in truth.rows] for k in range(3)}, False


def no_header_with_subject(rng, truth):
    columns = {"#0": truth.raters}
    return columns | {f"#{k + 1}": [row[k] for row in truth.rows] for k in range(3)}, False


def no_header_with_answer(rng, truth):
    columns = {f"#{k}": [row[k] for row in truth.shown] for k in range(3)}
    return columns | {"#3": _singled(truth)}, False


def no_header_two_and_subject(rng, truth):
    """Three columns that are not three objects."""
    columns = {"#0": [f"subject {rater}" for rater in truth.raters]}
    return columns | {f"#{k + 1}": [row[k] for row in truth.rows] for k in range(2)}, False


def reference_and_letters(rng, truth):
    columns = {"reference": [row[0] for row in truth.rows]}
    columns |= {"A": [s[0] for s in truth.shown], "B": [s[1] for s in truth.shown]}
    return columns | {"answer": _coded(truth, ("A", "B"))}, True


def reference_and_unknown(rng, truth):
    columns = {"ref": [row[0] for row in truth.rows]}
    columns |= {"opt1": [s[0] for s in truth.shown], "opt2": [s[1] for s in truth.shown]}
    answers = [_singled(truth), _coded(truth, ("1", "2")), _coded(truth, ("0", "1"))]
    return columns | {"pick": answers[rng.integers(3)]}, True


def nothing_but_cells(rng, truth):
    columns = {"c1": [row[0] for row in truth.rows]}
    columns |= {"c2": [s[0] for s in truth.shown], "c3": [s[1] for s in truth.shown]}
    return columns | {"c4": _singled(truth)}, True


def center_and_sides(rng, truth):
    columns = {"Center": [row[0] for row in truth.rows]}
    columns |= {"Left": [s[0] for s in truth.shown], "Right": [s[1] for s in truth.shown]}
    answers = [_singled(truth), _coded(truth, ("left", "right")), _coded(truth, ("Left", "Right"))]
    return columns | {"Answer": answers[rng.integers(3)]}, True


def center_is_the_middle(rng, truth):
    columns = _three(truth, ("Left", "Center", "Right"))
    answers = [_singled(truth), _coded(truth, ("left", "center", "right"))]
    return columns | {"Answer": answers[rng.integers(2)]}, False


def winner_and_loser(rng, truth):
    return {
        name: [row[k] for row in truth.rows] for k, name in enumerate(("base", "winner", "loser"))
    }, True


def two_answers(rng, truth):
    """A column of what was right, called ``answer``, beside that of the responses."""
    n = len(truth.rows)
    right = [row[int(k)] for row, k in zip(truth.shown, rng.integers(3, size=n), strict=True)]
    columns = _three(truth, ("shown_1", "shown_2", "shown_3"))
    return columns | {"answer": right, "response": _singled(truth)}, False


OF_THREE: tuple[Layout, ...] = (
    letters, image_sides, item_sides, sides_in_another_order, clicked, numbered, unknown_names,
    german, with_decoys, response_id, only_shown, named_odd, odd_and_unknown, odd_among_shown,
    no_header, no_header_with_subject, no_header_with_answer, no_header_two_and_subject,
    center_is_the_middle, two_answers,
)  # fmt: skip
OF_TWO: tuple[Layout, ...] = (
    reference_and_letters, reference_and_unknown, nothing_but_cells, center_and_sides,
    winner_and_loser, named_odd,
)  # fmt: skip


# studies as labs have them: several answers in a row, or the objects elsewhere


def draw_asked(rng: np.random.Generator, kind: str) -> tuple[Truth, list[list[int]]]:
    """The same questions, asked of everybody; and for each rater the rows of the answers."""
    truth = draw_truth(rng, kind)
    n_asked, n_raters = int(rng.integers(6, 20)), int(rng.integers(4, 12))
    seen: dict[Any, int] = {}
    for row, shown in enumerate(truth.shown):
        seen.setdefault(frozenset((*shown, *truth.rows[row])), row)
    asked = list(seen.values())[:n_asked]
    rows, shown, raters, of = [], [], [], []
    for rater in range(n_raters):
        mine = []
        for question in asked:
            first = truth.rows[question]
            if rng.random() < 0.2:  # somebody sees it differently
                first = (
                    (first[0], first[2], first[1]) if kind == "closer" else first[1:] + first[:1]
                )
            mine.append(len(rows))
            rows.append(first)
            shown.append(truth.shown[question])
            raters.append(f"R_{rater:04d}")
        of.append(mine)
    return Truth(kind, rows, shown, raters, []), of


def _design(truth: Truth, asked: list[int], ids: list[str]) -> bytes:
    """The table of questions."""
    anchored = truth.kind == "closer"
    lines = [["id", *(["anchor"] if anchored else []), *"abc"[: 2 if anchored else 3]]]
    for name, row in zip(ids, asked, strict=True):
        lines.append([name, *([truth.rows[row][0]] if anchored else []), *truth.shown[row]])
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue().encode()


def _answers(rng: np.random.Generator, truth: Truth) -> list[str]:
    """By name, by a number from 1, or by a letter."""
    n = 2 if truth.kind == "closer" else 3
    how = rng.integers(3)
    if how == 0:
        return _singled(truth)
    return _coded(truth, tuple("123"[:n]) if how == 1 else tuple("ABC"[:n]))


def _drop(rng: np.random.Generator, truth: Truth, of: list[list[int]]) -> set[int]:
    """Answers that were not given."""
    gone = {row for mine in of for row in mine if rng.random() < 0.05}
    kept = [row for row in range(len(truth.rows)) if row not in gone]
    truth.rows, truth.shown, truth.raters = (
        [each[row] for row in kept] for each in (truth.rows, truth.shown, truth.raters)
    )
    return gone


def wide_with_questions(rng: np.random.Generator) -> OddFile:
    """A row per participant, a column per question, with one, two or three rows of header."""
    kind = str(rng.choice(["central", "odd", "closer"]))
    truth, of = draw_asked(rng, kind)
    ids = [f"Q{i + 1}" for i in range(len(of[0]))]
    design = _design(truth, of[0], ids)
    said = _answers(rng, truth)
    header = int(rng.integers(1, 4))
    top: Columns = {"StartDate": ["Start Date", '{"ImportId":"startDate"}']}
    top |= {"ResponseId": ["Response ID", '{"ImportId":"_recordId"}']}
    top |= {name: ["Which one do you choose?", f'{{"ImportId":"QID{name[1:]}"}}'] for name in ids}
    top |= {"age": ["How old are you?", '{"ImportId":"QID99"}']}
    raters = [truth.raters[mine[0]] for mine in of]
    gone = _drop(rng, truth, of)
    cells: Columns = {"StartDate": ["2025-03-01"] * len(of), "ResponseId": raters}
    for i, name in enumerate(ids):
        cells[name] = ["" if mine[i] in gone else said[mine[i]] for mine in of]
    cells["age"] = [str(20 + i) for i in range(len(of))]
    columns = {name: top[name][: header - 1] + cells[name] for name in top}
    name, content = _written(rng, columns, True, "text", False)
    file = OddFile(name, content, truth, kind == "closer", {"questions": "questions.csv"})
    file.beside["questions.csv"] = design
    return file


def wide_with_own_questions(rng: np.random.Generator) -> OddFile:
    """A row per participant with the objects and the answer of each of his questions."""
    kind = str(rng.choice(["central", "odd", "closer"]))
    truth, of = draw_asked(rng, kind)
    said = _answers(rng, truth)
    stem = str(rng.choice(["t{}_", "Trial {} ", "q{}"]))
    beside = ("l", "r") if kind == "closer" else ("a", "b", "c")
    columns: Columns = {"pid": [truth.raters[mine[0]] for mine in of]}
    for k in range(len(of[0])):
        rows = [mine[k] for mine in of]
        cells = {part: [truth.shown[row][j] for row in rows] for j, part in enumerate(beside)}
        if kind == "closer":
            cells["ref"] = [truth.rows[row][0] for row in rows]
        cells["resp"] = [said[row] for row in rows]
        columns |= {stem.format(k + 1) + part: each for part, each in cells.items()}
    name, content = _written(rng, columns, True, "text", False)
    return OddFile(name, content, truth, False)


def long_with_questions(rng: np.random.Generator) -> OddFile:
    """A row per answer with the id of its question."""
    kind = str(rng.choice(["central", "odd", "closer"]))
    truth, of = draw_asked(rng, kind)
    ids = [f"t{i:03d}" for i in range(len(of[0]))]
    called = str(rng.choice(["trial", "question", "item_nr", "stimulus_set"]))
    columns: Columns = {
        "participant": truth.raters,
        called: [ids[i] for mine in of for i in range(len(mine))],
        str(rng.choice(["response", "answer"])): _answers(rng, truth),
    }
    form = str(rng.choice(["text", "excel", "json", "parquet"]))
    name, content = _written(rng, columns, True, form, False)
    file = OddFile(name, content, truth, kind == "closer", {"questions": "questions.csv"})
    file.beside["questions.csv"] = _design(truth, of[0], ids)
    return file


OF_LABS: tuple[Callable[[np.random.Generator], OddFile], ...] = (
    wide_with_questions,
    long_with_questions,
    wide_with_own_questions,
)


def odd_file(seed: int) -> OddFile:
    """One of the files; the layouts take turns, everything else is drawn."""
    rng = np.random.default_rng([20250301, seed])
    layouts = [*OF_THREE, *OF_TWO]
    turn = seed % (len(layouts) + len(OF_LABS))
    if turn >= len(layouts):
        made = OF_LABS[turn - len(layouts)]
        file = made(rng)
        file.name = f"{seed:03d}_{made.__name__}_{file.name}"
        file.beside = {f"{seed:03d}_{name}": content for name, content in file.beside.items()}
        file.options = {
            option: f"{seed:03d}_{value}" if f"{seed:03d}_{value}" in file.beside else value
            for option, value in file.options.items()
        }
        return file
    layout = layouts[turn]
    kind = "closer" if layout in OF_TWO else str(rng.choice(["central", "odd"]))
    if layout is named_odd and turn < len(OF_THREE):
        kind = str(rng.choice(["central", "odd"]))
    truth = draw_truth(rng, kind)
    columns, told = layout(rng, truth)
    header = not next(iter(columns)).startswith("#")
    form = str(rng.choice(["text", "text", "text", "excel", "json", "jsonl", "parquet"]))
    comma = False
    if header:
        comma = form == "text" and bool(rng.integers(2))
        columns = _with_others(rng, truth, columns, comma)
    else:
        form = "text"
        truth.seconds = []
        if layout is not no_header_with_subject:
            truth.raters = []
    name, content = _written(rng, columns, header, form, comma)
    return OddFile(f"{seed:03d}_{layout.__name__}_{name}", content, truth, told)


def _with_others(rng: np.random.Generator, truth: Truth, columns: Columns, comma: bool) -> Columns:
    """The rater, the time, and columns that say nothing of the answer."""
    n = len(truth.rows)
    others: Columns = {}
    called = str(rng.choice(["participant", "worker_id", "vp", "subject", ""]))
    if called:
        others[called] = truth.raters
    else:
        truth.raters = []
    times = [f"{t:.3f}" for t in truth.seconds]
    if comma:
        times = [t.replace(".", ",") for t in times]
    clock = str(rng.choice(["rt", "seconds", "rt_ms", ""]))
    if clock == "rt_ms":
        others[clock] = [f"{1000 * t:.0f}" for t in truth.seconds]
    elif clock:
        others[clock] = times
    else:
        truth.seconds = []
    if rng.integers(2):
        others["trial_nr"] = [str(1 + i % 40) for i in range(n)]
    if rng.integers(2):
        others["age"] = [str(20 + len(r) + hash_of(r) % 40) for r in (truth.raters or ["x"] * n)]
    if rng.integers(2):
        others["comment"] = ["", "ok", "n/a"][int(rng.integers(3))].split(" ") * n
    if rng.integers(2):
        others["score"] = [f"{x:.2f}" for x in rng.random(n)]
    both = list((others | columns).items() if rng.integers(2) else (columns | others).items())
    return dict(both)


def hash_of(text: str) -> int:
    return sum(map(ord, text))


def _written(
    rng: np.random.Generator, columns: Columns, header: bool, form: str, comma: bool
) -> tuple[str, bytes]:
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    if form == "excel":
        return "book.xlsx", _excel(columns, rows)
    if form in ("json", "jsonl"):
        records = [dict(zip(columns, map(_typed, row), strict=True)) for row in rows]
        if form == "json":
            return "records.json", json.dumps(records, ensure_ascii=bool(rng.integers(2))).encode()
        # lines keep one type in a column
        lines = [dict(zip(columns, row, strict=True)) for row in rows]
        return "lines.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode()
    if form == "parquet":
        return "table.parquet", _parquet(columns)
    separator = str(rng.choice([";", "\t"] if comma else [",", ";", "\t"]))
    if not comma and rng.integers(8) == 0:
        separator = ","
    quoting = csv.QUOTE_ALL if rng.integers(3) == 0 else csv.QUOTE_MINIMAL
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=separator,
        quoting=quoting,
        lineterminator=str(rng.choice(["\n", "\r\n"])),
    )
    if header:
        writer.writerow(columns)
    writer.writerows(rows)
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-8"]))
    ending = {",": ".csv", ";": ".csv", "\t": str(rng.choice([".tsv", ".txt"]))}[separator]
    return f"{encoding}{ending}", text.getvalue().encode(encoding)


def _typed(cell: str) -> Any:
    if cell in ("", "n/a"):
        return None
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(cell)
    except ValueError:
        return cell


def _excel(columns: Columns, rows: list[list[str]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(list(columns))
    for row in rows:
        sheet.append([_typed(cell) for cell in row])
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def _parquet(columns: Columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = io.BytesIO()
    typed = {}
    for name, cells in columns.items():
        values = [_typed(cell) for cell in cells]
        kinds = {type(value) for value in values if value is not None}
        typed[name] = values if len(kinds) <= 1 or kinds == {int, float} else cells
    pq.write_table(pa.table(typed), made)
    return made.getvalue()
