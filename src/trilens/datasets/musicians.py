"""Musicians: which artists are alike (MusicSeer)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray
from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.statements import Statements

CITATION = (
    "Daniel P. W. Ellis, Brian Whitman, Adam Berenzweig and Steve Lawrence. The quest for ground "
    "truth in musical artist similarity. International Conference on Music Information "
    "Retrieval (ISMIR), 2002."
)
LICENSE = "No licence stated; give credit to the authors."

_NOTICE = notice("musicians", CITATION, LICENSE)
#: The address that cblearn 0.4 uses. Not tried by us.
ORIGIN = Origin(
    homepage="https://www.labrosa.org/projects/musicsim/musicseer.org/results/",
    addresses=(
        Address(
            "https://www.labrosa.org/projects/musicsim/musicseer.org/results/"
            "musicseer-results-2002-04-29.txt"
        ),
    ),
    notice=_NOTICE,
)
#: The list of names that comes with cblearn. Not tried by us.
NAMES_ORIGIN = Origin(
    homepage="https://github.com/cblearn/cblearn (cblearn/datasets/data/musician_names.txt)",
    addresses=(
        Address(
            "https://raw.githubusercontent.com/cblearn/cblearn/"
            "09c1317c22038f486835384447a4b3ac727175e8/cblearn/datasets/data/musician_names.txt"
        ),
    ),
)
ANSWERS = "musicians/musicseer-results-2002-04-29.txt"
NAMES = "musicians/musician_names.txt"


@dataclass(frozen=True, eq=False)
class Musicians:
    """Which artists are alike.

    Attributes
    ----------
    statements : Statements
        Of kind ``closer``, with ``raters`` (the users) and ``questions``: the judgement that a row
        comes from. A judgement chose one of several artists and gave a row for each of the
        others; those rows depend on each other.
    is_game : (m,) array of bool
        Whether the answer was given in the game rather than in the survey.
    left_out : int
        Rows without a third artist, or with the same artist twice.
    """

    statements: Statements
    is_game: AnyArray
    left_out: int
    citation: str = CITATION
    license: str = LICENSE

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each artist; ``"unknown-17"`` for number 17 where the list has none."""
        return self.statements.names


def load_musicians() -> Musicians:
    """Which musicians are alike (MusicSeer; Ellis et al., 2002).

    A row of the file holds the number of the judgement, survey or game, the user, and the
    numbers of three artists: the one asked about, the one chosen, another one.

    Returns
    -------
    Musicians

    Raises
    ------
    DatasetError
        If the files cannot be obtained, or are corrupted.
    """
    (answers,) = find_files([ANSWERS], ORIGIN)
    (names_file,) = find_files([NAMES], NAMES_ORIGIN)
    listed = dict(
        line.rsplit(" ", 1)[::-1]
        for line in names_file.read_text(encoding="utf-8").splitlines()
        if " " in line
    )
    rows, left_out = [], 0
    for line in answers.read_text(encoding="latin-1").splitlines():
        cells = line.split()
        if len(cells) < 5 or not cells[0].isdigit():
            continue  # the header, and what follows the table
        if len(cells) == 6 and len(set(cells[3:])) == 3:
            rows.append(cells)
        else:
            left_out += 1
    table = np.array(rows).reshape(-1, 6)
    numbers, ids = np.unique(table[:, 3:].astype(np.int64), return_inverse=True)
    return Musicians(
        Statements(
            ids.reshape(-1, 3),
            names=[listed.get(str(number), f"unknown-{number}") for number in numbers],
            kind="closer",
            raters=table[:, 2],
            questions=table[:, 0].astype(np.int64),
        ),
        is_game=table[:, 1] == "G",
        left_out=left_out,
    )
