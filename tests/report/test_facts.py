from __future__ import annotations

import json

import numpy as np
import pytest
from nasty import nasty_study

from trilens.report import analyze, render, write_tables
from trilens.simulate import mixture, simulate_statements, study
from trilens.statements import Statements


@pytest.fixture(scope="module")
def shapes():
    return study()


@pytest.fixture(scope="module")
def shape_facts(shapes):
    labels = [
        None if i % 4 == 0 or c < 0 else shapes.classes[c] for i, c in enumerate(shapes.labels)
    ]
    return analyze(shapes.statements, labels)


def test_facts_find_the_truth_of_the_study(shapes, shape_facts):
    names = shapes.statements.names
    assert shape_facts["medoid"]["object"] == names[shapes.medoid]
    least = set(shape_facts["outliers"]["least_central"])
    assert {names[i] for i in shapes.outliers} <= least
    assert shape_facts["clusters"]["suggested"] == 3
    assert shape_facts["clusters"]["purity"] > 0.9
    careless = {str(i) for i in np.flatnonzero(np.isnan(shapes.raters.error_rates))}
    flagged = {row["rater"] for row in shape_facts["collected"]["raters"] if row["guessing"]}
    assert flagged == careless
    truth = dict(zip(names, shapes.labels, strict=True))
    predicted = shape_facts["classes"]["predicted"]
    regular = [name for name in predicted if truth[name] >= 0]
    right = sum(shapes.classes[truth[name]] == predicted[name] for name in regular)
    assert right / len(regular) > 0.9


def test_facts_are_plain_json_and_the_same_again(shapes, shape_facts):
    text = json.dumps(shape_facts, allow_nan=False)
    assert json.loads(text) == shape_facts
    few = shapes.statements.take(np.arange(1500))
    assert analyze(few, random_state=3) == analyze(few, random_state=3)


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_every_kind_is_served(kind):
    points = mixture(30, [[0, 0], [9, 0]], random_state=0).points
    S = simulate_statements(points, 2000, kind=kind, random_state=1)
    facts = analyze(S)
    assert facts["clusters"]["suggested"] == 2
    assert (facts["medoid"]["depth"] is None) == (kind == "closer")
    assert ("depth" in facts["objects"][0]) == (kind == "odd")
    html = render(facts)
    assert ("have no lens depth" in html) == (kind == "closer")


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_medoid_of_every_kind_is_nearly_the_true_one(kind):
    points = np.random.default_rng(0).normal(size=(30, 2))
    S = simulate_statements(points, 2500, kind=kind, random_state=1)
    facts = analyze(S)
    total = np.linalg.norm(points[:, None] - points, axis=2).sum(axis=1)
    assert total[S.ids[facts["medoid"]["object"]]] < 1.1 * total.min()
    assert S.names[int(total.argmin())] in facts["medoid"]["set"]


def test_labels_of_other_kinds_use_the_lens_map_alone():
    drawn = mixture(24, [[0, 0], [9, 0]], random_state=0)
    S = simulate_statements(drawn.points, 1500, kind="odd", random_state=1)
    facts = analyze(S, [f"class {c}" for c in drawn.labels])
    assert [m["method"] for m in facts["classes"]["methods"]] == ["lensmap"]
    assert facts["classes"]["methods"][0]["error"] == 0
    assert facts["classes"]["contradicted"] == []
    assert "They contradict no label" in render(facts)


def test_number_of_clusters_can_be_set_but_the_suggestion_stays(shapes):
    facts = analyze(shapes.statements.take(np.arange(3000)), n_clusters=10)
    assert len(facts["clusters"]["clusters"]) == 10
    assert facts["clusters"]["suggested"] == 3
    assert facts["clusters"]["forced"] is True
    html = render(facts)
    assert "as asked for; the answers suggest three groups" in html


@pytest.mark.parametrize(
    "triples",
    [
        [[0, 1, 2]],
        [[0, 1, 2], [0, 1, 3], [2, 1, 3], [4, 0, 1]],
        [[0, 1, 2], [3, 4, 5]],
        [[0, 1, 2]] * 60,
    ],
)
@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_tiny_collections_make_a_page(triples, kind):
    facts = analyze(Statements(triples, n_objects=7 if len(triples) == 2 else None, kind=kind))
    json.dumps(facts, allow_nan=False)
    html = render(facts)
    assert html.count("<section") == 7


def test_one_cloud_is_not_divided():
    points = np.random.default_rng(1).normal(size=(50, 2))
    facts = analyze(simulate_statements(points, 5000, random_state=2))
    assert facts["clusters"]["suggested"] == 1
    assert "the map is one cloud" in render(facts)


def test_a_gap_that_the_lens_map_does_not_see_is_told():
    drawn = mixture(40, [[0, 0], [6, 0]], random_state=502)
    S = simulate_statements(drawn, 2500, random_state=1)
    facts = analyze(S)
    assert facts["clusters"]["suggested"] == 1
    assert facts["clusters"]["by_gaps"]["n_clusters"] == 2
    html = render(facts)
    assert "falls into two groups: look again with <code>--n-clusters 2</code>" in html
    assert (
        analyze(S, n_clusters=2, labels=[str(c) for c in drawn.labels])["clusters"]["purity"] > 0.9
    )


def test_the_second_opinion_looks_at_a_sample(monkeypatch):
    from trilens.tasks.cluster import suggest as suggest_clusters

    S = simulate_statements(mixture(40, [[0, 0], [9, 0]], random_state=0), 6000, random_state=1)
    monkeypatch.setattr(suggest_clusters, "_MOST_STATEMENTS", 2000)
    assert suggest_clusters.suggest_by_gaps(S).n_clusters == 2
    monkeypatch.setattr(suggest_clusters, "_MOST_FOR_SOE", 39)
    assert suggest_clusters.suggest_by_gaps(S) is None
    assert "second opinion" not in render(analyze(S))


def test_tables_hold_every_object(tmp_path, shape_facts):
    import csv

    written = write_tables(shape_facts, tmp_path / "new" / "tables")
    assert {path.name for path in written} >= {
        "objects.csv",
        "groups.csv",
        "raters.csv",
        "edges.csv",
        "methods.csv",
    }
    with open(tmp_path / "new" / "tables" / "objects.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["object"] for row in rows] == [row["object"] for row in shape_facts["objects"]]
    assert float(rows[3]["depth"]) == shape_facts["objects"][3]["depth"]


def test_nasty_names_pass_through_facts_and_tables(tmp_path):
    import csv

    statements, labels = nasty_study()
    facts = analyze(statements, labels)
    write_tables(facts, tmp_path)
    with open(tmp_path / "objects.csv", newline="", encoding="utf-8") as file:
        assert [row["object"] for row in csv.DictReader(file)] == list(statements.names)


def test_progress_ends_at_one(shapes):
    seen: list[float] = []
    analyze(shapes.statements.take(np.arange(1000)), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_without_jinja_the_extra_is_named(monkeypatch, shape_facts):
    import sys

    from trilens.errors import MissingExtraError
    from trilens.report import page

    page._template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match="pip install 'trilens\\[report\\]'"):
        render(shape_facts)
