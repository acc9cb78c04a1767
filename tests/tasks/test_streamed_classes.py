from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import trilens as tl
from trilens.cli import counting, trilens
from trilens.errors import LabelError
from trilens.simulate import mixture, simulate_statements
from trilens.tasks.streamed import classify_files


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    drawn = mixture(200, [[0, 0], [9, 0], [0, 9]], random_state=1)
    S = simulate_statements(drawn.points, 20_000, random_state=2)
    file = tmp_path_factory.mktemp("study") / "answers.parquet"
    tl.write_statements(S, file)
    return file, drawn.labels


def test_classes_of_all_objects(study) -> None:
    file, truth = study
    labels = {str(i): "abc"[truth[i]] for i in range(0, 200, 4)}
    found = classify_files(file, labels)
    expected = np.array(["abc"[label] for label in truth])
    assert set(found.predicted) == {str(i) for i in range(200)} - set(labels)
    assert (found.labels == expected).mean() > 0.97
    assert found.parameters["map"] == "lensmap"
    assert found.map.embedding.shape == (200, 20)
    plane = classify_files(file, labels, n_components=2, classifier="svm-gauss")
    assert plane.parameters["n_components"] == 2
    assert (plane.labels == expected).mean() > 0.9
    with pytest.raises(LabelError, match="no object of the statements has a label"):
        classify_files(file, {"elsewhere": "a"})


def test_the_commands_take_it_for_many_objects(study, tmp_path: Path, monkeypatch) -> None:
    file, truth = study
    table = tmp_path / "labels.csv"
    rows = [f"{i},{'abc'[truth[i]]}" for i in range(0, 200, 4)]
    table.write_text("object,label\n" + "\n".join(rows) + "\n")
    monkeypatch.setattr(counting, "STREAMED_BYTES", 0)
    monkeypatch.setattr(counting, "PAIRED_OBJECTS", 100)

    def never(*arguments, **options):
        raise AssertionError("the statements were read whole")

    monkeypatch.setattr("trilens.formats.read_statements", never)
    line = ["classify", str(file), "--labels", str(table), "--json"]
    done = CliRunner().invoke(trilens, line)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    right = [told["labels"][name] == "abc"[truth[int(name)]] for name in told["labels"]]
    assert np.mean(right) > 0.95
    assert told["method"] == "lensmap"
    out = tmp_path / "map.csv"
    line = ["embed", str(file), "--method", "lensmap", "-o", str(out), "--json"]
    done = CliRunner().invoke(trilens, line)
    assert json.loads(done.stdout) == {"method": "lensmap", "dim": 2, "violations": None}
    assert len(out.read_text().splitlines()) == 201


def test_many_objects_are_clustered_by_a_sample(monkeypatch) -> None:
    from trilens.tasks.cluster import map as clusters

    drawn = mixture(3000, [[0, 0], [9, 0], [0, 9]], random_state=1)
    whole = clusters.coordinate_clusters(drawn.points, 3, random_state=0)
    monkeypatch.setattr(clusters, "_MOST_SPECTRAL", 600)
    found = clusters.coordinate_clusters(drawn.points, 3, random_state=0)
    assert tl.purity(found, drawn.labels) > 0.99
    assert tl.purity(whole, found) > 0.99
    again = clusters.coordinate_clusters(drawn.points, 3, random_state=0)
    assert np.array_equal(found, again)
