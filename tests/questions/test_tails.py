"""A gap tells objects that stand apart from the end of a long tail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trilens.questions.outlier_test import outliers_on_map
from trilens.questions.outliers import outliers
from trilens.questions.tails import Tail
from trilens.simulate import far_outliers, gaussian, simulate_statements


def core_in_halo(n, rng):
    return rng.standard_normal((n, 2)) * np.where(np.arange(n) < 2 * n // 3, 1.0, 4.0)[:, None]


def student(n, rng):
    return rng.standard_normal((n, 2)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)


def log_normal(n, rng):
    return np.exp(rng.standard_normal((n, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [core_in_halo, student, log_normal])
def test_a_long_tail_is_called_one_and_its_objects_come_in_order(shape):
    points = shape(40, np.random.default_rng([1, 1]))
    S = simulate_statements(points, 1800, "odd", error_rate=0.1, random_state=1)
    found = outliers(S)
    assert (found.shape, len(found), found.suggested) == ("long tail", 0, 0)
    assert found.p_gaussian <= found.level < found.p_heavy == found.p_value
    score = [found.all_scores[S.names.index(name)] for name in found.tail]
    assert score == sorted(score)
    assert found.to_dict()["tail"] == list(found.tail)


@pytest.mark.parametrize("seed", range(3))
def test_far_objects_do_not_explain_themselves_away(seed):
    points = far_outliers(gaussian(100, random_state=seed), 4, seed + 1).points
    tail = Tail(points)
    assert tail.outside.nonzero()[0].tolist() == [100, 101, 102, 103]
    assert tail.p_gaussian <= tail.p_value <= 0.05


def test_no_cloud_is_drawn_where_there_is_a_gap():
    points = np.r_[np.random.default_rng(0).standard_normal((60, 2)), [[9, 0], [0, 10]]]

    def never():
        raise AssertionError
        yield

    found = outliers_on_map(np.ones(62), never(), Tail(points))
    assert found.objects.nonzero()[0].tolist() == [60, 61]
    assert (found.shape, found.tail) == ("outliers", None)


def test_clouds_are_drawn_only_until_it_is_clear():
    rng = np.random.default_rng(0)
    clouds = iter(1 + rng.random((39, 50)))
    found = outliers_on_map(1 + rng.random(50), clouds)
    assert not found.objects.any()
    assert len(list(clouds)) == 30


@pytest.mark.parametrize("name", ["places", "order", "scale"])
def test_what_does_not_matter_does_not(name):
    rng = np.random.default_rng(3)
    points = log_normal(80, rng)
    other = {
        "places": points + np.array([5, -3]),
        "order": points[::-1],
        "scale": 7 * points,
    }[name]
    assert Tail(other).p_value == pytest.approx(Tail(points).p_value, rel=1e-6)


@pytest.mark.slow
def test_a_small_group_is_called_neither_outliers_nor_a_tail():
    rng = np.random.default_rng(7)
    points = rng.standard_normal((30, 2)) + np.where(np.arange(30) < 24, 0, 6)[:, None] * [1, 0]
    S = simulate_statements(points, 1500, "odd", error_rate=0.05, random_state=7)
    found = outliers(S)
    assert found.p_gaussian <= found.level < found.p_heavy
    assert (found.shape, found.names, found.tail) == ("none", (), None)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_densities_are_those_of_the_chances(d):
    from trilens.questions.tails import _log_chances

    radius = np.linspace(0.01, 12, 1501)
    density, beyond, _ = _log_chances(radius, d)
    for model in (20, 11 * 41 - 21, 11 * 41 + 20, len(density) - 21):
        inside = np.trapezoid(np.exp(density[model]), radius)
        expected = np.exp(beyond[model, 0]) - np.exp(beyond[model, -1])
        assert inside == pytest.approx(expected, abs=2e-3)


def test_of_very_many_objects_some_stand_for_the_others():
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((5000, 2))
    assert Tail(cloud).p_value > 0.05
    assert Tail(np.r_[cloud, [[0, 9]]]).outside.nonzero()[0].tolist() == [5000]


def test_objects_in_one_place_have_no_tail():
    assert Tail(np.zeros((20, 2))).p_value == 1.0


def test_a_tail_is_said_on_the_screen_and_in_the_report():
    from trilens.cli.outliers import _notes
    from trilens.report import words

    S = simulate_statements(gaussian(9, random_state=0), 40, random_state=1)
    found = replace(
        outliers(S, method="depth"), shape="long tail", tail=("b", "a"), p_value=0.3, reason=None
    )
    said = next(_notes(found))
    assert said.startswith("the objects thin out into a long tail; none stands apart from it")
    assert said.endswith("farthest out: b, a")
    asked = {"statements": 40, "objects": 9}
    card = words.outliers({"describe": asked, "support": None, "outliers": found.to_dict()})
    assert "into a long tail; no outlier could be confirmed" in card.sentence
    assert card.objects == ("b", "a")
