"""Isolation is local: what lies far from all groups stands apart, wherever the middle is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trilens.maps.fitted import fit
from trilens.questions.cluster.groups import cluster
from trilens.questions.hierarchy import hierarchy
from trilens.questions.mixtures import fit_mixtures
from trilens.questions.outlier_test import isolation, most_apart, outliers_of_fit, widest_gap
from trilens.questions.outliers import outliers
from trilens.simulate import simulate_statements

CENTRES = np.array([[0.0, 0], [7, 0], [3.5, 6]])


def _groups(seed, far=None):
    rng = np.random.default_rng(seed)
    X = CENTRES[np.arange(24) % 3] + rng.standard_normal((24, 2))
    return X if far is None else np.r_[X, [far]]


@pytest.fixture(scope="module")
def far_from_groups():
    """Three groups, and one object that is far from each and not from the middle of all."""
    X = _groups(0, [16.0, 9.0])
    return fit(simulate_statements(X, 2200, "odd", error_rate=0.03, random_state=0))


def test_up_to_three_together_are_isolated_and_four_are_a_group():
    cloud = np.random.default_rng(0).standard_normal((40, 2))
    for together in (1, 2, 3, 4):
        far = [9.0, 0] + 0.1 * np.random.default_rng(together).standard_normal((together, 2))
        gap, number = widest_gap(isolation(np.r_[cloud, far]))
        assert (number == together and gap > 1) == (together < 4)


def test_few_of_many_may_stand_apart():
    assert [most_apart(n) for n in (8, 40, 100, 400)] == [3, 4, 6, 12]


def test_the_groups_of_a_map_are_found_and_drawn_anew():
    X = _groups(1)
    found = fit_mixtures(X, np.arange(24))
    best = found.each[int(found.weights.argmax())]
    assert len(best.centres) == 3
    assert found.weights.sum() == pytest.approx(1)
    rng = np.random.default_rng(0)
    drawn = np.array([best.draw(rng) for _ in range(400)])
    np.testing.assert_allclose(drawn.mean(axis=0), best.centres[best.group], atol=0.3)


@pytest.mark.parametrize("heavy", [False, True])
def test_tails_are_drawn_as_they_are_asked_for(heavy):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    if heavy:
        X /= np.sqrt(rng.chisquare(2, (60, 1)) / 2)
    found = fit_mixtures(X, np.arange(60))
    assert (found.heavy > 0.5) == heavy
    far = [np.abs(found.draw(heavy, rng)).max() / np.abs(X).max() for _ in range(50)]
    assert 0.4 < np.median(far) < 2.5


def test_what_is_far_from_every_group_is_named_and_set_aside(far_from_groups):
    found = outliers(far_from_groups)
    assert found.names == ("24",)
    assert found.p_value <= found.level
    groups = cluster(far_from_groups)
    assert (groups.n_clusters, groups.shape, groups.unassigned) == (3, "groups", ("24",))
    assert groups.labels[24] == -1
    assert groups.p_value <= 0.05
    assert groups.columns()["label"][24] == "unassigned"
    assert groups.structure.part.tolist() == groups.labels.tolist()
    assert groups.structure.sentence.endswith("One object stands apart: 24.")
    facts = groups.to_dict()
    assert (facts["unassigned"], facts["shape"], facts["clusters"]["24"]) == (["24"], "groups", -1)


def test_a_given_number_of_groups_leaves_nobody_out(far_from_groups):
    groups = cluster(far_from_groups, 3)
    assert (groups.labels.min(), groups.labels.max(), groups.unassigned) == (0, 2, ())


def test_a_tree_does_not_contradict_the_groups(far_from_groups):
    part = cluster(far_from_groups).labels
    tree = hierarchy(far_from_groups)
    assert tree.claimed
    for branch in tree.claimed:
        inside = np.isin(np.array(tree.names), branch.objects)
        cut = [0 < inside[part == g].sum() < (part == g).sum() for g in range(3)]
        assert not any(cut) or len(set(part[inside].tolist()) - {-1}) == 1


def test_groups_without_a_far_object_have_none():
    S = simulate_statements(_groups(2), 2000, "odd", error_rate=0.03, random_state=2)
    found = outliers(S)
    assert (found.names, found.shape) == ((), "none")
    assert found.p_value > found.level


def test_the_scale_and_the_place_of_a_map_do_not_matter():
    X = _groups(3, [16.0, 9.0])
    one, other = (widest_gap(isolation(points)) for points in (X, 7 * X + [3, 5]))
    assert one[0] == pytest.approx(other[0])
    assert one[1] == other[1]


def test_of_guesses_nothing_is_tested():
    triples = np.random.default_rng(0).permuted(np.tile(np.arange(15), (400, 1)), axis=1)[:, :3]
    from trilens.statements import Statements

    found = outliers_of_fit(fit(Statements(triples, 15)).canonical[0])
    assert found.p_value is None
    assert not found.objects.any()


def test_a_tail_is_said_on_the_screen():
    from trilens.cli.outliers import _notes
    from trilens.simulate import gaussian

    S = simulate_statements(gaussian(9, random_state=0), 40, random_state=1)
    found = replace(
        outliers(S, method="depth"), shape="long tail", tail=("b", "a"), p_value=0.3, reason=None
    )
    said = list(_notes(found))
    assert said[0].startswith("no outlier could be confirmed (p = 0.30); least central: ")
    assert said[1] == "the objects thin out into a long tail; farthest out: b, a"
