"""Small faults put into src/trilens one at a time, and the share of them that the tests see.

python tests/mutate.py CHECKOUT [CHECKOUT ...] --number 200 --seed 0 --seconds 40

Files of the checkouts are changed and put back: give copies. Of several checkouts only code that
they share is changed, so that their tests can be compared. Each fault has the few test files that
are nearest to it and so many CPU seconds: what they see is the least that all tests would see.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PAIRS = (
    *((ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div)),
)
OTHER = dict(PAIRS) | {two: one for one, two in PAIRS}
#: What can only be tried on a graphics card.
LEFT_OUT = ("maps/device.py", "exact/_cuda.py", "exact/devices.py")
#: By the exit status of pytest, of which 2 says that the code can no longer be imported.
OUTCOMES = {0: "missed", 1: "seen", 2: "seen"}
#: Test files for a fault, the nearest first.
MOST_FILES = 4


class Fault(NamedTuple):
    file: str
    start: int
    end: int
    text: str


def changed(node: ast.AST) -> ast.AST | None:
    """The node with a fault in it."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            return ast.Compare(node.left, [OTHER[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in OTHER:
            return ast.BinOp(node.left, OTHER[type(op)](), node.right)
        case ast.BoolOp(op=op):
            return ast.BoolOp(OTHER[type(op)](), node.values)
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.Constant(value=bool(value)):
            return ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            return ast.Return(ast.Constant(None))
    return None


def expressions(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.AST]]:
    """The nodes that do something, each with the name of the function that it is in."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue  # of the parts of a text it is not known where they stand
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                inner = f"{within}.{child.name}" if hasattr(child, "name") else within
                yield within, child
                yield from expressions(child, inner)


def faults(checkout: Path) -> dict[tuple[str, ...], Fault]:
    """Every fault that can be made, by what the code says there, wherever it stands."""
    found: dict[tuple[str, ...], list[Fault]] = {}
    source = checkout / "src" / "trilens"
    for path in sorted(source.rglob("*.py")):
        file, text = path.relative_to(source).as_posix(), path.read_bytes()
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for within, node in expressions(ast.parse(text)) if file not in LEFT_OUT else ():
            other = changed(node)
            if other is None or not within:
                continue
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            new = ast.unparse(ast.fix_missing_locations(other))
            new = new if isinstance(node, ast.Return) else f"({new})"
            line = text[starts[node.lineno - 1] : starts[node.lineno]].decode().strip()
            key = (within, line, ast.unparse(node))
            found.setdefault(key, []).append(Fault(file, start, end, new))
    return {key: each[0] for key, each in found.items() if len(each) == 1}


def imported(path: Path) -> set[str]:
    """The modules of trilens that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name for name in (node.module, *inside) if name.startswith("trilens.")}
    return found


def tests_of(checkout: Path, file: str) -> list[str]:
    """The tests by the name of a file and those that import it, then those of what imports it."""
    source = checkout / "src"
    modules = {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): names
        for path in sorted((source / "trilens").rglob("*.py*"))
        if path.suffix in (".py", ".pyi") and (names := imported(path))
    }
    parts = Path(file).with_suffix("").parts
    files = sorted((checkout / "tests").rglob("test_*.py"))
    room = [path for path in files if path.parent.name in (parts[0], "tests")]
    tests = {path: imported(path) for path in dict.fromkeys(room + files)}
    found = dict.fromkeys(path for path in room if parts[-1].strip("_") in path.name)
    near, seen = {".".join(("trilens", *parts))}, set[str]()
    while near and len(found) < MOST_FILES:
        found |= dict.fromkeys(path for path, names in tests.items() if names & near)
        seen |= near
        near = {name for name, names in modules.items() if names & near} - seen
    return [str(path) for path in (list(found) or room)[:MOST_FILES]]


def begun(checkout: Path, fault: Fault, seconds: int) -> subprocess.Popen[str]:
    """The tests of a fault, which is in the file from now on."""
    path = checkout / "src" / "trilens" / fault.file
    tests = tests_of(checkout, fault.file)
    text = path.read_bytes()
    path.write_bytes(text[: fault.start] + fault.text.encode() + text[fault.end :])
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "--tb=no"]
    command += ["-p", "no:cacheprovider", *tests]
    more = {"PYTHONPATH": str(checkout / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        ["bash", "-c", f'ulimit -t {seconds}; exec "$@"', "-", *command],
        cwd=checkout, env=os.environ | more, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip


def outcomes(checkouts: Sequence[Path], each: Sequence[Fault], seconds: int) -> list[str]:
    """What became of one fault in every checkout, and by which test; all at the same time."""
    files = [c / "src" / "trilens" / f.file for c, f in zip(checkouts, each, strict=True)]
    before = [file.read_bytes() for file in files]
    found = []
    try:
        pairs = zip(checkouts, each, strict=True)
        for process in [begun(checkout, fault, seconds) for checkout, fault in pairs]:
            try:
                said = process.communicate(timeout=20 * seconds)[0].splitlines()
            except subprocess.TimeoutExpired:
                process.kill()
                said = process.communicate()[0].splitlines()
            failed = [line[:90] for line in said if line.startswith(("FAILED", "ERROR"))]
            found.append(" ".join([OUTCOMES.get(process.returncode, "endless"), *failed[:1]]))
    finally:
        for file, text in zip(files, before, strict=True):
            file.write_bytes(text)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=lambda name: Path(name).resolve())
    for name, default in (("number", 200), ("seed", 0), ("seconds", 40)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    every = [faults(checkout) for checkout in given.checkouts]
    shared = sorted(set.intersection(*map(set, every)))
    chosen = random.Random(given.seed).sample(shared, given.number)
    counts = [Counter[str]() for _ in every]
    for number, key in enumerate(chosen, 1):
        print(f"{number}: {every[0][key].file}{key[0]}: {key[2]} -> {every[0][key].text}")
        found = outcomes(given.checkouts, [each[key] for each in every], given.seconds)
        for checkout, one, count in zip(given.checkouts, found, counts, strict=True):
            count[one.partition(" ")[0]] += 1
            so_far = ", ".join(f"{n} {what}" for what, n in sorted(count.items()))
            print(f"   {checkout.name}: {one}; {so_far}", flush=True)


if __name__ == "__main__":
    main()
