from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from trilens.errors import FormatError, ParameterError
from trilens.report import draw_stimuli, load_pictures, pictures
from trilens.report.stimuli import shape_svg


def _read(picture):
    head, data = picture.uri.split(",", 1)
    return head, base64.b64decode(data)


def test_every_format_becomes_a_small_picture_and_svg_goes_in_as_it_is(tmp_path):
    rasters = ("png", "jpg", "gif", "webp")
    for ending in rasters:
        Image.new("RGB", (800, 400), "red").save(tmp_path / f"{ending}.{ending}")
    Image.new("RGBA", (50, 100), (0, 0, 0, 0)).save(tmp_path / "clear.PNG")
    source = shape_svg([0.2, 0.4, 0.9])
    (tmp_path / "a b.svg").write_text(source)
    wide = '<svg xmlns="http://www.w3.org/2000/svg" width="40px" height="20"/>'
    (tmp_path / "wide.svg").write_text(wide)
    (tmp_path / "flat.svg").write_text(wide.replace("20", "0"))
    found = load_pictures(tmp_path, [*rasters, "clear", "a b", "wide", "flat"], size=160)
    assert not found.missing
    assert not found.broken
    sizes = {name: (picture.width, picture.height) for name, picture in found.of.items()}
    for name in rasters:
        head, data = _read(found.of[name])
        assert head == "data:image/jpeg;base64"
        assert Image.open(io.BytesIO(data)).size == (160, 80) == sizes[name]
    head, data = _read(found.of["clear"])
    assert head == "data:image/png;base64"
    assert Image.open(io.BytesIO(data)).mode == "RGBA"
    assert (sizes["clear"], sizes["wide"]) == ((80, 160), (160, 80))
    assert sizes["flat"] == (160, 160)
    assert _read(found.of["a b"]) == ("data:image/svg+xml;base64", source.encode())


def test_missing_broken_and_huge_pictures_are_named(tmp_path, monkeypatch):
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
    with pytest.raises(FormatError, match="no such folder"):
        load_pictures(tmp_path / "none", ["a"])


@given(st.lists(st.floats(-5, 5), min_size=0, max_size=5))
def test_every_point_has_a_well_formed_shape(point):
    root = ElementTree.fromstring(shape_svg(point))
    numbers = [float(x) for x in re.sub("[MLZ]", " ", root[1].attrib["d"]).split()]
    assert min(numbers) >= 0
    assert max(numbers) <= 160


def test_stimuli_are_files_by_name_that_show_each_dimension(tmp_path):
    points = np.random.default_rng(0).random((3, 3))
    assert len({shape_svg(p) for p in np.vstack([np.full(3, 0.5), 0.5 + 0.4 * np.eye(3)])}) == 4
    drawn = draw_stimuli(points, tmp_path / "shapes", ["a", "b", "c"])
    assert [path.name for path in drawn] == ["a.svg", "b.svg", "c.svg"]
    assert len(load_pictures(tmp_path / "shapes", ["a", "c"]).of) == 2
    with pytest.raises(ParameterError, match="2 names for 3"):
        draw_stimuli(np.zeros((3, 3)), tmp_path, ["a", "b"])
    with pytest.raises(ParameterError, match="cannot be the name"):
        draw_stimuli(np.zeros((1, 3)), tmp_path, ["../a"])
    with pytest.raises(ParameterError, match="finite"):
        shape_svg([np.nan])
