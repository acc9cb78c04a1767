"""The paper's survey, simulated: who is asked what, where, and how often."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from commandline import facts, run
from trilens.errors import ParameterError
from trilens.files import read_statements
from trilens.simulate import ask_survey, draw_raters, gaussian
from trilens.statements import keep_passed, passed_tests
from trilens.statements.combine import questions

CLOUD = gaussian(60, random_state=0)
PEOPLE = draw_raters(40, error_rate=0.05, careless=0.1, random_state=1)


@pytest.fixture(scope="module")
def survey():
    return ask_survey(CLOUD, PEOPLE, 300, random_state=2)


def answers_to_the_test(survey):
    """Which statements answer the test question."""
    return (np.sort(survey.statements.triples, axis=1) == np.sort(survey.test)).all(axis=1)


def test_rounds_are_of_the_papers_length(survey):
    sizes = np.bincount(survey.statements.rounds)
    sizes = sizes[sizes > 0]
    assert sizes.min() >= 30
    assert sizes.max() == 50
    # the paper: 7097 statements in 146 rounds, 48.6 a round
    assert sizes.mean() == pytest.approx(48.6, abs=1.0)
    assert 0 < 300 - len(sizes) < 60


def test_one_person_is_asked_nothing_twice_and_different_people_are(survey):
    S = survey.statements
    asked, _, triple = questions(S)
    is_test = answers_to_the_test(survey)
    for person in np.unique(S.raters):
        own = asked[(S.raters == person) & ~is_test]
        assert len(np.unique(own)) == len(own)
    # about as many repeats as independent draws have: m^2 / 2 / C(60, 3) pairs
    times = np.bincount(asked[~is_test])
    pairs = (times * (times - 1) // 2).sum()
    expected = (~is_test).sum() ** 2 / 2 / 34220
    assert abs(pairs - expected) < 5 * np.sqrt(expected)
    assert len(triple) < len(S)


def test_the_test_comes_among_the_first_ten_of_every_round(survey):
    S = survey.statements
    begins = np.searchsorted(S.rounds, S.rounds)
    at = np.flatnonzero(answers_to_the_test(survey))
    rounds, first, times = np.unique(S.rounds[at], return_index=True, return_counts=True)
    assert len(rounds) == len(np.unique(S.rounds))
    # drawn by itself it may come once more
    assert (times == 1).mean() > 0.99
    places = (at - begins[at])[first]
    assert places.max() < 10
    assert stats.chisquare(np.bincount(places, minlength=10)).pvalue > 1e-4


def test_the_test_is_clear_and_tells_the_careless(survey):
    S = survey.statements
    a, b, c = CLOUD.points[list(survey.test)]
    longest = np.linalg.norm(b - c)
    assert max(np.linalg.norm(a - b), np.linalg.norm(a - c)) < 0.7 * longest
    rounds, first = np.unique(S.rounds, return_index=True)
    careless = PEOPLE.careless[S.raters[first].astype(int)]
    failed = ~np.isin(rounds, passed_tests(S, [survey.test]))
    assert careless[failed].mean() > 3 * careless.mean()
    # blind answers miss it two times in three
    missed = int(failed[careless].sum())
    assert stats.binomtest(missed, int(careless.sum()), 2 / 3).pvalue > 1e-4


def test_quitting_and_the_rule_of_thirty():
    never = ask_survey(CLOUD, PEOPLE, 40, quitting=0.0, random_state=3).statements
    assert len(never) == 40 * 50
    always = ask_survey(CLOUD, PEOPLE, 40, quitting=1.0, random_state=3).statements
    assert len(always) == 0
    every = ask_survey(CLOUD, PEOPLE, 400, quitting=0.02, least=0, random_state=3).statements
    sizes = np.unique(every.rounds, return_counts=True)[1]
    # a round goes on with chance 0.98 after each question
    assert np.mean(sizes == 50) == pytest.approx(0.98**49, abs=0.12)


def test_other_kinds_and_given_tests():
    found = ask_survey(CLOUD, PEOPLE, 20, kind="odd", test=[5, 7, 9], random_state=4)
    a, b, c = CLOUD.points[list(found.test)]
    assert set(found.test) == {5, 7, 9}
    assert np.linalg.norm(b - c) < min(np.linalg.norm(a - b), np.linalg.norm(a - c))
    closer = ask_survey(CLOUD, PEOPLE, 20, kind="closer", test_within=0, random_state=4)
    assert (closer.statements.kind, closer.test) == ("closer", (-1, -1, -1))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"test": [1, 1, 2]}, "three different objects"),
        ({"test": [1, 2, 99]}, "test is 99"),
        ({"least": 51}, "least is 51"),
        ({"quitting": 2}, "quitting is 2"),
        ({"kind": "closer"}, "test_within=0"),
        ({"round_size": 50_000}, "60 objects have only 34220"),
    ],
)
def test_what_is_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        ask_survey(CLOUD, PEOPLE, 5, **given)


def test_on_the_command_line(tmp_path):
    out = tmp_path / "s.csv"
    people = ("-n", 30, "--raters", 10, "--careless", 0.4)
    made = facts("simulate", *people, "--rounds", 30, "-o", out)
    S = read_statements(out)
    assert len(S) == made["statements"]
    kept = facts("convert", out, tmp_path / "t.csv", "--test", ",".join(made["test"]))
    assert kept["statements"] == len(keep_passed(S, [made["test"]])) < len(S)
    assert "needs --raters" in run("simulate", "--rounds", 3, "-o", out, status=2).stderr
