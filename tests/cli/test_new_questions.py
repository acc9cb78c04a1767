"""`trilens hierarchy`, `embed --distances`, `--by` and `individuals`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commandline import facts, run
from people_who_differ import survey
from trilens import write_statements
from trilens.files import read_vectors
from trilens.simulate import simulate_statements


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Two groups of objects, asked about by eight raters of two countries."""
    points = np.random.default_rng(0).normal(size=(16, 2)) + 8 * (np.arange(16) < 8)[:, None]
    S = simulate_statements(points, 480, kind="odd", random_state=1)
    path = tmp_path_factory.mktemp("questions") / "answers.csv"
    with path.open("w") as out:
        out.write("odd,other_1,other_2,rater,country\n")
        for i, (a, b, c) in enumerate(S.triples.tolist()):
            out.write(f"o{a},o{b},o{c},{i % 8},{'DE' if i % 8 < 4 else 'FR'}\n")
    return path


def test_a_tree_is_drawn_written_and_told(file, tmp_path):
    newick, drawn = tmp_path / "tree.nwk", tmp_path / "tree.svg"
    found = facts("hierarchy", file, "-o", newick)
    assert newick.read_text().strip() == found["newick"]
    assert {frozenset(branch) for branch in found["claimed"]} >= {
        frozenset(f"o{i}" for i in range(8)),
        frozenset(f"o{i}" for i in range(8, 16)),
    }
    done = run("hierarchy", file, "-o", drawn)
    assert drawn.read_text().startswith("<?xml")
    assert "The objects form two groups" in done.stderr
    assert f"wrote {drawn}" in done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["branch", "objects", "height", "support"]
    assert len(rows) >= 2


@pytest.mark.slow
def test_raters_are_compared(tmp_path):
    people, out = tmp_path / "answers.csv", tmp_path / "raters.csv"
    write_statements(survey(["a"] * 6 + ["b"] * 6, n=16, each=80), people)
    done = run("individuals", people, "-o", out)
    assert "12 raters were compared; they see the objects differently" in done.stderr
    header, *rows = out.read_text().splitlines()
    assert header.startswith('"rater","answers","group"')
    assert len(rows) == 12
    found = facts("individuals", people)
    assert found["differ"]
    assert found["sentences"][0] in done.stderr


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("hierarchy FILE -o tree.doc", 2, "cannot tell the format of tree.doc"),
        ("hierarchy FILE -o tree", 2, "use one of .svg, .png, .pdf, .nwk"),
        ("hierarchy FILE --images nowhere -o tree.png", 1, "the folder nowhere of --images"),
        ("embed FILE", 2, "say what to write"),
        ("embed FILE --distances d.doc", 1, "unknown ending .doc for a matrix of distances"),
        ("embed FILE --distances d.csv --comparisons", 2, "cannot be used with --comparisons"),
        ("embed FILE --distances FILE", 1, "is an input file"),
        # before anything is fitted
        ("analyze FILE --by planet --json", 1, "no column 'planet'"),
        ("analyze FILE --by odd --json", 1, "column 'odd' holds objects"),
    ],
)
def test_what_cannot_be_done_is_refused_first(file, tmp_path, monkeypatch, line, status, words):
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    assert words in run(*line.replace("FILE", str(file)).split(), status=status).stderr
    assert list(tmp_path.iterdir()) == []
    assert file.read_bytes() == before


def test_distances_and_coordinates_at_once(file, tmp_path):
    out, coordinates = tmp_path / "d.csv", tmp_path / "map.csv"
    done = run("embed", file, "--distances", out, "-o", coordinates)
    assert f"wrote {tmp_path / 'd.errors.csv'}" in done.stderr
    lines = out.read_text().splitlines()
    assert sorted(lines[0].split(",")) == sorted(["", *(f"o{i}" for i in range(16))])
    assert len(lines) == 17
    assert len(read_vectors(coordinates)) == 16  # and is read back
    models = tmp_path / "models.json"
    done = run("evaluate", file, "--distances", out, "--embedding", coordinates, "-o", models)
    assert "objects matched by name" in done.stderr
    for row in json.loads(models.read_text()):
        assert row["from"] <= row["accuracy"] <= row["to"]
        assert row["accuracy"] > 0.9
    # of a map without errors, in another format and on the screen
    found = facts("embed", file, "--distances", tmp_path / "d.h5", "--method", "lensmap")
    assert (tmp_path / "d.h5").stat().st_size > 0
    assert len(found["distances"]) == 16
    assert found["standard_errors"] is None
    done = run("embed", file, "--distances", "-", "--method", "lensmap")
    assert len(done.stdout.splitlines()) == 17
    assert "without standard errors" in done.stderr


@pytest.mark.slow
def test_groups_are_compared_by_a_column(file, tmp_path):
    some, out = tmp_path / "some.csv", tmp_path / "r.html"
    lines = file.read_text().splitlines()
    # the last answer has no group: that is said on the screen and on the page
    some.write_text("\n".join([*lines[:-1], lines[-1].removesuffix("FR")]) + "\n")
    done = run("analyze", some, "--by", "country", "-o", out, "--json")
    compared = json.loads(done.stdout)["compare_groups"]
    for told in (done.stderr, out.read_text(encoding="utf-8")):
        assert "1 answer without a group was left out." in told
    assert compared["by"] == "country"
    assert [group["name"] for group in compared["groups"]] == ["DE", "FR"]
    assert compared["p_value"] > 0.01
