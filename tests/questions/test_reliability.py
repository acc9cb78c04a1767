from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import combine_pvalues

import people_who_differ
import trilens as tl
from commandline import run
from drawn import statements
from people import chances, draw_questions, say, survey
from trilens.agreement import (
    Agreement,
    agreement_between,
    agreement_within,
    reachable,
    reachable_share,
    repeats_of,
)
from trilens.answers import Answers
from trilens.errors import ParameterError
from trilens.files import write_statements
from trilens.maps.fitted import fit, fit_answers
from trilens.maps.fitting import How
from trilens.questions.group_test import differing_groups
from trilens.questions.reliability import FEW_ANSWERS, FEW_APPEARANCES, reliability
from trilens.questions.reliability.raters import hold_out
from trilens.simulate import Raters, ask_raters, gaussian, simulate_statements, study
from trilens.statements import Statements, select
from trilens.statements.combine import question_keys
from trilens.words import no_group_test, p_text


def _codes(found):
    return {caution.code: caution for caution in found.cautions}


def _survey(share, n_raters=40, per=50, seed=0):
    rng = np.random.default_rng(seed)
    rates = np.full(n_raters, 0.1)
    rates[rng.permutation(n_raters) < round(share * n_raters)] = np.nan
    raters = Raters(rates, np.ones(n_raters))
    points = gaussian(30, 2, random_state=rng)
    S = ask_raters(points, raters, n_raters * per, "central", round_size=per, random_state=rng)
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


@pytest.mark.parametrize(("kind", "high"), [("central", 1.0), ("closer", 0.95)])
def test_what_a_model_could_reach_is_said_only_where_it_says_something(kind, high):
    S = Statements([[0, 1, 2], [3, 4, 5]], kind=kind)
    wide = Agreement(share=0.0, low=0.0, high=high, questions=1, answers=2, raters=2)
    assert reachable_share(wide, S, None) == (None, None)
    assert reachable_share(replace(wide, low=0.7, share=0.8), S, None)[0] > 0.8
    once = Statements([[0, 1, 2]] * 2, raters=["a", "b"], kind=kind)
    assert (found := reliability(once)).between.share == 1.0
    assert "agreed in 100% (too few answers to tell)" in found.methods
    assert "could predict" not in found.methods
    of_model = tl.evaluate(once, embedding=np.eye(3))
    assert (of_model.ceiling, of_model.of_ceiling, of_model.agreement) == (None, None, 1.0)
    assert of_model.no_ceiling == "too few questions were answered twice"


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
    assert "a single answer says little" in codes["contradictions"].what.lower()
    assert "most-guess" not in codes
    assert "with 900 answers, no clear difference" in codes["noise"].what
    assert found.guessing_share is None
    assert {check.blind for check in found.raters} <= {None}
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


POINTS = np.random.default_rng(5).standard_normal((20, 3)) * [1, 1, 0]


@pytest.fixture(scope="module")
def people():
    return survey(POINTS, raters=24, per=80, seed=1)


@pytest.mark.slow
def test_test_questions_are_counted_apart(people):
    asked = people.triples[0]
    right = Statements([asked.tolist()], n_objects=20, kind="central")
    found = reliability(people, catch=right)
    same = (np.sort(people.triples, axis=1) == np.sort(asked)).all(axis=1)
    assert found.catch["asked"] == same.sum() > 1
    assert found.catch["right"] == (same & (people.triples[:, 0] == asked[0])).sum()
    assert found.collected["used"] == len(people) - same.sum()
    assert (found.marks[same] == "test-question").all()
    assert sum(check.catch_asked for check in found.raters) == same.sum()
    by_column = [people.names[asked[0]] if s else "" for s in same]
    again = reliability(people, catch=by_column)
    assert again.to_dict() == found.to_dict()
    assert again.between.questions == reliability(people).between.questions - 1


@pytest.mark.parametrize(
    ("catch", "words"),
    [
        (["a"], "1 values for"),
        (Statements([[0, 1, 2]], names=["x", "y", "z"], kind="central"), "not in the statements"),
        (Statements([[0, 1, 2]], kind="odd"), "kind odd"),
        (["none of these"] * 2112, "it shows"),
    ],
)
def test_bad_test_questions(people, catch, words):
    with pytest.raises(ParameterError, match=words):
        reliability(people, catch=catch)


