"""Tables beside the statements: labels, objects with their pictures, comparisons."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import trilens as tl
from commandline import facts, run
from trilens.cli.options import groups_of, read_features_of
from trilens.errors import LabelError
from trilens.files import read_comparisons, read_labels
from trilens.files.objects import read_object_table
from trilens.files.pictures import find_pictures
from trilens.files.side_tables import labels_by_name
from trilens.files.vectors import read_features
from trilens.maps import violations


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_labels_in_tables(ending, tmp_path):
    texts = pa.array(["b b", "c,d"]).dictionary_encode()
    table = pa.table({"nr": [1, 2], "object": texts, "cluster": [1, 2]})
    if ending == ".parquet":
        pq.write_table(table, tmp_path / f"l{ending}")
    else:
        with pa.ipc.new_file(str(tmp_path / f"l{ending}"), table.schema) as writer:
            writer.write_table(table)
    assert read_labels(tmp_path / f"l{ending}") == {"b b": "1", "c,d": "2"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("object,label\na,red\n\nz,blue\n", r"row 4: object 'z' is not in the st.* \(1 of 2"),
        ("object,label\ny,red\nz,blue\n", "none of the 2 objects is in the statements, whose obj"),
    ],
)
def test_labels_of_other_objects(text, said, tmp_path):
    (tmp_path / "l.csv").write_text(text)
    labels = read_labels(tmp_path / "l.csv")
    with pytest.raises(LabelError, match=f"l.csv.*{said}"):
        labels_by_name(["a", "b"], labels)
    with pytest.raises(LabelError, match=r"^the labels: "):
        labels_by_name(["a", "b"], dict(labels))


def test_groups_of_raters_at_the_command_line(tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("vp,age,country\np1,20,FR\np2,21,DE\n")
    for by in (f"{people}::country", f"{people}::rater=vp,group=country"):
        assert groups_of(by) == {"p1": "FR", "p2": "DE"}
    assert groups_of("country") == "country"
    (tmp_path / "a.csv").write_text("odd,other_1,other_2,rater\na,b,c,p1\n")
    shown = run("reliability", tmp_path / "a.csv", "--by", people, status=1).stderr
    assert "which column names the raters, and which their groups?" in shown


def test_embed_comparisons(tmp_path):
    """Comparisons of the distances of ten points in the plane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    rows = np.array([rng.permutation(10)[:4] for _ in range(1500)])
    near, far = (np.linalg.norm(X[rows[:, i]] - X[rows[:, i + 1]], axis=1) for i in (0, 2))
    rows[near > far] = rows[near > far][:, [2, 3, 0, 1]]
    path, out = tmp_path / "pairs.csv", tmp_path / "map.csv"
    lines = [",".join(f"p{i}" for i in row) for row in rows.tolist()]
    path.write_text("\n".join(["near_1,near_2,far_1,far_2", *lines]))
    found = facts("embed", path, "--comparisons", "-o", out)
    assert (found["method"], found["dim"]) == ("soe", 2)
    assert found["violations"] < 0.05
    C, placed = read_comparisons(path), pd.read_csv(out)
    assert list(placed) == ["object", "x1", "x2"]
    assert violations(placed[["x1", "x2"]].to_numpy(), C) == pytest.approx(found["violations"])
    assert placed["object"].tolist() == list(C.names)
    refused = ["embed", path, "--comparisons", "-o", out]
    said = run(*refused, "--method", "lensmap", status=1).stderr
    assert "takes statements about three objects" in said
    said = run(*refused, "--kind", "odd", status=2).stderr
    assert "--kind cannot be used with --comparisons" in said


@pytest.fixture
def objects(tmp_path):
    """All that is known of three objects; one picture of two is there."""
    rows = ["7,van,pics/van.png,road,a van,4", "8,ship,,sea,a ship,0", "9,ski,pics/ski.png,,,0"]
    (tmp_path / "objects.csv").write_text("\n".join(["id,name,picture,label,alt,wheels", *rows]))
    (tmp_path / "pics").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "pics" / "van.png")
    return tmp_path / "objects.csv"


def test_a_table_of_objects(objects, tmp_path):
    table = read_object_table(objects)
    assert table.pictures == {"van": str(tmp_path / "pics" / "van.png"), "ski": "pics/ski.png"}
    assert read_object_table(pd.read_csv(objects)).labels == table.labels
    (block,) = read_features(objects).values()
    wheels = {name: row.tolist() for name, row in block.items()}
    assert wheels == {"van": [4.0], "ship": [0.0], "ski": [0.0]}


def test_answers_about_a_table_of_objects(objects, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("central,other_1,other_2\n7,8,9\n9,7,8\n")
    answers = tl.Answers(file, objects=objects)
    assert list(answers.read()) == [("van", "ship", "ski"), ("ski", "van", "ship")]
    assert answers.object_table.labels["van"] == "road"
    assert tl.Answers(file, objects=["7", "8", "9"]).object_table is None
    assert "per_class" in facts("medoid", file, "--objects", objects)
    assert "column label" in run("classify", file, status=2).stderr
    for header in ("id", "object"):
        (tmp_path / "good.csv").write_text(f"{header},f1,f2\n9,0,1\n7,2,3\n8,4,5\n")
        (block,) = read_features_of((str(tmp_path / "good.csv"),), answers).values()
        found = {name: row.tolist() for name, row in block.items()}
        assert found == {"ski": [0, 1], "van": [2, 3], "ship": [4, 5]}


@pytest.mark.parametrize(
    "name",
    [
        "horse",
        "horse.jpg",
        "stimuli/horse.jpg",
        "Horse.JPG",
        "https://example.org/s/horse.jpg?size=2",
        '<img src="img/horse.jpg">',
        "<p><img width='9' src='img/horse.jpg'></p>",
    ],
)
def test_pictures_are_found_however_objects_are_called(tmp_path, name):
    (tmp_path / "animals").mkdir()
    picture = tmp_path / "animals" / "horse.jpg"
    picture.write_bytes(b"x")
    found = find_pictures(tmp_path, [name, "cow"])
    assert found.of == {name: picture}
    assert found.missing == {"cow": f"cow in {tmp_path}"}


def test_two_pictures_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.jpg").write_bytes(b"x")
    found = find_pictures(tmp_path, ["a/1.jpg", "b/1.jpg"])
    assert [path.parent.name for path in found.of.values()] == ["a", "b"]
    assert find_pictures(None, ["x"], {"x": str(tmp_path / "a" / "1.jpg")}).of["x"].exists()
