"""Which questions are asked: uniform, without replacement, and possible to draw again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare
from sqlalchemy import select

from studies import running
from trilens_survey.questions import Design, Key, Sampler, key_of, n_questions
from trilens_survey.schema import assignments, designs, objects, participants


def design(n_objects: int = 12, **changes: Any) -> Design:
    base = Design(
        kind="central",
        objects=tuple(f"o{i}" for i in range(n_objects)),
        length=20,
        most=3,
        tests=(("o0", "o1", "o2", "o1"),),
        among_first=10,
        shared=2,
        repeated=2,
        seed=5,
    )
    return replace(base, **changes)


@pytest.mark.parametrize(("objects", "shown"), [(10_000, 3), (300, 24)])
def test_large_studies(objects: int, shown: int) -> None:
    large = design(objects, tests=(), shown=shown, length=50)
    plan = Sampler(large).round(1, 1)
    assert len(plan) == 50
    assert {len(set(asked.objects)) for asked in plan} == {shown}


def test_draws_are_uniform() -> None:
    """Whatever was drawn first, and in which place an object is shown."""
    sampler = Sampler(design(5, tests=(), shared=0, repeated=0, length=2))
    pairs: Counter[Any] = Counter()
    orders: Counter[Any] = Counter()
    for seed in range(6_000):
        plan = sampler.round(seed, 1)
        pairs[tuple(tuple(sorted(asked.objects)) for asked in plan)] += 1
        orders[tuple(np.argsort(plan[0].objects).tolist())] += 1
    assert len(pairs) == comb(5, 3) * (comb(5, 3) - 1)
    assert len(orders) == 6
    assert chisquare(list(pairs.values())).pvalue > 0.001
    assert chisquare(list(orders.values())).pvalue > 0.001


@given(st.integers(0, 2**62), st.sampled_from(["central", "odd", "closer"]))
def test_a_round_has_what_the_study_says(seed: int, kind: Any) -> None:
    sampler = Sampler(design(kind=kind, chosen=0.75))
    assert len(set(sampler.pool)) == 6
    asked: frozenset[Key] = frozenset()
    for number in (1, 2, 3):
        plan = sampler.round(seed, number, asked)
        assert len(plan) == 20
        reasons = Counter(a.reason for a in plan)
        assert reasons == {"random": 15, "test": 1, "shared": 2, "repeat": 2}
        assert [a.reason for a in plan].index("test") < 10
        of = {r: [key_of(kind, a.objects) for a in plan if a.reason == r] for r in reasons}
        # without replacement, within the round and with those before
        assert len(set(of["random"])) == 15
        assert not set(of["random"]) & asked
        assert not set(of["random"]) & sampler.reserved
        # everybody is asked the same of these
        assert set(of["shared"]) == set(sampler.pool[2 * number - 2 : 2 * number])
        # a model may choose three quarters of what is random, but nothing that is asked again
        opened = {i for i, one in enumerate(plan) if one.open}
        assert len(opened) == 11
        assert {plan[i].reason for i in opened} == {"random"}
        for i, again in enumerate(plan):
            if again.reason == "repeat":
                first = plan[again.place - 1]
                assert again.place - 1 < 10 <= i
                assert not first.open
                assert set(first.objects) == set(again.objects)
                assert kind != "closer" or first.objects[0] == again.objects[0]
            elif again.reason == "test":
                assert again.expected in again.objects
        asked |= {key_of(kind, a.objects) for a in plan}


def test_the_test_stands_anywhere_among_the_first_ten() -> None:
    sampler = Sampler(design())
    places = Counter(
        [a.reason for a in sampler.round(seed, 1)].index("test") for seed in range(800)
    )
    assert set(places) == set(range(10))
    assert chisquare(list(places.values())).pvalue > 0.001


@pytest.mark.parametrize("kind", ["central", "closer"])
def test_a_small_study_is_asked_through_and_ends(kind: Any) -> None:
    sampler = Sampler(design(5, kind=kind, length=6, tests=(), shared=1, repeated=1, most=9))
    asked: list[Key] = []
    for number in range(1, 12):
        plan = sampler.round(7, number, frozenset(asked))
        asked += [key_of(kind, one.objects) for one in plan if one.reason != "repeat"]
    assert plan == []
    assert len(asked) == len(set(asked)) == n_questions(kind, 5)


def test_what_was_asked_can_be_drawn_again(folder: Path) -> None:
    """From the stored design, the seed and what was asked before."""
    with running(folder) as app:
        for _ in range(2):
            app.rater().post("/api/round")
        with app.survey.database.reading() as connection:
            stored = connection.execute(
                select(assignments, participants.c.seed)
                .join(participants, participants.c.id == assignments.c.participant)
                .order_by(assignments.c.id)
            ).all()
            content = json.loads(connection.execute(select(designs.c.content)).scalar_one())
            names = {row.id: row.name for row in connection.execute(select(objects))}
    assert len(stored) == 2 * 2 * 20
    at = {name: i for i, name in enumerate(content["objects"])}
    sampler = Sampler(Design.from_json(json.dumps(content)))
    for participant in {row.participant for row in stored}:
        theirs = [row for row in stored if row.participant == participant]
        asked: frozenset[Key] = frozenset()
        for number in (1, 2):
            rows = [row for row in theirs if row.round == number]
            plan = sampler.round(rows[0].seed, number, asked)
            assert [tuple(at[names[i]] for i in (row.a, row.b, row.c)) for row in rows] == [
                a.objects for a in plan
            ]
            assert [(row.reason, row.place) for row in rows] == [(a.reason, a.place) for a in plan]
            asked |= {key_of("central", a.objects) for a in plan}
