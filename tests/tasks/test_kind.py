"""The kind under which held-out answers can be predicted."""

from __future__ import annotations

import pytest

from trilens.kinds import KINDS
from trilens.simulate import study
from trilens.statements import Statements
from trilens.tasks.kind import kind_fit


@pytest.mark.parametrize("asked", KINDS)
def test_the_kind_that_was_asked_fits(asked):
    drawn = study(14, 700, kind=asked, random_state=3).statements
    assert kind_fit(drawn).fitting is None
    for said in KINDS:
        found = kind_fit(Statements(drawn.triples, kind=said))
        assert found.fitting in ((None,) if said == asked else (None, asked)), (said, found)
    found = kind_fit(drawn)
    assert max(found.accuracy, key=found.above_chance) == asked


def test_few_answers_tell_nothing():
    drawn = study(8, 60, random_state=3).statements
    assert kind_fit(drawn).fitting is None
    assert kind_fit(drawn).to_dict()["accuracy"] == {}
