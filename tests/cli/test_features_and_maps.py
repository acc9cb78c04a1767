"""--features, --map, `trilens embed -o map.npz` and `trilens place`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from featured_study import study

NAMES = [f"o{i}" for i in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers about 27 of 30 objects and the others, features of all, and a map of the 27."""
    path = tmp_path_factory.mktemp("maps")
    _, F, S, _ = study()
    new = (S.triples >= 27).any(axis=1)
    old = tl.Statements(S.triples[~new], 27, names=NAMES[:27])
    tl.write_statements(old, path / "old.csv")
    tl.write_statements(tl.Statements(S.triples[new], 30, names=NAMES), path / "new.csv")
    np.savez(path / "features.npz", names=NAMES, vectors=F)
    np.save(path / "nameless.npy", F[:27])
    M = tl.ChoiceMap(2, l2=0.1, feature_share={"features": 0.9})
    M.fit(old, features=dict(zip(NAMES[:27], F[:27], strict=True))).save(path / "map.npz")
    return path


def test_a_map_is_written_and_serves_the_questions(folder):
    written = facts("embed", folder / "old.csv", "--dim", 1, "-o", folder / "line.npz")
    assert written["dim"] == 1
    assert tl.load_map(folder / "line.npz").names_ == tl.read_statements(folder / "old.csv").names
    S = tl.read_statements(folder / "old.csv")
    M = tl.load_map(folder / "map.npz")
    found = facts("medoid", folder / "old.csv", "--map", folder / "map.npz")
    assert found == json.loads(json.dumps(tl.medoid(S, model=M).to_dict()))


def test_new_objects_are_placed(folder):
    found = facts("place", folder / "map.npz", folder / "new.csv")["places"]
    assert {row["object"] for row in found} == {"o27", "o28", "o29"}
    assert all(row["answers"] > 0 for row in found)
    by_features = facts(
        "place", folder / "map.npz", "--features", folder / "features.npz", "-o", folder / "all.npz"
    )["places"]
    assert [row["answers"] for row in by_features] == [0, 0, 0]
    assert len(tl.load_map(folder / "all.npz").embedding_) == 30
    table = run("place", folder / "map.npz", folder / "new.csv", "-o", "-").stdout.splitlines()
    assert table[0].replace('"', "") == "object,x1,x2,error1,error2,answers"


def test_a_map_is_a_model_to_evaluate(folder):
    found = facts("evaluate", folder / "old.csv", "--embedding", folder / "map.npz")
    S = tl.read_statements(folder / "old.csv")
    assert found["accuracy"] == pytest.approx(tl.load_map(folder / "map.npz").score(S))


def test_wrong_lines_are_told(folder):
    run("place", folder / "map.npz", status=2)
    run("place", folder / "old.csv", folder / "new.csv", status=1)
    run("place", folder / "map.npz", folder / "old.csv", status=1)
    said = run("medoid", folder / "old.csv", "--features", folder / "nameless.npy", status=2).stderr
    assert "--objects" in said
    both = ("--features", folder / "features.npz", "--map", folder / "map.npz")
    assert "together" in run("medoid", folder / "old.csv", *both, status=2).stderr
    strange = run("medoid", folder / "new.csv", "--map", folder / "map.npz", status=1).stderr
    assert "is not on the map" in strange
    S = tl.read_statements(folder / "old.csv")
    tl.write_statements(tl.Statements(S.triples, 27), folder / "numbers.csv")
    numbers = run("medoid", folder / "numbers.csv", "--map", folder / "map.npz", status=1).stderr
    assert "the answers are about 0, 1, 2, ... and the map" in numbers


@pytest.mark.slow
def test_questions_take_features(folder):
    given = ("--features", folder / "features.npz")
    S = tl.read_statements(folder / "old.csv")
    _, F, _, _ = study()
    named = dict(zip(NAMES, F, strict=True))
    found = facts("medoid", folder / "old.csv", *given)
    assert found["medoid"] == tl.medoid(S, features={"features": named}).name
    shares = facts("embed", folder / "old.csv", *given, "-o", folder / "f.npz")["feature_shares"]
    assert shares["features"] > 0
