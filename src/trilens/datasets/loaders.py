"""Public data sets, each read from its authors' files."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from trilens._parameters import wrong
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.datasets.registry import about
from trilens.errors import DatasetError, MissingExtraError
from trilens.statements import Statements
from trilens.statements.value import chosen_first

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class PublicStudy:
    """Answers of people.

    Attributes
    ----------
    citation, license : str
    statements : Statements
    """

    citation: str
    license: str
    statements: Statements

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each object."""
        return self.statements.names


def _credit(name: str) -> tuple[str, str]:
    """Whom to cite, and the license."""
    return about(name).citation, about(name).license


# ---- THINGS -------------------------------------------------------------------------------------

_THINGS = {
    "sample": "things/test_10.txt",
    "test": "things/data1854_batch5_test10.txt",
    "all": "things/triplets_large_final_correctednc_correctedorder.csv",
}


@dataclass(frozen=True, eq=False)
class Things(PublicStudy):
    """Odd-one-out answers about the objects of THINGS.

    Attributes
    ----------
    citation, license : str
    statements : Statements
        Of kind ``odd`` about 1854 named objects; all of them have ``raters`` and ``seconds``,
        the others do not.
    caution : str or None
        What is not certain about the names.
    """

    caution: str | None = None


def load_things_odd_one_out(answers: Literal["sample", "test", "all"] = "sample") -> Things:
    """Odd-one-out answers about 1854 objects.

    Parameters
    ----------
    answers : {"sample", "test", "all"}
        ``"sample"``: 50,000 answers (``test_10.txt``, which has to be put in place by hand);
        ``"test"``: the 146,012 that Hebart et al. (2020) tested their model on; ``"all"``: the
        4.7 million of THINGS-data (2023), with raters and response times.
    """
    if not isinstance(answers, str) or answers not in _THINGS:
        raise wrong("answers", answers, "'sample', 'test' or 'all'")
    name = "things-data" if answers == "all" else "things"
    path, names_file = about(name).find(_THINGS[answers], "things/unique_id.txt")
    names = names_file.read_text(encoding="utf-8").split()
    read = _all_things if answers == "all" else _some_things
    numbers, rest = read(path)
    if numbers.min() < 0 or numbers.max() >= len(names):
        raise DatasetError(
            f"{path}: object numbers go from {numbers.min()} to {numbers.max()}, but "
            f"{names_file} names {len(names)} objects, 0 to {len(names) - 1}"
        )
    caution = None
    if answers == "test":
        caution = (
            "objects are named in the order of unique_id.txt; the authors' scripts sort the "
            "numbers of this file first (sortind.mat), so some names may be those of a neighbor"
        )
    return Things(
        *_credit(name), Statements(numbers, names=names, kind="odd", **rest), caution=caution
    )


def _some_things(path: Path) -> tuple[AnyArray, dict[str, Any]]:
    """Rows of three object numbers, counted from 0, the odd one last."""
    from trilens.files import read_statements

    read = read_statements(path, kind="odd", columns=["other_1", "other_2", "odd"])
    numbers = np.array([int(float(name)) for name in read.names], dtype=np.int32)
    return numbers[read.triples], {}


def _all_things(path: Path) -> tuple[AnyArray, dict[str, Any]]:
    """The table of all trials: object numbers counted from 1, and the place of the odd one."""
    import pyarrow.csv

    table = pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t"),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=["image1", "image2", "image3", "choice", "subject_id", "RT"],
            column_types={"subject_id": "string", "RT": "double"},
            null_values=["", "NaN", "NA"],
        ),
    )
    images = np.stack([table[f"image{k}"].to_numpy() - 1 for k in (1, 2, 3)], axis=1)
    odd = table["choice"].to_numpy() - 1
    if odd.min() < 0 or odd.max() > 2:
        raise DatasetError(f"{path}: the choice is not always 1, 2 or 3")
    seconds = table["RT"].to_numpy(zero_copy_only=False) / 1000
    rest = {"raters": table["subject_id"].to_numpy(), "seconds": seconds, "places": odd}
    return chosen_first(images, odd).astype(np.int32), rest


# ---- food, materials, musicians -----------------------------------------------------------------


