from __future__ import annotations

import csv
import json
from dataclasses import replace

import h5py
import numpy as np
import pytest

from trilens import ChoiceMap, Statements, distances, fit
from trilens.errors import FormatError, ParameterError
from trilens.files.vectors import read_matched_matrix
from trilens.simulate import simulate_statements


def _answers(number):
    X = np.random.default_rng(0).normal(size=(20, 2))
    return simulate_statements(X, number, sampling="replacement", random_state=1)


@pytest.fixture(scope="module")
def model():
    return ChoiceMap(2, l2=0.1, lapses="one", max_iter=100, tol=1e-4).fit(_answers(500))


@pytest.fixture(scope="module")
def found(model):
    return distances(model)


def test_distances_are_those_of_the_map_with_a_mean_of_one(model, found):
    X = model.embedding_
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    at = np.triu_indices(len(X), 1)
    np.testing.assert_allclose(found.matrix, D / D[at].mean(), atol=1e-12)
    assert (found.method, found.n_components) == ("choice", 2)
    assert found.names == tuple(map(str, range(20)))
    assert (found.errors[at] > 0).all()
    assert (np.diag(found.errors) == 0).all()
    np.testing.assert_array_equal(found.errors, found.errors.T)
    # the same by the fit that other questions share
    np.testing.assert_array_equal(model.fit_.distances().errors, found.errors)
    few = _answers(100)
    assert found.errors.mean() < 0.6 * distances(fit(few, n_components=2)).errors.mean()
    other = distances(few, method="lensmap")
    assert other.errors is None
    assert "standard_error" not in other.columns()


def test_a_matrix_with_names_comes_back_and_its_errors_stand_beside_it(found, tmp_path):
    written = found.write(tmp_path / "d.csv")
    assert [path.rsplit("/", 1)[-1] for path in written] == ["d.csv", "d.errors.csv"]
    again, _ = read_matched_matrix(tmp_path / "d.csv", found.names)
    np.testing.assert_array_equal(again, found.matrix)
    back = list(reversed(found.names))
    turned, _ = read_matched_matrix(tmp_path / "d.errors.csv", back)
    np.testing.assert_array_equal(turned, found.errors[::-1, ::-1])
    with pytest.raises(FormatError, match=r"lacks 1 of 1 objects: 'nobody'"):
        read_matched_matrix(tmp_path / "d.csv", ["nobody"])
    found.write(tmp_path / "d.tsv")
    lines = (tmp_path / "d.tsv").read_text().splitlines()
    assert next(csv.reader(lines, delimiter="\t")) == ["", *found.names]
    found.write(tmp_path / "d.json")
    rows = json.loads((tmp_path / "d.json").read_text())
    assert len(rows) == 20 * 19 // 2
    assert set(rows[0]) == {"object_1", "object_2", "distance", "standard_error"}
    assert json.dumps(found.to_dict(), allow_nan=False)
    for place, words in (
        ("d.doc", r"unknown ending \.doc for a matrix"),
        ("no/d.csv", "not exist"),
    ):
        with pytest.raises(FormatError, match=words):
            found.write(tmp_path / place)
    assert not (tmp_path / "d.doc").exists()


def _as_rsatoolbox_reads(group):
    """What ``rsatoolbox.io.hdf5.read_dict_hdf5`` (0.3.2) makes of a file."""
    found = {}
    for key, value in group.items():
        if isinstance(value, h5py.Group):
            found[key] = _as_rsatoolbox_reads(value)
        else:
            array = np.array(value)
            found[key] = array.astype("str") if array.dtype.type is np.bytes_ else array
    return found | dict(group.attrs)


@pytest.mark.parametrize("names", ["plain", "Ω"])
def test_an_rdm_has_what_rsatoolbox_needs(found, names, tmp_path):
    called = replace(found, names=tuple(f"{names}-{i}" for i in range(20)))
    assert called.write(tmp_path / "rdm.h5") == [str(tmp_path / "rdm.h5")]
    with h5py.File(tmp_path / "rdm.h5") as file:
        got = _as_rsatoolbox_reads(file)
    at = np.triu_indices(20, 1)
    np.testing.assert_array_equal(got["dissimilarities"], found.matrix[at][None])
    assert [str(name) for name in got["pattern_descriptors"]["object"]] == list(called.names)
    assert got["pattern_descriptors"]["index"].tolist() == list(range(20))
    assert len(got["rdm_descriptors"]["index"]) == 1
    np.testing.assert_array_equal(got["rdm_descriptors"]["standard_error"][0], found.errors[at])
    assert isinstance(got["descriptors"], dict)
    assert isinstance(got["dissimilarity_measure"], str)


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (Statements([[0, 1, 2]], kind="central"), {"method": "pca"}, "method is 'pca'"),
        (Statements(np.zeros((0, 3), dtype=int), n_objects=4), {}, "there are none"),
        (Statements([[0, 1, 2]], n_objects=5001, kind="central"), {}, "at most 5,000 objects"),
        (ChoiceMap(), {}, "this ChoiceMap is not fitted"),
    ],
)
def test_bad_input_is_one_line(given, options, words):
    with pytest.raises(ParameterError, match=words) as caught:
        distances(given, **options)
    assert "\n" not in str(caught.value)


def test_objects_never_asked_about_are_said():
    S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3]], n_objects=5, kind="central")
    assert distances(S).caution == "some objects were never asked about"
