"""The four data sets as they lie in TRILENS_DATA."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from trilens.datasets import (
    load_ca_hepth,
    load_cars,
    load_things_odd_one_out,
    load_usps,
    passed_test_rounds,
    rebuild,
)
from trilens.datasets.cars import Cars
from trilens.datasets.fetch import checksums
from trilens.errors import MissingExtraError, ParameterError


@pytest.fixture(autouse=True)
def _only_given_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    monkeypatch.setenv("TRILENS_DATA", str(data_dir))
    monkeypatch.setenv("TRILENS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def cars(data_dir: Path) -> Cars:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRILENS_DATA", str(data_dir))
        return load_cars()


def test_checksums_are_those_of_the_data(data_dir: Path) -> None:
    lines = (data_dir / "SHA256SUMS").read_text().splitlines()
    published = {path.removeprefix("./"): digest for digest, path in map(str.split, lines)}
    assert set(published) - set(checksums()) == {
        "cars/README.txt",
        "cars/car_data_set_images/legal_note.txt",
    }
    held = {path: sha256 for path, sha256 in checksums().items() if path in published}
    assert {path: published[path] for path in held} == held


@pytest.mark.parametrize(
    ("name", "n_statements"),
    [("ALL", 7097), ("ALL_REDUCED", 6338), ("T_ALL", 6757), ("T_ALL_REDUCED", 6056)],
)
def test_cars_collections(cars: Cars, data_dir: Path, name: str, n_statements: int) -> None:
    statements = cars.statements[name]
    assert len(statements) == n_statements
    assert statements.kind == "central"
    assert statements.names == cars.names == tuple(str(car) for car in range(1, 61))
    file = data_dir / "cars" / "ordinal_data_preprocessed" / f"{name}.csv"
    expected = np.loadtxt(file, delimiter=",", dtype=int) - 1
    np.testing.assert_array_equal(statements.triples, expected)


def test_cars_survey(cars: Cars) -> None:
    assert cars.survey.names == cars.names
    rounds = np.unique(cars.survey.rounds)
    assert (len(rounds), len(passed_test_rounds(cars.survey))) == (146, 139)
    assert cars.survey.seconds[0] == pytest.approx(11.108)
    # The paper: the median response time is 4.02 seconds.
    assert round(float(np.median(cars.survey.seconds)), 2) == 4.02
    for name in ("ALL", "T_ALL"):
        again = rebuild(cars.survey, name)
        np.testing.assert_array_equal(again.triples, cars.statements[name].triples)
        assert again.names == cars.names
        assert len(again.seconds) == len(again)
    with pytest.raises(ParameterError, match="can be rebuilt, got 'ALL_REDUCED'"):
        rebuild(cars.survey, "ALL_REDUCED")
    with pytest.raises(ParameterError, match="no rounds"):
        rebuild(cars.statements["ALL"], "T_ALL")


def test_cars_classes_and_pictures(cars: Cars) -> None:
    assert cars.classes == ("ordinary", "sports", "off-road/SUV", "outlier")
    assert np.bincount(cars.target).tolist() == [24, 15, 17, 4]
    outliers = [
        name for name, label in zip(cars.names, cars.labels, strict=True) if label == "outlier"
    ]
    assert outliers == ["21", "23", "30", "53"]
    assert list(cars.pictures) == list(cars.names)
    assert all(path.read_bytes()[:2] == b"\xff\xd8" for path in cars.pictures.values())
    assert "18(58)" in cars.citation
    assert "public domain" in cars.license


def test_usps(monkeypatch: pytest.MonkeyPatch) -> None:
    usps = load_usps()
    assert usps.images.shape == (9298, 256)
    assert usps.images.dtype == np.float64
    assert (usps.images.min(), usps.images.max()) == (0.0, 1.0)
    assert usps.is_train.sum() == 7291
    in_train = np.bincount(usps.labels[usps.is_train]).tolist()
    in_test = np.bincount(usps.labels[~usps.is_train]).tolist()
    # The numbers of images that are published with the data.
    assert in_train == [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    assert in_test == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    # A zero has a hole in the middle, a one has none.
    middle = usps.images.reshape(-1, 16, 16)[:, 7:9, 7:9].mean(axis=(1, 2))
    assert middle[usps.labels == 1].mean() > 0.8 > 0.2 > middle[usps.labels == 0].mean()
    assert "Hull" in usps.citation
    assert usps.license
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"load_usps needs the data extra: pip install"):
        load_usps()


def test_ca_hepth(data_dir: Path) -> None:
    network = load_ca_hepth()
    adjacency = network.adjacency
    assert adjacency.shape == (8638, 8638)
    assert (adjacency != adjacency.T).nnz == 0
    assert adjacency.diagonal().sum() == 0
    assert set(adjacency.data.tolist()) == {1}
    # The same component, grown plainly from one author.
    neighbours: dict[int, set[int]] = {}
    with gzip.open(data_dir / "ca-HepTh" / "ca-HepTh.txt.gz", "rt") as file:
        for line in file:
            if not line.startswith("#"):
                a, b = map(int, line.split())
                neighbours.setdefault(a, set()).add(b)
                neighbours.setdefault(b, set()).add(a)
    start = int(network.authors[0])
    reached, front = {start}, [start]
    while front:
        new = neighbours[front.pop()] - reached
        reached |= new
        front += new
    assert network.authors.tolist() == sorted(reached)
    row = 4321
    authors = network.authors[adjacency[[row]].indices]
    author = int(network.authors[row])
    assert set(authors.tolist()) == neighbours[author] - {author}
    assert adjacency.nnz == sum(len(neighbours[a] - {a}) for a in reached) == 2 * 24806
    assert "Leskovec" in network.citation
    assert network.license


def test_things(data_dir: Path) -> None:
    things = load_things_odd_one_out()
    rows = np.loadtxt(data_dir / "things" / "test_10.txt", dtype=int)
    assert things.statements.kind == "odd"
    np.testing.assert_array_equal(things.statements.triples, rows[:, [2, 0, 1]])
    assert len(things.names) == 1854
    assert things.names[0] == "aardvark"
    assert things.names[-1] == "zucchini"
    assert "Hebart" in things.citation
    assert things.license == "CC BY 4.0"
