"""No two numbers on a page contradict each other, whatever the study is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pages import contradictions, finding, read_page
from people_who_differ import survey
from trilens.analysis import analyze
from trilens.answers import Answers
from trilens.files import write_statements
from trilens.maps.fitted import fit
from trilens.questions.cluster.groups import cluster
from trilens.questions.hierarchy import hierarchy
from trilens.report import render
from trilens.simulate import simulate_statements
from trilens.statements import Statements
from trilens.words import p_text

#: Where the objects lie, the kind, how many objects and answers; those of few objects are quick.
STUDIES = (
    ("outliers", "closer", 5, 60),
    ("parts", "odd", 8, 60),
    ("parts", "central", 6, 24),
    *(
        pytest.param(*study, marks=pytest.mark.slow)
        for study in (
            ("ring", "central", 24, 288),
            ("groups in groups", "central", 36, 216),
            ("groups in groups", "odd", 24, 288),
        )
    ),
)


def _study(shape, kind, n, m, folder):
    """Answers of which some are left out in every way that there is."""
    rng = np.random.default_rng(0)
    turn = 2 * np.pi * np.arange(n) / n
    X = np.c_[np.cos(turn), np.sin(turn)] if shape == "ring" else rng.normal(size=(n, 2))
    if shape == "groups in groups":
        X += np.array([[0, 0], [5, 0], [40, 0], [45, 0]])[np.arange(n) % 4]
    if shape == "outliers":
        X[:2] += 12
    S = simulate_statements(X, m, kind, "replacement", error_rate=0.15, random_state=1)
    if shape == "parts":
        S = S.take((n // 2 > S.triples).all(axis=1) | (n // 2 <= S.triples).all(axis=1))
    S = Statements(
        S.triples,
        names=[f"object {i:03d} {'x' * 150 * (i % 4 == 0)}" for i in range(n)],
        kind=kind,
        raters=[f"rater {i % 5}" for i in range(len(S))],
        seconds=rng.lognormal(1, 0.7, len(S)),
    )
    file = folder / "answers.csv"
    write_statements(S, file)
    head, *rows = [
        f"{line},{'half' if i == 0 else 'ab'[i % 6 == 0]}"
        for i, line in enumerate(file.read_text().splitlines())
    ]
    bad = "," * head.count(",")
    first, _, *others = rows[0].split(",")
    check = ",".join([first, first, *others])
    file.write_text("\n".join([head, bad, *rows, check, check]) + "\n")
    kept = {"where": ["half = a"], "exclude_raters": ["rater 3"], "min_seconds": 1.0}
    return Answers(file, kind=kind, skip_bad=True, **kept)


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


def _page(answers, labels=None):
    facts = analyze(answers, labels).to_dict()
    json.dumps(facts, allow_nan=False)
    _agree(facts)
    html = render(facts)
    assert contradictions(html, facts) == []
    return read_page(html)


@pytest.mark.parametrize(("shape", "kind", "n", "m"), STUDIES)
def test_the_same_quantity_has_one_value(shape, kind, n, m, tmp_path):
    answers = _study(shape, kind, n, m, tmp_path)
    names = answers.read().names
    classes = [None if i % 4 == 0 else "ab"[i % 2] for i in range(len(names))]
    _page(answers, dict(zip(names, classes, strict=True)) if kind == "central" else None)


def test_guesses_are_called_guesses():
    rng = np.random.default_rng(0)
    guesses = [rng.permutation(20)[:3] for _ in range(600)]
    S = Statements(np.array(guesses), kind="central", raters=np.arange(600) % 12)
    page = _page(S)
    said = page.one(css="headline").said
    assert said.startswith("These answers cannot be distinguished from guessing: ")
    # nor are single raters called careless
    assert "seem careless" not in page.said
    raters = page.one("section", id="raters")
    assert {row.all("td")[-1].said for row in raters.one("tbody").all("tr")} == {"not judged"}
    assert {each.said for each in raters.all("td", **{"data-h": "careless"})} == {"\N{EN DASH}"}
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
    _page(survey("a" * 10, n=20, each=60, one_list=True))
    page = _page(survey("aaaaaaaabbbbbbbb"))
    assert "fall into two groups that see different things" in page.one(css="headline").said
    many = simulate_statements(rng.normal(size=(1000, 2)), 40_000, random_state=2)
    assert len(_page(many).one("section", id="objects").all("tr")) == 1001
