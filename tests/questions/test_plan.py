"""Plans: the curves behind them, what follows from a curve, and what cannot be planned."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import trilens as tl
from trilens.errors import KindError, ParameterError, StatementError, TrilensError
from trilens.kinds import KINDS, Kind, n_questions
from trilens.maps.map import Map
from trilens.questions.plan import Plan, curves, goals, worlds
from trilens.questions.plan.curves import Lines, Thresholds
from trilens.questions.plan.worlds import World
from trilens_survey.questions import Design, Sampler, key_of
from trilens_survey.study import check_study

#: The module, which has the name of its function.
PLAN = import_module("trilens.questions.plan.plan")
CURVES: dict[str, Callable[[], Lines | Thresholds]] = {
    "medoid": lambda: _lines(4.6),
    "rank": lambda: _lines(3.0),
    "map": lambda: _lines(3.0, best=np.full(4000, 0.5)),
    **dict.fromkeys(("groups", "classes", "difference"), lambda: _thresholds(6.0)),
}


def _lines(at: float, best: Any = None) -> Lines:
    rng = np.random.default_rng(0)
    height = at + 0.4 * rng.standard_normal(4000)
    return Lines(height, np.ones(4000), 0.2 * rng.standard_normal(4000), best, 1.0, 1 / 3)


def _thresholds(middle: float) -> Thresholds:
    rng = np.random.default_rng(0)
    spread = middle + 0.2 * rng.standard_normal(4000)
    return Thresholds(spread, np.full(4000, 0.5), rng.standard_normal(4000), 1.0)


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Curves that are known, instead of simulated ones; lists the kinds that were asked for."""
    asked: list[str] = []

    def simulate(goal: str, kind: str, *rest: Any) -> Lines | Thresholds:
        asked.append(kind)
        rest[-1](1.0)
        return CURVES[goal]()

    monkeypatch.setattr(PLAN, "simulate", simulate)
    return asked


# --- curves -------------------------------------------------------------------------------------


def test_half_of_the_raters_see_objects_elsewhere() -> None:
    X = np.arange(6.0)[:, None] * 20
    Y = X.copy()
    Y[0] = 100.5
    world = World(Map(X, 0.0, "central"), other=Map(Y, 0.0, "central"))
    S = worlds.answered(world, 4000, 4, np.random.default_rng(0))
    assert S.raters is not None
    of = np.asarray(S.raters) % 2
    assert sorted(np.bincount(np.asarray(S.raters)).tolist()) == [1000] * 4
    right = [
        (S.triples[of == g, 0] == np.median(S.triples[of == g], axis=1)).mean() for g in (0, 1)
    ]
    assert right[0] > 0.95 > 0.8 > right[1]


def test_curves_are_found_again() -> None:
    rng = np.random.default_rng(1)
    world = np.repeat(np.arange(40), 3)
    x = np.tile(np.log([100.0, 400.0, 1600.0]), 40)
    y = 2 + rng.standard_normal(40)[world] - 0.9 * x + 0.1 * rng.standard_normal(120)
    lines = curves._lines(x, y, world, goals.AIMS["rank"].prior, 0)  # type: ignore[arg-type]
    assert abs(lines.slope.mean() - 0.9) < 0.03
    assert abs((lines.at - (lines.slope - lines.slope.mean()) * x.mean()).std() - 1) < 0.25
    assert abs(lines.noise.std() - 0.1) < 0.03
    rng = np.random.default_rng(0)
    x = rng.uniform(4, 9, 200)
    reached = x > 6.5 + 0.4 * rng.standard_normal(200)
    found = curves._threshold_curve(x, reached, 10.0, 1.0, 0)
    assert abs(found.middle.mean() - 6.5) < 0.15
    assert abs(found.width.mean() - 0.4) < 0.15
    assert abs(np.median(found.shares(np.exp(6.5))) - 0.5) < 0.2


# --- from a curve to a plan ---------------------------------------------------------------------


@pytest.mark.parametrize("goal", goals.GOALS)
def test_a_plan_of_every_goal(goal: goals.Goal, canned: list[str]) -> None:
    shares: list[float] = []
    made = tl.plan(30, goal, price=0.05, progress=shares.append)
    assert isinstance(made, Plan)
    assert canned == list(KINDS)
    assert made.low < made.answers < made.high
    assert made.total == made.raters * made.questions >= made.answers
    assert made.kind == "closer"  # the quickest
    assert [each.kind for each in made.kinds] == ["closer", "central", "odd"]
    assert made.price == pytest.approx(0.05 * made.total)
    assert made.price_interval is not None
    assert made.price_interval[0] < made.price < made.price_interval[1]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    facts = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert facts["answers"] == made.answers
    assert len(facts["curve"]) == len(made.curve) > 5
    better = -1 if goal == "medoid" else 1
    values = [better * point.value for point in made.curve]
    assert values == sorted(values)
    at = made.expected(made.answers)
    assert at.low <= at.value <= at.high
    if goal == "difference":
        assert at.value == pytest.approx(0.8, abs=0.06)
    assert f"{made.answers:,}" in made.sentences()[0]


