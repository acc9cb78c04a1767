from __future__ import annotations

import numpy as np
import pytest

from commandline import run
from people_who_differ import survey
from trilens.files import write_statements
from trilens.questions.reliability import reliability
from trilens.statements import Statements


def test_raters_of_another_view_are_not_called_careless():
    found = reliability(survey(["a"] * 10 + ["b"] * 3, "closer"))
    assert [check.verdict for check in found.raters] == ["consistent"] * 10 + ["differs"] * 3
    codes = {caution.code: caution for caution in found.cautions}
    assert "guessing" not in codes
    assert codes["differs"].names == ("r10", "r11", "r12")
    assert "Do not exclude" in codes["differs"].remedy
    assert set(found.marks) == {""}
    # by their own view they err no more often than the others
    low, high = found.error_rate_interval
    assert low <= 0.1 <= high


def test_careless_and_inverted_raters_beside_another_view():
    S = survey(["a"] * 10 + ["b"] * 3 + ["guess"] * 3 + ["inverted"], each=200, seed=1)
    found = reliability(S)
    expected = ["consistent"] * 10 + ["differs"] * 3 + ["careless"] * 3 + ["inverted"]
    assert [check.verdict for check in found.raters] == expected
    codes = {caution.code: caution for caution in found.cautions}
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
    S = survey(views, "closer", n=10, each=200)
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
    S = survey(["a"] * 8 + ["b"], "closer", n=40, each=100, seed=0)
    found = reliability(S.take(np.arange(800 + 30)))
    assert found.raters[-1].verdict == "unclear"
    codes = {caution.code: caution for caution in found.cautions}
    assert "guessing" not in codes
    assert "too few answers to tell" in codes["unclear"].therefore


@pytest.mark.slow
def test_own_repeats_tell_another_view_from_guesses():
    rng = np.random.default_rng(3)
    S = survey(["a"] * 8 + ["guess"] * 2, "closer", each=120, seed=3)
    again, first = np.flatnonzero(np.asarray(S.raters) == "r08"), 960
    triples = S.triples.copy()
    # whoever answers sixty questions twice, and always the same, does not guess
    triples[again] = triples[first + rng.permutation(np.tile(np.arange(60), 2))]
    found = reliability(Statements(triples, 30, kind="closer", raters=S.raters))
    assert [check.verdict for check in found.raters[8:]] == ["differs", "careless"]
