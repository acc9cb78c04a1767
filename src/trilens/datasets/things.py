"""THINGS: odd-one-out answers about 1854 objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens.datasets.fetch import Address, Origin, find_files
from trilens.errors import DatasetError
from trilens.statements import Statements

#: No address is known that sends this very file of answers: the OSF projects hold the same
#: kind of file under other names, so it has to be put in place by hand.
ORIGIN = Origin(
    homepage="the THINGS odd-one-out projects https://osf.io/z2784/ and https://osf.io/f5rn6/ "
    "(where it may have another name)"
)
#: The address could not be tried when this was written; whatever it sends is checked.
NAMES_ORIGIN = Origin(
    homepage="https://osf.io/2y463", addresses=(Address("https://osf.io/download/2y463/"),)
)

CITATION = (
    "Martin N. Hebart, Charles Y. Zheng, Francisco Pereira and Chris I. Baker. Revealing the "
    "multidimensional mental representations of natural objects underlying human similarity "
    "judgements. Nature Human Behaviour 4:1173-1185, 2020."
)
LICENSE = "CC BY 4.0"


@dataclass(frozen=True, eq=False)
class Things:
    """Odd-one-out answers about the objects of THINGS.

    Attributes
    ----------
    statements : Statements
        50,000 statements of kind ``odd`` about 1854 named objects.
    """

    statements: Statements
    citation: str = CITATION
    license: str = LICENSE

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each object, such as ``"aardvark"``."""
        return self.statements.names


def load_things_odd_one_out() -> Things:
    """Odd-one-out answers about 1854 objects.

    A row of the file holds three object numbers, counted from 0, the odd one last.

    Returns
    -------
    Things

    Raises
    ------
    DatasetError
        If the files cannot be obtained, or are corrupted.
    """
    from trilens.files import read_statements

    (answers,) = find_files(["things/test_10.txt"], ORIGIN)
    (names_file,) = find_files(["things/unique_id.txt"], NAMES_ORIGIN)
    names = names_file.read_text(encoding="utf-8").split()
    read = read_statements(answers, kind="odd", columns=["other_1", "other_2", "odd"])
    numbers = np.array([int(name) for name in read.names], dtype=np.int32)
    if numbers.min() < 0 or numbers.max() >= len(names):
        raise DatasetError(
            f"{answers}: object numbers go from {numbers.min()} to {numbers.max()}, but "
            f"{names_file} names {len(names)} objects, 0 to {len(names) - 1}"
        )
    return Things(Statements(numbers[read.triples], names=names, kind="odd"))