def test_answers_are_enough_in_four_of_five_studies(canned: list[str]) -> None:
    made = tl.plan(30, "rank", kind="odd")
    assert canned == ["odd"]
    lines = CURVES["rank"]()
    assert isinstance(lines, Lines)
    reached = 1 - lines.missing(made.answers) >= 0.95
    assert abs(reached.mean() - 0.8) < 0.02
    sure = tl.plan(30, "difference", kind="odd", target=0.99)
    assert sure.low <= sure.answers <= sure.high


def test_raters_and_seconds(canned: list[str]) -> None:
    made = tl.plan(30, kind="closer", raters=4, seconds=10)
    assert (made.raters, made.seconds) == (4, 10.0)
    assert made.minutes == pytest.approx(made.questions / 6)
    assert any("long for one sitting" in remark for remark in made.remarks)
    assert tl.plan(30, kind="closer", raters=1).shared == 0
    assert tl.plan(30, seconds={"closer": 60}).kinds[-1].kind == "closer"


def test_a_budget_says_what_it_buys(canned: list[str]) -> None:
    whole = tl.plan(30, kind="central", price=0.1)
    assert whole.bought is None
    assert whole.price is not None
    half = tl.plan(30, kind="central", price=0.1, budget=whole.price / 2)
    assert (half.answers, half.total, half.price) == (whole.answers, whole.total, whole.price)
    assert half.bought is not None
    assert 0.4 * whole.price < half.bought.price <= whole.price / 2
    assert half.bought.expected.value > whole.expected(whole.answers).value
    assert half.to_dict()["bought"]["total"] == half.bought.total
    study = yaml.safe_load(half.study_yaml())
    each = study["rounds"]["length"] * study["rounds"]["most"]
    assert study["quota"]["participants"] * each == half.bought.total
    assert f"# Expect {round(half.bought.expected.value)} objects" in half.study_yaml()
    assert any("the budget pays for" in remark for remark in half.remarks)
    for budget, raters, said in ((20, 300, "too few for 300"), (10.1, 10, "need 100 before any")):
        with pytest.raises(ParameterError, match=said):  # the least is paid, but not the repeats
            tl.plan(30, kind="central", price=0.1, budget=budget, raters=raters)
    plenty = tl.plan(30, kind="central", price=0.1, budget=10 * whole.price)
    assert (plenty.total, plenty.bought) == (whole.total, None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4, 9, 40])
def test_nobody_is_asked_more_than_the_objects_offer(
    n: int, kind: Kind, canned: list[str], tmp_path: Path
) -> None:
    made = tl.plan(n, "rank", kind=kind)
    possible = n_questions(kind, n)
    assert made.questions - made.repeats <= possible
    assert made.total - made.raters * (made.repeats + made.shared) >= made.answers
    (tmp_path / "study.yaml").write_text(made.study_yaml("things.csv"))
    rows = "".join(f"t{i},T {i}\n" for i in range(n))
    (tmp_path / "things.csv").write_text(f"name,text\n{rows}")
    assert check_study(tmp_path) == []
    study = yaml.safe_load(made.study_yaml())
    rounds = study["rounds"]
    assert study["quota"]["participants"] * rounds["length"] * rounds["most"] == made.total
    again = study["shared"], study["repeated"], study["seed"]
    names = tuple(f"t{i}" for i in range(n))
    survey = Sampler(Design(kind, names, rounds["length"], rounds["most"], (), 1, *again))
    before: set[tuple[int, ...]] = set()
    for number in range(1, rounds["most"] + 1):  # the survey asks all that is planned
        asked = survey.round(7, number, before)
        assert len(asked) == rounds["length"]
        before |= {key_of(kind, each.objects) for each in asked}
    assert len(before) == made.questions - made.repeats
    said = [f"{n} objects make {possible:,} questions" in remark for remark in made.remarks]
    assert any(said) == (possible < made.answers)


def test_few_objects_and_few_raters(canned: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"make 20 questions.* twice; ask 32 or more$"):
        tl.plan(6, "rank", kind="central", raters=1)
    assert tl.plan(6, "rank", kind="central", raters=32).raters == 32
    short = tl.plan(8, "rank", kind="central", raters=10_000)
    assert (short.repeats, short.shared) == (0, 0)
    assert short.total < 2 * short.answers + 10_000


def test_the_least_is_no_interval_and_the_most_no_plan(
    canned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CURVES, "rank", lambda: _lines(-1.0))
    made = tl.plan(30, "rank", kind="closer", seconds=1)
    assert made.low == made.answers == 100
    assert "Half of all studies need no more than 100, without which" in made.sentences()[0]
    assert "less than 1 minute at" in made.sentences()[1]
    monkeypatch.setitem(CURVES, "rank", lambda: _lines(2.2))
    said = tl.plan(30, "rank", kind="closer").sentences()[0]
    assert "need fewer than 180; 95 % need " in said
    monkeypatch.setitem(CURVES, "groups", lambda: _thresholds(30.0))
    with pytest.raises(KindError, match="answers of kind odd do not reach the goal groups"):
        tl.plan(30, "groups", kind="odd")


