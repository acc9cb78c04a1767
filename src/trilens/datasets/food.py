"""Food: which of 100 dishes taste alike."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass

import numpy as np

from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.errors import DatasetError
from trilens.statements import Statements

CITATION = (
    "Michael J. Wilber, Iljung S. Kwak and Serge J. Belongie. Cost-effective HITs for relative "
    "similarity comparisons. AAAI Conference on Human Computation and Crowdsourcing, 2014 "
    "(arXiv:1404.3291)."
)
LICENSE = (
    "No licence stated; the authors publish the pictures as educational fair use under the "
    "copyright law of the USA."
)

#: Where cblearn 0.4 keeps a copy; the authors' own server is gone. Not tried by us.
ORIGIN = Origin(
    homepage="https://osf.io/tqpmw/ (a copy; it was at "
    "https://vision.cornell.edu/se3/projects/cost-effective-hits/)",
    addresses=(Address("https://osf.io/download/6aa16bb1813a28b1e43f09bb/"),),
    notice=notice("food", CITATION, LICENSE),
)
ARCHIVE = "food/food100-dataset.zip"
TABLE = "food100-dataset/all-triplets.csv"


@dataclass(frozen=True, eq=False)
class Food:
    """Which dishes taste alike.

    Attributes
    ----------
    statements : Statements
        190,376 of kind ``closer`` about 100 pictures of dishes. Who answered is not known.
        People chose several dishes of a grid; each screen gave many rows, which depend on each
        other.
    """

    statements: Statements
    citation: str = CITATION
    license: str = LICENSE

    @property
    def names(self) -> tuple[str, ...]:
        """The file of each picture, in alphabetical order."""
        return self.statements.names


def load_food() -> Food:
    """Which of 100 dishes taste alike (Wilber et al., 2014).

    A row of the table has three pictures: the second tastes more like the first than the third
    does.

    Returns
    -------
    Food

    Raises
    ------
    DatasetError
        If the file cannot be obtained, or is corrupted.
    """
    (path,) = find_files([ARCHIVE], ORIGIN)
    try:
        with zipfile.ZipFile(path) as archive:
            lines = archive.read(TABLE).decode("utf-8").split("\n")
    except KeyError:
        raise DatasetError(f"{path}: there is no {TABLE} in it") from None
    rows = [line.strip().split(";") for line in lines if line.strip()]
    if any(len(row) != 3 for row in rows):
        bad = next(i for i, row in enumerate(rows) if len(row) != 3)
        raise DatasetError(f"{path}, {TABLE}, row {bad + 1}: not three pictures")
    pictures = np.array([[cell.strip().removeprefix("images/") for cell in row] for row in rows])
    names, ids = np.unique(pictures, return_inverse=True)
    return Food(Statements(ids.reshape(-1, 3), names=names.tolist(), kind="closer"))