def load_food() -> PublicStudy:
    """Which of 100 dishes taste alike (Wilber et al., 2014).

    A row of the table has three pictures: the second tastes more like the first than the third
    does. Who answered is not known. People chose several dishes of a grid; each screen gave many
    rows, which depend on each other.

    Returns
    -------
    PublicStudy
        190,376 statements of kind ``closer`` about 100 pictures of dishes, which are called as
        their files are.
    """
    table = "food100-dataset/all-triplets.csv"
    (path,) = about("food").find("food/food100-dataset.zip")
    try:
        with zipfile.ZipFile(path) as archive:
            lines = archive.read(table).decode("utf-8").split("\n")
    except KeyError:
        raise DatasetError(f"{path}: there is no {table} in it") from None
    rows = [line.strip().split(";") for line in lines if line.strip()]
    bad = next((i for i, row in enumerate(rows, 1) if len(row) != 3), None)
    if bad is not None:
        raise DatasetError(f"{path}, {table}, row {bad}: not three pictures")
    pictures = np.array([[cell.strip().removeprefix("images/") for cell in row] for row in rows])
    names, ids = np.unique(pictures, return_inverse=True)
    S = Statements(ids.reshape(-1, 3), names=names.tolist(), kind="closer")
    return PublicStudy(*_credit("food"), S)


