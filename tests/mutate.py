"""Small faults put into src/trilens one at a time, and the share of them that the tests see.

python tests/mutate.py CHECKOUT [CHECKOUT ...] --number 60 --seed 0 --seconds 300

Files of the checkouts are changed and put back: give copies. Of several checkouts only code that
they share is changed, so that their tests can be compared.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAIRS = (
    *((ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div)),
)
OTHER = dict(PAIRS) | {two: one for one, two in PAIRS}
#: What can only be tried on a graphics card.
LEFT_OUT = ("maps/device.py", "exact/_cuda.py", "exact/devices.py")
OUTCOMES = {0: "missed", 1: "seen", 2: "seen"}  # 2: the code can no longer be imported


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


def tests_of(checkout: Path, file: str) -> list[str]:
    """The tests by the name of a file and those that import it, or all of its room."""
    parts = Path(file).with_suffix("").parts
    name, imported = parts[-1].strip("_"), f"from trilens.{'.'.join(parts)} import"
    files = sorted((checkout / "tests").rglob("test_*.py"))
    room = [each for each in files if each.parent.name == parts[0] or each.parent.name == "tests"]
    found = [each for each in room if name in each.name]
    found += [each for each in files if imported in each.read_text()]
    found = found or [each for each in room if each.parent.name == parts[0]] or room
    return [str(each) for each in dict.fromkeys(found)]


def outcome(checkout: Path, fault: Fault, seconds: int) -> str:
    path = checkout / "src" / "trilens" / fault.file
    before = path.read_bytes()
    path.write_bytes(before[: fault.start] + fault.text.encode() + before[fault.end :])
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "--tb=no"]
    command += ["-p", "no:cacheprovider", *tests_of(checkout, fault.file)]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    try:
        done = subprocess.run(
            ["bash", "-c", f'ulimit -t {seconds}; exec "$@"', "-", *command],
            cwd=checkout, env=environment, capture_output=True, text=True, timeout=20 * seconds,
        )  # fmt: skip
        failed = [line[:90] for line in done.stdout.splitlines() if line.startswith(("FAI", "ERR"))]
        return " ".join([OUTCOMES.get(done.returncode, "no end"), *failed[:1]])
    except subprocess.TimeoutExpired:
        return "no end"
    finally:
        path.write_bytes(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=lambda name: Path(name).resolve())
    for name, default in (("number", 60), ("seed", 0), ("seconds", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    every = [faults(checkout) for checkout in given.checkouts]
    shared = sorted(set.intersection(*map(set, every)))
    chosen = random.Random(given.seed).sample(shared, given.number)
    seen = [0] * len(every)
    for number, key in enumerate(chosen, 1):
        print(f"{number}: {every[0][key].file}{key[0]}: {key[2]} -> {every[0][key].text}")
        for i, checkout in enumerate(given.checkouts):
            found = outcome(checkout, every[i][key], given.seconds)
            seen[i] += found != "missed"
            print(f"   {checkout.name}: {found}; {seen[i]} of {number} seen", flush=True)


if __name__ == "__main__":
    main()
