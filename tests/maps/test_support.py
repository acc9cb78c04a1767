"""Nothing is claimed where the answers cannot carry it."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.maps.fitted import fit
from trilens.maps.support import agreeing_guesses
from trilens.questions.cluster.groups import cluster
from trilens.questions.medoid import medoid
from trilens.questions.outliers import outliers
from trilens.simulate import answer, simulate_statements
from trilens.statements import Statements


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize("seed", range(2))
def test_guesses_have_neither_groups_nor_outliers(kind, seed):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(20, 3, replace=False) for _ in range(700)])
    F = fit(Statements(rows, n_objects=20, kind=kind))
    assert F.support.reason == "guesses"
    groups, apart = cluster(F), outliers(F)
    assert (groups.n_clusters, len(apart)) == (1, 0)
    assert groups.suggestion.p_value is apart.p_value is None


@pytest.mark.slow
def test_answers_that_contradict_each_other_all_say_nothing():
    rng = np.random.default_rng(1)
    rows = np.array([rng.choice(15, 3, replace=False) for _ in range(150)])
    every = np.concatenate([np.roll(rows, k, axis=1) for k in range(3)])
    found = cluster(Statements(every, kind="central"))
    assert found.n_clusters == 1
    assert found.suggestion.p_value is None


def test_objects_that_were_never_asked_about_are_no_rest_to_stand_apart_from():
    S = Statements([[0, 1, 2], [1, 2, 3], [0, 3, 2]] * 40, n_objects=20, kind="central")
    F = fit(S)
    assert F.support.reason == "unasked objects"
    assert outliers(F).names == ()
    assert outliers(F, n=2).caution is not None
    assert len(outliers(F, n=2)) == 2
    assert medoid(Statements([[0, 1, 2]] * 5, n_objects=4, kind="central")).name == "0"


@pytest.mark.slow
def test_parts_that_no_answer_connects_are_no_groups():
    points = np.random.default_rng(0).normal(size=(2, 12, 2))
    one, two = (simulate_statements(X, 200, random_state=1).triples for X in points)
    F = fit(Statements(np.concatenate([one, two + 12]), n_objects=24, kind="central"))
    assert F.support.reason == "unconnected objects"
    assert cluster(F).n_clusters == 1
    assert cluster(F, 2).n_clusters == 2


def one_list(kind, wrong, seed, raters=20, questions=100):
    """Everybody answers the same questions about places in the plane."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 2))
    asked = np.array([rng.choice(25, 3, replace=False) for _ in range(questions)])
    rows = [
        answer(asked, X, kind=kind, error_rate=wrong, random_state=rng).triples
        for _ in range(raters)
    ]
    who = np.repeat(np.arange(raters), questions)
    return Statements(np.concatenate(rows), n_objects=25, kind=kind, raters=who)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_who_agrees_about_one_list_does_not_guess(kind):
    wrong = 1 / 2 if kind == "closer" else 2 / 3
    for seed in range(3):
        assert agreeing_guesses(one_list(kind, 0.15, seed)) < 1e-9
        assert agreeing_guesses(one_list(kind, wrong, seed)) > 0.005
        assert agreeing_guesses(one_list(kind, 0.15, seed, raters=1)) == 1.0


def test_one_list_is_not_refused():
    assert fit(one_list("closer", 0.15, 0, questions=60)).support