@dataclass(frozen=True, eq=False)
class Material:
    """Which materials look alike.

    Attributes
    ----------
    citation, license : str
    statements : mapping of str to Statements
        ``"train"`` (92,892 answers) and ``"test"`` (11,800), the authors' division, of kind
        ``closer`` about the same 100 materials. A question that several people answered has
        as many rows; who they were is not known.
    """

    citation: str
    license: str
    statements: Mapping[str, Statements]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each material, such as ``"alum-bronze"``."""
        return self.statements["train"].names


def load_material() -> Material:
    """Which of 100 materials look alike (Lagunas et al., 2019).

    For each question, the file counts how many people found the first of two materials more
    like the reference, and how many the second.
    """
    (path,) = about("material").find("material/material-appearance-similarity.zip")
    with zipfile.ZipFile(path) as archive:
        files = archive.namelist()
        names = sorted(
            file.rsplit("/", 1)[1].removesuffix(".jpg")
            for file in files
            if "/data/havran1_ennis_298x298_LDR/" in file and file.endswith(".jpg")
        )
        answers = {}
        for part in ("train", "test"):
            ending = f"/data/answers_processed_{part}.json"
            held = [file for file in files if file.endswith(ending)]
            if not held:
                raise DatasetError(f"{path}: there is no {ending.removeprefix('/')} in it")
            answers[part] = _votes(json.loads(archive.read(held[0])), names)
    return Material(*_credit("material"), MappingProxyType(answers))


def _votes(table: Mapping[str, Any], names: list[str]) -> Statements:
    """A row for each vote."""
    questions = np.array(table["answers"], dtype=np.int64).reshape(-1, 3)
    votes = np.array(table["agreement"], dtype=np.int64).reshape(-1, 2)
    rows = np.concatenate([questions, questions[:, [0, 2, 1]]])
    return Statements(np.repeat(rows, votes.T.ravel(), axis=0), names=names, kind="closer")


@dataclass(frozen=True, eq=False)
class Musicians(PublicStudy):
    """Which artists are alike; ``"unknown-17"`` is number 17 where the list of names has none.

    Attributes
    ----------
    citation, license : str
    statements : Statements
        Of kind ``closer``, with ``raters`` (the users) and ``questions``: the judgment that a row
        comes from. A judgment chose one of several artists and gave a row for each of the
        others; those rows depend on each other.
    is_game : (m,) array of bool
        Whether the answer was given in the game rather than in the survey.
    left_out : int
        Rows without a third artist, or with the same artist twice.
    """

    is_game: AnyArray
    left_out: int


def load_musicians() -> Musicians:
    """Which musicians are alike (MusicSeer; Ellis et al., 2002).

    A row of the file holds the number of the judgment, survey or game, the user, and the
    numbers of three artists: the one asked about, the one chosen, another one.
    """
    answers, names_file = about("musicians").find(
        "musicians/musicseer-results-2002-04-29.txt", "musicians/musician_names.txt"
    )
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
    S = Statements(
        ids.reshape(-1, 3),
        names=[listed.get(str(number), f"unknown-{number}") for number in numbers],
        kind="closer",
        raters=table[:, 2],
        questions=table[:, 0].astype(np.int64),
    )
    return Musicians(*_credit("musicians"), S, is_game=table[:, 1] == "G", left_out=left_out)


# ---- pictures: NIGHTS, ImageNet -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Nights(PublicStudy):
    """Which of two pictures looks more like a third.

    Attributes
    ----------
    citation, license : str
    statements : Statements
        Of kind ``closer``, a row for each question, about pictures that are called by their place
        in the authors' archive, such as ``"ref/000/001.png"``. Every question has three pictures
        of its own: a map of them cannot be fitted, but a model of pictures can be compared with
        people by `trilens.evaluate`.
    votes : (m,) array of int
        How many people answered the question; the file keeps only questions on which they
        agree.
    split : (m,) array of str
        The authors' division: ``"train"``, ``"val"`` or ``"test"``.
    prompts : (m,) array of str
        What the pictures show.
    """

    votes: IntArray
    split: AnyArray
    prompts: AnyArray


def load_nights(min_votes: int = 6) -> Nights:
    """Which of two pictures looks more like a third: NIGHTS (Fu et al., 2023).

    Parameters
    ----------
    min_votes
        Questions with fewer votes are left out; the authors use those with at least 6.
    """
    import pyarrow.csv

    if isinstance(min_votes, bool) or not isinstance(min_votes, int | np.integer):
        raise wrong("min_votes", min_votes, "a whole number")
    (path,) = about("nights").find("nights/data.csv")
    table = pyarrow.csv.read_csv(path)
    sides = ("ref_path", "left_path", "right_path", "left_vote", "right_vote")
    missing = {*sides, "votes", "split", "prompt"} - set(table.column_names)
    if missing:
        raise DatasetError(f"{path}: not the table of NIGHTS: no column {sorted(missing)[0]!r}")
    columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}
    ref, left, right, for_left, for_right = (columns[name] for name in sides)
    kept = (columns["votes"] >= min_votes) & (for_left != for_right)
    is_left = for_left > for_right
    chosen, other = np.where(is_left, left, right), np.where(is_left, right, left)
    names, ids = np.unique(np.stack([ref, chosen, other], axis=1)[kept], return_inverse=True)
    return Nights(
        *_credit("nights"),
        Statements(ids.reshape(-1, 3), names=names.tolist(), kind="closer"),
        votes=columns["votes"][kept].astype(np.int64),
        split=columns["split"][kept],
        prompts=columns["prompt"][kept],
    )


@dataclass(frozen=True, eq=False)
class ImageNetSimilarity(PublicStudy):
    """Which pictures look alike; they are called as the catalog's files, or by its numbers.

    Attributes
    ----------
    citation, license : str
    statements : Statements
        Of kind ``closer``, with ``raters`` (the sessions), ``seconds`` and ``questions``: the
        screen that a row comes from. On a screen people chose the two of eight pictures that
        look most like a ninth, the best first: 13 rows, which depend on each other.
    classes : (n,) array of int
        The class of each picture of ``statements``, by the catalog's number.
    """

    classes: IntArray


def load_imagenet_similarity(version: Literal["0.1", "0.2"] = "0.1") -> ImageNetSimilarity:
    """Which pictures of ImageNet's validation set look alike (Roads and Love, 2021).

    Parameters
    ----------
    version : {"0.1", "0.2"}
        ``"0.1"``: 25,273 screens, one picture of each of the 1,000 classes; ``"0.2"``: 384,277
        screens (five million rows), 50 pictures of each class.
    """
    files = {"0.1": "imagenet/obs-118.hdf5", "0.2": "imagenet/obs-195.hdf5"}
    if not isinstance(version, str) or version not in files:
        raise wrong("version", version, "'0.1' or '0.2'")
    screens_file, catalogue_file = about("imagenet").find(files[version], "imagenet/catalog.hdf5")
    loader = "load_imagenet_similarity"
    screens = _arrays(loader, screens_file, "stimulus_set", "n_select", "is_ranked")
    catalogue = _arrays(loader, catalogue_file, "stimulus_id", "class_id")
    shown = screens["stimulus_set"]
    whole = (shown >= 0).all(axis=1) & (screens["n_select"].ravel() == 2)
    if shown.shape[1:] != (9,) or not (whole & screens["is_ranked"].ravel().astype(bool)).all():
        raise DatasetError(f"{screens_file}: not screens on which two of eight were ranked")
    if shown.max() >= len(catalogue["stimulus_id"]):
        raise DatasetError(f"{screens_file}: pictures that {catalogue_file} does not list")
    # the first of the two beats seven others, the second beats six
    near, far = zip(*[(1, k) for k in range(2, 9)], *[(2, k) for k in range(3, 9)], strict=True)
    used, ids = np.unique(shown, return_inverse=True)
    ids = ids.reshape(shown.shape)
    rows = np.stack([np.repeat(ids[:, [0]], 13, axis=1), ids[:, near], ids[:, far]], axis=2)
    session, milliseconds = screens.get("session_id"), screens.get("rt_ms")
    named = catalogue.get("stimulus_filepath", catalogue["stimulus_id"])[used]
    S = Statements(
        rows.reshape(-1, 3),
        names=[n.decode() if isinstance(n, bytes) else str(n) for n in named.tolist()],
        kind="closer",
        raters=None if session is None else np.repeat(session.ravel(), 13),
        questions=np.repeat(np.arange(len(ids)), 13),
        seconds=None if milliseconds is None else np.repeat(milliseconds.ravel(), 13) / 1000,
    )
    classes = catalogue["class_id"][used].astype(np.int64)
    return ImageNetSimilarity(*_credit("imagenet"), S, classes=classes)


# ---- points and networks ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class USPS:
    """The USPS digits.

    Attributes
    ----------
    citation, license : str
    images : (9298, 256) array of float
        Gray values from 0 to 1, the rows of an image one after another; the 7291 training
        images stand before the 2007 test images.
    labels : (9298,) array of int
        The digit, 0 to 9.
    is_train : (9298,) array of bool
    """

    citation: str
    license: str
    images: FloatArray
    labels: IntArray
    is_train: AnyArray


def load_usps() -> USPS:
    """The USPS digits, training and test images together."""
    (path,) = about("usps").find("usps/usps.h5")
    held = _arrays("load_usps", path, "train/data", "test/data", "train/target", "test/target")
    labels = np.concatenate([held["train/target"], held["test/target"]])
    return USPS(
        *_credit("usps"),
        images=np.concatenate([held["train/data"], held["test/data"]]).astype(np.float64),
        labels=labels.astype(np.int64),
        is_train=np.arange(len(labels)) < len(held["train/target"]),
    )


def _arrays(loader: str, path: Path, *needed: str) -> dict[str, AnyArray]:
    """The arrays of an HDF5 file; those that are needed, and others at its top."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(loader, "data") from None
    with h5py.File(path, "r") as file:
        for name in needed:
            if name not in file:
                raise DatasetError(f"{path}: has no {name!r}")
        names = {*needed, *(name for name, held in file.items() if isinstance(held, h5py.Dataset))}
        return {name: np.asarray(file[name][()]) for name in names}


