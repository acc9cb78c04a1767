"""Which questions are asked: uniform, without replacement, and possible to draw again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
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


@given(st.sampled_from(["central", "odd", "closer"]), st.integers(3, 9))
def test_every_question_is_counted_once(kind: Any, n: int) -> None:
    every = list(Sampler(design(n, kind=kind, tests=()))._every())
    assert len(set(every)) == len(every) == n_questions(kind, n)
    assert all(key_of(kind, question) == question for question in every)


@pytest.mark.parametrize(("objects", "shown"), [(10_000, 3), (300, 24)])
def test_large_studies(objects: int, shown: int) -> None:
    large = design(objects, tests=(), shown=shown, length=50)
    plan = Sampler(large).round(1, 1)
    assert len(plan) == 50
    assert {len(set(asked.objects)) for asked in plan} == {shown}


def test_draws_are_uniform() -> None:
    """First draws of many participants hit every triple, and every place, equally often."""
    plain = design(6, tests=(), shared=0, repeated=0, length=1)
    sampler = Sampler(plain)
    triples: Counter[Any] = Counter()
    orders: Counter[Any] = Counter()
    for seed in range(6_000):
        (asked,) = sampler.round(seed, 1)
        triples[tuple(sorted(asked.objects))] += 1
        orders[tuple(np.argsort(asked.objects).tolist())] += 1
    assert len(triples) == comb(6, 3)
    assert len(orders) == 6
    assert chisquare(list(triples.values())).pvalue > 0.001
    assert chisquare(list(orders.values())).pvalue > 0.001


def test_pairs_of_draws_are_uniform() -> None:
    """The second draw is uniform given the first: no two triples favour each other."""
    plain = design(4, tests=(), shared=0, repeated=0, length=2)
    sampler = Sampler(plain)
    pairs = Counter(
        tuple(tuple(sorted(a.objects)) for a in sampler.round(seed, 1)) for seed in range(6_000)
    )
    assert len(pairs) == 12
    assert chisquare(list(pairs.values())).pvalue > 0.001


@given(st.integers(0, 2**62), st.sampled_from(["central", "odd", "closer"]))
def test_a_round_has_what_the_study_says(seed: int, kind: Any) -> None:
    sampler = Sampler(design(kind=kind))
    asked: frozenset[Key] = frozenset()
    shared_before: set[Key] = set()
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
        assert not set(of["shared"]) & shared_before
        shared_before |= set(of["shared"])
        for i, again in enumerate(plan):
            if again.reason == "repeat":
                first = plan[again.place - 1]
                assert again.place - 1 < 10 <= i
                assert set(first.objects) == set(again.objects)
                assert kind != "closer" or first.objects[0] == again.objects[0]
            elif again.reason == "test":
                assert again.expected in again.objects
        asked |= {key_of(kind, a.objects) for a in plan}


def test_everybody_gets_the_shared_questions() -> None:
    sampler = Sampler(design())
    shared = {
        frozenset(frozenset(a.objects) for a in sampler.round(seed, 2) if a.reason == "shared")
        for seed in range(50)
    }
    assert len(shared) == 1


def test_the_test_stands_anywhere_among_the_first_ten() -> None:
    sampler = Sampler(design())
    places = Counter(
        [a.reason for a in sampler.round(seed, 1)].index("test") for seed in range(800)
    )
    assert set(places) == set(range(10))
    assert chisquare(list(places.values())).pvalue > 0.001


def test_a_small_study_is_asked_through_and_ends() -> None:
    sampler = Sampler(design(5, length=6, tests=(), shared=1, repeated=1, most=9))
    seen: Counter[Any] = Counter()
    asked: frozenset[Key] = frozenset()
    for number in range(1, 12):
        plan = sampler.round(7, number, asked)
        if not plan:
            break
        seen.update(frozenset(a.objects) for a in plan if a.reason != "repeat")
        asked |= {key_of("central", a.objects) for a in plan}
    assert set(seen) == {frozenset(t) for t in combinations(range(5), 3)}
    assert set(seen.values()) == {1}


def test_what_was_asked_can_be_drawn_again(folder: Path) -> None:
    """From the stored design, the seed and what was asked before."""
    with running(folder) as app:
        for _ in range(3):
            rater = app.rater()
            rater.post("/api/round")
        with app.survey.database.reading() as connection:
            stored = connection.execute(
                select(assignments, participants.c.seed)
                .join(participants, participants.c.id == assignments.c.participant)
                .order_by(assignments.c.id)
            ).all()
            content = json.loads(connection.execute(select(designs.c.content)).scalar_one())
            names = {row.id: row.name for row in connection.execute(select(objects))}
    assert len(stored) == 3 * 2 * 20
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
