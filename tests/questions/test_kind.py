"""The kind under which held-out answers can be predicted."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from commandline import run
from trilens.errors import AssumedKindWarning
from trilens.kinds import KINDS
from trilens.maps.kind import KindFit, kind_fit
from trilens.statements import Statements


def drawn_answers(kind: str, n: int = 700) -> Statements:
    """About 16 objects in a plane, one answer in ten a guess."""
    rng = np.random.default_rng(3)
    at = rng.normal(size=(16, 2))
    shown = np.array([rng.choice(16, 3, replace=False) for _ in range(n)])
    opposite = at[shown[:, [1, 0, 0]]] - at[shown[:, [2, 2, 1]]]
    far = np.linalg.norm(opposite, axis=2)
    guessed = rng.random(n) < 0.1
    if kind == "closer":
        nearer = np.where(guessed, rng.random(n) < 0.5, far[:, 2] < far[:, 1])
        return Statements.from_responses(shown, nearer)
    best = far.argmax(axis=1) if kind == "central" else far.argmin(axis=1)
    places = np.where(guessed, rng.integers(3, size=n), best)
    return Statements.from_responses(shown, places, kind=kind)


@pytest.mark.slow
@pytest.mark.parametrize("asked", KINDS)
def test_the_kind_that_was_asked_fits(asked):
    drawn = drawn_answers(asked)
    assert kind_fit(drawn).fitting is None
    for said in KINDS:
        found = kind_fit(Statements(drawn.triples, kind=said))
        assert found.fitting in ((None,) if said == asked else (None, asked)), (said, found)
        if {said, asked} == {"central", "odd"}:
            assert found.fitting == asked, found
    found = kind_fit(drawn)
    assert max(found.accuracy, key=found.gain) == asked


def test_another_kind_must_predict_much_better():
    told = {"central": 0.55, "odd": 0.88, "closer": 0.6}
    assert KindFit("central", told, 172).fitting == "odd"
    assert KindFit("odd", told, 172).fitting is None
    assert KindFit("central", told, 12).fitting is None  # too few to tell
    assert KindFit("central", {"central": 0.3, "odd": 0.36, "closer": 0.52}, 172).fitting is None


def test_few_answers_tell_nothing():
    drawn = drawn_answers("central", 60)
    assert kind_fit(drawn).fitting is None
    assert kind_fit(drawn).accuracy == {}


def test_sorted_names_do_not_look_like_similarity_triplets():
    told = {"central": 0.6, "odd": 0.3, "closer": 0.95}
    assert KindFit("central", told, 500, by_order=0.93).fitting is None
    assert KindFit("central", told, 500, by_order=0.55).fitting == "closer"


@pytest.mark.slow
def test_the_analysis_says_which_kind_fits(tmp_path):
    file = tmp_path / "a.csv"
    drawn = drawn_answers("odd")
    file.write_text("".join(",".join(f"o{i}" for i in row) + "\n" for row in drawn.triples))
    found = tl.reliability(tl.Answers(file)).cautions[0]
    assert found.code == "kind"
    assert "the answers fit kind odd" in found.what
    assert "--kind odd" in found.remedy
    told = tl.reliability(tl.Answers(file, kind="odd")).cautions
    assert "kind" not in {caution.code for caution in told}
    assert "the answers fit kind odd" in run("describe", file).stderr


def test_an_assumed_kind_is_a_caution(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,b,c\nb,c,d\nd,a,b\n" * 3)
    assert "kind central is assumed" in tl.reliability(tl.Answers(file)).cautions[0].what
    assert "caution: the data do not say which question" in run("describe", file).stderr
    with pytest.warns(AssumedKindWarning):
        tl.Answers(file).count()
    with pytest.warns(AssumedKindWarning):
        Statements({"chosen": ["a"], "shown_1": ["a"], "shown_2": ["b"], "shown_3": ["c"]})


def test_many_objects_are_not_mapped_for_it():
    rows = np.random.default_rng(0).permutation(900).reshape(300, 3)
    assert kind_fit(Statements(rows, 20_000, kind="central")).accuracy == {}
