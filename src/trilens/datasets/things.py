"""THINGS: odd-one-out answers about 1854 objects."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from trilens._parameters import wrong
from trilens._typing import AnyArray
from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.errors import DatasetError
from trilens.statements import Statements

CITATION = (
    "Martin N. Hebart, Charles Y. Zheng, Francisco Pereira and Chris I. Baker. Revealing the "
    "multidimensional mental representations of natural objects underlying human similarity "
    "judgements. Nature Human Behaviour 4:1173-1185, 2020."
)
ALL_CITATION = (
    "Martin N. Hebart, Oliver Contier, Lina Teichmann, Adam H. Rockter, Charles Y. Zheng, Alexis "
    "Kidder, Anna Corriveau, Maryam Vaziri-Pashkam and Chris I. Baker. THINGS-data, a multimodal "
    "collection of large-scale datasets for investigating object representations in human brain "
    "and behavior. eLife 12:e82580, 2023."
)
LICENSE = "CC BY 4.0"
ALL_LICENSE = "Stated at https://osf.io/f5rn6/, which could not be read when this was written."

#: No address is known that sends this very file of answers: the OSF projects hold the same
#: kind of file under other names, so it has to be put in place by hand.
ORIGIN = Origin(
    homepage="the THINGS odd-one-out projects https://osf.io/z2784/ and https://osf.io/f5rn6/ "
    "(where it may have another name)"
)
#: The address that cblearn 0.4 uses. Not tried by us, nor are the two below.
TEST_ORIGIN = Origin(
    homepage="https://osf.io/z2784/ (data/data1854_batch5_test10.txt)",
    addresses=(Address("https://osf.io/download/sd3f7/"),),
    notice=notice("THINGS", CITATION, LICENSE),
)
ALL_ORIGIN = Origin(
    homepage="https://osf.io/f5rn6/ (data/triplet_dataset)",
    addresses=(Address("https://osf.io/download/h2smy/"),),
    notice=notice("THINGS", ALL_CITATION, ALL_LICENSE),
)
NAMES_ORIGIN = Origin(
    homepage="https://osf.io/2y463", addresses=(Address("https://osf.io/download/2y463/"),)
)

SAMPLE = "things/test_10.txt"
TEST = "things/data1854_batch5_test10.txt"
ALL = "things/triplets_large_final_correctednc_correctedorder.csv"
NAMES = "things/unique_id.txt"
_ALL_COLUMNS = ("image1", "image2", "image3", "choice", "subject_id", "RT")


@dataclass(frozen=True, eq=False)
class Things:
    """Odd-one-out answers about the objects of THINGS.

    Attributes
    ----------
    statements : Statements
        Of kind ``odd`` about 1854 named objects; all of them have ``raters`` and ``seconds``,
        the others do not.
    caution : str or None
        What is not certain about the names.
    """

    statements: Statements
    citation: str = CITATION
    license: str = LICENSE
    caution: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each object, such as ``"aardvark"``."""
        return self.statements.names


def load_things_odd_one_out(answers: Literal["sample", "test", "all"] = "sample") -> Things:
    """Odd-one-out answers about 1854 objects.

    Parameters
    ----------
    answers : {"sample", "test", "all"}
        ``"sample"``: 50,000 answers (``test_10.txt``, which has to be put in place by hand);
        ``"test"``: the 146,012 that Hebart et al. (2020) tested their model on; ``"all"``: the
        4.7 million of THINGS-data (2023), with raters and response times.

    Returns
    -------
    Things

    Raises
    ------
    DatasetError
        If the files cannot be obtained, or are corrupted.
    """
    readers = {"sample": (SAMPLE, ORIGIN), "test": (TEST, TEST_ORIGIN), "all": (ALL, ALL_ORIGIN)}
    if not isinstance(answers, str) or answers not in readers:
        raise wrong("answers", answers, "'sample', 'test' or 'all'")
    place, origin = readers[answers]
    (path,) = find_files([place], origin)
    (names_file,) = find_files([NAMES], NAMES_ORIGIN)
    names = names_file.read_text(encoding="utf-8").split()
    if answers == "all":
        return Things(_all(path, names, names_file), ALL_CITATION, ALL_LICENSE)
    caution = None
    if answers == "test":
        caution = (
            "objects are named in the order of unique_id.txt; the authors' scripts sort the "
            "numbers of this file first (sortind.mat), so some names may be those of a neighbour"
        )
    return Things(_rows(path, names, names_file), caution=caution)


def _rows(path: Path, names: list[str], names_file: Path) -> Statements:
    """Rows of three object numbers, counted from 0, the odd one last."""
    from trilens.files import read_statements

    read = read_statements(path, kind="odd", columns=["other_1", "other_2", "odd"])
    numbers = np.array([int(float(name)) for name in read.names], dtype=np.int32)
    _check(numbers, names, path, names_file)
    return Statements(numbers[read.triples], names=names, kind="odd")


def _all(path: Path, names: list[str], names_file: Path) -> Statements:
    """The table of all trials: object numbers counted from 1, and the place of the odd one."""
    import pyarrow.csv

    table = pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t"),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=list(_ALL_COLUMNS),
            column_types={"subject_id": "string", "RT": "double"},
            null_values=["", "NaN", "NA"],
        ),
    )
    images = np.stack([table[f"image{k}"].to_numpy() - 1 for k in (1, 2, 3)], axis=1)
    _check(images, names, path, names_file)
    odd = table["choice"].to_numpy() - 1
    if odd.min() < 0 or odd.max() > 2:
        raise DatasetError(f"{path}: the choice is not always 1, 2 or 3")
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[odd]
    return Statements(
        np.take_along_axis(images, order, axis=1).astype(np.int32),
        names=names,
        kind="odd",
        raters=table["subject_id"].to_numpy(),
        seconds=table["RT"].to_numpy(zero_copy_only=False) / 1000,
        places=odd,
    )


def _check(numbers: AnyArray, names: list[str], path: Path, names_file: Path) -> None:
    if numbers.min() < 0 or numbers.max() >= len(names):
        raise DatasetError(
            f"{path}: object numbers go from {numbers.min()} to {numbers.max()}, but "
            f"{names_file} names {len(names)} objects, 0 to {len(names) - 1}"
        )
