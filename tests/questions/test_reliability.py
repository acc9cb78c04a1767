from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from drawn import statements
from trilens.agreement import Agreement, agreement_between, repeats_of
from trilens.answers import Answers
from trilens.errors import ParameterError
from trilens.files import write_statements
from trilens.maps.fitted import fit
from trilens.questions.reliability import FEW_ANSWERS, FEW_APPEARANCES, reliability
from trilens.questions.reliability.raters import hold_out
from trilens.simulate import Raters, ask_raters, gaussian, simulate_statements, study
from trilens.statements import Statements


def _codes(found):
    return {caution.code: caution for caution in found.cautions}


def _survey(share, kind="central", rate=0.1, n_raters=40, per=50, seed=0):
    rng = np.random.default_rng(seed)
    rates = np.full(n_raters, rate)
    rates[rng.permutation(n_raters) < round(share * n_raters)] = np.nan
    raters = Raters(rates, np.ones(n_raters))
    points = gaussian(30, 2, random_state=rng)
    S = ask_raters(points, raters, n_raters * per, kind, round_size=per, random_state=rng)
    return S, raters


@pytest.fixture(scope="module")
def shapes():
    return study(n_objects=20, n_statements=1000, n_raters=10, random_state=2)


def test_a_sound_study_has_no_caution():
    found = reliability(_survey(0.0)[0])
    assert found.cautions == ()
    assert found.unit == "rater"
    assert len(found.raters) == 40
    assert found.predicted > 0.7
    assert found.guessing_share < 0.1
    low, high = found.error_rate_interval
    assert low <= 0.1 <= high
    assert low <= found.error_rate <= high < 0.25
    # an interval that says nothing is not written as one
    wide = Agreement(share=1.0, low=0.0, high=1.0, questions=1, answers=2, raters=1)
    said = replace(found, within=wide).methods
    assert "agreed in 100% (too few answers to tell) of cases (1 question)" in said
    assert "(60 to 90%)" in replace(found, within=replace(wide, low=0.6, high=0.9)).methods


def test_raters_who_guess_or_answer_in_one_place_are_found_and_no_others(shapes):
    S = shapes.statements
    places = np.random.default_rng(0).integers(3, size=len(S)).astype(np.int8)
    places[np.asarray(S.raters) == 7] = 1
    placed = Statements(S.triples, names=S.names, raters=S.raters, kind="central")
    object.__setattr__(placed, "places", places)
    found = reliability(placed)
    assert _codes(found)["same-place"].names == ("7",)
    assert next(c for c in found.raters if c.rater == "7").same_place == 1.0
    careless = {str(i) for i in np.flatnonzero(shapes.raters.careless)}
    assert set(_codes(found)["guessing"].names) == careless
    assert {check.rater for check in found.raters if check.guessing} == careless
    assert "without them" in _codes(found)["guessing"].remedy
    for check in found.raters:
        assert check.blind_low <= check.blind <= check.blind_high
        assert (check.blind_high > 0.9) == (check.rater in careless)


def test_raters_with_few_answers_are_not_judged():
    S, raters = _survey(0.5, n_raters=16, per=60, seed=3)
    careless = np.flatnonzero(raters.careless)
    own = np.flatnonzero(np.asarray(S.raters) == careless[0])
    kept = np.setdiff1d(np.arange(len(S)), own[FEW_ANSWERS - 1 :])
    found = reliability(S.take(kept))
    assert found.not_judged == (str(careless[0]),)
    assert not next(c for c in found.raters if c.rater == str(careless[0])).guessing


def test_rounds_stand_in_for_raters(shapes):
    S = shapes.statements
    found = reliability(Statements(S.triples, names=S.names, rounds=S.raters, kind="central"))
    assert found.unit == "round"
    assert "rounds fit neither those of the others" in _codes(found)["guessing"].what


def test_objects_seen_rarely_or_never():
    S = study(n_objects=16, n_statements=500, n_raters=8, random_state=3).statements
    gone = np.flatnonzero(~(S.triples == 4).any(axis=1))
    rare = np.flatnonzero((S.triples == 5).any(axis=1))[5:]
    codes = _codes(reliability(S.take(np.setdiff1d(gone, rare))))
    assert codes["unseen"].names == (S.names[4],)
    assert codes["rare"].names == (S.names[5],)
    assert str(FEW_APPEARANCES) in codes["rare"].remedy
    assert "lists of candidates allow for that" in codes["rare"].therefore


def test_parts_that_nothing_connects():
    rng = np.random.default_rng(0)
    left = np.array([rng.permutation(6)[:3] for _ in range(100)])
    right = 6 + np.array([rng.permutation(5)[:3] for _ in range(100)])
    found = reliability(Statements(np.concatenate([left, right]), kind="closer"))
    assert set(_codes(found)["apart"].names) == {"6", "7", "8", "9", "10"}
    assert found.parts.tolist() == [0] * 6 + [1] * 5


