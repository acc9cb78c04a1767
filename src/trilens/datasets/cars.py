"""The 60 cars: most-central statements collected in a survey (Section 6.2 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from trilens._parameters import shown as printed
from trilens._typing import AnyArray, IntArray
from trilens.datasets.registry import about
from trilens.errors import ParameterError
from trilens.statements import Statements, passed_tests

COLLECTIONS = ("ALL", "ALL_REDUCED", "T_ALL", "T_ALL_REDUCED")
NAMES = tuple(str(car) for car in range(1, 61))

#: The paper's classes, in its order.
CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        label: tuple(cars.split())
        for label, cars in {
            "ordinary": "2 6 7 8 9 10 11 12 16 17 25 32 35 36 37 38 39 41 44 45 46 55 58 60",
            "sports": "15 19 20 28 40 42 47 48 49 50 51 52 54 56 59",
            "off-road/SUV": "1 3 4 5 13 14 18 22 24 26 27 29 31 33 34 43 57",
            "outlier": "21 23 30 53",
        }.items()
    }
)

#: The test question of every participant, the answer that passes first.
TEST = ("18", "15", "53")


@dataclass(frozen=True, eq=False)
class Cars:
    """The car data set.

    Attributes
    ----------
    citation, license : str
    statements : mapping of str to Statements
        ``"ALL"`` (7097), ``"ALL_REDUCED"`` (6338), ``"T_ALL"`` (6757), ``"T_ALL_REDUCED"``
        (6056), all of kind ``central`` over the 60 cars.
    survey : Statements
        Every answer in the order given, with ``rounds`` and ``seconds``.
    names : tuple of str
        ``"1"`` to ``"60"``.
    labels : (60,) array of str
        The class of each car.
    classes : tuple of str
        The four classes, in the paper's order.
    pictures : mapping of str to Path
        The picture of each car; empty if none were asked for.
    """

    citation: str
    license: str
    statements: Mapping[str, Statements]
    survey: Statements
    names: tuple[str, ...]
    labels: AnyArray
    classes: tuple[str, ...]
    pictures: Mapping[str, Path]

    @property
    def target(self) -> IntArray:
        """(60,) array: the position of each car's class in ``classes``."""
        return np.array([self.classes.index(label) for label in self.labels], dtype=np.int64)


def load_cars(pictures: bool = True) -> Cars:
    """The 60 cars of the paper: statements, survey rows, classes, pictures.

    ``ALL_REDUCED`` and ``T_ALL_REDUCED`` hold the authors' random choices between answers
    given equally often and are loaded as they are; ``ALL`` and ``T_ALL`` equal
    `rebuild` of the survey.

    Parameters
    ----------
    pictures
        Whether the 60 pictures are wanted too (about 1 MB).
    """
    from trilens.files import read_statements

    tables = [f"cars/ordinal_data_preprocessed/{name}.csv" for name in COLLECTIONS]
    images = [f"cars/car_data_set_images/{name}.jpg" for name in NAMES] if pictures else []
    source = about("cars")
    survey, *found = source.find("cars/survey_data.csv", *tables, *images)
    collections, shown = found[: len(tables)], found[len(tables) :]
    label_of = {car: label for label, cars in CLASSES.items() for car in cars}
    labels = np.array([label_of[name] for name in NAMES])
    labels.flags.writeable = False
    return Cars(
        citation=source.citation,
        license=source.license,
        statements=MappingProxyType(
            {
                name: read_statements(path, kind="central")
                for name, path in zip(COLLECTIONS, collections, strict=True)
            }
        ),
        survey=read_statements(survey, kind="central"),
        names=NAMES,
        labels=labels,
        classes=tuple(CLASSES),
        pictures=MappingProxyType(dict(zip(NAMES, shown, strict=True)) if pictures else {}),
    )


def passed_test_rounds(survey: Statements) -> AnyArray:
    """The rounds in which the test triple (15, 18, 53) was answered with 18.

    Parameters
    ----------
    survey : Statements
        Of kind ``central``, with ``rounds``.

    Returns
    -------
    (r,) array
        The rounds, sorted.

    Examples
    --------
    >>> answers = [["18", "15", "53"], ["15", "18", "53"], ["18", "15", "1"]]
    >>> triples = [[int(car) - 1 for car in answer] for answer in answers]
    >>> passed_test_rounds(
    ...     Statements(triples, names=NAMES, rounds=[1, 2, 2], kind="central")
    ... ).tolist()
    [1]
    """
    _rounds(survey)
    return passed_tests(survey, [TEST])


def rebuild(survey: Statements, name: str) -> Statements:
    """``ALL`` or ``T_ALL`` from the survey rows, statement by statement as in the authors' files.

    Parameters
    ----------
    survey : Statements
        The survey rows of `load_cars`.
    name : {"ALL", "T_ALL"}
        All rounds, or those of `passed_test_rounds`.
    """
    rounds = _rounds(survey)
    if not isinstance(name, str) or name not in ("ALL", "T_ALL"):
        raise ParameterError(
            f"only 'ALL' and 'T_ALL' can be rebuilt, got {printed(name)} (the reduced collections "
            f"contain random choices)",
            parameter="name",
        )
    if name == "T_ALL":
        survey = survey.take(np.isin(rounds, passed_test_rounds(survey)))
    triples = survey.triples.copy()
    triples[:, 1:].sort(axis=1)
    return survey._replace(triples, np.arange(len(survey)))


def _rounds(survey: Statements) -> AnyArray:
    if not isinstance(survey, Statements) or not survey.ids.keys() >= set(TEST):
        raise ParameterError("these are not the statements about the cars; give load_cars().survey")
    if survey.rounds is None:
        raise ParameterError("the statements have no rounds; give load_cars().survey")
    return survey.rounds
