"""No two numbers on a page contradict each other, whatever the study is."""

from __future__ import annotations

import json

import pytest

from pages import contradictions
from studies_of_all_kinds import draw
from trilens.analysis import analyze
from trilens.report import render

#: The smallest; the others, of each shape, are slow.
QUICK = (7, 14, 16, 19, 23)


def _check(seed, folder):
    answers, labels, said = draw(seed, folder)
    facts = analyze(answers, labels).to_dict()
    json.dumps(facts, allow_nan=False)
    assert contradictions(render(facts), facts) == [], said


@pytest.mark.parametrize("seed", QUICK)
def test_the_same_quantity_has_one_value(seed, tmp_path):
    _check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 4, 11, 13])
def test_the_same_quantity_has_one_value_in_larger_studies(seed, tmp_path):
    _check(seed, tmp_path)
