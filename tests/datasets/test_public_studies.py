"""The public studies that are not at hand: small files of the same layout, from a server."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import trilens as tl
from downloads import Come, Server, left_in, zipped
from trilens.datasets import fetch, registry
from trilens.datasets.fetch import Address, Origin, checksums, find_files
from trilens.errors import DatasetError, MissingExtraError, ParameterError

FOOD_ARCHIVE = "food/food100-dataset.zip"
FOOD_TABLE = "food100-dataset/all-triplets.csv"
MATERIALS = "material/material-appearance-similarity.zip"
MUSICIANS = "musicians/musicseer-results-2002-04-29.txt"
THINGS_TEST = "things/data1854_batch5_test10.txt"
THINGS_ALL = "things/triplets_large_final_correctednc_correctedorder.csv"

Send = Callable[[str, dict[str, bytes]], None]


@pytest.fixture
def send(server: Server, come: Come, monkeypatch: pytest.MonkeyPatch) -> Send:
    """Have the server send the files of a data set, whose checksums are the published ones."""
    known = dict(checksums())
    monkeypatch.setattr(fetch, "checksums", lambda: known)

    def one(name: str, files: dict[str, bytes]) -> None:
        for path, content in files.items():
            known[path] = hashlib.sha256(content).hexdigest()
            server.files[f"/{path}"] = content
        come(name, {path: server.origin(path) for path in files})

    return one


FOOD = {
    FOOD_TABLE: b"images/soup.jpg;images/stew.jpg;images/cake.jpg\n"
    b"images/cake.jpg;images/pie.jpg;images/soup.jpg\n",
    "food100-dataset/images/soup.jpg": b"",
}


def test_food(send: Send) -> None:
    send("food", {FOOD_ARCHIVE: zipped(FOOD)})
    found = tl.datasets.load_food()
    assert found.names == ("cake.jpg", "pie.jpg", "soup.jpg", "stew.jpg")
    assert found.statements.kind == "closer"
    assert found.statements.triples.tolist() == [[2, 3, 0], [0, 1, 2]]
    assert "Wilber" in found.citation


def materials() -> bytes:
    root = "material-appearance-similarity-e5fccab/data"
    table = {"answers": [[0, 1, 2], [2, 0, 1]], "agreement": [[3, 1], [2, 0]]}
    members = {
        f"{root}/answers_processed_train.json": json.dumps(table).encode(),
        f"{root}/answers_processed_test.json": json.dumps(
            {"answers": [[1, 0, 2]], "agreement": [[1, 1]]}
        ).encode(),
        f"{root}/havran1_ennis_298x298_LDR/yellow-plastic.jpg": b"",
        f"{root}/havran1_ennis_298x298_LDR/alum-bronze.jpg": b"",
        f"{root}/havran1_ennis_298x298_LDR/brass.jpg": b"",
    }
    return zipped(members)


def test_material(send: Send) -> None:
    send("material", {MATERIALS: materials()})
    found = tl.datasets.load_material()
    assert found.names == ("alum-bronze", "brass", "yellow-plastic")
    train, test = found.statements["train"], found.statements["test"]
    assert train.kind == test.kind == "closer"
    assert sorted(train.triples.tolist()) == [[0, 1, 2]] * 3 + [[0, 2, 1]] + [[2, 0, 1]] * 2
    assert sorted(test.triples.tolist()) == [[1, 0, 2], [1, 2, 0]]


def test_musicians(send: Send) -> None:
    rows = (
        b"judgement survey user target chosen other\n"
        b"7 S u1 21 5 43\n7 S u1 21 5 99\n8 G u2 43 21 5\n"
        b"9 G u2 43 21 \n9 G u2 43 21 21\n\n(4 rows)\n"
    )
    names = b"112 5\n311 21\naaliyah 43"
    send("musicians", {MUSICIANS: rows, "musicians/musician_names.txt": names})
    found = tl.datasets.load_musicians()
    S = found.statements
    assert found.names == ("112", "311", "aaliyah", "unknown-99")
    assert S.triples.tolist() == [[1, 0, 2], [1, 0, 3], [2, 1, 0]]
    assert S.raters.tolist() == ["u1", "u1", "u2"]
    assert S.questions.tolist() == [7, 7, 8]
    assert found.is_game.tolist() == [False, False, True]
    assert found.left_out == 2


NIGHTS = (
    b"id,votes,left_vote,right_vote,ref_path,left_path,right_path,prompt,split,is_imagenet\n"
    b"0,7,1,0,ref/000/000.png,distort/000/000_0.png,distort/000/000_1.png,a cat,train,True\n"
    b"1,6,0,1,ref/000/001.png,distort/000/001_0.png,distort/000/001_1.png,a dog,test,False\n"
    b"2,5,0,1,ref/000/002.png,distort/000/002_0.png,distort/000/002_1.png,a cow,test,False\n"
)


def test_nights(server: Server, cache: Path, come: Come, capfd: pytest.CaptureFixture[str]) -> None:
    server.files["/data.csv"] = NIGHTS
    come("nights", {"nights/data.csv": server.origin("data.csv")})
    found = tl.datasets.load_nights()
    names = np.array(found.names)[found.statements.triples].tolist()
    assert names == [
        ["ref/000/000.png", "distort/000/000_0.png", "distort/000/000_1.png"],
        ["ref/000/001.png", "distort/000/001_1.png", "distort/000/001_0.png"],
    ]
    assert found.votes.tolist() == [7, 6]
    assert found.split.tolist() == ["train", "test"]
    assert found.prompts.tolist() == ["a cat", "a dog"]
    assert left_in(cache) == ["SHA256SUMS", "nights/data.csv"]
    out, said = capfd.readouterr()
    assert out == ""
    assert said.startswith("nights: please cite Stephanie Fu")
    assert said.count("\n") == 1
    server.asked.clear()
    assert len(tl.datasets.load_nights(min_votes=5).statements) == 3
    assert server.asked == []
    with pytest.raises(ParameterError, match="min_votes is '6'; it must be a whole number"):
        tl.datasets.load_nights(min_votes="6")  # type: ignore[arg-type]


def hdf5(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return buffer.getvalue()


SHOWN = np.array([[3, 1, 2, 4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1]])
SCREENS = {
    "stimulus_set": SHOWN,
    "n_select": [2, 2],
    "is_ranked": [True, True],
    "session_id": [11, 12],
    "rt_ms": [1500.0, 2500.0],
    "trial_type": [0, 0],
}
CATALOGUE = {
    "stimulus_id": np.arange(12),
    "class_id": np.arange(12) % 4 + 1,
    "stimulus_filepath": [f"n{k:02d}.JPEG".encode() for k in range(12)],
}


def screens(**changes: object) -> dict[str, bytes]:
    return {
        "imagenet/obs-118.hdf5": hdf5(**SCREENS | changes),
        "imagenet/catalog.hdf5": hdf5(**CATALOGUE),
    }


def test_imagenet(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    send("imagenet", screens())
    found = tl.datasets.load_imagenet_similarity()
    S = found.statements
    assert len(S) == 26
    assert found.names == tuple(f"n{k:02d}.JPEG" for k in range(1, 10))
    said = np.array(found.names)[S.triples[:13]].tolist()
    best = [["n03.JPEG", "n01.JPEG", f"n{k:02d}.JPEG"] for k in (2, 4, 5, 6, 7, 8, 9)]
    second = [["n03.JPEG", "n02.JPEG", f"n{k:02d}.JPEG"] for k in (4, 5, 6, 7, 8, 9)]
    assert said == best + second
    assert S.raters[[0, 25]].tolist() == [11, 12]
    assert S.seconds[[0, 25]].tolist() == [1.5, 2.5]
    assert S.questions is not None
    assert np.bincount(S.questions).tolist() == [13, 13]
    assert found.classes.tolist() == [2, 3, 4, 1, 2, 3, 4, 1, 2]
    with pytest.raises(ParameterError, match=r"version is 0.1; it must be '0.1' or '0.2'"):
        tl.datasets.load_imagenet_similarity(0.1)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match="load_imagenet_similarity needs the data extra"):
        tl.datasets.load_imagenet_similarity()


NAMES = {"things/unique_id.txt": b"ant\nbed\ncat\ndog\n"}


def test_things(send: Send, capfd: pytest.CaptureFixture[str]) -> None:
    send("things", {THINGS_TEST: b"2 3 1\n0 2 1\n3 0 2\n", **NAMES})
    told = registry.about("things").notice
    for expected in (f"{told}\n", ""):  # a download says once whose data these are
        found = tl.datasets.load_things_odd_one_out("test")
        assert capfd.readouterr() == ("", expected)
    assert told.startswith("things: please cite Martin N. Hebart")
    assert told.endswith("License: CC BY 4.0")
    assert found.statements.triples.tolist() == [[1, 2, 3], [1, 0, 2], [2, 3, 0]]
    assert found.names == ("ant", "bed", "cat", "dog")
    assert found.caution is not None
    assert "sortind.mat" in found.caution
    with pytest.raises(ParameterError, match="answers is 'most'; it must be 'sample'"):
        tl.datasets.load_things_odd_one_out("most")  # type: ignore[arg-type]


def test_all_answers_about_things(send: Send) -> None:
    table = (
        b"image1\timage2\timage3\tchoice\tRT\tnoise_ceiling\tsubject_id\tage\n"
        b"3\t1\t2\t3\t1500\tNaN\tA9\t30\n"
        b"1\t4\t2\t1\tNaN\t1\tA7\tNaN\n"
        b"4\t3\t2\t2\t900.5\tNaN\tA9\t30\n"
    )
    send("things-data", {THINGS_ALL: table, **NAMES})
    found = tl.datasets.load_things_odd_one_out("all")
    S = found.statements
    assert S.triples.tolist() == [[1, 2, 0], [0, 3, 1], [2, 3, 1]]
    assert S.kind == "odd"
    assert S.raters.tolist() == ["A9", "A7", "A9"]
    np.testing.assert_array_equal(S.seconds, [1.5, np.nan, 0.9005])
    assert S.places.tolist() == [2, 0, 1]
    assert "eLife" in found.citation


CHOICE_0 = b"image1\timage2\timage3\tchoice\tRT\tsubject_id\n3\t1\t2\t0\t1\tA\n"


@pytest.mark.parametrize(
    ("name", "files", "text"),
    [
        ("food", {FOOD_ARCHIVE: zipped({"readme": b""})}, "no food100-dataset/all-triplets.csv in"),
        ("food", {FOOD_ARCHIVE: zipped({FOOD_TABLE: b"a;b;c\na;b\n"})}, "row 2: not three pict"),
        ("material", {MATERIALS: zipped({})}, "no data/answers_processed_train.json in it"),
        ("nights", {"nights/data.csv": b"a,b\n1,2\n"}, "not the table of NIGHTS: no column 'left_"),
        ("imagenet", screens(n_select=[2, 1]), "not screens on which two of eight were ranked"),
        ("imagenet", screens(stimulus_set=SHOWN + 5), "pictures that "),
        ("imagenet", screens(stimulus_set=SHOWN[:, :8]), "not screens on which two of eight"),
        (
            "things",
            {THINGS_TEST: b"2 3 1\n0 4 1\n", **NAMES},
            "object numbers go from 0 to 4, but ",
        ),
        ("things-data", {THINGS_ALL: CHOICE_0, **NAMES}, "the choice is not always 1, 2 or 3"),
    ],
)
def test_another_layout(name: str, files: dict[str, bytes], text: str, send: Send) -> None:
    send(name, files)
    with pytest.raises(DatasetError, match=re.escape(text)):
        LOADERS[name][1]()


LOADERS = {
    "food": (FOOD_ARCHIVE, tl.datasets.load_food),
    "material": (MATERIALS, tl.datasets.load_material),
    "musicians": (MUSICIANS, tl.datasets.load_musicians),
    "nights": ("nights/data.csv", tl.datasets.load_nights),
    "imagenet": ("imagenet/obs-118.hdf5", tl.datasets.load_imagenet_similarity),
    "things": (THINGS_TEST, lambda: tl.datasets.load_things_odd_one_out("test")),
    "things-data": (THINGS_ALL, lambda: tl.datasets.load_things_odd_one_out("all")),
}


@pytest.mark.parametrize("name", LOADERS)
def test_no_network(name: str, cache: Path, come: Come) -> None:
    """One line says which address, what to download by hand, and where to put it."""
    path, load = LOADERS[name]
    page = "https://example.org/page"
    come(name, {path: Origin(page, (Address("http://127.0.0.1:9/f"),))})
    with pytest.raises(DatasetError) as caught:
        load()
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(
        f"{cache / path} is missing: http://127.0.0.1:9/f cannot be reached; download {path} from "
        f"{page} and put it there, or in the folder that TRILENS_DATA names ("
    )
    assert f"sha256 {checksums()[path]}" in text if path in checksums() else "never" in text


def test_a_web_page_is_refused(server: Server, cache: Path, come: Come) -> None:
    pages = [b"<!DOCTYPE html><html>log in</html>", b"\n <HTML lang='en'>", b"<html>"]
    for i, (name, (path, load)) in enumerate(LOADERS.items()):
        server.files["/f"] = pages[i % 3]
        come(name, {path: server.origin("f")})
        with pytest.raises(DatasetError, match="/f sent a web page, not the file") as caught:
            load()
        assert path in str(caught.value)
    assert left_in(cache) == []


class TestFirstDownload:
    """A file whose sha256 nobody published must stay as it was first downloaded."""

    PATH = "new/t.csv"

    def test_is_remembered(self, server: Server, cache: Path) -> None:
        server.files["/t.csv"] = b"1"
        origin = server.origin("t.csv")
        (path,) = find_files([self.PATH], origin)
        one = hashlib.sha256(b"1").hexdigest()
        assert (cache / "SHA256SUMS").read_text() == f"{one}  new/t.csv\n"
        find_files([self.PATH], origin)
        assert server.asked == ["/t.csv"]
        path.write_bytes(b"spoilt")
        assert find_files([self.PATH], origin)[0].read_bytes() == b"1"
        path.unlink()
        server.files["/t.csv"] = b"2"
        with pytest.raises(DatasetError) as caught:
            find_files([self.PATH], origin)
        assert "t.csv sent a file with another sha256" in str(caught.value)
        assert f"when it was first downloaded; {cache / 'SHA256SUMS'} has it" in str(caught.value)

    def test_put_there_by_hand(
        self, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = cache.parent / "given"
        for folder in (cache, given):
            (folder / self.PATH).parent.mkdir(parents=True)
            (folder / self.PATH).write_bytes(b"by hand")
            assert find_files([self.PATH], server.origin("t.csv")) == [folder / self.PATH]
            monkeypatch.setenv("TRILENS_DATA", str(given))
        assert server.asked == []


def test_about() -> None:
    for name in tl.datasets.NAMES:
        one = tl.datasets.about(name)
        assert callable(getattr(tl.datasets, one.loader))
        assert f"cite: {one.citation}" in str(one)
        assert f"license: {one.license}" in str(one)
        assert one.addresses
    with pytest.raises(ParameterError, match=r"name is 'foods'; it must be one of cars, things"):
        tl.datasets.about("foods")
