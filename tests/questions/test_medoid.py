"""The medoid: Algorithm 1 by counting, the model, and the set of objects that it could be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import rankdata

import drawn
from people import survey
from trilens import exact
from trilens.counts import count_central
from trilens.errors import ParameterError, StatementError
from trilens.files import read_statements
from trilens.maps import ChoiceMap
from trilens.maps.fitted import Fit, cluster_dispersion, fit, pair_dispersion
from trilens.maps.geometry import total_distance
from trilens.questions.depth import depth_of, medoid_set, plausible_largest
from trilens.questions.local_depth import local_depth
from trilens.questions.medoid import medoid, relative_error
from trilens.questions.outliers import LensDepthOutlierDetector, outliers
from trilens.shares import counted_intervals
from trilens.simulate import gaussian, simulate_statements, two_moons, with_outliers
from trilens.statements import Statements, concatenate

import reference

# ---- by counting


@given(drawn.statements())
def test_the_medoid_has_the_highest_centrality(S):
    score = reference.centrality(S.triples, S.n_objects, S.kind)
    found = medoid(S, "depth")
    # of those that tie, the one with the most answers
    best = np.flatnonzero(score == score.max())
    best = best[np.argsort(-S.appearances[best], kind="stable")].tolist()
    assert found.index == best[0]
    assert found.depth == score.max()
    assert found.tied == tuple(S.names[x] for x in best[1:])


def test_ties_go_by_the_number_of_answers_and_no_objects_have_no_medoid():
    # 1 and 3 are always the most central, 1 in one answer and 3 in two
    S = Statements([[1, 0, 2], [3, 0, 2], [3, 4, 5]], kind="central")
    for found in (medoid(S, "depth"), medoid(count_central(S))):
        assert (found.name, found.tied) == ("3", ("1",))
    for nothing in ([], count_central(np.empty((0, 3), dtype=int))):
        with pytest.raises(StatementError, match="no objects"):
            medoid(nothing)


def test_counts_suffice_where_the_paper_counts():
    S = simulate_statements(gaussian(40, random_state=0), 4000, kind="odd", random_state=1)
    counts = count_central(S.take(range(2000))) + count_central(S.take(range(2000, len(S))))
    assert medoid(counts).to_dict() | {"caution": None} == medoid(S, "depth").to_dict()
    assert outliers(counts, 5).names == outliers(S, 5, method="depth").names
    assert (len(outliers(counts)), outliers(counts).reason) == (0, "only counts")
    for contamination in (0.1, "auto"):
        expected, detector = (LensDepthOutlierDetector(contamination).fit(X) for X in (S, counts))
        assert np.array_equal(detector.labels_, expected.labels_)
    for ask, words in (
        (lambda: medoid(counts, "choice"), "choice needs the statements"),
        (lambda: outliers(counts, 3, method="soe"), "soe needs the statements"),
        (lambda: medoid(counts, labels=[0] * 40), "medoids of classes need the statements"),
    ):
        with pytest.raises(ParameterError, match=words):
            ask()


def test_the_medoid_and_the_least_central_of_the_papers_cars(cars):
    S = read_statements(cars / "ordinal_data_preprocessed" / "T_ALL.csv")
    fitted = fit(S)
    assert medoid(fitted).name == medoid(S, "depth").name == "44"
    found = outliers(fitted, n=4, method="depth")
    assert found.names == ("48", "53", "21", "23")
    assert set(found.names) <= set(outliers(fitted, n=6).names)


# ---- by the model


def modelled(S, dim=2, seed=0, l2: float | None = 0.05) -> Fit:
    """A fit of given dimension and penalty: the search for them is tested elsewhere."""
    found, _ = ChoiceMap(dim, l2=l2, random_state=seed).fit(S).fit_.canonical
    return found


def planar(kind="central", n=30, m=1500, seed=0, **noise):
    points = gaussian(n, 2, random_state=seed)
    return points, simulate_statements(points, m, kind, random_state=seed + 1, **noise)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_the_set_holds_the_true_medoid_and_is_smaller_than_by_counting(kind):
    points, S = planar(kind, error_rate=0.1)
    found = medoid(modelled(S))
    true = int(total_distance(points.points).argmin())
    assert S.names[true] in found.candidates
    assert found.name in found.candidates
    assert found.name not in found.close
    assert len(found.candidates) <= 0.7 * counted_intervals(S).medoid_set.sum()
    facts = found.to_dict()
    assert (facts["method"], facts["close"]) == ("choice", list(found.close))
    assert facts["depth"] == found.scores.max() == found.depth
    _, guessed = planar(kind, n=20, m=600, error_rate=1 / 2 if kind == "closer" else 2 / 3)
    assert medoid_set(fit(guessed).canonical[0]).mean() >= 0.9


def test_the_model_finds_the_medoid_where_counting_errs():
    errors = []
    for seed in range(3):
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
    assert model.dispersion > 1.5
    total = total_distance(points.points)
    assert relative_error(int(model.map.depth().depth.argmax()), total) > 0.03
    assert relative_error(int(depth_of(model).depth.argmax()), total) < 0.02


def test_equal_objects_are_in_the_set():
    _, S = planar(n=12, m=800, sampling="replacement")
    # every object twice, asked about by a coin: 0 and 12 have the same place
    rng = np.random.default_rng(3)
    twins = Statements(
        S.triples + 12 * rng.integers(2, size=S.triples.shape), n_objects=24, kind="central"
    )
    found = medoid(modelled(twins))
    assert str((int(found.name) + 12) % 24) in found.candidates


@pytest.mark.filterwarnings("ignore::trilens.errors.UnmentionedObjectsWarning")
def test_an_object_hardly_ever_seen_is_a_candidate_but_not_the_medoid():
    _, S = planar(n=12, m=200)
    S = Statements(np.vstack([S.triples, [[12, 0, 1]]]), n_objects=14, kind="central")
    found = medoid(modelled(S))
    assert found.name not in ("12", "13")
    assert {"12", "13"} <= set(found.candidates)
    assert found.scores[13] == 0


def test_noise_on_the_distances_shows_as_dispersion():
    points, S = planar(n=40, m=3000, error_rate=0.2)
    assert 0.85 < pair_dispersion(modelled(S).map, S) < 1.15
    noisy = simulate_statements(points, 3000, noise_param=0.5, random_state=5)
    assert pair_dispersion(modelled(noisy).map, noisy) > 1.4


def test_dimensions_that_noise_on_the_distances_made_are_doubted():
    """Then what is most central on a plainer map is in the set too."""
    points = gaussian(60, 2, random_state=0)
    noisy = simulate_statements(points, 2500, "odd", noise_param=0.72, random_state=5)
    wide = modelled(noisy, 4, l2=None)
    assert wide.dispersion > 1.2
    plain = medoid_set(wide.in_dimensions(2))
    assert plain[medoid_set(wide)].sum() == plain.sum()


def test_raters_who_differ_pull_together():
    points = gaussian(20, 2, random_state=1).points
    for spread, low, high in ((1.2, 1.3, 9.0), (0.0, 0.8, 1.2)):
        S = survey(points, raters=12, per=150, common=0, again=0, blind=0, tastes=spread)
        F = ChoiceMap(2, l2=0.05).fit(S).fit_
        assert low < cluster_dispersion(F.map, S, S.raters, F.lapse_of(S)) < high


def test_the_set_of_one_list_holds_the_medoid():
    # each of 20 raters answers the same 120 questions: copies of raters vary hardly at all
    held, sizes = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        points, asked = planar(n=30, m=120, seed=seed)
        answers = np.tile(asked.triples, (20, 1))
        wrong = rng.random(len(answers)) < 0.15
        answers[wrong] = np.roll(answers[wrong], 1, axis=1)
        S = Statements(answers, 30, raters=np.arange(len(answers)) // 120, kind="central")
        inside = medoid_set(modelled(S))
        held.append(inside[total_distance(points.points).argmin()])
        sizes.append(inside.sum())
    assert np.sum(held) >= 2
    assert np.mean(sizes) < 20


def test_which_may_be_the_largest_holds_its_level():
    # true values that differ, estimates that err, and deviations that say by how much
    rng = np.random.default_rng(4)
    held, sizes = [], []
    for seed in range(150):
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


def test_none_stands_out_where_most_may_be_the_most_central():
    rng = np.random.default_rng(1)
    guessed = np.array([rng.choice(9, 3, replace=False) for _ in range(150)])
    found = medoid(Statements(guessed, 9, kind="central"), "choice")
    assert len(found.candidates) > 4
    assert not found.stands_out
    # nor of parts that no question joins
    points = np.random.default_rng(0).normal(size=(7, 2))
    S = simulate_statements(points, 150, "central", sampling="replacement", random_state=1)
    apart = Statements(np.r_[S.triples, S.triples + 7], 14, kind="central")
    found = medoid(apart, "choice")
    assert not found.stands_out
    assert len(found.candidates) == 14
    assert "never compared with the others" in found.to_dict()["caution"]


def test_the_outlier_between_the_moons():
    drawn = two_moons(60, noise=0.08, random_state=0)
    X = with_outliers(drawn, ((-2.2, 1.8), (3.2, 1.6), (0.5, -2.2), (0.5, 0.25))).points
    S = simulate_statements(X, random_state=1)
    exactly = exact.local_lens_depth(X, share=0.1, metric="euclidean", normalise=True)
    assert medoid(S, "depth").index == 63
    found = local_depth(S, 0.1, method="ste")
    assert rankdata(found)[60:].max() <= 9
    assert np.corrcoef(found, exactly)[0, 1] > 0.95


def test_few_answers_and_what_is_refused():
    odd = Statements([[0, 1, 2], [1, 2, 3]], kind="odd")
    with pytest.raises(ParameterError, match="share is 2"):
        local_depth(odd, 2)
    assert local_depth(odd, method="lensmap").shape == (4,)
    assert local_depth(Statements(np.empty((0, 3), int), n_objects=2)).tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_on_a_ring_no_object_is_the_most_central(kind):
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    S = simulate_statements(np.c_[np.cos(turn), np.sin(turn)], 1600, kind=kind, random_state=1)
    found = medoid(S)
    assert found.on_ring
    assert not found.stands_out
    assert found.caution == "The objects lie on a ring: there is no most central object."
    assert not medoid(planar(n=24, m=1600)[1]).on_ring


def test_of_few_closer_questions_no_set_is_claimed():
    points = gaussian(40, 2, random_state=1)
    few = simulate_statements(points, 150, kind="closer", random_state=2)
    assert medoid(concatenate([few] * 10)).reason == "few questions"
    assert medoid(simulate_statements(points, 1500, kind="closer", random_state=2)).reason is None


def test_of_closer_questions_within_parts_no_set_is_claimed():
    S = simulate_statements(gaussian(24, 2, random_state=1), 2000, kind="closer", random_state=2)
    part = S.triples // 12
    within = (part == part[:, :1]).all(axis=1) | (np.arange(len(S)) % 40 == 0)
    assert medoid(S.take(within)).reason == "loose parts"
    assert medoid(S).reason is None
