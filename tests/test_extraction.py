"""Vectors by a small network that nobody has trained."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from PIL import Image

from commandline import run
from trilens import extraction
from trilens.errors import FormatError, MissingExtraError, ParameterError
from trilens.extraction import extract_features, find_stimuli
from trilens.files import read_features


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "pictures"
    found.mkdir()
    rng = np.random.default_rng(0)
    for name in ("horse", "cow", "big cat"):
        pixels = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(found / f"{name}.png")
    return found


class Counting:
    """Stands for a model: the size of a picture's file, or the length of a text."""

    def __init__(self, monkeypatch, stop_after=None):
        self.seen, self.stop_after = [], stop_after
        monkeypatch.setattr(extraction, "open_model", lambda *_: self)

    def __call__(self, batch):
        if self.stop_after is not None and len(self.seen) >= self.stop_after:
            raise KeyboardInterrupt
        self.seen += batch
        return np.array([[len(str(each)), 1.0] for each in batch], dtype=np.float32)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    import timm
    import torch

    torch.manual_seed(0)
    network = timm.create_model("test_resnet", pretrained=False, num_classes=0)
    file = tmp_path_factory.mktemp("weights") / "w.pth"
    torch.save(network.state_dict(), file)
    return file


def test_pictures_by_weights_from_a_file(folder, weights, tmp_path):
    out = tmp_path / "f.npz"
    given = ["--model", "test_resnet", "--weights", str(weights), "-o", str(out), "--json"]
    facts = json.loads(run("features", str(folder), *given).stdout)
    assert (facts["objects"], facts["medium"]) == (3, "pictures")
    (found,) = read_features(out).values()
    assert set(found) == {"horse", "cow", "big cat"}
    assert found["cow"].shape == (facts["dimensions"],)
    assert not np.allclose(found["cow"], found["horse"])
    assert list(tmp_path.glob("*.partial")) == []
    # the same again, one at a time, and as the answers call them
    again = tmp_path / "g.npz"
    names = ["img/cow.png", "horse"]
    extract_features(folder, again, model="test_resnet", weights=weights, objects=names, batch=1)
    (other,) = read_features(again).values()
    assert list(other) == names
    np.testing.assert_allclose(other["img/cow.png"], found["cow"], rtol=1e-3, atol=1e-4)
    (folder / "zebra.png").write_bytes(b"nothing")
    with pytest.raises(FormatError, match=r"zebra.png cannot be read as a picture"):
        extract_features(folder, out, model="test_resnet", weights=weights)


def test_weights_that_are_not_there(folder, weights, tmp_path):
    import torch

    with pytest.raises(FormatError, match=r"not on this machine .* --download"):
        extract_features(folder, tmp_path / "f.npz")
    with pytest.raises(FormatError, match=r"none.pth does not exist"):
        extract_features(folder, tmp_path / "f.npz", model="test_resnet", weights="none.pth")
    with pytest.raises(ParameterError, match="timm has no model 'nonsense'"):
        extract_features(folder, tmp_path / "f.npz", model="nonsense")
    torch.save({"other.weight": torch.zeros(1)}, tmp_path / "w.pth")
    with pytest.raises(FormatError, match=r"lacks .* parameters of the model"):
        extract_features(
            folder, tmp_path / "f.npz", model="test_resnet", weights=tmp_path / "w.pth"
        )
    assert not (tmp_path / "f.npz").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_texts_by_a_model_in_a_folder(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import BoW

    words = ["horse", "cow", "runs", "grass"]
    model = SentenceTransformer(modules=[BoW(vocab=words)], device="cpu")
    model.save(str(tmp_path / "model"), create_model_card=False)
    (tmp_path / "t.csv").write_text('object,text\na,"horse runs"\nb,"cow grass grass"\n')
    out = tmp_path / "t.npz"
    extract_features(tmp_path / "t.csv", out, model=str(tmp_path / "model"))
    (found,) = read_features(out).values()
    assert found["a"].tolist() == [1, 0, 1, 0]
    with pytest.raises(FormatError, match="not on this machine"):
        extract_features(tmp_path / "t.csv", tmp_path / "u.npz")


def test_it_goes_on_where_it_was(folder, tmp_path, monkeypatch):
    out = tmp_path / "f.npz"
    first = Counting(monkeypatch, stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        extract_features(folder, out, model="x", batch=1)
    assert not out.exists()
    partial = tmp_path / "f.npz.partial"
    partial.write_bytes(partial.read_bytes() + b"\x93NUMPY cut off")
    second = Counting(monkeypatch)
    shares = []
    extract_features(folder, out, model="x", batch=1, progress=shares.append)
    assert len(first.seen) == 2
    assert len(second.seen) == 1
    assert shares == [1.0]
    assert not partial.exists()
    (found,) = read_features(out).values()
    assert len(found) == 3


def test_what_has_changed_is_done_again(folder, tmp_path, monkeypatch):
    out = tmp_path / "f.npz"
    for model, changed, again in (("x", "cow.png", 2), ("y", None, 3)):
        Counting(monkeypatch, stop_after=2)
        with pytest.raises(KeyboardInterrupt):
            extract_features(folder, out, model="x", batch=1)
        if changed:
            with (folder / "big cat.png").open("ab") as file:
                file.write(b"\0")
        seen = Counting(monkeypatch)
        extract_features(folder, out, model=model, batch=1)
        assert len(seen.seen) == again


def test_folders_that_are_no_stimuli(folder, tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        find_stimuli(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="has no pictures"):
        find_stimuli(tmp_path / "empty")
    Image.new("RGB", (4, 4)).save(folder / "cow.gif")
    with pytest.raises(FormatError, match="two files are called 'cow'"):
        find_stimuli(folder)
    with pytest.raises(FormatError, match="nothing for 1 of 2 objects: duck"):
        find_stimuli(folder, ["horse", "duck"])
    (folder / "a.txt").write_text("text")
    with pytest.raises(FormatError, match="has pictures and texts"):
        find_stimuli(folder)
    (tmp_path / "empty" / "a.txt").write_text(" ")
    with pytest.raises(FormatError, match="is empty"):
        find_stimuli(tmp_path / "empty")
    with pytest.raises(ParameterError, match=r"must end in \.npz"):
        extract_features(folder, tmp_path / "f.csv")


def test_without_the_extra(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trilens\[features\]'"):
        extract_features(folder, tmp_path / "f.npz")
