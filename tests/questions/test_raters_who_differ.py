from __future__ import annotations

import numpy as np
import pytest

from commandline import run
from people_who_differ import survey
from trilens.files import write_statements
from trilens.questions.reliability import reliability
from trilens.questions.reliability.affinity import Excess, sense_of
from trilens.statements import Statements


def _verdicts(found):
    return [check.verdict for check in found.raters]


def test_raters_of_another_view_are_not_called_careless():
    found = reliability(survey(["a"] * 10 + ["b"] * 3, "closer"))
    assert _verdicts(found) == ["consistent"] * 10 + ["differs"] * 3
    codes = {caution.code: caution for caution in found.cautions}
    assert "guessing" not in codes
    assert codes["differs"].names == ("r10", "r11", "r12")
    assert "Do not exclude" in codes["differs"].remedy
    assert not any(step.names for step in found.exclusions)
    assert set(found.marks) == {""}
    assert found.guessing_share < 0.1
    # by their own view they err no more often than the others
    low, high = found.error_rate_interval
    assert low <= 0.1 <= high


def test_careless_and_inverted_raters_beside_another_view():
    S = survey(["a"] * 10 + ["b"] * 3 + ["guess"] * 3 + ["inverted"], each=200, seed=1)
    found = reliability(S)
    expected = ["consistent"] * 10 + ["differs"] * 3 + ["careless"] * 3 + ["inverted"]
    assert _verdicts(found) == expected
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
    [
        (["a"] * 6 + ["b"] * 6, True),
        (["a"] * 12, False),
        # these agree less with others than with themselves, too
        (["a"] * 9 + ["guess"] * 3, False),
    ],
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
        assert "holds only for raters who see alike" in printed
        assert "holds only for raters who see alike" in (tmp_path / "page.html").read_text()


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
    assert _verdicts(found)[8:] == ["differs", "careless"]


def test_affinities_are_sums_over_pairs_of_answers():
    S = Statements([[0, 1, 2], [1, 0, 2], [0, 1, 3]], 4, kind="central", raters=["a", "a", "b"])
    rater = np.array([0, 0, 1])
    found = Excess(S, rater, 2, np.full((3, 3), 1 / 3))
    beyond, rho = np.array([2, -1, -1]) / 3, 0.15

    def common(first, second):
        total = 0.0
        for p, x in zip(first, beyond, strict=True):
            for q, y in zip(second, beyond, strict=True):
                shared = len(set(p) & set(q))
                total += x * y * (1.0 if shared == 2 else rho * shared)
        return total

    sides = [((1, 2), (0, 2), (0, 1)), ((0, 2), (1, 2), (0, 1)), ((1, 3), (0, 3), (0, 1))]
    assert found.affinity[0, 0] == pytest.approx(2 * common(sides[0], sides[1]))
    assert found.affinity[0, 1] == pytest.approx(
        common(sides[0], sides[2]) + common(sides[1], sides[2])
    )
    assert found.affinity[1, 1] == pytest.approx(0.0)


@pytest.mark.slow
def test_guesses_are_rarely_taken_for_a_view():
    p = []
    for seed in range(3):
        S = survey(["guess"] * 10, each=40, seed=seed)
        rater = np.repeat(np.arange(10), 40)
        p += sense_of(S, rater, 10).p_value.tolist()
    p = np.array(p)
    assert (p <= 0.05).mean() <= 0.1
    assert p.min() > 0.001
