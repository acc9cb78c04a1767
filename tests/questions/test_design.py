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
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 80))
        points = gaussian(n, 2, random_state=seed)
        m = int(rng.integers(100, 2000))
        S = simulate_statements(points, m, sampling="replacement", random_state=seed)
        assert design(S).counts_hold


def test_one_list():
    rows = np.tile(asked(np.random.default_rng(0), 100, 30), (10, 1))
    found = design(Statements(rows, 30, raters=np.arange(1000) // 100, kind="central"))
    assert (found.one_list, found.few_questions, found.counts_hold) == (True, True, False)
    assert found.per_question == pytest.approx(10, rel=0.05)
    assert any("same" in sentence for sentence in found.sentences())
    assert found.to_dict()["counts_hold"] is False
    assert [caution.code for caution in about_design(found)] == ["design"]


def _blocks(rng):
    rows = asked(rng, 1000, 10) + 10 * rng.integers(4, size=1000)[:, None]
    return np.vstack([rows, asked(rng, 50, 40)])


def _landmarks(rng):
    rows = [[*rng.choice(5, 2, replace=False), rng.integers(5, 40)] for _ in range(900)]
    return rng.permuted(np.array(rows), axis=1)


def _uneven(rng):
    p = np.exp(rng.standard_normal(40))
    return asked(rng, 1500, 40, p / p.sum())


def _following(rng):
    rows, won = [], np.ones(20)
    for i in range(800):
        three = np.sort(rng.choice(20, 3, replace=False, p=won / won.sum() if i > 100 else None))
        won[three[0]] += 1
        rows.append(three)
    return np.array(rows)


def _sorted(rng):
    rows = np.sort(asked(rng, 2000, 30), axis=1)
    return rows[np.lexsort(rows.T[::-1])]


@pytest.mark.parametrize(
    ("questions", "fact", "value"),
    [
        (lambda rng: asked(rng, 2000, 8), "counts_hold", True),  # few objects, all questions asked
        (_blocks, "blocks", 4),
        (_landmarks, "landmarks", ("0", "1", "2", "3", "4")),
        (_uneven, "uneven", True),
        (_following, "counts_hold", False),
        (_sorted, "adaptive", True),
    ],
)
def test_what_is_not_random_is_seen(questions, fact, value):
    rows = questions(np.random.default_rng(2))
    found = design(rows)
    assert getattr(found, fact) == value
    assert found.counts_hold == (fact == "counts_hold" and value)
    assert not found.one_rater_leads
    if fact == "adaptive":  # rows that are sorted do not follow from each other
        assert not design(rows, in_time=False).adaptive


def test_nothing_one_rater_and_three_objects():
    empty = Statements(np.empty((0, 3), dtype=int), 5)
    assert design(empty).answers == 0
    assert design(empty).counts_hold
    few = design(Statements([[0, 1, 2], [1, 0, 2]], raters=["a", "a"], kind="central"))
    assert (few.raters, few.largest_share, few.one_rater_leads) == (1, 1.0, False)
    assert few.counts_hold


def test_a_fit_and_a_file_have_a_design(tmp_path):
    S = tl.simulate.study(n_objects=16, n_statements=200).statements
    tl.write_statements(S, tmp_path / "answers.csv")
    assert design(tmp_path / "answers.csv") == design(S) == design(tl.fit(S))
