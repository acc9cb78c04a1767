from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from drawn import statements
from trilens.simulate import study
from trilens.statements import Statements
from trilens.tasks.reliability import FEW_APPEARANCES, diagnose


def _codes(found):
    return {caution.code: caution for caution in found.cautions}


@pytest.fixture(scope="module")
def shapes():
    return study(random_state=2)


def test_a_sound_study_without_careless_raters_has_no_caution():
    found = diagnose(study(careless=0.0, random_state=1).statements)
    assert found.cautions == ()
    assert found.unit == "rater"
    assert len(found.raters) == 40
    assert found.predicted > 0.6


def test_raters_who_guess_are_found_and_no_others(shapes):
    found = diagnose(shapes.statements)
    careless = {str(i) for i in np.flatnonzero(np.isnan(shapes.raters.error_rates))}
    assert set(_codes(found)["guessing"].names) == careless
    assert {check.rater for check in found.raters if check.guessing} == careless
    assert "without them" in _codes(found)["guessing"].remedy


def test_rounds_stand_in_for_raters(shapes):
    S = shapes.statements
    only_rounds = Statements(S.triples, names=S.names, rounds=S.raters)
    found = diagnose(only_rounds)
    assert found.unit == "round"
    assert _codes(found)["guessing"].what.endswith(
        "fit those of the others no better than guesses."
    )


def test_a_rater_of_one_place_is_found(shapes):
    S = shapes.statements
    places = np.random.default_rng(0).integers(3, size=len(S))
    places[np.asarray(S.raters).astype(str) == "7"] = 1
    found = diagnose(S, places)
    assert _codes(found)["same-place"].names == ("7",)
    assert next(c for c in found.raters if c.rater == "7").same_place == 1.0


def test_objects_seen_rarely_or_never():
    S = study(n_objects=20, n_statements=900, random_state=3).statements
    gone = np.flatnonzero(~(S.triples == 4).any(axis=1))
    rare = np.flatnonzero((S.triples == 5).any(axis=1))[5:]
    few = S.take(np.setdiff1d(gone, rare))
    codes = _codes(diagnose(few))
    assert codes["unseen"].names == (S.names[4],)
    assert codes["rare"].names == (S.names[5],)
    assert str(FEW_APPEARANCES) in codes["rare"].remedy


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_parts_that_nothing_connects(kind):
    rng = np.random.default_rng(0)
    left = np.array([rng.permutation(6)[:3] for _ in range(100)])
    right = 6 + np.array([rng.permutation(5)[:3] for _ in range(100)])
    found = diagnose(Statements(np.concatenate([left, right]), kind=kind))
    assert set(_codes(found)["apart"].names) == {"6", "7", "8", "9", "10"}
    assert found.parts.tolist() == [0] * 6 + [1] * 5


@pytest.mark.parametrize("kind", ["central", "closer"])
def test_answers_at_random_are_noise(kind):
    rng = np.random.default_rng(4)
    triples = np.array([rng.permutation(15)[:3] for _ in range(1500)])
    found = diagnose(Statements(triples, kind=kind))
    codes = _codes(found)
    assert "noise" in codes
    assert "contradictions" in codes
    assert found.predicted == pytest.approx(found.chance, abs=0.06)


def test_no_statements():
    assert [c.code for c in diagnose(Statements([], 5)).cautions] == ["no-statements"]


@settings(max_examples=25)
@given(statements())
def test_any_statements_can_be_diagnosed(S):
    found = diagnose(S)
    assert len(found.parts) == S.n_objects
    for caution in found.cautions:
        assert caution.what
        assert caution.therefore
        assert caution.remedy
