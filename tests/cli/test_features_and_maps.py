"""`trilens fit`, --features, a fit in place of FILE, and `trilens place`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from featured_study import study
from trilens.errors import FormatError

NAMES = [f"o{i}" for i in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers about 27 of 30 objects and the others, features of all, and a fit of the 27."""
    path = tmp_path_factory.mktemp("maps")
    _, F, S, _ = study()
    new = (S.triples >= 27).any(axis=1)
    old = tl.Statements(S.triples[~new], 27, names=NAMES[:27], kind="central")
    tl.write_statements(old, path / "old.csv")
    tl.write_statements(
        tl.Statements(S.triples[new], 30, names=NAMES, kind="central"), path / "new.csv"
    )
    np.savez(path / "features.npz", names=NAMES, vectors=F)
    np.save(path / "nameless.npy", F[:27])
    M = tl.ChoiceMap(2, l2=0.1, feature_share={"features": 0.9})
    M.fit(old, features=dict(zip(NAMES[:27], F[:27], strict=True)))
    M.fit_.save(path / "study.fit")
    return path


def test_a_fit_is_written_and_serves_the_questions(folder):
    written = facts("fit", folder / "old.csv", "--dim", 1, "-o", folder / "line.fit")
    assert written["dim"] == 1
    assert tl.load(folder / "line.fit").names == tl.read_statements(folder / "old.csv").names
    fitted = tl.load(folder / "study.fit")
    found = facts("medoid", folder / "study.fit")
    assert found == json.loads(json.dumps(tl.medoid(fitted).to_dict()))
    assert facts("describe", folder / "study.fit")["objects"] == 27
    said = run("medoid", folder / "study.fit", "--kind", "odd", status=2).stderr
    assert "--kind cannot be used with a fit" in said
    run("analyze", folder / "line.fit", "-o", folder / "report.html")
    assert "What the answers in line say" in (folder / "report.html").read_text()
    run("reliability", folder / "study.fit", "-o", folder / "reliability.html")
    assert "a fit already" in run("fit", folder / "line.fit", "-o", "x.fit", status=2).stderr


def test_new_objects_are_placed(folder):
    found = facts("place", folder / "study.fit", folder / "new.csv")["places"]
    assert {row["object"] for row in found} == {"o27", "o28", "o29"}
    assert all(row["answers"] > 0 for row in found)
    by_features = facts(
        *("place", folder / "study.fit", "--features", folder / "features.npz"),
        *("-o", folder / "all.fit"),
    )["places"]
    assert [row["answers"] for row in by_features] == [0, 0, 0]
    assert tl.load(folder / "all.fit").n_objects == 30
    run("place", folder / "study.fit", status=2)
    run("place", folder / "study.fit", folder / "old.csv", status=1)
    said = run("medoid", folder / "old.csv", "--features", folder / "nameless.npy", status=2).stderr
    assert "--objects" in said
    table = run("place", folder / "study.fit", folder / "new.csv", "-o", "-").stdout.splitlines()
    assert table[0].replace('"', "") == "object,x1,x2,error1,error2,answers"


def test_a_file_that_is_called_a_fit_is_never_a_table(folder, tmp_path):
    np.savez(tmp_path / "foreign.npz", triples=[[0, 1, 2]], kind="odd")
    for content in (
        b"a,b,c\nb,c,d\n",
        (folder / "study.fit").read_bytes()[:-200],
        (tmp_path / "foreign.npz").read_bytes(),
    ):
        file = tmp_path / "x.fit"
        file.write_bytes(content)
        for words in (["medoid", file], ["evaluate", folder / "old.csv", file]):
            assert "x.fit is no fit" in run(*words, status=1).stderr
        with pytest.raises(FormatError, match=r"x\.fit is no fit"):
            tl.medoid(file)
        with pytest.raises(FormatError, match=r"x\.fit is a fit, by its ending, and no table"):
            tl.read_statements(file)
    # nor is a sound one read as answers whose kind is not known
    for words in (
        ["columns", folder / "study.fit"],
        ["count", folder / "study.fit", "-o", tmp_path / "c.npz"],
        ["evaluate", folder / "old.csv", "--answers", folder / "study.fit"],
    ):
        assert "is a fit, by its ending" in run(*words, status=1).stderr


@pytest.mark.slow
def test_questions_take_features(folder):
    given = ("--features", folder / "features.npz")
    S = tl.read_statements(folder / "old.csv")
    _, F, _, _ = study()
    named = dict(zip(NAMES, F, strict=True))
    found = facts("medoid", folder / "old.csv", *given)
    assert found["medoid"] == tl.fit(S, features={"features": named}).medoid().name
    shares = facts("fit", folder / "old.csv", *given, "-o", folder / "f.fit")["feature_shares"]
    assert shares["features"] > 0
