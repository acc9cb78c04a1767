from __future__ import annotations

import numpy as np
import pytest

from trilens.lens import centrality
from trilens.maps import ChoiceMap
from trilens.maps.fitted import Fit, cluster_dispersion, fit, pair_dispersion, residual_of
from trilens.maps.geometry import total_distance
from trilens.questions.depth import (
    _often_most_central,
    _without_noise,
    depth_of,
    medoid_set,
    plausible_largest,
)
from trilens.questions.medoid import medoid, relative_error
from trilens.shares import counted_intervals
from trilens.simulate import gaussian, simulate_statements
from trilens.statements import Statements


def modelled(S, dim=2, seed=0, l2: float | None = 0.05) -> Fit:
    """A fit of given dimension and penalty: the search for them is tested elsewhere."""
    found, _ = ChoiceMap(dim, l2=l2, random_state=seed).fit(S).fit_.canonical
    return found


def planar(kind="central", n=30, m=1500, seed=0, **noise):
    points = gaussian(n, 2, random_state=seed)
    return points, simulate_statements(points, m, kind, random_state=seed + 1, **noise)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_the_set_holds_the_true_medoid_and_is_smaller_than_by_counting(kind):
    for seed in range(2):
        points, S = planar(kind, seed=10 * seed, error_rate=0.1)
        found = medoid(modelled(S))
        true = int(total_distance(points.points).argmin())
        assert S.names[true] in found.candidates
        assert found.name in found.candidates
        assert len(found.candidates) <= 0.7 * counted_intervals(S).medoid_set.sum()


def test_guesses_leave_nearly_everybody_in_the_set():
    _, S = planar(n=20, m=600, error_rate=2 / 3)
    assert medoid_set(fit(S).canonical[0]).mean() >= 0.9


def test_the_model_finds_the_medoid_where_counting_errs():
    errors = []
    for seed in range(4):
        points, S = planar(n=60, m=1200, seed=20 * seed)
        total = total_distance(points.points)
        by_model = relative_error(medoid(modelled(S)).index, total)
        errors.append((by_model, relative_error(medoid(S, "depth").index, total)))
    by_model, by_counting = np.mean(errors, axis=0)
    assert by_model < 0.01 < by_counting


def test_counting_mends_a_map_with_too_few_dimensions():
    points = gaussian(60, 10, random_state=1)
    S = simulate_statements(points, 6000, random_state=2)
    model = modelled(S, dim=1)
    assert depth_of(model).counted.mean() > 0.5
    assert model.dispersion > 1.5
    total = total_distance(points.points)
    assert relative_error(int(model.map.depth().depth.argmax()), total) > 0.03
    assert relative_error(int(depth_of(model).depth.argmax()), total) < 0.02


def test_what_the_facts_say():
    _, S = planar()
    found = medoid(modelled(S))
    facts = found.to_dict()
    assert facts["method"] == "choice"
    assert facts["depth"] == found.scores.max() == found.depth
    assert facts["close"] == list(found.close)
    assert found.name not in found.close
    again = medoid(modelled(S))
    assert again.candidates == found.candidates


def test_equal_objects_are_in_the_set():
    _, S = planar(n=12, m=800, sampling="replacement")
    # every object twice, asked about by a coin: 0 and 12 have the same place
    rng = np.random.default_rng(3)
    twins = Statements(
        S.triples + 12 * rng.integers(2, size=S.triples.shape), n_objects=24, kind="central"
    )
    found = medoid(modelled(twins))
    twin = str((int(found.name) + 12) % 24)
    assert twin in found.candidates


@pytest.mark.filterwarnings("ignore::trilens.errors.UnmentionedObjectsWarning")
def test_an_object_hardly_ever_seen_is_a_candidate_but_not_the_medoid():
    _, S = planar(n=12, m=200)
    S = Statements(np.vstack([S.triples, [[12, 0, 1]]]), n_objects=14, kind="central")
    found = medoid(modelled(S))
    assert found.name not in ("12", "13")
    assert {"12", "13"} <= set(found.candidates)
    assert found.scores[13] == 0


