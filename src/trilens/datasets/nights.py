"""NIGHTS: which of two pictures looks more like a third (DreamSim)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._parameters import wrong
from trilens._typing import AnyArray, IntArray
from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.errors import DatasetError
from trilens.statements import Statements

CITATION = (
    "Stephanie Fu, Netanel Tamir, Shobhita Sundaram, Lucy Chai, Richard Zhang, Tali Dekel and "
    "Phillip Isola. DreamSim: learning new dimensions of human visual similarity using synthetic "
    "data. Advances in Neural Information Processing Systems 36, 2023."
)
LICENSE = "The authors' repository has an MIT licence; none is stated for the data themselves."

#: The authors' archive has 58 GB of pictures; only the table is taken out of it. The second
#: address is a copy of the table. Neither was tried by us.
ORIGIN = Origin(
    homepage="https://github.com/ssundaram21/dreamsim/tree/main/dataset (nights.zip)",
    addresses=(
        Address("https://data.csail.mit.edu/nights/nights.zip", "nights/{name}", alone=True),
        Address(
            "https://huggingface.co/datasets/saraghznfri/unisim_data/resolve/main/nights/data.csv"
        ),
    ),
    notice=notice("NIGHTS", CITATION, LICENSE),
)
TABLE = "nights/data.csv"
_COLUMNS = ("ref_path", "left_path", "right_path", "left_vote", "right_vote")


@dataclass(frozen=True, eq=False)
class Nights:
    """Which of two pictures looks more like a third.

    Attributes
    ----------
    statements : Statements
        Of kind ``closer``, a row for each question. Every question has three pictures of its
        own: a map of them cannot be fitted, but a model of pictures can be compared with people
        by `trilens.evaluate`.
    votes : (m,) array of int
        How many people answered the question; the file keeps only questions on which they
        agree.
    split : (m,) array of str
        The authors' division: ``"train"``, ``"val"`` or ``"test"``.
    prompts : (m,) array of str
        What the pictures show.
    """

    statements: Statements
    votes: IntArray
    split: AnyArray
    prompts: AnyArray
    citation: str = CITATION
    license: str = LICENSE

    @property
    def names(self) -> tuple[str, ...]:
        """The place of each picture in the authors' archive, such as ``"ref/000/001.png"``."""
        return self.statements.names


def load_nights(min_votes: int = 6) -> Nights:
    """Which of two pictures looks more like a third: NIGHTS (Fu et al., 2023).

    Parameters
    ----------
    min_votes
        Questions with fewer votes are left out; the authors use those with at least 6.

    Returns
    -------
    Nights

    Raises
    ------
    DatasetError
        If the table cannot be obtained, or is not the one of NIGHTS.
    """
    import pyarrow.csv

    if isinstance(min_votes, bool) or not isinstance(min_votes, int | np.integer):
        raise wrong("min_votes", min_votes, "a whole number")
    (path,) = find_files([TABLE], ORIGIN)
    table = pyarrow.csv.read_csv(path)
    missing = {*_COLUMNS, "votes", "split", "prompt"} - set(table.column_names)
    if missing:
        raise DatasetError(f"{path}: not the table of NIGHTS: no column {sorted(missing)[0]!r}")
    columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}
    ref, left, right, for_left, for_right = (columns[name] for name in _COLUMNS)
    kept = (columns["votes"] >= min_votes) & (for_left != for_right)
    is_left = for_left > for_right
    chosen, other = np.where(is_left, left, right), np.where(is_left, right, left)
    names, ids = np.unique(np.stack([ref, chosen, other], axis=1)[kept], return_inverse=True)
    return Nights(
        Statements(ids.reshape(-1, 3), names=names.tolist(), kind="closer"),
        votes=columns["votes"][kept].astype(np.int64),
        split=columns["split"][kept],
        prompts=columns["prompt"][kept],
    )
