"""Sixty odd files whose truth is known: never misread in silence, never a hint that misleads."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oddfiles import OddFile, Truth, odd_file
from trilens.errors import AssumedKindWarning, TrilensError
from trilens.files import Reading, read_statements
from trilens.statements import Statements

_COLUMNS = re.compile(r"columns='([^']*)'")
_KIND = re.compile(r"kind='(\w+)'")
_ENCODING = re.compile(r"encoding='([^']*)'")


def hinted(message: str, truth: Truth) -> dict[str, Any]:
    """The options that a message advises; of several kinds, the one that was asked."""
    found: dict[str, Any] = {}
    columns = _COLUMNS.findall(message)
    if columns and len(columns) == 1:
        found["columns"] = columns[0]
        kinds = _KIND.findall(message)
        if kinds:
            found["kind"] = truth.kind if truth.kind in kinds else kinds[0]
    encodings = _ENCODING.findall(message)
    if encodings:
        found["encoding"] = encodings[0]
    return found


def wrong(S: Statements, reading: Reading, truth: Truth) -> str:
    """What was misread, in words; empty where nothing was."""
    said = [tuple(S.names[i] for i in row) for row in S.triples.tolist()]
    if len(said) != len(truth.rows):
        return f"{len(said)} rows instead of {len(truth.rows)}"
    for row, (read, true) in enumerate(zip(said, truth.rows, strict=True)):
        same = (
            read == true
            if truth.kind == "closer"
            else (read[0] == true[0] and set(read) == set(true))
        )
        if not same:
            return f"row {row}: {read} instead of {true}"
    if S.raters is not None and S.raters.tolist() != truth.raters:
        return f"raters {S.raters[:3].tolist()} instead of {truth.raters[:3]}"
    if S.seconds is not None and not np.allclose(S.seconds, truth.seconds, atol=1e-3):
        return f"seconds {S.seconds[:3].tolist()} instead of {truth.seconds[:3]}"
    if reading.kind_told and reading.kind != truth.kind:
        return f"kind {reading.kind} instead of {truth.kind}"
    return ""


def outcome(file: OddFile, folder: Path) -> tuple[str, str]:
    """What becomes of a file, and why."""
    path = file.write(folder)
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


def tally(seeds: range, folder: Path) -> tuple[Counter[str], list[str]]:
    found: Counter[str] = Counter()
    told = []
    for seed in seeds:
        file = odd_file(seed)
        what, why = outcome(file, folder)
        found[what] += 1
        if what not in ("as it is", "by the hint"):
            told.append(f"{file.name}: {what}: {why}")
    return found, told


def test_sixty_odd_files(tmp_path):
    found, told = tally(range(60), tmp_path)
    assert found["misread"] == found["misled"] == 0, "\n".join(told)
    assert found["as it is"] + found["by the hint"] >= 36, "\n".join(told)


@pytest.mark.slow
def test_hundreds_of_odd_files(tmp_path):
    found, told = tally(range(60, 360), tmp_path)
    assert found["misread"] == found["misled"] == 0, "\n".join(told)
    assert found["as it is"] + found["by the hint"] >= 0.6 * 300, "\n".join(told[:40])