def test_more_objects_are_not_simulated_but_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def nothing(goal: str, world: World, fitted: Any, rng: Any) -> float:
        made.append(world.model.n_objects)
        return float(1 / (1 + fitted / 500))

    monkeypatch.setattr(curves, "missing", nothing)
    monkeypatch.setattr(curves, "_fitted", lambda S, seed: len(S))
    small = tl.plan(100, "rank", kind="central")
    large = tl.plan(400, "rank", kind="central")
    assert set(made) == {100}
    assert large.answers == pytest.approx(4 * small.answers, rel=0.1)
    assert any("100 objects were simulated" in remark for remark in large.remarks)


# --- what cannot be planned ---------------------------------------------------------------------


def _central(rows: Any) -> tl.Statements:
    return tl.Statements(rows, kind="central")


GUESSES = np.random.default_rng(0).permuted(np.tile(np.arange(10), (300, 1)), axis=1)[:, :3]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"n_objects": None}, ParameterError, "how many objects are there"),
        ({"n_objects": 3}, ParameterError, "from 4"),
        ({"goal": "truth"}, ParameterError, "one of medoid, rank"),
        ({"raters": 0}, ParameterError, "1 or more"),
        ({"goal": "difference", "raters": 7}, ParameterError, "8 or more"),
        ({"price": 0}, ParameterError, "positive"),
        ({"price": 1, "budget": float("nan")}, ParameterError, "positive"),
        ({"budget": 100}, ParameterError, "needs the price"),
        ({"price": 0.1, "budget": 9.9}, ParameterError, "need 100 before anything"),
        ({"seconds": {"odd": -1}}, ParameterError, "positive"),
        ({"seconds": {"even": 1}}, KindError, "one of central"),
        ({"error_rate": 0.5, "kind": "closer"}, ParameterError, "guesses"),
        ({"n_components": 30}, ParameterError, "from 1 to 29"),
        ({"target": 30}, ParameterError, "less than the 30 objects"),
        ({"goal": "map", "target": 1.5}, ParameterError, "from 0.1"),
        ({"pilot": _central([[0, 1, 2]] * 10)}, StatementError, "10 answers about 3 objects"),
        ({"pilot": _central([[0, 1, 2], [3, 4, 5]] * 50)}, StatementError, "never compared"),
        ({"pilot": _central([[0, 1, 2]] * 50), "kind": "odd"}, KindError, "of kind central"),
        ({"pilot": _central(GUESSES)}, StatementError, "cannot be distinguished from guessing"),
    ],
)
def test_one_line_says_what_is_wrong(
    given: dict[str, Any], error: type[TrilensError], said: str
) -> None:
    with pytest.raises(error, match=said) as raised:
        tl.plan(**{"n_objects": 30, **given})
    assert "\n" not in str(raised.value)


# --- simulated ----------------------------------------------------------------------------------


def test_groups_lie_as_far_apart_as_they_should() -> None:
    rng = np.random.default_rng(0)
    people = worlds.People.of("odd", None, 0.0, 2, 900)
    (world,) = people.worlds("groups", "odd", 900, 1, 0)
    Y, labels = world.model.X, world.labels
    within = np.mean([Y[labels == g].std(axis=0).mean() for g in range(3)])
    centres = np.array([Y[labels == g].mean(axis=0) for g in range(3)])
    assert np.linalg.norm(centres[0] - centres[1]) / within == pytest.approx(6, abs=0.3)
    S = worlds.answered(world, 20_000, 1, rng)
    P = world.model.probabilities(S)
    # the mean of what was likely is that of what was chosen
    assert P[:, 0].mean() == pytest.approx((P**2).sum(axis=1).mean(), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["medoid", "classes", "difference"])
def test_studies_are_simulated(goal: goals.Goal) -> None:
    made = tl.plan(10, goal, kind="central", error_rate=0.05, n_components=2)
    assert made.low <= made.answers <= made.high
    assert 33 < made.answers < 1_000_000


@pytest.mark.slow
def test_a_pilot_about_some_of_the_objects_in_any_order() -> None:
    rng = np.random.default_rng(3)
    world = World(Map(3 * rng.standard_normal((12, 2)), 0.1, "central"))
    pilot = worlds.answered(world, 240, 1, rng)
    made = tl.plan(20, "map", pilot=pilot, n_components=2)
    assert (made.n_objects, made.pilot) == (20, 240)
    assert any("12 of the 20 objects" in remark for remark in made.remarks)
    now, later = made.expected(len(pilot)), made.expected(100 * len(pilot))
    assert 0 < now.value < later.value < 1
    mixed = pilot.take(np.random.default_rng(0).permutation(len(pilot)))
    assert tl.plan(20, "map", pilot=mixed, n_components=2).to_dict() == made.to_dict()