@pytest.mark.slow
def test_nothing_is_deleted_and_every_step_says_what_is_left():
    S = study(n_objects=30, n_statements=2000, n_raters=20, random_state=2).statements
    chosen = select(S, exclude_raters=["3"], min_seconds=0.8)
    found = reliability(Answers(S, exclude_raters=["3"], min_seconds=0.8))
    left = [step.left for step in found.exclusions]
    assert left == sorted(left, reverse=True)
    assert [step.done for step in found.exclusions[:2]] == [True, True]
    assert found.exclusions[1].left == chosen.kept.sum() == found.collected["used"]
    assert len(found.marks) == len(S) == found.collected["answers"]
    assert ((found.marks == "left-out") == ~chosen.kept).all()
    guessing = {check.rater for check in found.raters if check.guessing}
    assert guessing
    marked = {str(r) for r in np.asarray(S.raters)[found.marks == "guessing"]}
    assert marked == guessing
    # the figures are those of the answers that are left
    assert found.predicted == reliability(S.take(chosen.kept)).predicted


def test_what_people_disagree_about_most():
    clear = [[i, i + 1, i + 2] for i in range(0, 30, 3)] * 6
    open_ = [[30, 31, 32], [31, 30, 32], [32, 30, 31]] * 4
    S = Statements(clear + open_, n_objects=33, raters=np.arange(72), kind="central")
    most = reliability(S).questions[0]
    assert (most.objects, most.agreement) == (("30", "31", "32"), pytest.approx(18 / 66))


