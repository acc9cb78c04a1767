"""The paper's survey, simulated: who is asked what, where, and how often."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from trilens.cli import trilens
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


def places_in_round(S):
    """The place of each statement in its round, from 0 on."""
    starts = np.r_[0, np.flatnonzero(np.diff(S.rounds)) + 1]
    return np.arange(len(S)) - np.repeat(starts, np.diff(np.r_[starts, len(S)]))


def test_rounds_are_of_the_papers_length(survey):
    sizes = np.unique(survey.statements.rounds, return_counts=True)[1]
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
    is_test = answers_to_the_test(survey)
    rounds, times = np.unique(S.rounds[is_test], return_counts=True)
    assert len(rounds) == len(np.unique(S.rounds))
    # drawn by itself it may come once more
    assert (times == 1).mean() > 0.99
    at = places_in_round(S)[is_test]
    first = at[np.r_[True, S.rounds[is_test][1:] != S.rounds[is_test][:-1]]]
    assert first.max() < 10
    assert stats.chisquare(np.bincount(first, minlength=10)).pvalue > 1e-4


def test_the_test_is_clear_and_tells_the_careless(survey):
    S = survey.statements
    a, b, c = CLOUD.points[list(survey.test)]
    longest = np.linalg.norm(b - c)
    assert max(np.linalg.norm(a - b), np.linalg.norm(a - c)) < 0.7 * longest
    passed = set(passed_tests(S, [survey.test]).tolist())
    careless = PEOPLE.careless
    who = {int(r): int(S.raters[S.rounds == r][0]) for r in np.unique(S.rounds)}
    failed = [r for r in who if r not in passed]
    share = np.mean([careless[who[r]] for r in failed])
    assert share > 3 * np.mean([careless[w] for w in who.values()])
    # blind answers miss it two times in three
    blind = [r for r, w in who.items() if careless[w]]
    missed = sum(r in failed for r in blind)
    assert stats.binomtest(missed, len(blind), 2 / 3).pvalue > 1e-4


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

    def run(*arguments):
        return CliRunner().invoke(trilens, [str(a) for a in arguments])

    made = run(
        "simulate", "-n", 30, "--raters", 10, "--careless", 0.4, "--rounds", 30, "-o", out, "--json"
    )
    facts = json.loads(made.stdout)
    S = read_statements(out)
    assert len(S) == facts["statements"]
    kept = run("convert", out, tmp_path / "t.csv", "--test", ",".join(facts["test"]), "--json")
    expected = keep_passed(S, [facts["test"]])
    assert json.loads(kept.stdout)["statements"] == len(expected) < len(S)
    assert "needs --raters" in run("simulate", "--rounds", 3, "-o", out).stderr
