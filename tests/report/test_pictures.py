from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from trilens.errors import FormatError, ParameterError
from trilens.report import draw_stimuli, load_pictures
from trilens.report.stimuli import shape_svg


def _opened(picture):
    head, data = picture.uri.split(",", 1)
    return head, Image.open(io.BytesIO(base64.b64decode(data)))


def test_every_format_becomes_a_small_picture(tmp_path):
    for ending in ("png", "jpg", "gif", "webp"):
        Image.new("RGB", (800, 400), "red").save(tmp_path / f"{ending}.{ending}")
    Image.new("RGBA", (50, 100), (0, 0, 0, 0)).save(tmp_path / "clear.PNG")
    found = load_pictures(tmp_path, ["png", "jpg", "gif", "webp", "clear"], size=160)
    assert not found.missing
    assert not found.broken
    for name in ("png", "jpg", "gif", "webp"):
        head, image = _opened(found.of[name])
        assert head == "data:image/jpeg;base64"
        assert image.size == (160, 80) == (found.of[name].width, found.of[name].height)
    head, image = _opened(found.of["clear"])
    assert head == "data:image/png;base64"
    assert image.mode == "RGBA"
    assert (found.of["clear"].width, found.of["clear"].height) == (80, 160)


def test_missing_broken_and_huge_pictures_are_named(tmp_path, monkeypatch):
    from trilens.report import pictures

    monkeypatch.setattr(pictures, "MAX_BYTES", 3000)
    monkeypatch.setattr(pictures, "MAX_PIXELS", 10_000)
    monkeypatch.setattr(pictures, "MAX_SVG_BYTES", 500)
    (tmp_path / "text.png").write_text("not a picture")
    good = io.BytesIO()
    Image.effect_noise((60, 60), 90).save(good, "JPEG")
    (tmp_path / "cut.jpg").write_bytes(good.getvalue()[: len(good.getvalue()) // 2])
    Image.new("L", (200, 200)).save(tmp_path / "wide.png")
    (tmp_path / "heavy.png").write_bytes(b"x" * 4000)
    (tmp_path / "broken.svg").write_text("<svg><g></svg>")
    (tmp_path / "large.svg").write_text("<svg>" + " " * 600 + "</svg>")
    (tmp_path / "other.svg").write_text("<html/>")
    (tmp_path / "bomb.svg").write_text('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>')
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "notes.txt").write_text("no picture at all")
    names = ["text", "cut", "wide", "heavy", "broken", "large", "other", "bomb", "folder", "notes"]
    (tmp_path.parent / "above.png").write_text("outside")
    found = load_pictures(tmp_path, names)
    assert load_pictures(tmp_path, ["../above"]).missing == ("../above",)
    assert found.of == {}
    assert found.missing == ("folder", "notes")
    assert set(found.broken) == {
        "text.png", "cut.jpg", "wide.png", "heavy.png", "broken.svg", "large.svg", "other.svg",
        "bomb.svg",
    }  # fmt: skip
    assert "pixels" in found.broken["wide.png"]


def test_svg_goes_in_as_it_is(tmp_path):
    source = shape_svg([0.2, 0.4, 0.9])
    (tmp_path / "a b.svg").write_text(source)
    (tmp_path / "wide.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40px" height="20"/>'
    )
    found = load_pictures(tmp_path, ["a b", "wide"], size=100)
    head, data = found.of["a b"].uri.split(",", 1)
    assert head == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == source
    assert (found.of["wide"].width, found.of["wide"].height) == (100, 50)


def test_no_folder_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="no such folder"):
        load_pictures(tmp_path / "none", ["a"])


@given(st.lists(st.floats(-5, 5), min_size=0, max_size=5))
def test_every_point_has_a_well_formed_shape(point):
    from xml.etree import ElementTree

    root = ElementTree.fromstring(shape_svg(point))
    path = root[1].attrib["d"]
    numbers = [float(x) for x in path.replace("M", " ").replace("L", " ").replace("Z", " ").split()]
    assert min(numbers) >= 0
    assert max(numbers) <= 160


def test_hidden_dimensions_are_visible():
    shapes = {
        shape_svg(p) for p in ([0.1, 0.5, 0.5], [0.9, 0.5, 0.5], [0.5, 0.9, 0.5], [0.5, 0.5, 0.9])
    }
    assert len(shapes) == 4


def test_stimuli_are_files_by_name(tmp_path):
    points = np.random.default_rng(0).random((3, 3))
    drawn = draw_stimuli(points, tmp_path / "shapes", ["a", "b", "c"])
    assert [path.name for path in drawn] == ["a.svg", "b.svg", "c.svg"]
    assert len(load_pictures(tmp_path / "shapes", ["a", "c"]).of) == 2
    with pytest.raises(ParameterError, match="2 names for 3"):
        draw_stimuli(np.zeros((3, 3)), tmp_path, ["a", "b"])
    with pytest.raises(ParameterError, match="cannot be the name"):
        draw_stimuli(np.zeros((1, 3)), tmp_path, ["../a"])
    with pytest.raises(ParameterError, match="finite"):
        shape_svg([np.nan])
