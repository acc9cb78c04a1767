"""Materials: which of 100 materials look alike."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.errors import DatasetError
from trilens.statements import Statements

CITATION = (
    "Manuel Lagunas, Sandra Malpica, Ana Serrano, Elena Garces, Diego Gutierrez and Belen Masia. "
    "A similarity measure for material appearance. ACM Transactions on Graphics 38(4), 2019."
)
LICENSE = "No licence stated; cite the paper."

COMMIT = "e5fccab94462f8b245e29818a31e83253369db6e"
#: The commit that cblearn 0.4 uses. Not tried by us.
ORIGIN = Origin(
    homepage="https://github.com/mlagunas/material-appearance-similarity",
    addresses=(
        Address(f"https://github.com/mlagunas/material-appearance-similarity/archive/{COMMIT}.zip"),
    ),
    notice=notice("material", CITATION, LICENSE),
)
ARCHIVE = "material/material-appearance-similarity.zip"
_PICTURES = "/data/havran1_ennis_298x298_LDR/"


@dataclass(frozen=True, eq=False)
class Material:
    """Which materials look alike.

    Attributes
    ----------
    statements : mapping of str to Statements
        ``"train"`` (92,892 answers) and ``"test"`` (11,800), the authors' division, of kind
        ``closer`` about the same 100 materials. A question that several people answered has
        as many rows; who they were is not known.
    """

    statements: Mapping[str, Statements]
    citation: str = CITATION
    license: str = LICENSE

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each material, such as ``"alum-bronze"``."""
        return self.statements["train"].names


def load_material() -> Material:
    """Which of 100 materials look alike (Lagunas et al., 2019).

    For each question, the file counts how many people found the first of two materials more
    like the reference, and how many the second.

    Returns
    -------
    Material

    Raises
    ------
    DatasetError
        If the file cannot be obtained, or is corrupted.
    """
    (path,) = find_files([ARCHIVE], ORIGIN)
    with zipfile.ZipFile(path) as archive:
        files = archive.namelist()
        names = sorted(
            file.rsplit("/", 1)[1].removesuffix(".jpg")
            for file in files
            if _PICTURES in file and file.endswith(".jpg")
        )
        answers = {}
        for part in ("train", "test"):
            ending = f"/data/answers_processed_{part}.json"
            held = [file for file in files if file.endswith(ending)]
            if not held:
                raise DatasetError(f"{path}: there is no {ending.removeprefix('/')} in it")
            answers[part] = _statements(json.loads(archive.read(held[0])), names)
    return Material(MappingProxyType(answers))


def _statements(table: Mapping[str, Any], names: list[str]) -> Statements:
    """A row for each vote."""
    questions = np.array(table["answers"], dtype=np.int64).reshape(-1, 3)
    votes = np.array(table["agreement"], dtype=np.int64).reshape(-1, 2)
    rows = np.concatenate([questions, questions[:, [0, 2, 1]]])
    return Statements(np.repeat(rows, votes.T.ravel(), axis=0), names=names, kind="closer")
