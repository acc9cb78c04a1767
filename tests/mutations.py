"""Files that went wrong on their way: well-formed statement files of every format, mutated.

A reader may refuse such a file with a `TrilensError`, or read what is there. It may never raise
anything else, and never name an object that does not stand in the file's data rows.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import sqlite3
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import scipy.io

from trilens.errors import AssumedKindWarning, TrilensError
from trilens.files import read_statements, scan_statements

POOLS = (
    ["van", "bus", "tram", "bike", "plane"],
    ["3", "10", "7", "25", "4"],
    ["Zug, lang", 'Boot "Ö"', "שלום", "🚗 x", "ski"],
)
#: The columns of each layout, and which cells make the statement.
LAYOUTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("central", "other_1", "other_2"), "statement"),
    (("odd", "other_1", "other_2", "rater", "seconds"), "statement"),
    (("head", "winner", "loser", "puid", "rt"), "statement"),
    (("chosen", "shown_1", "shown_2", "shown_3", "subject"), "chosen"),
    (("choice", "image1", "image2", "image3", "RT"), "position"),
    (("Answer", "Center", "Left", "Right"), "pair"),
)
#: Parts of the columns' names; no object has one.
WORDS = ("central", "other", "odd", "rater", "second", "head", "winner", "loser", "puid")
WORDS += ("chosen", "shown", "subject", "choice", "image", "answer", "center", "left", "right")

TEXT = (".csv", ".tsv", ".txt", ".semicolon")
ENDINGS = (
    *TEXT,
    *(".jsonl", ".json", ".rows.json", ".parquet", ".arrow", ".npz", ".npy", ".mat", ".db"),
    *(".xlsx", ".csv.gz", ".csv.zst", ".csv.zip"),
)
CELLS_MUTATIONS = (
    *("reorder", "case", "drop_column", "rename", "extra_column", "missing", "twice", "short"),
    *("swap", "unicode"),
)
BYTES_MUTATIONS = (
    *("drop", "cut", "nul", "quote", "separator", "flip", "repeat", "insert", "newline", "utf8"),
    "bom",
)
SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": " ", ".semicolon": ";"}


@dataclass
class Drawn:
    """A file that was drawn, and what may be read from it."""

    ending: str
    data: bytes
    header: list[str]
    rows: list[list[str]]
    #: The statements, by name, where nothing that matters was changed.
    expected: list[list[str]] | None
    #: Whether bytes were changed after the file was written.
    bytewise: bool
    history: list[str]


def draw(rng: random.Random, ending: str) -> Drawn:
    """A well-formed file and up to four mutations of its cells and of its bytes."""
    names, form = rng.choice(LAYOUTS)
    pool = rng.choice(POOLS)
    header, rows, expected = list(names), [], []
    for _ in range(rng.randint(3, 12)):
        a, b, c = rng.sample(pool, 3)
        more = [f"p{rng.randint(1, 3)}", str(rng.choice([1.5, 2.25, 0.75]))]
        extra = [
            more[1] if name in ("seconds", "rt", "RT") else more[0]
            for name in names
            if name in ("rater", "seconds", "puid", "rt", "subject", "RT")
        ]
        shown = rng.sample([a, b, c], 3)
        if form == "statement":
            rows.append([a, b, c, *extra])
            expected.append([a, b, c])
        elif form == "pair":
            pair = rng.sample([b, c], 2)
            rows.append([b, a, *pair, *extra])
            expected.append([a, b, c])
        else:
            chosen = a if form == "chosen" else ("left", "middle", "right")[shown.index(a)]
            rows.append([chosen, *shown, *extra])
            expected.append([a, *(name for name in shown if name != a)])
    history: list[str] = []
    drawn = Drawn(ending, b"", header, rows, expected, False, history)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        mutate_cells(rng, drawn)
    drawn.data = WRITERS.get(ending, WRITERS[".csv"])(drawn, rng)
    for _ in range(rng.choice([0, 1, 1, 2])):
        drawn.data = mutate_bytes(rng, drawn.data, history)
        drawn.bytewise, drawn.expected = True, None
    return drawn


def mutate_cells(rng: random.Random, drawn: Drawn) -> None:
    """Change the header or some cells, as people and programs do."""
    what = rng.choice(CELLS_MUTATIONS)
    drawn.history.append(what)
    header, rows = drawn.header, drawn.rows
    row = rng.choice(rows)
    at = rng.randrange(len(row))
    if what == "reorder":
        order = rng.sample(range(len(header)), len(header))
        if any(len(r) != len(header) for r in rows):
            return
        header[:] = [header[i] for i in order]
        for r in rows:
            r[:] = [r[i] for i in order]
    elif what == "case":
        header[:] = [rng.choice([name.upper(), name.title(), name]) for name in header]
    elif what == "extra_column":
        header.append("note")
        for r in rows:
            r.append("n")
    else:
        drawn.expected = None
        if what == "drop_column" and len(header) > 1:
            i = rng.randrange(len(header))
            del header[i]
            for r in rows:
                del r[min(i, len(r) - 1)]
        elif what == "rename":
            header[rng.randrange(len(header))] = rng.choice(["", "x", "central", "a,b", "7"])
        elif what == "missing":
            row[at] = rng.choice(["", "NA", "NaN", "null", "None"])
        elif what == "twice":
            row[at] = rng.choice(row)
        elif what == "short":
            del row[at]
        elif what == "swap":
            row[at] = rng.choice(["-1", "1e9", "0x1", "007", "nan", "left"])
        else:
            row[at] = rng.choice(["\u200b", "e\u0301", "\u202eabc", "😀", " ", "\t"])


def mutate_bytes(rng: random.Random, data: bytes, history: list[str]) -> bytes:
    """Drop, cut, insert, repeat or exchange bytes."""
    what = rng.choice(BYTES_MUTATIONS)
    history.append(what)
    at = rng.randrange(len(data) + 1)
    to = min(len(data), at + rng.randint(1, 9))
    if what == "drop":
        return data[:at] + data[to:]
    if what == "cut":
        return data[:at] if rng.random() < 0.7 else data[at:]
    if what == "repeat":
        return data[:to] + data[at:to] * rng.randint(1, 3) + data[to:]
    if what == "separator":
        old, new = rng.sample([b",", b";", b"\t", b" ", b"|"], 2)
        return data.replace(old, new, rng.choice([1, 3, -1]))
    if what == "flip" and data:
        changed = bytearray(data)
        changed[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        return bytes(changed)
    put = {
        "nul": b"\0",
        "quote": b'"',
        "newline": rng.choice([b"\n", b"\r", b"\r\n"]),
        "utf8": rng.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", "é".encode("latin-1")]),
        "bom": rng.choice([b"\xef\xbb\xbf", b"\xff\xfe"]),
    }.get(what, rng.randbytes(rng.randint(1, 6)))
    return data[:at] + put + data[at:] if what != "bom" else put + data


def _separated(drawn: Drawn, rng: random.Random) -> bytes:
    separator = SEPARATORS.get(drawn.ending, ",")
    space = " " if separator != " " and rng.random() < 0.3 else ""
    end = rng.choice(["\n", "\r\n"])

    def quote(cell: str) -> str:
        bare = cell and cell == cell.strip() and not re.search(f'["\n\r\t{separator}]', cell)
        return cell if bare else '"' + cell.replace('"', '""') + '"'

    lines = [(separator + space).join(map(quote, row)) for row in [drawn.header, *drawn.rows]]
    return (end.join(lines) + end).encode()


def _columns(drawn: Drawn) -> dict[str, list[str | None]]:
    """By name; a column that comes twice, or not in every row, makes the file another."""
    width = len(drawn.header)
    columns: dict[str, list[str | None]] = {}
    for i, name in enumerate(drawn.header):
        if name in columns:
            drawn.expected = None
        columns[name] = [row[i] if i < len(row) else None for row in drawn.rows]
    if any(len(row) != width for row in drawn.rows):
        drawn.expected = None
    return columns


def _records(drawn: Drawn) -> list[dict[str, str | None]]:
    columns = _columns(drawn)
    return [{n: column[i] for n, column in columns.items()} for i in range(len(drawn.rows))]


def _written(write: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _triples(drawn: Drawn) -> np.ndarray:
    """The first three cells of each row, as arrays hold them; their columns have no names."""
    drawn.expected = None
    rows = [[*row, "", "", ""][:3] for row in drawn.rows]
    if all(cell.isdigit() and len(cell) < 18 for row in rows for cell in row):
        return np.array([[int(cell) for cell in row] for row in rows])
    return np.array(rows, dtype=np.str_)


def _npz(drawn: Drawn, rng: random.Random) -> bytes:
    names = sorted({cell for row in drawn.rows for cell in row})
    ids = np.array([[names.index(cell) for cell in (row * 3)[:3]] for row in drawn.rows])
    drawn.expected = None
    arrays = {"triples": ids, "names": np.array(names), "kind": np.array("odd")}
    return _written(lambda out: np.savez(out, **arrays))


def _mat(drawn: Drawn, rng: random.Random) -> bytes:
    triples = _triples(drawn)
    cells = triples if triples.dtype.kind == "i" else triples.astype(object)
    shrink = rng.random() < 0.5
    return _written(lambda out: scipy.io.savemat(out, {"t": cells}, do_compression=shrink))


def _db(drawn: Drawn, rng: random.Random) -> bytes:
    columns = _columns(drawn)
    names = list({name.casefold(): name for name in columns}.values())
    if len(names) < len(columns):
        drawn.expected = None
    database = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    database.execute(f"create table answers ({', '.join(quoted)})")
    marks = ", ".join("?" * len(names))
    rows = zip(*(columns[name] for name in names), strict=True)
    database.executemany(f"insert into answers values ({marks})", rows)
    database.commit()
    data = database.serialize()
    database.close()
    return data


def _xlsx(drawn: Drawn, rng: random.Random) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [drawn.header, *drawn.rows]:
        book.active.append(row)
    return _written(book.save)


def _zipped(drawn: Drawn, rng: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("s.csv", _separated(drawn, rng))
    return out.getvalue()


WRITERS: dict[str, Callable[[Drawn, random.Random], bytes]] = {
    **dict.fromkeys(TEXT, _separated),
    ".jsonl": lambda drawn, rng: "\n".join(
        json.dumps(record, ensure_ascii=False) for record in _records(drawn)
    ).encode(),
    ".json": lambda drawn, rng: json.dumps(_records(drawn), indent=rng.choice([None, 1])).encode(),
    ".rows.json": lambda drawn, rng: json.dumps([drawn.header, *drawn.rows]).encode(),
    ".parquet": lambda drawn, rng: _written(
        lambda out: pq.write_table(
            pa.table(_columns(drawn)), out, compression=rng.choice(["snappy", "none"])
        )
    ),
    ".arrow": lambda drawn, rng: _written(
        lambda out: pf.write_feather(pa.table(_columns(drawn)), out, compression="uncompressed")
    ),
    ".npz": _npz,
    ".npy": lambda drawn, rng: _written(lambda out: np.save(out, _triples(drawn))),
    ".mat": _mat,
    ".db": _db,
    ".xlsx": _xlsx,
    ".csv.gz": lambda drawn, rng: gzip.compress(_separated(drawn, rng), 1),
    ".csv.zst": lambda drawn, rng: pa.compress(_separated(drawn, rng), "zstd", asbytes=True),
    ".csv.zip": _zipped,
}


def allowed(drawn: Drawn, name: str) -> bool:
    """Whether an object of that name stands in the data rows of the file."""
    if not drawn.bytewise:
        cells = {cell for row in drawn.rows for cell in row}
        return name in cells or name in {cell.strip() for cell in cells} or _as_number(name, cells)
    if drawn.ending in TEXT:
        return _in_rows(drawn.data, name)
    low, cells = name.casefold(), " ".join(cell for row in drawn.rows for cell in row)
    if any(word in low for word in WORDS if word not in cells):
        # also where a repeated stretch put the word into a row
        return drawn.ending in (".rows.json", ".jsonl", ".json") and "repeat" in drawn.history
    return True


def _as_number(name: str, cells: set[str]) -> bool:
    numbers = {str(int(float(cell))) for cell in cells if re.fullmatch(r"\d+(\.0+|e\d)?", cell)}
    return name in numbers


def _in_rows(data: bytes, name: str) -> bool:
    """By another parser than the one under test."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    first: set[str] = set()
    for separator, skip in product(",\t; ", (True, False)):
        rows = list(
            csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=skip)
        )
        rows = [[cell.strip(" \t") for cell in row] for row in rows if row]
        first |= set(rows[0]) if rows else set()
        if any(name.strip(" \t") in row for row in rows[1:]):
            return True
    body = re.split(r"\r\n|\n|\r", text, maxsplit=1)
    if len(body) > 1 and _bare(name) in _bare(body[1]):
        return True
    # a first row of data is one only where the names of the columns are gone
    return name in first and not any(word in name.casefold() for word in WORDS)


