"""One table of objects: names, pictures, classes and features."""

from __future__ import annotations

import pandas as pd
import pytest
from PIL import Image

import trilens as tl
from commandline import facts, run
from trilens.cli.options import read_features_of
from trilens.errors import FormatError
from trilens.files.objects import object_list, read_object_table
from trilens.files.pictures import find_pictures
from trilens.files.vectors import read_features

TABLE = "id,name,picture,label,alt,wheels\n7,van,pics/van.png,road,a van,4\n8,ship,,sea,a ship,0\n"
TABLE += "9,ski,pics/ski.png,,two skis,0\n"


@pytest.fixture
def objects(tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text(TABLE)
    (tmp_path / "pics").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "pics" / "van.png")
    return path


def test_all_that_is_known(objects, tmp_path):
    table = read_object_table(objects)
    assert table.names == ("van", "ship", "ski")
    assert table.ids == ("7", "8", "9")
    assert table.labels == {"van": "road", "ship": "sea"}
    assert table.pictures == {"van": str(tmp_path / "pics" / "van.png"), "ski": "pics/ski.png"}
    assert table.features.tolist() == [[4.0], [0.0], [0.0]]
    assert read_object_table(pd.read_csv(objects)).labels == table.labels
    (block,) = read_features(objects).values()
    assert {name: row.tolist() for name, row in block.items()} == {
        "van": [4.0], "ship": [0.0], "ski": [0.0]
    }  # fmt: skip


def test_names_and_classes_of_a_study(objects, tmp_path):
    answers = tmp_path / "a.csv"
    answers.write_text("central,other_1,other_2\n7,8,9\n9,7,8\n")
    S = tl.read_statements(answers, objects=objects)
    assert list(S) == [("van", "ship", "ski"), ("ski", "van", "ship")]
    assert tl.Answers(answers, objects=objects).object_table.labels["van"] == "road"
    assert tl.Answers(answers, objects=["7", "8", "9"]).object_table is None
    assert "per_class" in facts("medoid", answers, "--objects", objects)
    assert "column label" in run("classify", answers, status=2).stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id,name\n7,van\n7,bus\n", "row 3: the id '7' is already in row 2"),
        ("name,label\nvan,x\n,y\n", "row 3: the name is empty"),
        ("id,name,label\n7,van\n", "row 2: 2 columns where the first row has 3"),
    ],
)
def test_tables_that_are_none(tmp_path, text, problem):
    path = tmp_path / "o.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_object_table(path)


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


@pytest.mark.parametrize("heading", ["name", "Objects", "id"])
def test_the_heading_of_a_list_of_names_is_no_object(tmp_path, heading):
    listed = tmp_path / "names.csv"
    listed.write_text(f"{heading}\nvan\nship\nski\n")
    answers = tmp_path / "answers.csv"
    answers.write_text("odd,other_1,other_2\nvan,ship,ski\n")
    assert tl.read_statements(answers, objects=listed).names == ("van", "ship", "ski")
    answers.write_text(f"odd,other_1,other_2\nvan,ship,{heading}\n")
    with pytest.raises(tl.errors.TrilensError, match="not in the list of objects"):
        tl.read_statements(answers, objects=listed)


def test_features_by_id_are_those_of_the_names(objects, tmp_path):
    (tmp_path / "a.csv").write_text("central,other_1,other_2\n7,8,9\n9,7,8\n")
    answers = tl.Answers(tmp_path / "a.csv", objects=objects)
    for header in ("id", "object"):
        (tmp_path / "good.csv").write_text(f"{header},f1,f2\n9,0,1\n7,2,3\n8,4,5\n")
        (block,) = read_features_of((str(tmp_path / "good.csv"),), answers).values()
        assert {name: row.tolist() for name, row in block.items()} == {
            "ski": [0, 1], "van": [2, 3], "ship": [4, 5]
        }  # fmt: skip


def test_a_header_that_is_not_understood_is_no_object(tmp_path):
    file = tmp_path / "objects.csv"
    file.write_text("stimulus,title,image,category\n1,van,van.png,x\n2,bus,bus.png,y\n")
    with pytest.raises(
        FormatError, match=r"the columns are stimulus, title, image, category; .*id"
    ):
        object_list(file)
    file.write_text("id|name|label\n7|van|road\n8|ship|sea\n")
    assert list(object_list(file).names) == ["van", "ship"]
    file.write_text("image, the\nvan\nbus\n")
    assert list(object_list(file).names) == ["image, the", "van", "bus"]
