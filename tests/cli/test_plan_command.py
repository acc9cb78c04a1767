"""`trilens plan`."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from commandline import facts, run
from trilens.cli.plan import GOALS
from trilens.questions.plan import goals
from trilens.questions.plan.curves import Lines
from trilens_survey.study import check_study

PLAN = import_module("trilens.questions.plan.plan")


def _canned(height):
    rng = np.random.default_rng(0)
    at, noise = height + 0.3 * rng.standard_normal(4000), np.zeros(4000)
    return Lines(at, np.ones(4000), noise, None, 1.0, 1 / 3)


@pytest.fixture
def canned(monkeypatch):
    """A curve that is known, instead of a simulated one."""
    monkeypatch.setattr(PLAN, "simulate", lambda *given: _canned(4.0))


def test_the_goals_are_those_of_the_library():
    assert GOALS == goals.GOALS


def test_a_plan_is_printed_written_and_drawn(canned, tmp_path):
    yaml, picture = tmp_path / "study.yaml", tmp_path / "curve.svg"
    words = ["plan", 12, "--goal", "rank", "--kind", "odd", "--price", "0.05"]
    result = run(*words, "-o", yaml, "--picture", picture)
    assert result.stdout.splitlines()[0].startswith("goal ")
    assert "price" in result.stdout
    assert "assumed: objects vary along 2, 3 or 5 dimensions" in result.stderr
    assert f"wrote {yaml}" in result.stderr
    assert "<svg" in picture.read_text()
    objects = tmp_path / "objects"
    objects.mkdir()
    for i in range(12):
        (objects / f"{i}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    assert check_study(tmp_path) == []
    assert run(*words, "-o", "-").stdout == yaml.read_text()
    found = facts(*words)
    assert found["kind"] == "odd"
    assert found["sentences"][0] in result.stderr
    assert found["total"] == found["raters"] * found["questions"]
    # and what the budget buys; one that pays for more is said to
    assert "The budget of 10,000.00 pays for" in run(*words, "--budget", 10_000).stderr
    lines = run(*words, "--budget", "20").stdout.splitlines()
    starts = [line.split("  ")[0] for line in lines]
    assert starts.index("answers needed") < starts.index("price") < starts.index("the budget buys")
    found = facts(*words, "--budget", "20")
    assert found["price_interval"][0] <= found["price"] <= found["price_interval"][1]
    assert found["bought"]["price"] <= 20 < found["price"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "how many objects are there"),
        ([60, "--price", "0"], "--price is 0.0"),
        ([60, "--raters", "0"], "--raters is 0"),
        ([60, "--price", "0.1", "--budget", "5"], "need 200 before anything can be said"),
        ([60, "--dim", "60"], "--n-components is 60"),
    ],
)
def test_one_line_says_what_is_wrong(words, said):
    assert said in run("plan", *words, status=1).stderr


def test_a_pilot_of_ten_answers_and_wrong_usage(tmp_path):
    pilot = tmp_path / "pilot.csv"
    rows = [f"{i % 5},{(i + 1) % 5},{(i + 2) % 5}" for i in range(10)]
    pilot.write_text("central,other_1,other_2\n" + "\n".join(rows) + "\n")
    said = run("plan", "--pilot", pilot, status=1).stderr
    assert "the pilot has 10 answers about 5 objects; a plan needs 30" in said
    assert "of kind central" in run("plan", "--pilot", pilot, "--kind", "odd", status=1).stderr
    assert "--goal" in run("plan", 60, "--goal", "truth", status=2).stderr
    assert "ending" in run("plan", 60, "--picture", tmp_path / "curve.txt", status=2).stderr
    assert ".yaml, .yml" in run("plan", 60, "-o", tmp_path / "plan.csv", status=2).stderr
    assert "Write -2.5" in run("plan", 12, "--budget", "-2,5", status=2).stderr
