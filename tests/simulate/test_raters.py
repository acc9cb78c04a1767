"""Raters and the built-in study. Statistical tests: false-alarm rate 1e-4, fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from trilens.errors import ParameterError
from trilens.simulate import Raters, ask_raters, draw_raters, gaussian, simulate_statements, study
from trilens.statements import KINDS

import reference

ALPHA = 1e-4
POINTS, RATERS = gaussian(5, random_state=0), draw_raters(3, random_state=0)


def test_drawn_raters():
    raters = draw_raters(2000, error_rate=0.2, careless=0.25, random_state=0)
    assert raters.careless.sum() == 500
    careful = raters.error_rates[~raters.careless]
    assert ((careful > 0) & (careful < 1)).all()
    assert careful.mean() == pytest.approx(0.2, abs=0.02)
    assert careful.std() > 0.05
    medians = [np.median(raters.median_seconds[raters.careless == who]) for who in (True, False)]
    assert medians[0] < medians[1]
    assert (draw_raters(5, error_rate=0.0, careless=0.0).error_rates == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_each_rater_errs_at_their_own_rate_and_speed(kind):
    blind = 1 / 2 if kind == "closer" else 2 / 3
    raters = Raters(np.array([0.0, 0.3, np.nan]), np.array([4.0, 5.0, 1.0]))
    assert raters.rates(kind).tolist() == [0.0, 0.3, blind]
    points = gaussian(44, random_state=0)
    S = ask_raters(points, raters, 12_000, kind=kind, random_state=1)
    right = set(map(tuple, simulate_statements(points, kind=kind).triples.tolist()))
    wrong = np.array([row not in right for row in map(tuple, S.triples.tolist())])
    assert not wrong[S.raters == 0].any()
    for rater, rate in ((1, 0.3), (2, blind)):
        own = wrong[S.raters == rater]
        assert stats.binomtest(int(own.sum()), len(own), rate).pvalue > ALPHA
    # seconds are log-normal about the rater's median
    z = np.log(S.seconds / raters.median_seconds[S.raters]) / 0.45
    assert stats.kstest(z, "norm").pvalue > ALPHA


def test_rounds_are_of_one_rater_each_and_shared_evenly():
    four = draw_raters(4, random_state=0)
    S = ask_raters(gaussian(20, random_state=0), four, 470, random_state=1)
    assert S.rounds.tolist() == [i // 50 for i in range(470)]
    rounds, raters = np.unique([S.rounds, S.raters], axis=1)
    assert rounds.tolist() == list(range(10))
    assert np.ptp(np.bincount(raters)) <= 1


def test_a_repeated_question_is_answered_anew():
    raters = Raters(np.array([0.5]), np.array([4.0]))
    S = ask_raters(gaussian(5, random_state=0), raters, 500, sampling="replacement", random_state=3)
    assert S.summary().contradictory_triples == 10


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: draw_raters(0), "n_raters is 0"),
        (lambda: draw_raters(3, error_rate=2), "error_rate is 2"),
        (lambda: draw_raters(3, careless=-0.1), "careless is -0.1"),
        (lambda: ask_raters(POINTS, RATERS, round_size=0), "round_size is 0"),
        (lambda: ask_raters(POINTS, RATERS, 11), "only 10"),
        (lambda: study(10), "n_objects is 10"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, text):
    with pytest.raises(ParameterError, match=text) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_study_is_what_it_says():
    one, same, other = study(), study(), study(random_state=1)
    S = one.statements
    assert (len(S), S.n_objects, S.kind) == (8000, 60, "central")
    assert np.bincount(one.labels + 1).tolist() == [4, 19, 19, 18]
    assert sorted(one.outliers.tolist()) == np.flatnonzero(one.labels == -1).tolist()
    assert S.summary().repeated_triples == 0
    assert one.raters.careless.sum() == 6
    assert np.array_equal(S.triples, same.statements.triples)
    assert np.array_equal(S.seconds, same.statements.seconds)
    assert not np.array_equal(S.triples, other.statements.triples)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_study_can_be_solved(seed):
    """The four least central objects are the outliers; the medoid is near the true one."""
    made = study(random_state=seed)
    depth = reference.centrality(made.statements.triples.tolist(), 60)
    assert set(np.argsort(depth)[:4].tolist()) == set(made.outliers.tolist())
    total = cdist(made.points.points, made.points.points).sum(axis=1)
    assert made.medoid == total.argmin()
    assert total[depth.argmax()] < 1.1 * total[made.medoid]
