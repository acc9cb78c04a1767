"""The kind under which held-out answers can be predicted."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from commandline import run
from trilens.kinds import KINDS
from trilens.maps.kind import KindFit, kind_fit
from trilens.statements import Statements


def drawn_answers(kind: str, n: int = 700) -> Statements:
    """About 16 objects in a plane, one answer in ten a guess."""
    at = np.random.default_rng(3).normal(size=(16, 2))
    noise = {"error_rate": 0.1 * (1 / 2 if kind == "closer" else 2 / 3), "random_state": 3}
    return tl.simulate_statements(at, n, kind, sampling="replacement", **noise)


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


def test_few_answers_and_very_many_objects_tell_nothing():
    rows = np.random.default_rng(0).permutation(900).reshape(300, 3)
    for S in (drawn_answers("central", 60), Statements(rows, 20_000, kind="central")):
        assert (kind_fit(S).fitting, kind_fit(S).accuracy) == (None, {})


@pytest.mark.parametrize(
    ("said", "told", "answers", "by_order", "fits"),
    [
        ("central", (0.55, 0.88, 0.6), 172, 0.5, "odd"),
        ("odd", (0.55, 0.88, 0.6), 172, 0.5, None),
        ("central", (0.55, 0.88, 0.6), 12, 0.5, None),  # too few to tell
        ("central", (0.3, 0.36, 0.52), 172, 0.5, None),
        # sorted names do not look like similarity triplets
        ("central", (0.6, 0.3, 0.95), 500, 0.93, None),
        ("central", (0.6, 0.3, 0.95), 500, 0.55, "closer"),
    ],
)
def test_another_kind_must_predict_much_better(said, told, answers, by_order, fits):
    accuracy = dict(zip(("central", "odd", "closer"), told, strict=True))
    assert KindFit(said, accuracy, answers, by_order=by_order).fitting == fits


@pytest.mark.slow
def test_the_analysis_says_which_kind_fits(tmp_path):
    file = tmp_path / "a.csv"
    rows = drawn_answers("odd").triples
    file.write_text("".join("o{},o{},o{}\n".format(*row) for row in rows))
    found = tl.reliability(tl.Answers(file)).cautions[0]
    assert found.code == "kind"
    assert "the answers fit kind odd" in found.what
    assert "--kind odd" in found.remedy
    told = tl.reliability(tl.Answers(file, kind="odd")).cautions
    assert "kind" not in [caution.code for caution in told]
    assert "the answers fit kind odd" in run("describe", file).stderr


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "said"), [("odd", "central"), ("odd", "odd")])
def test_a_kind_that_columns_say_is_doubted(tmp_path, asked, said):
    file, rows = tmp_path / "a.csv", drawn_answers(asked).triples
    text = "".join("o{},o{},o{}\n".format(*row) for row in rows)
    file.write_text(f"{said},other_1,other_2\n{text}")
    told = "The columns say kind central, but the answers fit kind odd"
    remedy = "give --columns odd=central; if kind central was asked, give --kind central"
    for command in ("describe", "reliability", "analyze --json"):
        shown = " ".join(run(*command.split(), file).stderr.split())
        assert (told in shown) == (said != asked), command
    found = [each for each in tl.reliability(tl.Answers(file)).cautions if each.code == "header"]
    assert [remedy in each.remedy for each in found] == [True] * (said != asked)
    for known in (["--columns", f"{asked}={said}"], ["--kind", said]):
        assert told not in run("describe", file, *known).stderr


def test_others_in_the_order_of_their_distance_are_no_triplets_where_columns_say_the_kind(tmp_path):
    file, rng = tmp_path / "a.csv", np.random.default_rng(0)
    at = 0.3 * rng.normal(size=(15, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 5, axis=0)
    how = {"sampling": "replacement", "error_rate": 0.2, "random_state": 3}
    answers = tl.simulate_statements(at, 2000, "central", **how)
    rows = [
        [a, *sorted(others, key=lambda x: np.linalg.norm(at[a] - at[x]))]
        for a, *others in answers.triples.tolist()
    ]
    text = "".join("{},{},{}\n".format(*row) for row in rows)
    for header, told in (("", True), ("central,other_1,other_2\n", False)):
        file.write_text(header + text)
        assert ("fit kind closer" in run("describe", file).stderr) == told


def test_an_assumed_kind_is_a_caution(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,b,c\nb,c,d\nd,a,b\n" * 3)
    assert "kind central is assumed" in tl.reliability(tl.Answers(file)).cautions[0].what
    assert "caution: the data do not say which question" in run("describe", file).stderr


def test_a_saved_fit_remembers_that_the_kind_was_assumed(tmp_path):
    file, fit = tmp_path / "a.csv", tmp_path / "a.fit"
    file.write_text("".join("o{},o{},o{}\n".format(*row) for row in drawn_answers("odd").triples))
    run("fit", file, "-o", fit)
    assert "fit kind odd" in run("medoid", fit).stderr
    assert "the answers fit kind odd" in tl.load(fit).reliability().cautions[0].what
    run("fit", file, "--kind", "odd", "-o", fit)
    assert "kind" not in run("medoid", fit).stderr
    assert tl.load(fit).kind_doubt is None
