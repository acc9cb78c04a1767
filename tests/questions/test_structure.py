"""Shapes of maps: each is named as what it is, and clouds of every sort are clouds."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import trilens as tl
from trilens.errors import StatementError
from trilens.questions.cluster.suggest import divide, examine
from trilens.questions.shapes import fit_shapes, shows_shapes
from trilens.questions.structure import described


def _structure(X):
    return described(examine(X), tuple(map(str, range(len(X)))))


def _ring(rng, n=40):
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1 + 0.08 * rng.standard_normal(n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def _line(rng, n=40):
    return np.c_[rng.uniform(0, 4, n), 0.05 * rng.standard_normal(n)]


CLOUDS = {
    "gaussian": lambda rng: rng.standard_normal((40, 2)),
    "five dimensions": lambda rng: rng.standard_normal((40, 5)),
    "square": lambda rng: rng.uniform(size=(40, 2)),
    "log-normal": lambda rng: np.exp(rng.standard_normal((40, 2))),
    "t3": lambda rng: rng.standard_normal((40, 2)) / np.sqrt(rng.chisquare(3, (40, 1)) / 3),
    "halo": lambda rng: rng.standard_normal((40, 2)) * np.r_[[1] * 26, [4] * 14][:, None],
}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_clouds_of_every_sort_are_clouds(cloud):
    for seed in range(3):
        X = CLOUDS[cloud](np.random.default_rng(seed))
        found = fit_shapes(X, np.zeros((40, X.shape[1], X.shape[1])), _divisions(X))
        assert found.curve is None
        assert found.groups <= 0


def _divisions(X):
    return [part.labels for part in divide(X - X.mean(axis=0), range(2, 9))]


def _groups(rng, centres, sizes):
    return np.repeat(centres, sizes, axis=0) + rng.standard_normal((sum(sizes), 2))


@pytest.mark.slow
def test_a_small_group_beside_a_large_one_is_found():
    labels = np.repeat([0, 1], [24, 6])
    right = 0
    for seed in range(3):
        found = _structure(_groups(np.random.default_rng(seed), [[3, 0], [-3, 0]], (24, 6)))
        right += found.shape == "groups" and (found.part == labels).mean() > 0.9
    assert right >= 2


def test_what_groups_tell():
    found = _structure(
        _groups(np.random.default_rng(5), [[4, 0], [-2, 3.5], [-2, -3.5]], (9, 8, 8))
    )
    assert (found.shape, found.has_groups) == ("groups", True)
    assert found.part.tolist() == np.repeat([0, 1, 2], [9, 8, 8]).tolist()
    assert found.sentence == "The objects form three groups, of 9, 8 and 8 objects."
    few = _structure(_groups(np.random.default_rng(0), [[40, 40], [0, 0]], (5, 5)))
    assert few.sentence == "The objects form two groups, of 5 and 5 objects."
    centres = [[0, 0], [0, 7], [24, 0], [24, 7]]
    nested = _structure(_groups(np.random.default_rng(0), centres, (7, 7, 7, 7)))
    assert nested.shape == "groups in groups"
    assert nested.part.tolist() == np.repeat([0, 1], 14).tolist()
    assert nested.inner.tolist() == np.repeat([0, 1, 2, 3], 7).tolist()
    assert "two groups, which fall into four smaller ones" in nested.sentence


def test_what_a_line_tells():
    rng = np.random.default_rng(2)
    angle = rng.uniform(0, np.pi, 40)
    X = np.c_[np.cos(angle), np.sin(angle)] * (1 + 0.05 * rng.standard_normal((40, 1)))
    found = _structure(X)
    along = np.arctan2(X[:, 1], X[:, 0])
    assert found.shape == "line"
    assert abs(np.corrcoef(along, found.position)[0, 1]) > 0.98
    assert (found.position.min(), found.position.max()) == (0, 1)
    assert found.position[0] <= 0.5
    assert [found.names[i] for i in np.argsort(found.position)] == list(found.order)
    ends = f"from {found.order[0]} to {found.order[-1]}."
    assert found.sentence == f"The objects lie along a bent line, {ends}"
    assert found.to_dict()["bent"]
    # of three objects on a bent line the same one is the most central as on a straight one
    assert not described(examine(X, kind="central"), found.names).bent


def test_a_line_is_not_divided_and_what_stands_apart_lies_nowhere_on_it():
    X = _line(np.random.default_rng(3), 20)
    seen = examine(X)
    assert (seen.suggestion.n_clusters, seen.suggestion.p_value) == (1, None)
    assert seen.suggestion.notes == ("line",)
    alone = _structure(X)
    assert (alone.shape, alone.bent) == ("line", False)
    found = described(replace(seen, labels=np.r_[seen.labels, -1]), (*alone.names, "far"))
    assert found.sentence == f"{alone.sentence} One object stands apart: far."
    assert found.order == alone.order
    assert found.columns()["position"][-1] is None


def test_what_a_ring_tells():
    X = _ring(np.random.default_rng(3))
    found = _structure(X)
    true = np.degrees(np.arctan2(X[:, 1], X[:, 0]))
    off = [(found.position - sign * (true - true[0])) % 360 for sign in (1, -1)]
    assert min(np.minimum(o, 360 - o).max() for o in off) < 15
    assert found.position[0] == 0
    assert (found.shape, found.notes, found.scores["cloud"]) == ("ring", ("ring",), 0)
    assert found.scores["ring"] > 0
    assert "no most central object" in found.sentence
    assert found.to_dict()["angle"]["0"] == 0


def test_what_arms_tell():
    rng = np.random.default_rng(4)
    X = 0.1 * np.abs(rng.standard_normal((42, 3)))
    X[np.arange(42), np.arange(42) % 3] += rng.uniform(0, 2, 42)
    found = _structure(X)
    far = X.max(axis=1) > 0.5
    assert (found.part[far] == (np.arange(42) % 3)[far]).mean() > 0.95
    assert np.corrcoef(found.position, X.max(axis=1))[0, 1] > 0.9
    assert (found.shape, found.notes, found.p_value) == ("arms", ("arms",), None)
    assert "on three arms that meet near" in found.sentence
    assert list(found.columns()) == ["object", "arm", "outwards"]


def test_parts_without_gaps_are_not_called_one_cloud():
    cloud = _structure(CLOUDS["gaussian"](np.random.default_rng(0)))
    assert cloud.sentence.endswith("the objects may form one cloud.")
    parts = replace(cloud, notes=("no dip",))
    assert "no gaps could be confirmed between the parts" in parts.sentence
    assert "no gap between groups could be confirmed" in parts.caution


def test_errors_of_places_are_allowed_for():
    rng = np.random.default_rng(6)
    errors = np.tile(0.04 * np.eye(2), (40, 1, 1))
    X = _ring(rng) + 0.2 * rng.standard_normal((40, 2))
    known = fit_shapes(X, errors, _divisions(X))
    unknown = fit_shapes(X, 0 * errors, _divisions(X))
    assert known.fits["ring"].spread < 0.6 * unknown.fits["ring"].spread


@pytest.mark.parametrize(("error", "straight"), [(0.1, True), (0.5, False)])
def test_one_dimension_is_a_line_where_a_second_would_have_been_seen(error, straight):
    X = np.random.default_rng(0).normal(size=(30, 1))
    assert shows_shapes(X, np.full((30, 1, 1), error**2)) == straight


@pytest.mark.parametrize("n", [0, 11])
def test_few_objects_have_no_shape(n):
    found = _structure(np.random.default_rng(0).normal(size=(n, 2)))
    assert (found.shape, found.reason) == ("cloud", "few objects")
    assert found.caution == (
        "no groups could be confirmed, and there are too few objects to tell a line, a ring or arms"
    )
    assert _structure(np.zeros((20, 2))).reason == "same places"


def test_guesses_have_no_shape_and_no_answers_are_refused():
    triples = np.random.default_rng(0).permuted(np.tile(np.arange(15), (400, 1)), axis=1)[:, :3]
    found = tl.structure(tl.Statements(triples, 15, kind="central"))
    assert (found.shape, found.p_value, found.scores) == ("cloud", None, {})
    assert found.reason == "guesses"
    assert found.sentence.endswith("the answers cannot be distinguished from guessing.")
    with pytest.raises(StatementError, match="there are none"):
        tl.structure(tl.Statements(np.zeros((0, 3), dtype=int), names=list("abc")))


@pytest.mark.parametrize("shape", [_line, _ring])
def test_positions_have_intervals_by_the_maps_that_the_answers_allow(shape):
    rng = np.random.default_rng(2)
    X = shape(rng, 24)
    names = tuple(map(str, range(24)))
    found = described(examine(X), names, lambda: X + 0.05 * rng.normal(size=(40, 24, 2)))
    assert (found.low <= found.position).all()
    assert (found.position <= found.high).all()
    assert 0 < np.mean(found.high - found.low) < 0.1 * np.ptp(found.position)
    if shape is _line:
        # objects whose intervals do not overlap are in their order
        at = X[:, 0] if np.corrcoef(X[:, 0], found.position)[0, 1] > 0 else -X[:, 0]
        first, then = np.nonzero(found.high[:, None] < found.low)
        assert len(first) > 150
        assert (at[first] < at[then]).all()
    assert set(found.columns()) >= {"from", "to"}
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["interval"]["0"] == [found.low[0], found.high[0]]


@pytest.mark.parametrize("kind", ["closer", "odd"])
def test_few_answers_about_a_round_cloud_are_no_line(kind):
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((30, 2))
        S = tl.simulate.simulate_statements(X, 150, kind, error_rate=0.1, random_state=seed)
        assert tl.cluster(S).shape != "line"


def test_a_fit_of_few_answers_says_what_the_answers_say():
    X = np.random.default_rng(0).standard_normal((30, 2))
    S = tl.simulate.simulate_statements(X, 40, random_state=1)
    F = tl.fit(S)
    assert F.medoid().to_dict() == tl.medoid(S).to_dict()
    assert F.outliers().method == tl.outliers(S).method == "depth"