@pytest.mark.parametrize(("kind", "known"), [("odd", True), ("closer", False)])
def test_answers_at_random_are_noise(kind, known):
    rng = np.random.default_rng(4)
    triples = np.array([rng.permutation(15)[:3] for _ in range(900)])
    raters = np.arange(900) % 30 if known else None
    found = reliability(Statements(triples, kind=kind, raters=raters))
    codes = _codes(found)
    assert "noise" in codes
    assert "guessing" not in codes
    assert "contradictions" in codes
    assert found.predicted == pytest.approx(found.chance, abs=0.06)
    assert not any(check.judged for check in found.raters)


def test_many_wrong_answers_are_said_but_are_not_noise():
    points = gaussian(20, 2, random_state=0)
    found = reliability(simulate_statements(points, 1100, error_rate=0.35, random_state=1))
    codes = _codes(found)
    assert "wrong" in codes
    assert "noise" not in codes
    assert found.error_rate_interval[0] <= 0.35 <= found.error_rate_interval[1]


@pytest.mark.parametrize(("kind", "rate"), [("central", 0.2), ("odd", 0.1), ("closer", 0.2)])
def test_repeated_questions_tell_the_error_rate(kind, rate):
    raters = Raters(np.full(20, rate), np.ones(20))
    points = gaussian(10, 2, random_state=1)
    S = ask_raters(points, raters, 3000, kind, "replacement", random_state=2)
    found = repeats_of(agreement_between(S, S.raters), kind).error_rate
    assert found.low <= rate <= found.high
    assert found.estimate == pytest.approx(rate, abs=0.03)


def test_held_out_maps_know_nothing_of_what_is_held_out():
    rng = np.random.default_rng(7)
    S = Statements(np.array([rng.permutation(30)[:3] for _ in range(2500)]), kind="closer")
    found = hold_out(S, None, fit(S))
    # guesses; a map that starts at that of all answers reaches 0.52
    assert found.right.mean() == pytest.approx(0.5, abs=0.02)
    assert found.fitted.mean() > 0.55


def test_of_large_files_all_is_known_but_the_names_of_raters(tmp_path, monkeypatch):
    S = study(16, 500, n_raters=8, random_state=3).statements
    triples = np.concatenate([S.triples, S.triples[:60]])
    who = [f"p{i % 8}" if i % 9 else "" for i in range(len(triples))]
    file = tmp_path / "answers.csv"
    write_statements(Statements(triples, names=S.names, raters=who, kind="central"), file)
    held = reliability(Answers(file)).to_dict()
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)
    found = reliability(Answers(file))
    assert found.cautions[0].code == "counted"
    streamed = found.to_dict()
    assert held["raters"]
    assert "" not in {each["rater"] for each in held["raters"]}
    assert [streamed.pop(key) for key in ("raters", "exclusions")] == [[], []]
    same = streamed.keys() - {"cautions", "methods", "collected", "not_judged"}
    assert {key: streamed[key] for key in same} == {key: held[key] for key in same}
    with pytest.raises(ParameterError, match="needs the statements, not counts"):
        reliability(Answers(file).count())


@settings(max_examples=15, deadline=None)
@given(statements())
def test_any_statements_can_be_judged(S):
    found = reliability(S)
    assert len(found.parts) == S.n_objects
    for caution in found.to_dict()["cautions"]:
        assert caution.keys() == {"code", "what", "therefore", "remedy", "names"}
        assert all(caution[part] for part in ("what", "therefore", "remedy"))


def test_one_rater_who_gave_much_is_told():
    triples = np.array([np.random.default_rng(0).permutation(8)[:3] for _ in range(44)])
    who = np.r_[np.zeros(22, dtype=int), 1 + np.arange(22) % 11]
    caution = _codes(reliability(Statements(triples, raters=who, kind="central")))["one-rater"]
    assert (caution.what, caution.names) == ("One rater gave 50% of the answers.", ("0",))
    even = reliability(Statements(triples, raters=np.arange(44) % 4, kind="central"))
    assert "one-rater" not in _codes(even)


def test_guesses_that_say_so_much_by_chance_that_questions_are_answered_are_no_noise():
    rng = np.random.default_rng(0)
    T = rng.integers(20, size=(1600, 3))
    T = T[(np.roll(T, 1, axis=1) != T).all(axis=1)][:800]
    raters = rng.integers(20, size=800)
    rng.random(800)  # draws that the study had between
    rng.integers(1, 3, 800)
    drawn = np.take_along_axis(T, (rng.integers(3, size=800)[:, None] + np.arange(3)) % 3, axis=1)
    F = fit(Statements(drawn, kind="central", raters=raters))
    assert F.support
    assert not reliability(F).is_noise