def _lists(design, seed, *, other=False, raters=16, per=40):
    """Two halves of raters: one list for both, lists of their own, or a quarter in common."""
    rng = np.random.default_rng([seed, other])
    X = np.random.default_rng(8).standard_normal((15, 3))
    n_shared = {"one list": per, "partly": per // 4, "own": 0}[design]
    asked = rng.permuted(np.tile(np.arange(15), (3 * per, 1)), axis=1)[:, :3]
    lists = [asked[:per], np.r_[asked[:n_shared], asked[per : 2 * per - n_shared]]]
    rows, who = [], np.repeat(np.arange(raters), per)
    for r in range(raters):
        second = r >= raters // 2
        a, b, c = lists[second].T
        view = X * ([1, 0, 1] if other and second else [1, 1, 0])
        D = np.sqrt(((view[:, None] - view[None]) ** 2).sum(axis=2))
        scores = 3 * np.array([D[b, c], D[a, c], D[a, b]]) + rng.gumbel(size=(3, per))
        rows.append(say(lists[second], scores.argmax(axis=0)))
    S = Statements(np.concatenate(rows), 15, raters=who, kind="central")
    group = (np.arange(raters) >= raters // 2).astype(np.int64)
    fitted = fit_answers(S, How(2, 0.1, lapses="one", max_iter=20, tol=1e-3))
    return differing_groups(S, who, group[who], fitted, seed, permutations=99)


@pytest.mark.parametrize(("design", "shared"), [("one list", None), ("partly", 8)])
def test_lists_of_their_own_do_not_make_groups_differ_or_alike(design, shared):
    alike = [_lists(design, seed) for seed in range(3)]
    assert all(found.shared is None or found.shared >= shared for found in alike)
    p_values = [found.p_value for found in alike]
    assert combine_pvalues(p_values).pvalue > 0.001
    assert min(p_values) < 1  # whole lists in place of raters gave 1
    assert _lists(design, 0, other=True).p_value <= 0.05


def test_groups_without_common_questions_are_not_compared():
    found = _lists("own", 0, other=True)
    assert (found.p_value, found.why_not) == (None, "own lists")
    assert found.shared <= 4
    assert "from one between questions; ask all groups" in no_group_test(found)
    # questions drawn at random are no lists
    S = survey(POINTS, raters=12, per=30, common=0, again=0, seed=0)
    who = np.asarray(S.raters)
    assert differing_groups(S, who, who % 2, None, 0, 19).shared is None
    alone = (who == 0).astype(np.int64)
    assert "fewer than two raters" in no_group_test(differing_groups(S, who, alone, None))


@pytest.mark.slow
def test_the_facts_are_plain_and_the_paragraph_rests_on_them(people):
    by = {r: "young" if r % 2 else "old" for r in range(24)}
    found = reliability(people, by=by)
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["ceiling"] == found.ceiling
    assert f"{found.ceiling:.0%}" in facts["methods"]
    assert f"{found.predicted:.0%}" in facts["methods"]
    assert p_text(found.groups.p_value) in facts["methods"]
    assert "24 raters" in facts["methods"]
    assert [group["name"] for group in facts["groups"]["groups"]] == ["old", "young"]


def test_raters_of_another_view_are_not_called_careless():
    found = reliability(people_who_differ.survey(["a"] * 10 + ["b"] * 3, "closer"))
    assert [check.verdict for check in found.raters] == ["consistent"] * 10 + ["differs"] * 3
    codes = _codes(found)
    assert "guessing" not in codes
    assert codes["differs"].names == ("r10", "r11", "r12")
    assert "Do not exclude" in codes["differs"].remedy
    assert set(found.marks) == {""}
    # by their own view they err no more often than the others
    low, high = found.error_rate_interval
    assert low <= 0.1 <= high


def test_careless_and_inverted_raters_beside_another_view():
    S = people_who_differ.survey(
        ["a"] * 10 + ["b"] * 3 + ["guess"] * 3 + ["inverted"], each=200, seed=1
    )
    found = reliability(S)
    expected = ["consistent"] * 10 + ["differs"] * 3 + ["careless"] * 3 + ["inverted"]
    assert [check.verdict for check in found.raters] == expected
    codes = _codes(found)
    assert codes["guessing"].names == ("r13", "r14", "r15")
    assert codes["inverted"].names == ("r16",)
    assert "misread" in codes["inverted"].therefore
    assert {step.rule: step.names for step in found.exclusions} == {
        "raters with answers no better than guesses": ("r13", "r14", "r15"),
        "raters with answers opposite to the others'": ("r16",),
    }
    assert set(found.marks[-200:]) == {"inverted"}


@pytest.mark.parametrize(
    ("views", "said"),
    # those who guess agree less with others than with themselves, too
    [(["a"] * 6 + ["b"] * 6, True), (["a"] * 9 + ["guess"] * 3, False)],
)
def test_raters_who_agree_with_themselves_only_are_said_to_see_other_things(views, said, tmp_path):
    S = people_who_differ.survey(views, "closer", n=10, each=200)
    found = reliability(S)
    told = [caution.what for caution in found.cautions if caution.code == "views"]
    assert ("seem to see different things" in found.methods) == said == (len(told) == 1)
    if said:
        assert found.within.low > found.between.high
        assert "trilens individuals" in told[0]
        write_statements(S, tmp_path / "answers.csv")
        printed = run("reliability", tmp_path / "answers.csv", "-o", tmp_path / "page.html").stderr
        assert f"caution: {told[0]}" in printed
        for text in (printed, (tmp_path / "page.html").read_text()):
            assert "holds only for raters who see alike" in text


def test_a_rater_with_few_answers_and_a_view_of_their_own_cannot_be_told():
    S = people_who_differ.survey(["a"] * 8 + ["b"], "closer", n=40, each=100, seed=0)
    found = reliability(S.take(np.arange(800 + 30)))
    assert found.raters[-1].verdict == "unclear"
    codes = _codes(found)
    assert "guessing" not in codes
    assert "too few answers to tell" in codes["unclear"].therefore


@pytest.mark.slow
def test_own_repeats_tell_another_view_from_guesses():
    rng = np.random.default_rng(3)
    S = people_who_differ.survey(["a"] * 8 + ["guess"] * 2, "closer", each=120, seed=3)
    again, first = np.flatnonzero(np.asarray(S.raters) == "r08"), 960
    triples = S.triples.copy()
    # whoever answers sixty questions twice, and always the same, does not guess
    triples[again] = triples[first + rng.permutation(np.tile(np.arange(60), 2))]
    found = reliability(Statements(triples, 30, kind="closer", raters=S.raters))
    assert [check.verdict for check in found.raters[8:]] == ["differs", "careless"]


PLANE = np.random.default_rng(5).standard_normal((20, 2))


def _plainly(S, *, within):
    """The definition: the mean over questions of the share of equal pairs."""
    key, answer, _ = question_keys(S)
    shares = []
    for question in np.unique(key):
        rows = np.flatnonzero(key == question)
        pairs = [
            answer[i] == answer[j]
            for i, j in combinations(rows, 2)
            if (S.raters[i] == S.raters[j]) == within
        ]
        if pairs:
            shares.append(np.mean(pairs))
    return np.mean(shares), len(shares)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_pairs_of_answers_are_counted_as_the_definition_says(kind):
    S = survey(PLANE, kind, raters=6, per=60, pool=40, again=0.2, seed=1)
    for found, within in (
        (agreement_between(S, S.raters), False),
        (agreement_within(S, S.raters), True),
    ):
        share, questions = _plainly(S, within=within)
        assert found.share == pytest.approx(share)
        assert found.questions == questions
        assert found.low < found.share < found.high


def test_carelessness_is_not_disagreement():
    careless = survey(PLANE, raters=30, per=100, blind=0.5, again=0.3, seed=2)
    own_minded = survey(PLANE, raters=30, per=100, blind=0.0, tastes=1.2, again=0.3, seed=3)
    gap = {}
    for name, S in (("careless", careless), ("own-minded", own_minded)):
        between, within = agreement_between(S, S.raters), agreement_within(S, S.raters)
        gap[name] = within.share - between.share
    assert abs(gap["careless"]) < 0.05
    assert gap["own-minded"] > 0.1


def test_where_all_agree_the_interval_does_not_end_at_one_point():
    found = agreement_between(Statements([[0, 1, 2], [3, 4, 5]] * 10, kind="central"), None)
    assert found.low < 0.95 < found.share == found.high == 1.0


def test_the_ceiling_is_of_several_raters_and_of_the_questions_that_are_listed():
    alone = reliability(Statements([[0, 1, 2]] * 2, raters=["a", "a"], kind="central"))
    assert (alone.ceiling, alone.within.share) == (None, 1.0)
    assert "from one rater" in alone.no_ceiling
    S = Statements([[0, 1, 2], [0, 1, 2], [3, 4, 5], [4, 3, 5]], kind="central")
    listed = Statements([[2, 1, 0]], n_objects=6, kind="central")
    for repeated, ceiling in ((None, 0.5), (listed, 1.0), ([False, False, True, True], 0.0)):
        assert reliability(S, repeated=repeated).ceiling == ceiling


def test_what_can_be_reached_lies_between_agreement_and_one():
    for share in np.linspace(0.34, 1.0, 12):
        best = reachable(float(share), "odd")
        assert share - 1e-9 <= best <= 1.0
    assert reachable(0.2, "central") == pytest.approx(1 / 3)
    # two answers, 80 % of them right
    assert reachable(0.8**2 + 0.2**2, "closer") == pytest.approx(0.8)


def test_a_model_tells_how_much_can_be_reached():
    found = reliability(survey(PLANE, "closer", raters=16, per=80, pool=100, seed=4))
    low, high = found.reachable_interval
    P = chances(PLANE, draw_questions(np.random.default_rng(1), 20, 1000), "closer")
    best = (0.9 * P + 0.1 / P.shape[1]).max(axis=1).mean()
    assert low <= best <= high
    assert found.reachable == pytest.approx(best, abs=0.04)
    assert found.ceiling < found.reachable


@pytest.mark.parametrize("amounts", [[60] * 15, [660] + [60] * 11])
def test_the_interval_is_for_other_raters_however_much_each_gave(amounts):
    # raters guess in 0 to 60 % of the cases, and are right otherwise: two agree in 2/3 of cases
    # or so, by the mean of the square of one share
    held = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rater = np.repeat(np.arange(len(amounts)), amounts)
        asked = np.sort(rng.permuted(np.tile(np.arange(9), (len(rater), 1)), axis=1)[:, :3], axis=1)
        guess = rng.random(len(rater)) < rng.uniform(0, 0.6, len(amounts))[rater]
        first = np.where(guess, rng.integers(3, size=len(rater)), 0)
        triples = np.take_along_axis(asked, (first[:, None] + np.arange(3)) % 3, axis=1)
        found = agreement_between(Statements(triples, raters=rater, kind="central"), rater)
        right, wrong = 0.7 + 0.1, 0.1
        held.append(found.low <= right**2 + 2 * wrong**2 <= found.high)
    assert sum(held) >= 2


def test_the_error_rate_lies_within_its_interval_beside_a_rater_who_guesses():
    rng = np.random.default_rng(3)
    centers = np.repeat([(0, 0), (5, 0), (2.5, 4.3), (14, 14)], (10, 10, 10, 1), axis=0)
    X = centers + 0.5 * rng.standard_normal((31, 2))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    asked = np.argsort(rng.random((3000, 31)), axis=1)[:, :3]
    rater = rng.integers(20, size=3000)
    odd = D[asked[:, :, None], asked[:, None]].sum(axis=2).argmax(axis=1)
    given = np.where(
        rng.random(3000) < np.where(rater == 3, 1, 0.07), rng.integers(3, size=3000), odd
    )
    triples = asked[np.arange(3000)[:, None], (given[:, None] + np.arange(3)) % 3]
    found = reliability(Statements(triples, kind="odd", raters=rater))
    low, high = found.error_rate_interval
    assert low <= (given != odd).mean() <= high
    assert low <= found.error_rate < 0.1
