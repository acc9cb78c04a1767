from __future__ import annotations

import numpy as np
import pytest

from trilens.maps.fitted import fit
from trilens.questions import object_facts as module
from trilens.questions.object_facts import object_facts
from trilens.simulate import simulate_statements
from trilens.statements import Statements


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_counts_are_those_of_the_answers(kind):
    rng = np.random.default_rng(1)
    triples = np.array([rng.permutation(5)[:3] for _ in range(60)])
    S = Statements(triples, kind=kind)
    found = object_facts(S, rng.normal(size=(5, 2)))
    at = 1 if kind == "closer" else 0  # whom the answer names; before it, the one compared with
    for i, facts in enumerate(found):
        answers = {}  # to each question about it
        for row in triples[(triples == i).any(axis=1)].tolist():
            answers.setdefault((*row[:at], *sorted(row[at:])), []).append(row[at])
        assert facts.questions == len(answers)
        assert i not in facts.nearest
        assert len(facts.asked) == min(8, len(answers))
        for asked in facts.asked:
            said = answers[(*asked.objects[:at], *sorted(asked.objects[at:]))]
            assert asked.answers == len(said)
            assert asked.given == said.count(asked.objects[at]) == max(map(said.count, said))


def test_the_most_disputed_come_first():
    S = Statements([[0, 1, 2]] * 3 + [[1, 0, 2]] * 2 + [[0, 1, 3], [0, 2, 3]], kind="central")
    asked = object_facts(S, np.eye(4))[0].asked
    assert (asked[0].objects, asked[0].given, asked[0].answers) == ((0, 1, 2), 3, 5)


def test_who_answers_otherwise_is_named():
    line = np.arange(8.0)[:, None]
    S = simulate_statements(line, 240, kind="odd", sampling="replacement", random_state=0)
    T, who = S.triples.copy(), np.arange(240) % 4
    about = (T == 3).any(axis=1) & (who == 2)
    T[about] = T[about][:, [1, 0, 2]]
    S = Statements(T, kind="odd", raters=[f"r{w}" for w in who])
    fitted = fit(S)
    found = object_facts(S, fitted.map.X, fitted)
    assert found[3].raters[0].rater == "r2"
    assert found[3].raters[0].against <= found[3].raters[0].answers == int(about.sum())


def test_of_very_many_nothing_is_told(monkeypatch):
    monkeypatch.setattr(module, "_MOST_OBJECTS", 3)
    assert object_facts(Statements([[0, 1, 2], [0, 1, 3]], kind="central"), np.eye(4)) == ()
    assert object_facts(Statements([], n_objects=3), np.eye(3)) == ()