@dataclass(frozen=True, eq=False)
class Collaboration:
    """The largest connected component of the network ca-HepTh.

    Attributes
    ----------
    citation, license : str
    adjacency : (8638, 8638) scipy.sparse.csr_array of int8
        Symmetric, 1 where two authors wrote a paper together, 0 on the diagonal.
    authors : (8638,) array of int
        The author's number in the file, ascending.
    """

    citation: str
    license: str
    adjacency: csr_array[Any, tuple[int, int]]
    authors: IntArray


def load_ca_hepth() -> Collaboration:
    """The largest connected component of the collaboration network, without self-loops.

    The network of high energy physics theory of the paper's Section 6.1.1. The file lists each
    edge in both directions, and some authors as their own co-authors.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    (path,) = about("ca-HepTh").find("ca-HepTh/ca-HepTh.txt.gz")
    with gzip.open(path, "rt", encoding="ascii") as file:
        listed = np.loadtxt(file, dtype=np.int64, comments="#")
    authors, ids = np.unique(listed, return_inverse=True)
    ids = ids.reshape(listed.shape)
    i, j = ids[ids[:, 0] != ids[:, 1]].T
    n = len(authors)
    pairs = np.unique(np.concatenate([i * n + j, j * n + i]))
    graph = coo_array(
        (np.ones(len(pairs), dtype=np.int8), (pairs // n, pairs % n)), shape=(n, n)
    ).tocsr()
    _, component = connected_components(graph, directed=False)
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    return Collaboration(
        *_credit("ca-HepTh"), adjacency=graph[largest][:, largest], authors=authors[largest]
    )