def _bare(text: str) -> str:
    return re.sub(r'["\s]', "", text)


def check(drawn: Drawn, path: Path) -> str:
    """Read a file in each of the ways that there are; the outcome in a word."""
    path.write_bytes(drawn.data)
    names: set[str] = set()
    S, refused = None, ""
    try:
        S = read_statements(path)
        names.update(S.names)
    except TrilensError as error:
        refused = str(error)
        assert refused.strip()
        assert "\n" not in refused
    try:
        skipped = read_statements(path, skip_bad=True)
        names.update(skipped.names)
        assert S is None or len(skipped) == len(S)
    except TrilensError:
        assert S is None, "skipping bad rows refuses what is read without"
    # a damaged page may be one that only one of the two looks at
    damaged = drawn.bytewise and drawn.ending in (".parquet", ".arrow")
    try:
        chunks = list(scan_statements(path, chunk_rows=2))
        names.update(*(chunk.names for chunk in chunks[:1]))
        assert S is not None or damaged, "a scan reads what is refused whole"
        assert S is None or sum(map(len, chunks)) == len(S)
    except TrilensError:
        assert S is None or damaged, "a scan refuses what is read whole"
    for name in names:
        assert allowed(drawn, name), f"the object {name!r} does not stand in the data rows"
    if drawn.expected is not None:
        assert S is not None, f"refused: {refused}"
        found = [[S.names[i] for i in row] for row in S.triples.tolist()]
        assert found == drawn.expected
    return "refused" if S is None else "read"


def run(files: int, seed: int, folder: Path) -> Counter[str]:
    """Draw and check files of every format in turn; an assertion says which one failed."""
    counts: Counter[str] = Counter()
    for number in range(files):
        ending = ENDINGS[number % len(ENDINGS)]
        rng = random.Random(f"{seed} {number}")
        drawn = draw(rng, ending)
        name = ".csv" if ending == ".semicolon" else ending
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", AssumedKindWarning)
                outcome = check(drawn, folder / f"s{name}")
        except BaseException as error:
            error.add_note(
                f"seed {seed}, file {number}, {ending}, {' '.join(drawn.history)}: "
                f"{drawn.data[:600]!r}"
            )
            raise
        counts[outcome] += 1
        counts[f"{ending} {outcome}"] += 1
    return counts