def test_what_is_left_over_is_what_was_counted_less_what_was_expected():
    for kind in ("central", "odd", "closer"):
        _, S = planar(kind, n=8, m=50, error_rate=0.2)
        half = np.full((len(S), 2 if kind == "closer" else 3), 0.0)
        half[:] = 1 / half.shape[1]
        by_chance = {"central": 1 / 3, "odd": 2 / 3, "closer": 1 / 2}[kind]
        left = residual_of(half, S, lapse=0.0)
        np.testing.assert_allclose(left.mean, centrality(S) - by_chance, atol=1e-12)
        twice = residual_of(half, S, lapse=0.5)
        np.testing.assert_allclose(twice.mean, 2 * left.mean, atol=1e-12)
        np.testing.assert_allclose(twice.variance, 4 * left.variance, atol=1e-12)
    half[:] = np.nan
    left = residual_of(half, S, 0.0)
    assert not left.mean.any()
    assert np.isinf(left.variance).all()


def test_noise_on_the_distances_shows_as_dispersion():
    points, S = planar(n=40, m=3000, error_rate=0.2)
    plain = pair_dispersion(modelled(S).map, S)
    noisy = simulate_statements(points, 3000, noise_param=0.5, random_state=5)
    distorted = pair_dispersion(modelled(noisy).map, noisy)
    assert 0.85 < plain < 1.15
    assert distorted > 1.4


def test_dimensions_that_noise_on_the_distances_made_are_doubted():
    """Then what is most central on a plainer map is in the set too."""
    points, S = planar("odd", n=60, m=2500)
    noisy = simulate_statements(points, 2500, "odd", noise_param=0.72, random_state=5)
    model = modelled(noisy, 4, l2=None)
    assert model.dispersion > 1.2
    plainer = _without_noise(model)
    assert plainer.map.n_components == 2
    own, other = (_often_most_central(each, 0.95) for each in (model, plainer))
    assert ((own | other) == medoid_set(model)).all()
    assert (other & ~own).any()
    # answers that follow the distances themselves are taken as they are
    model = modelled(S, 4, l2=None)
    assert _without_noise(model) is model


def test_raters_who_differ_pull_together():
    rng = np.random.default_rng(0)
    points = gaussian(20, 2, random_state=1).points
    parts, alike = [], []
    for who in range(12):
        own = points * np.exp(1.2 * rng.standard_normal(2))
        parts.append(simulate_statements(own, 150, random_state=100 + who).triples)
        alike.append(simulate_statements(points, 150, random_state=100 + who).triples)
    raters = np.arange(12 * 150) // 150
    for triples, low, high in ((parts, 1.3, 9.0), (alike, 0.8, 1.2)):
        S = Statements(np.concatenate(triples), 20, raters=raters, kind="central")
        F = ChoiceMap(2, l2=0.05).fit(S).fit_
        found = cluster_dispersion(F.map, S, raters, F.lapse_of(S))
        assert low < found < high


def test_the_set_of_one_list_holds_the_medoid():
    # each of 20 raters answers the same 120 questions: copies of raters vary hardly at all
    held, sizes = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        points, asked = planar(n=30, m=120, seed=seed)
        answers = np.tile(asked.triples, (20, 1))
        wrong = rng.random(len(answers)) < 0.15
        answers[wrong] = np.roll(answers[wrong], 1, axis=1)
        S = Statements(answers, 30, raters=np.arange(len(answers)) // 120, kind="central")
        inside = medoid_set(modelled(S))
        held.append(inside[total_distance(points.points).argmin()])
        sizes.append(inside.sum())
    assert np.mean(held) >= 3 / 4
    assert np.mean(sizes) < 20


def test_which_may_be_the_largest_holds_its_level():
    # true values that differ, estimates that err, and deviations that say by how much
    rng = np.random.default_rng(4)
    held, sizes = [], []
    for seed in range(300):
        true = 2 * rng.standard_normal(10)
        found = true + rng.standard_normal(10)
        inside = plausible_largest(found, rng.standard_normal((40, 10)), seed=seed)
        held.append(inside[true.argmax()])
        sizes.append(inside.sum())
    assert 0.92 < np.mean(held) < 0.99
    assert np.mean(sizes) < 5
    far = plausible_largest(np.array([0.0, 9.0]), rng.standard_normal((40, 2)))
    assert far.tolist() == [False, True]
    unsure = plausible_largest(np.array([0.0, 9.0]), rng.standard_normal((40, 2)), bias=10.0)
    assert unsure.all()
    assert plausible_largest(np.zeros(0), np.zeros((4, 0))).tolist() == []
    many = plausible_largest(np.zeros(20_000), 0.01 * rng.standard_normal((8, 20_000)))
    assert 0 < many.sum() < 2001
