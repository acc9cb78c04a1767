"""No two numbers on a page contradict each other, whatever the study is."""

from __future__ import annotations

import json

import pytest

from pages import contradictions
from studies_of_all_kinds import draw
from trilens.analysis import analyze
from trilens.report import render

#: Quick ones of each shape, kind and way to leave answers out.
QUICK = (0, 2, 4, 6, 8)


def _check(seed, folder):
    answers, labels, said = draw(seed, folder)
    facts = analyze(answers, labels).to_dict()
    json.dumps(facts, allow_nan=False)
    assert contradictions(render(facts), facts) == [], said


@pytest.mark.parametrize("seed", QUICK)
def test_the_same_quantity_has_one_value(seed, tmp_path):
    _check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 13, 27])
def test_the_same_quantity_has_one_value_in_larger_studies(seed, tmp_path):
    _check(seed, tmp_path)
