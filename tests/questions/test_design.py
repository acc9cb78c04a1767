from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from trilens.questions.reliability.cautions import about_design
from trilens.simulate import gaussian, simulate_statements
from trilens.statements import Statements
from trilens.study_design import design


def asked(rng, m, n, p=None):
    return np.array([rng.choice(n, 3, replace=False, p=p) for _ in range(m)])


def test_random_triples_are_seldom_taken_for_anything_else():
    false = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 80))
        points = gaussian(n, 2, random_state=seed)
        m = int(rng.integers(100, 2000))
        S = simulate_statements(points, m, sampling="replacement", random_state=seed)
        false.append(not design(S).counts_hold)
    assert np.mean(false) <= 0.05


def test_one_list():
    rng = np.random.default_rng(0)
    S = Statements(
        np.tile(asked(rng, 100, 30), (10, 1)), 30, raters=np.arange(1000) // 100, kind="central"
    )
    found = design(S)
    assert found.one_list
    assert found.few_questions
    assert not found.counts_hold
    assert found.per_question == pytest.approx(10, rel=0.05)
    assert any("same" in sentence for sentence in found.sentences())
    assert found.to_dict()["counts_hold"] is False


def test_few_objects_whose_questions_are_all_asked_are_no_list():
    rng = np.random.default_rng(1)
    assert design(asked(rng, 2000, 8)).counts_hold


def test_blocks():
    rng = np.random.default_rng(2)
    rows = asked(rng, 1000, 10) + 10 * rng.integers(4, size=1000)[:, None]
    rows = np.vstack([rows, asked(rng, 50, 40)])
    found = design(rows)
    assert found.blocks == 4
    assert not found.counts_hold


def test_landmarks():
    rng = np.random.default_rng(3)
    rows = np.array([[*rng.choice(5, 2, replace=False), rng.integers(5, 40)] for _ in range(900)])
    found = design(rng.permuted(rows, axis=1))
    assert found.landmarks == ("0", "1", "2", "3", "4")
    assert not found.counts_hold


def test_uneven_frequencies():
    rng = np.random.default_rng(4)
    p = np.exp(rng.standard_normal(40))
    found = design(asked(rng, 1500, 40, p / p.sum()))
    assert found.uneven
    assert not found.counts_hold


def test_questions_that_follow_answers():
    rng = np.random.default_rng(5)
    n = 20
    rows = []
    won = np.ones(n)
    for i in range(800):
        p = won / won.sum() if i > 100 else None
        three = np.sort(rng.choice(n, 3, replace=False, p=p))
        won[three[0]] += 1
        rows.append(three)
    found = design(np.array(rows))
    assert not found.counts_hold


def test_one_rater_with_half_of_the_answers_is_told():
    rng = np.random.default_rng(6)
    rows = asked(rng, 600, 20)
    half = Statements(
        rows, 20, raters=np.r_[np.zeros(300, int), 1 + np.arange(300) % 11], kind="central"
    )
    even = Statements(rows, 20, raters=np.arange(600) % 4, kind="central")
    assert design(half).one_rater_leads
    assert not design(even).one_rater_leads
    assert about_design(design(even)) == []
    listed = Statements(
        np.tile(rows[:60], (10, 1)), 20, raters=np.arange(600) // 60, kind="central"
    )
    assert [caution.code for caution in about_design(design(listed))] == ["design"]


def test_nothing_one_rater_and_three_objects():
    empty = Statements(np.empty((0, 3), dtype=int), 5)
    assert design(empty).answers == 0
    assert design(empty).counts_hold
    few = design(Statements([[0, 1, 2], [1, 0, 2]], raters=["a", "a"], kind="central"))
    assert (few.raters, few.largest_share, few.one_rater_leads) == (1, 1.0, False)
    assert few.counts_hold


def test_intervals_hold_where_everybody_answers_one_list():
    rng = np.random.default_rng(7)
    points = gaussian(20, 2, random_state=7)
    every = simulate_statements(points, random_state=8)
    truth = tl.centrality(every)
    list_ = simulate_statements(points, 80, random_state=9)
    rows = np.tile(list_.triples, (10, 1))
    wrong = rng.random(len(rows)) < 0.1
    rows[wrong] = np.roll(rows[wrong], 1, axis=1)
    S = Statements(rows, 20, raters=np.arange(800) // 80, kind="central")
    found = tl.depth_intervals(S)
    assert found.method == "choice"
    covered = (found.low <= 0.85 * truth + 0.05) & (found.high >= 0.85 * truth + 0.05)
    assert covered.mean() >= 0.85
    counted = tl.depth_intervals(S, method="depth")
    assert counted.method == "depth"
    with pytest.raises(tl.errors.ParameterError, match="method"):
        tl.depth_intervals(S, method="guess")


def test_a_fit_and_a_file_have_a_design(tmp_path):
    S = tl.simulate.study(n_objects=16, n_statements=200).statements
    tl.write_statements(S, tmp_path / "answers.csv")
    assert design(tmp_path / "answers.csv") == design(S) == design(tl.fit(S))


def test_rows_that_are_sorted_do_not_follow_from_each_other():
    rng = np.random.default_rng(0)
    rows = np.sort(asked(rng, 2000, 30), axis=1)
    rows = rows[np.lexsort(rows.T[::-1])]
    assert design(rows).adaptive
    assert not design(rows, in_time=False).adaptive
