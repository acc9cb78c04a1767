"""Odd files whose truth is known: never misread in silence, never a hint that misleads.

A file is a layout of columns, a way to write answers, separators, encodings, names of objects and
columns that say nothing of the answers. What is true of each row is known, so that a reader can be
held to it.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trilens.errors import AssumedKindWarning, TrilensError
from trilens.files import Reading, read_statements
from trilens.statements import Statements

WORDS = (
    "apple", "anchor", "bell", "bridge", "candle", "castle", "drum", "eagle", "fern", "flute",
    "garden", "glove", "harbor", "hat", "island", "jacket", "kettle", "lamp", "ladder", "mirror",
    "needle", "ocean", "paper", "piano", "quilt", "ribbon", "saddle", "tiger", "umbrella",
    "valley", "violin", "whale",
)  # fmt: skip

Columns = dict[str, list[str]]


@dataclass
class Truth:
    """What was asked and answered: ``rows`` has the singled-out object first, or the anchor, the
    near and the far one; ``shown`` is the order on the screen, of the two beside an anchor."""

    kind: str
    rows: list[tuple[str, str, str]]
    shown: list[tuple[str, ...]]
    raters: list[str]
    seconds: list[float]

    def answers(self, way: str) -> list[str]:
        """By name, or by a word for each place on the screen."""
        named = [row[0 if self.kind != "closer" else 1] for row in self.rows]
        if way == "name":
            return named
        words = way.split()
        return [words[shown.index(name)] for shown, name in zip(self.shown, named, strict=True)]


@dataclass
class OddFile:
    """A file with its truth; ``told`` says whether its columns tell the kind."""

    name: str
    columns: Columns
    truth: Truth
    told: bool
    header: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    #: Text that lies beside it: the table of questions.
    questions: pd.DataFrame | None = None


@dataclass
class Layout:
    """Names of columns, with a comma between; ``rows`` are those of the objects in the order of
    the truth, and the first one alone is an anchor where others are ``shown``."""

    rows: str = ""
    shown: str = ""
    answer: str = ""
    #: By name, or words for the places.
    ways: tuple[str, ...] = ("name",)
    #: Columns that say nothing of the answer.
    more: str = ""
    kinds: tuple[str, ...] = ("central", "odd")
    told: bool = False
    #: What the columns show: the places on the screen.
    places: tuple[int, ...] = (0, 1, 2)
    header: bool = True
    shuffled: bool = False


NO_HEADER: dict[str, Any] = {"header": False}
ANCHOR: dict[str, Any] = {"kinds": ("closer",), "told": True}
ODD: dict[str, Any] = {"kinds": ("odd",), "told": True}
CENTRAL: dict[str, Any] = {"kinds": ("central",), "told": True}
SIDES = ("left middle right", "left center right", "Left Centre Right")

LAYOUTS = {
    "letters": Layout("", "A,B,C", "answer", ("A B C", "a b c")),
    "image_sides": Layout("", "image_left,image_center,image_right", "response", SIDES),
    "item_sides": Layout(
        "",
        "item_left,item_mid,item_right",
        "resp",
        ("left mid right", "l m r", "item_left item_mid item_right"),
    ),
    "sides_in_another_order": Layout(
        "", "pic_right,pic_left,pic_middle", "selected_side", SIDES[:1], places=(2, 0, 1)
    ),
    "psychopy": Layout(
        "", "stimL,stimC,stimR", "mouse.clicked_name", SIDES[1:2], "trials.thisN,mouse.x,date"
    ),
    "image": Layout("", "image1,image2,image3", "choice", ("0 1 2", "1 2 3")),
    "stimulus": Layout("", "stimulus1,stimulus2,stimulus3", "choice", ("0 1 2", "1 2 3")),
    "obj": Layout("", "obj1,obj2,obj3", "choice", ("0 1 2", "1 2 3")),
    "unknown_names": Layout("", "x,y,z", "w", shuffled=True),
    "german": Layout("", "Bild 1,Bild 2,Bild 3", "Antwort", ("name", "1 2 3")),
    "with_decoys": Layout(
        "", "opt_a,opt_b,opt_c", "response", ("a b c",), "correct_answer,condition"
    ),
    "response_id": Layout("", "Image 1,Image 2,Image 3", "Q1", more="ResponseId"),
    # nothing says what was chosen: no advice is right
    "only_shown": Layout("", "p1,p2,p3", more="trial,condition"),
    "named_odd": Layout("odd_one_out,other_1,other_2", **ODD),
    "named_central": Layout("most_central,other_1,other_2", **CENTRAL),
    "odd_and_unknown": Layout("odd,rest a,rest b", **ODD),
    "central_and_unknown": Layout("central,rest a,rest b", **CENTRAL),
    "odd_among_shown": Layout("", "item1,item2,item3", "odd_choice", **ODD),
    "central_among_shown": Layout("", "item1,item2,item3", "chosen_central", **CENTRAL),
    "no_header": Layout("1,2,3", **NO_HEADER),
    "no_header_with_subject": Layout("1,2,3", more="rater", **NO_HEADER),
    "no_header_with_answer": Layout("", "1,2,3", "4", **NO_HEADER),
    # three columns that are not three objects
    "no_header_two_and_subject": Layout("1,2", more="subject", **NO_HEADER),
    "center_is_the_middle": Layout("", "Left,Center,Right", "Answer", ("name", *SIDES[1:2])),
    # a column of what was right, called answer, beside that of the responses
    "two_answers": Layout("", "shown_1,shown_2,shown_3", "response", more="answer"),
    "reference_and_letters": Layout("reference", "A,B", "answer", ("A B",), **ANCHOR),
    "reference_and_unknown": Layout("ref", "opt1,opt2", "pick", ("name", "1 2", "0 1"), **ANCHOR),
    "nothing_but_cells": Layout("c1", "c2,c3", "c4", **ANCHOR),
    "center_and_sides": Layout(
        "Center", "Left,Right", "Answer", ("name", "left right", "Left Right"), **ANCHOR
    ),
    "winner_and_loser": Layout("base,winner,loser", **ANCHOR),
    "named_anchor": Layout("anchor,near,far", **ANCHOR),
}


def decoys(rng: np.random.Generator, truth: Truth) -> Columns:
    """Columns that say nothing of the answer, though some look as if they did."""
    n = len(truth.rows)
    right = [row[k] for row, k in zip(truth.shown, rng.integers(2, size=n), strict=True)]
    return {
        "correct_answer": right,
        "answer": right,
        "condition": [str(1 + k) for k in rng.integers(3, size=n)],
        "trial": [str(1 + i) for i in range(n)],
        "trials.thisN": [str(i % 40) for i in range(n)],
        "mouse.x": [f"{x:.4f}" for x in rng.normal(size=n)],
        "date": [f"2025-03-{1 + i % 9:02d}" for i in range(n)],
        "ResponseId": [f"R_{i:07x}" for i in rng.integers(16**7, size=n)],
        "rater": truth.raters,
        "subject": [f"subject {rater}" for rater in truth.raters],
    }


def draw_names(rng: np.random.Generator, n: int) -> list[str]:
    words = [f"{WORDS[i % 32]}{i // 32 or ''}" for i in rng.permutation(n).tolist()]
    styles = [
        words,
        [str(i) for i in rng.permutation(n).tolist()],
        [f"{word}.jpg" for word in words],
        [f"stimuli/{word}_{i:02d}.png" for i, word in enumerate(words)],
        [word.replace("a", "ä").replace("o", "ö").title() for word in words],
        [str(i) for i in rng.choice(np.arange(100, 999), n, replace=False).tolist()],
    ]
    return styles[rng.integers(6)]


def draw_truth(rng: np.random.Generator, kind: str) -> Truth:
    n_rows = int(rng.choice([14, 40, 240, 240, 600]))
    n_objects = int(rng.choice([rng.integers(5, 9), rng.integers(9, 32), rng.integers(9, 32), 90]))
    names = draw_names(rng, n_objects)
    at = rng.normal(size=(len(names), 2))
    n_raters = int(rng.integers(6, 11)) if n_rows > 100 else int(rng.integers(1, 4))
    style = rng.choice(["P{:03d}", "vp{:d}", "{:d}", "rater {:d}"])
    truth = Truth(
        kind, [], [], [style.format(1 + r * n_raters // n_rows) for r in range(n_rows)], []
    )
    for _ in range(n_rows):
        three = rng.choice(len(names), 3, replace=False)
        i, j, k = three
        d = np.array([np.hypot(*(at[a] - at[b])) for a, b in ((j, k), (i, k), (i, j))])
        d = d + rng.normal(scale=0.3, size=3)
        shown = tuple(names[x] for x in three)
        if kind == "closer":
            anchor, one, two = shown
            truth.rows.append((anchor, one, two) if d[2] < d[1] else (anchor, two, one))
            truth.shown.append((one, two))
        else:
            first = shown[int(d.argmax() if kind == "central" else d.argmin())]
            truth.rows.append((first, *(name for name in shown if name != first)))
            truth.shown.append(shown)
    truth.seconds = (np.round(np.exp(rng.normal(0.8, 0.5, n_rows)), 3) + 0.125).tolist()
    return truth


def of_layout(rng: np.random.Generator, name: str) -> OddFile:
    layout = LAYOUTS[name]
    truth = draw_truth(rng, str(rng.choice(layout.kinds)))
    rows, shown = list(zip(*truth.rows, strict=True)), list(zip(*truth.shown, strict=True))
    extra = decoys(rng, truth)
    columns = {each: extra[each] for each in layout.more.split(",") if each}
    columns |= {each: list(rows[k]) for k, each in enumerate(layout.rows.split(",")) if each}
    for place, each in zip(layout.places, filter(None, layout.shown.split(",")), strict=False):
        columns[each] = list(shown[place])
    if layout.answer:
        columns[layout.answer] = truth.answers(str(rng.choice(layout.ways)))
    if layout.shuffled:
        columns = {each: columns[each] for each in rng.permutation(list(columns)).tolist()}
    if not layout.header:
        truth.seconds = []
        truth.raters = truth.raters if "rater" in columns else []
    return OddFile(name, columns, truth, layout.told, layout.header)


def draw_asked(rng: np.random.Generator) -> tuple[Truth, list[list[int]]]:
    """The same questions, asked of everybody; and for each rater the rows of the answers."""
    drawn = draw_truth(rng, str(rng.choice(["central", "odd", "closer"])))
    n_asked, n_raters = int(rng.integers(6, 20)), int(rng.integers(4, 12))
    seen: dict[Any, int] = {}
    for row, shown in enumerate(drawn.shown):
        seen.setdefault(frozenset((*shown, *drawn.rows[row])), row)
    truth, of = Truth(drawn.kind, [], [], [], []), []
    for rater in range(n_raters):
        of.append(list(range(len(truth.rows), len(truth.rows) + len(seen))[:n_asked]))
        for question in list(seen.values())[:n_asked]:
            a, b, c = drawn.rows[question]
            if rng.random() < 0.2:  # somebody sees it differently
                a, b, c = (a, c, b) if truth.kind == "closer" else (b, c, a)
            truth.rows.append((a, b, c))
            truth.shown.append(drawn.shown[question])
            truth.raters.append(f"R_{rater:04d}")
    return truth, of


def way_of(rng: np.random.Generator, truth: Truth) -> str:
    way = str(rng.choice(["name", "1 2 3", "A B C"]))
    return way if way == "name" or truth.kind != "closer" else way[:3]


def table_of_questions(truth: Truth, rows: list[int], ids: list[str]) -> pd.DataFrame:
    table = pd.DataFrame([truth.shown[row] for row in rows])
    table.columns = list("abc"[: table.shape[1]])
    if truth.kind == "closer":
        table.insert(0, "anchor", [truth.rows[row][0] for row in rows])
    table.insert(0, "id", ids)
    return table


def wide_with_questions(rng: np.random.Generator) -> OddFile:
    """A row per participant, a column per question, with one, two or three rows of header."""
    truth, of = draw_asked(rng)
    ids = [f"Q{i + 1}" for i in range(len(of[0]))]
    questions = table_of_questions(truth, of[0], ids)
    said = truth.answers(way_of(rng, truth))
    header = int(rng.integers(1, 4))
    top: Columns = {"StartDate": ["Start Date", '{"ImportId":"startDate"}']}
    top |= {"ResponseId": ["Response ID", '{"ImportId":"_recordId"}']}
    top |= {name: ["Which one do you choose?", f'{{"ImportId":"QID{name[1:]}"}}'] for name in ids}
    top |= {"age": ["How old are you?", '{"ImportId":"QID99"}']}
    cells: Columns = {"StartDate": ["2025-03-01"] * len(of)}
    cells["ResponseId"] = [truth.raters[mine[0]] for mine in of]
    gone = rng.random(len(truth.rows)) < 0.05  # answers that were not given
    for i, name in enumerate(ids):
        cells[name] = ["" if gone[mine[i]] else said[mine[i]] for mine in of]
    cells["age"] = [str(20 + i) for i in range(len(of))]
    truth.rows, truth.shown, truth.raters = (
        [each for each, is_gone in zip(values, gone, strict=True) if not is_gone]
        for values in (truth.rows, truth.shown, truth.raters)
    )
    columns = {name: top[name][: header - 1] + cells[name] for name in top}
    told = truth.kind == "closer"
    return OddFile("wide_with_questions", columns, truth, told, questions=questions)


def wide_with_own_questions(rng: np.random.Generator) -> OddFile:
    """A row per participant with the objects and the answer of each of his questions."""
    truth, of = draw_asked(rng)
    said = truth.answers(way_of(rng, truth))
    stem = str(rng.choice(["t{}_", "Trial {} ", "q{}"]))
    columns: Columns = {"pid": [truth.raters[mine[0]] for mine in of]}
    for k in range(len(of[0])):
        rows = [mine[k] for mine in of]
        parts = ("l", "r") if truth.kind == "closer" else ("a", "b", "c")
        cells = {part: [truth.shown[row][j] for row in rows] for j, part in enumerate(parts)}
        if truth.kind == "closer":
            cells["ref"] = [truth.rows[row][0] for row in rows]
        cells["resp"] = [said[row] for row in rows]
        columns |= {stem.format(k + 1) + part: each for part, each in cells.items()}
    return OddFile("wide_with_own_questions", columns, truth, False)


def long_with_questions(rng: np.random.Generator) -> OddFile:
    """A row per answer with the id of its question."""
    truth, of = draw_asked(rng)
    ids = [f"t{i:03d}" for i in range(len(of[0]))]
    called = str(rng.choice(["trial", "question", "item_nr", "stimulus_set"]))
    columns = {"participant": truth.raters, called: ids * len(of)}
    columns[str(rng.choice(["response", "answer"]))] = truth.answers(way_of(rng, truth))
    questions = table_of_questions(truth, of[0], ids)
    told = truth.kind == "closer"
    return OddFile("long_with_questions", columns, truth, told, questions=questions)


OF_LABS = (wide_with_questions, long_with_questions, wide_with_own_questions)
N_LAYOUTS = len(LAYOUTS) + len(OF_LABS)


def odd_file(seed: int, folder: Path) -> tuple[OddFile, Path]:
    """One of the files; the layouts take turns, everything else is drawn."""
    rng = np.random.default_rng([20250301, seed])
    turn = seed % N_LAYOUTS
    forms, comma = ["text", "text", "text", "excel", "json", "jsonl", "parquet"], False
    if turn < len(LAYOUTS):
        file = of_layout(rng, list(LAYOUTS)[turn])
        if file.header:
            comma = bool(rng.integers(2))
            file.columns = with_others(rng, file.truth, file.columns, comma)
    else:
        file = OF_LABS[turn - len(LAYOUTS)](rng)
    long = file.header and not file.name.startswith("wide") and not comma
    form = str(rng.choice(forms)) if long else "text"
    path = written(rng, file, form, comma, folder / f"{seed:03d}_{file.name}")
    if file.questions is not None:
        file.options["questions"] = folder / f"{seed:03d}_questions.csv"
        file.questions.to_csv(file.options["questions"], index=False)
    return file, path


def with_others(rng: np.random.Generator, truth: Truth, columns: Columns, comma: bool) -> Columns:
    """The rater, the time, and columns that say nothing of the answer."""
    n = len(truth.rows)
    others: Columns = {}
    called = str(rng.choice(["participant", "worker_id", "vp", "subject", ""]))
    if called:
        others[called] = truth.raters
    else:
        truth.raters = []
    clock = str(rng.choice(["rt", "seconds", "rt_ms", ""]))
    if clock == "rt_ms":
        others[clock] = [f"{1000 * t:.0f}" for t in truth.seconds]
    elif clock:
        others[clock] = [f"{t:.3f}".replace(".", "," if comma else ".") for t in truth.seconds]
    else:
        truth.seconds = []
    comment = ["", "ok", "n/a"][int(rng.integers(3))]
    more = {
        "trial_nr": [str(1 + i % 40) for i in range(n)],
        "age": [str(20 + sum(map(ord, rater)) % 40) for rater in (truth.raters or ["x"] * n)],
        "comment": [comment] * n,
        "score": [f"{x:.2f}" for x in rng.random(n)],
    }
    others |= {name: cells for name, cells in more.items() if rng.integers(2)}
    return others | columns if rng.integers(2) else columns | others


def typed(cell: str) -> Any:
    for made in (int, float):
        try:
            return made(cell)
        except ValueError:
            continue
    return None if cell in ("", "n/a") else cell


def written(rng: np.random.Generator, file: OddFile, form: str, comma: bool, path: Path) -> Path:
    texts = pd.DataFrame(file.columns, dtype=object)
    values = pd.DataFrame({name: map(typed, texts[name]) for name in texts}, dtype=object)
    if form == "excel":
        path = path.with_suffix(".xlsx")
        values.to_excel(path, index=False)
    elif form == "json":
        path = path.with_suffix(".json")
        values.to_json(path, orient="records", force_ascii=bool(rng.integers(2)))
    elif form == "jsonl":  # lines keep one type in a column
        path = path.with_suffix(".jsonl")
        texts.to_json(path, orient="records", lines=True)
    elif form == "parquet":
        path = path.with_suffix(".parquet")
        kinds = {name: {*map(type, values[name].dropna())} for name in values}
        mixed = [name for name in values if len(kinds[name]) > 1 and str in kinds[name]]
        pq.write_table(pa.table(dict(values.assign(**texts[mixed]))), path)
    else:
        separator = str(rng.choice([";", "\t"] if comma else [",", ",", ";", "\t"]))
        ending = ".csv" if separator != "\t" else str(rng.choice([".tsv", ".txt"]))
        encoding = str(rng.choice(["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-8"]))
        path = path.with_name(f"{path.name}_{encoding}{ending}")
        texts.to_csv(
            path,
            sep=separator,
            header=file.header,
            index=False,
            encoding=encoding,
            quoting=csv.QUOTE_ALL if rng.integers(3) == 0 else csv.QUOTE_MINIMAL,
            lineterminator=str(rng.choice(["\n", "\r\n"])),
        )
    return path


def hinted(message: str, truth: Truth) -> dict[str, Any]:
    """The options that a message advises; of several kinds, the one that was asked."""
    found: dict[str, Any] = {}
    columns = re.findall(r"columns='([^']*)'", message)
    if len(columns) == 1:
        found["columns"] = columns[0]
        kinds = re.findall(r"kind='(\w+)'", message)
        if kinds:
            found["kind"] = truth.kind if truth.kind in kinds else kinds[0]
    encodings = re.findall(r"encoding='([^']*)'", message)
    if encodings:
        found["encoding"] = encodings[0]
    return found


def wrong(S: Statements, reading: Reading, truth: Truth) -> str:
    """What was misread, in words; empty where nothing was."""
    read = list(S)
    if len(read) != len(truth.rows):
        return f"{len(read)} rows instead of {len(truth.rows)}"
    for number, (row, true) in enumerate(zip(read, truth.rows, strict=True)):
        same = row == true if truth.kind == "closer" else (row[0], {*row}) == (true[0], {*true})
        if not same:
            return f"row {number}: {row} instead of {true}"
    if S.raters is not None and S.raters.tolist() != truth.raters:
        return f"raters {S.raters[:3].tolist()} instead of {truth.raters[:3]}"
    if S.seconds is not None and not np.allclose(S.seconds, truth.seconds, atol=1e-3):
        return f"seconds {S.seconds[:3].tolist()} instead of {truth.seconds[:3]}"
    if reading.kind_told and reading.kind != truth.kind:
        return f"kind {reading.kind} instead of {truth.kind}"
    return ""


def outcome(file: OddFile, path: Path) -> tuple[str, str]:
    """What becomes of a file, and why."""
    options: dict[str, Any] = dict(file.options)
    for attempt in ("as it is", "by the hint"):
        told: list[Reading] = []
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                S = read_statements(path, tell=told.append, **options)
        except TrilensError as error:
            message = str(error)
            more = hinted(message, file.truth)
            if attempt == "by the hint" or not more:
                return "refused", message
            options |= more
            continue
        problem = wrong(S, told[0], file.truth)
        if problem:
            silent = "misread" if attempt == "as it is" else "misled"
            return silent, f"{problem}; {options}"
        loud = any(issubclass(each.category, AssumedKindWarning) for each in caught)
        if loud == told[0].kind_told:
            return "misread", "a kind that is assumed is said aloud"
        if loud and told[0].kind != file.truth.kind:
            if attempt == "by the hint":
                return "misled" if "columns" in options else "refused", f"kind after {options}"
            options["kind"] = file.truth.kind  # it is said that the kind is assumed
            continue
        return attempt, ""
    return "refused", "two hints"


@pytest.mark.parametrize(
    "seeds",
    [range(2 * N_LAYOUTS), pytest.param(range(2 * N_LAYOUTS, 360), marks=pytest.mark.slow)],
    ids=["twice", "often"],
)
def test_odd_files(seeds, tmp_path):
    found: Counter[str] = Counter()
    told = []
    for seed in seeds:
        file, path = odd_file(seed, tmp_path)
        what, why = outcome(file, path)
        found[what] += 1
        if what not in ("as it is", "by the hint"):
            told.append(f"{path.name}: {what}: {why}")
    assert found["misread"] == found["misled"] == 0, "\n".join(told)
    assert found["as it is"] + found["by the hint"] >= 0.6 * len(seeds), "\n".join(told)
