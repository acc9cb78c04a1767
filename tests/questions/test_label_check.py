"""`classify`: what hidden labels say of the classes, by every method."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.maps.fitted import fit
from trilens.questions.classify.classes import _dealt_anew, check_labels, classify, make_classifier
from trilens.questions.labels import encode_labels
from trilens.simulate import mixture, simulate_statements
from trilens.statements import Statements

METHODS = ["choice", "lensmap", "krng", "depth"]


@pytest.fixture(scope="module")
def drawn():
    points = mixture(60, [[0, 0], [8, 0], [0, 8]], random_state=1)
    S = simulate_statements(points.points, 3000, random_state=2)
    return points, S, fit(S)


@pytest.mark.parametrize("method", METHODS)
def test_clear_classes_and_one_with_a_single_labelled_object(drawn, method):
    points, _, fitted = drawn
    y = [None if i % 6 == 0 else f"c{c}" for i, c in enumerate(points.labels)]
    y[1] = "other"
    found = classify(fitted, y, method)
    assert found.check.learnable
    assert found.check.error <= (0.3 if method == "depth" else 0.12)
    assert found.check.baseline > 0.5
    assert len(found.contradictions) <= {"depth": 5, "krng": 3}.get(method, 0)
    assert any("one labeled object" in r and "other" in r for r in found.remarks)
    assert "1" not in [c.object for c in found.contradictions]
    if method == "choice":
        assert list(found.predicted.values()) == [f"c{c}" for c in points.labels[::6]]
        assert (
            list(found.probabilities) == list(found.predicted) == [str(i) for i in range(0, 60, 6)]
        )
        assert all(0.5 <= sure <= 1 for sure in found.probabilities.values())
        assert np.isnan(found.probability[1:6]).all()
        assert classify(fitted, y, classifier="svm-linear").probabilities is None


@pytest.mark.parametrize("method", METHODS)
def test_flipped_labels_are_named_and_one_of_each_class_tells_nothing(drawn, method):
    points, _, fitted = drawn
    one_of_each = np.full(60, -1)
    one_of_each[[int(np.flatnonzero(points.labels == c)[0]) for c in (0, 1)]] = [0, 1]
    found = classify(fitted, one_of_each, method)
    assert set(found.found.tolist()) <= {0, 1}
    assert not found.check.learnable
    y = points.labels.copy()
    flipped = [3, 20, 41]
    y[flipped] = (y[flipped] + 1) % 3
    found = classify(fitted, y, method)
    named = {c.object: c for c in found.contradictions}
    assert {str(i) for i in flipped} <= set(named)
    assert (named["3"].label, named["3"].answers_say) == (y[3], points.labels[3])
    assert found.check.contradicted[flipped].all()
    if method == "choice":
        assert len(named) == 3


def test_a_label_in_a_mixed_neighbourhood_is_not_contradicted():
    points = mixture(80, [[0, 0], [1.5, 0]], random_state=3)
    S = simulate_statements(points.points, 3000, random_state=4)
    found = classify(S, points.labels)
    assert found.check.learnable
    assert found.check.left_out == 8  # many are left out in groups
    assert 0 < found.check.contradicted.sum() < (found.found != points.labels).sum()


def test_hidden_labels_are_not_looked_at(drawn):
    points, S, fitted = drawn
    learner = make_classifier("choice", random_state=0).fit(fitted, points.labels)
    found = check_labels(learner, encode_labels(points.labels, S.names))
    for i in (0, 7):
        y = points.labels.copy()
        y[i] = -1
        alone = make_classifier("choice", random_state=0).fit(fitted, y)
        assert found.codes[i] == alone.transduction_[i]


def test_labels_dealt_out_at_random_pass_no_more_often_than_the_level_says(drawn):
    points, S, fitted = drawn
    rng = np.random.default_rng(5)
    classifier = make_classifier("choice").fit(fitted, points.labels)
    assert _dealt_anew(classifier, encode_labels(points.labels, S.names), 0) == 0.001
    shares = [
        _dealt_anew(classifier, encode_labels(rng.permutation(np.arange(60) % 2), S.names), seed)
        for seed in range(100)
    ]
    # a fifth, give or take four standard errors
    assert 0.04 <= np.mean(np.array(shares) <= 0.2) <= 0.36


@pytest.mark.parametrize("method", METHODS)
def test_classes_that_no_answer_speaks_for_are_called_guesses(method):
    points = mixture(24, [[0, 0], [9, 0]], random_state=1)
    one = simulate_statements(points.points[:12], 150, random_state=2).triples
    other = simulate_statements(points.points[12:], 150, random_state=3).triples + 12
    S = Statements(np.concatenate([one, other]), 25, kind="central")
    y = [str(c) if i < 8 else None for i, c in enumerate(points.labels)] + [None]
    said = " ".join(classify(S, y, method).remarks)
    assert "their classes are guesses: 12, 13, 14, 15, 16 and 8 more" in said
