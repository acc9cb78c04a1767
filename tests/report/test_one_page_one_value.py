"""No two numbers on a page contradict each other, whatever the study is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pages import contradictions, finding, read_page
from people_who_differ import survey
from studies_of_all_kinds import draw
from trilens.analysis import analyze
from trilens.maps.fitted import fit
from trilens.questions.cluster.groups import cluster
from trilens.questions.hierarchy import hierarchy
from trilens.report import render
from trilens.simulate import simulate_statements
from trilens.statements import Statements
from trilens.words import p_text

#: The smallest are quick.
SEEDS = (7, 16, 23, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 4, 13)))


def _agree(facts):
    """Whether groups, shape, outliers and the tree say the same of every object."""
    groups, shape, tree = (facts[key] for key in ("cluster", "structure", "hierarchy"))
    assert (groups["n_clusters"] > 1) == (groups["shape"] == "groups")
    if shape is None:
        assert tree is None
        return
    assert shape["shape"] in (groups["shape"], "groups in groups")
    assert set(groups["unassigned"]) == set(facts["outliers"]["apart"])
    assert [name for name, group in groups["clusters"].items() if group < 0] == groups["unassigned"]
    for branch in tree["claimed"] if tree else ():
        members = {number: [] for number in groups["clusters"].values() if number >= 0}
        for name, number in groups["clusters"].items():
            members.setdefault(number, []).append(name in branch)
        held = [own for number, own in members.items() if number >= 0 and any(own)]
        assert len(held) == 1 or all(map(all, held))


def _page(answers, labels=None, said=""):
    facts = analyze(answers, labels).to_dict()
    json.dumps(facts, allow_nan=False)
    _agree(facts)
    html = render(facts)
    assert contradictions(html, facts) == [], said
    return read_page(html)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_quantity_has_one_value(seed, tmp_path):
    _page(*draw(seed, tmp_path))


def test_guesses_are_called_guesses():
    rng = np.random.default_rng(0)
    guesses = [rng.permutation(20)[:3] for _ in range(600)]
    S = Statements(np.array(guesses), kind="central")
    page = _page(S)
    said = page.one(css="headline").said
    assert said == "These answers cannot be distinguished from guessing."
    assert said in repr(fit(S))
    assert "Outliers were tested" not in page.one("section", id="methods").said


def test_fewer_answers_than_objects_claim_nothing():
    page = _page(Statements([[0, 1, 2]], names=["a", "b", "c"], kind="central"))
    said = page.one(css="headline").said
    assert said == "One answer about three objects is too few to conclude anything."
    assert "confidence" not in page.one("body").said
    assert "were tested" not in page.one("section", id="methods").said
    assert finding(page, "groups").said == "Groups Whether there are groups cannot be determined."


def test_few_objects_have_one_p_value_of_groups():
    X = np.random.default_rng(1).normal(size=(10, 2))
    S = simulate_statements(X, 600, sampling="replacement", random_state=1)
    page = _page(S)
    fitted = fit(S)
    p = p_text(cluster(fitted).p_value)
    assert finding(page, "groups").said == (
        f"Groups No groups could be confirmed. The clearest division could be chance ({p})."
    )
    assert "The best division" in page.one("section", id="groups").said
    said = hierarchy(fitted).sentence
    assert "No groups could be confirmed, and there are too few objects" in said


@pytest.mark.slow
def test_one_list_two_factions_and_a_thousand_objects():
    rng = np.random.default_rng(1)
    _page(survey("a" * 10, n=20, each=60, one_list=True), said="one list")
    page = _page(survey("aaaaaaaabbbbbbbb"), said="two factions")
    assert "fall into two groups that see different things" in page.one(css="headline").said
    many = simulate_statements(rng.normal(size=(1000, 2)), 40_000, random_state=2)
    assert len(_page(many).one("section", id="objects").all("tr")) == 1001
