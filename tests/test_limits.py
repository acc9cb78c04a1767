"""The same on both sides of every limit at which the work is done differently; how much is done."""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pytest

import trilens as tl
from trilens.simulate import study
from trilens.statements import Statements


def _answers(n, d, m, error_rate):
    """Answers to random questions about a cloud."""
    points = tl.simulate.gaussian(n, d, random_state=1)
    return tl.simulate_statements(
        points, m, sampling="replacement", error_rate=error_rate, random_state=2
    )


def _agree(one, two, most_wider):
    """Medoids whose intervals hold each other's depth, are as wide, and whose sets are as large."""
    assert one.interval[0] <= two.depth <= one.interval[1]
    assert two.interval[0] <= one.depth <= two.interval[1]
    widths = sorted(high - low for low, high in (one.interval, two.interval))
    assert widths[1] <= most_wider * widths[0]
    sizes = sorted(len(found.candidates) for found in (one, two))
    assert sizes[1] <= most_wider * sizes[0] + 1


@pytest.mark.slow
def test_one_answer_or_one_object_more_changes_nothing():
    S = _answers(20, 2, 300_001, 0.15)
    _agree(tl.medoid(S.take(np.arange(300_000))), tl.medoid(S), most_wider=1.5)
    one, two = (tl.medoid(_answers(n, 2, 50_000, 0.15)) for n in (1000, 1001))
    _agree(one, two, most_wider=1.5)


@pytest.mark.slow
@pytest.mark.parametrize("n", [195, 205])
def test_both_sides_of_1000_coordinates_say_the_same(n):
    M = tl.ChoiceMap(5).fit(_answers(n, 5, 20_000, 0.3))
    assert M.error_rate_ == pytest.approx(0.3, abs=0.03)
    low, high = M.error_rate_interval_
    assert high - low < 0.1
    assert tl.fit(_answers(n, 5, 20_000, 0.1)).map.X.shape[1] in (4, 5)


def test_the_medoid_and_the_intervals_of_depth_name_the_same_set():
    S = _answers(40, 2, 3000, 0.15)
    F = tl.fit(S)
    medoid, depth = tl.medoid(F), tl.depth_intervals(F)
    assert medoid.name == tl.medoid(S).name
    assert set(medoid.candidates) == set(map(str, np.flatnonzero(depth.medoid_set)))
    assert medoid.depth == depth.depth.max()


@pytest.mark.slow
def test_sets_are_as_large_on_both_sides_of_950_different_answers():
    S = _answers(20, 2, 1000, 0.15)
    one, two = (tl.medoid(S.take(np.arange(m))) for m in (900, 1000))
    assert abs(len(one.candidates) - len(two.candidates)) <= 3


@pytest.mark.slow
def test_a_report_of_2000_answers_takes_few_fits(monkeypatch):
    """Each question fitting by itself took 333, and found the connected parts four times."""
    done = Counter()

    def counted(function):
        def called(*arguments, **options):
            done[function.__name__] += 1
            return function(*arguments, **options)

        return called

    real = import_module("trilens.maps.descent").fit_choices
    for module in list(sys.modules.values()):
        if getattr(module, "fit_choices", None) is real:
            monkeypatch.setattr(module, "fit_choices", counted(real))
    parts = Statements.connected_parts
    monkeypatch.setattr(parts, "func", counted(parts.func))
    tl.analyze(study(n_statements=2000).statements)
    assert 0 < done["fit_choices"] <= 60
    # of the answers, and of those without careless raters
    assert 0 < done["connected_parts"] <= 2
