"""What features add, in the library, on the command line and on the page."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commandline import run
from trilens import Answers
from trilens.cli.options import read_features_of
from trilens.errors import StatementError
from trilens.files import write_statements
from trilens.maps.fitted import fit
from trilens.questions.feature_gain import _split, feature_gain
from trilens.simulate import gaussian, simulate_statements
from trilens.statements import Statements

X = gaussian(30, 3, random_state=0).points
NAMES = [f"o{i}" for i in range(30)]


@pytest.fixture(scope="module")
def few():
    S = simulate_statements(X, 250, kind="odd", error_rate=0.1, random_state=1)
    return Statements(S.triples, names=NAMES, kind="odd")


GOOD = X @ np.random.default_rng(0).normal(size=(3, 8))


@pytest.fixture(scope="module")
def gained(few):
    return feature_gain(fit(few, features={"good": GOOD}))


def test_good_features_add(few, gained):
    alone, linear, both = gained.rows
    assert both.accuracy > alone.accuracy + 0.05
    assert linear.accuracy > alone.accuracy
    assert gained.fitted + gained.held_out == len(few)
    assert 0.15 < gained.held_out / len(few) < 0.25
    assert gained.shares["good"] > 0
    facts = json.loads(json.dumps(gained.to_dict()))
    assert f"both together {both.accuracy:.1%}" in facts["said"]
    low, high = (100 * end for end in facts["gain"])
    assert f"The features add {low:+.1f} to {high:+.1f} percentage points" in facts["said"]
    assert facts["gain"][0] <= both.accuracy - alone.accuracy <= facts["gain"][1]


def test_no_question_is_on_both_sides(few):
    twice = Statements(np.tile(few.triples, (2, 1)), names=NAMES, kind="odd")
    used, aside = _split(twice, 0)
    asked = [{frozenset(row) for row in twice.triples[part].tolist()} for part in (used, aside)]
    assert asked[0].isdisjoint(asked[1])
    assert (used ^ aside).all()


def test_useless_features_are_said_to_be(few):
    found = feature_gain(fit(few, features=np.random.default_rng(0).normal(size=(30, 4))))
    assert not any(found.shares.values())
    assert found.rows[2].accuracy == found.rows[0].accuracy
    assert "do not help to predict answers, and were left out" in found.said
    with pytest.raises(StatementError, match="from 50 answers on; there are 20"):
        feature_gain(fit(few.take(np.arange(20)), features=X))


def test_several_files_are_blocks(few, tmp_path):
    write_statements(few, tmp_path / "a.csv")
    (tmp_path / "other").mkdir()
    files = [tmp_path / "clip.npz", tmp_path / "words.npz", tmp_path / "other" / "clip.npz"]
    for file in files:
        np.savez(file, names=NAMES, vectors=X)
    answers = Answers(tmp_path / "a.csv", kind="odd")
    found = read_features_of(tuple(map(str, files)), answers)
    assert list(found) == ["clip", "words", f"{files[2]}: clip"]
    assert all(set(block) == set(NAMES) for block in found.values())


@pytest.mark.slow
def test_analyze_says_it_on_the_page_and_as_facts(few, gained, tmp_path):
    write_statements(few, tmp_path / "a.csv")
    np.savez(tmp_path / "good.npz", names=NAMES, vectors=GOOD)
    out = tmp_path / "r.html"
    given = ["--features", str(tmp_path / "good.npz"), "-o", str(out), "--json"]
    done = run("analyze", str(tmp_path / "a.csv"), "--kind", "odd", *given)
    facts = json.loads(done.stdout)
    # the objects have another order in the file
    for row, same in zip(facts["features"]["rows"], gained.rows, strict=True):
        assert row["interval"] == list(same.interval)
        assert row["log_loss"] == pytest.approx(same.log_loss, rel=1e-6)
    assert gained.said in done.stderr
    page = out.read_text(encoding="utf-8")
    assert "What the features add" in page
    assert f"both together {gained.rows[2].accuracy:.1%}" in page
