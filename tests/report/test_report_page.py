"""What the page says of given facts."""

from __future__ import annotations

import copy
import csv
import re

import numpy as np
import pytest

from pages import contradictions, figure, finding, read_page, value_of
from trilens._tabular import shorten
from trilens.report import drawing, render, words, write_tables
from trilens.words import about_groups


@pytest.fixture
def changed(facts):
    """A copy of the facts, to be changed."""
    return copy.deepcopy(facts)


def _line(facts, shape="line"):
    names = [row["object"] for row in facts["objects"]]
    at = np.linspace(0, 1 if shape == "line" else 340, len(names)).tolist()
    places = dict(zip(names, at, strict=True))
    near = places[names[1]]
    return {
        "shape": shape,
        "sentence": "The objects lie along a line.",
        "p_value": None,
        "scores": {},
        "caution": None,
        "order": names,
        "position" if shape == "line" else "angle": places,
        "interval": {name: [at - near, at + near] for name, at in places.items()},
    }


def _rows(page, name, css="row"):
    """The objects in the rows of a figure."""
    return [int(row.attributes["data-i"]) for row in figure(page, name).all("g", css=css)]


def test_the_test_sees_contradictions(changed):
    html = render(changed)
    assert contradictions(html.replace("1,100</span>", "1,101</span>", 1), changed)
    assert contradictions(html.replace("</main>", "<p>p = 0.0000</p></main>"), changed)
    assert contradictions(html.replace("Three groups", "Two groups"), changed)
    assert contradictions(
        html.replace('class="headline">', 'class="headline">guessing ', 1), changed
    )
    assert value_of("76%") == pytest.approx((0.755, 0.765))


def test_the_order_of_the_page_and_its_cards(facts):
    html = render(facts)
    assert contradictions(html, facts) == []
    page = read_page(html)
    order = [section.attributes["id"] for section in page.all("section")]
    assert order == [
        "medoid", "outliers", "groups", "classes", "raters", "answers", "objects", "methods",
    ]  # fmt: skip
    cards = page.all("li", css="card")
    led = [card.one("a").attributes["href"] for card in cards]
    assert led == ["#medoid", "#outliers", "#groups", "#answers"]
    assert all(card.one("p", css="sure").said for card in cards)
    # a card shows its objects on the map
    place = {row["object"]: str(i) for i, row in enumerate(facts["objects"])}
    shown = finding(page, "medoid").attributes["data-show"].split()
    assert shown == [place[name] for name in facts["medoid"]["candidates"]]
    assert "caution" in finding(page, "answers").said
    # no sentence is said twice
    text = f"{page.one('header').said} {page.one('nav').said} " + " ".join(
        node.said for node in page.all("p", css="finding")
    )
    said = [each.strip() for each in re.split(r"(?<=\.)\s", text) if len(each) > 25]
    assert len(set(said)) == len(said)
    assert len(page.all("h3", id="compared")) == 0


def test_a_line_is_the_headline(changed):
    changed["structure"], changed["dimension"] = _line(changed), 1
    changed["cluster"]["given"] = False
    page = read_page(render(changed))
    assert "along one dimension, from" in page.one(css="headline").said
    assert finding(page, "groups").said.startswith("Shape The objects form a line. The answers")
    assert _rows(page, "order") == list(range(len(changed["objects"])))
    assert "95% intervals" in figure(page, "order").said


def test_both_levels_of_groups_are_the_headline(changed):
    names = [row["object"] for row in changed["objects"]]
    levels = {"group": [0, 0, 1, 1], "inner_group": [0, 1, 2, 3]}
    places = {key: dict(zip(names, own * 9, strict=False)) for key, own in levels.items()}
    changed["structure"] = _line(changed) | {"shape": "groups in groups"} | places
    changed["cluster"]["given"] = False
    said = read_page(render(changed)).one(css="headline").said
    assert said.startswith("The objects form two groups, which fall into four smaller ones; ")


def test_the_best_division_stands_beside_that_there_are_no_gaps(changed):
    c = changed["cluster"]
    c |= {"given": False, "n_clusters": 1, "p_value": None}
    c["suggestion"] |= {"n_clusters": 1, "best": 4, "nearly": True, "p_value": None}
    c["suggestion"]["caution"] = about_groups(None, ["no dip"])
    changed["structure"] = {"shape": "cloud", "p_value": None}
    page = read_page(render(changed))
    assert "; no groups could be confirmed." in page.one(css="headline").said
    assert finding(page, "groups").said.startswith(
        "Groups No gap between groups could be confirmed"
    )
    section = page.one("section", id="groups").said
    assert "The best division, into 4, is not clear enough to call it groups." in section


@pytest.mark.parametrize(
    ("part", "found", "section", "said"),
    [
        ("classify", {"learnable": True, "contradicted": []}, "classes", "The labels agree with"),
        ("classify", {"learnable": False, "error": 1.0}, "classes", "The labels cannot be learned"),
        ("cluster.suggestion", {"n_clusters": 4, "p_value": 0.01}, "groups", "suggest four groups"),
        ("medoid", {"candidates": ["shape-16"]}, "medoid", "No other object could be the most"),
        (
            *("outliers", {"outliers": [{"object": "shape-16", "score": -1.62}]}, "outliers"),
            "shape-16 has the highest local outlier factor, 1.6",
        ),
        ("outliers", {"outliers": []}, "outliers", "Farthest from the others"),
        ("outliers", {"outliers": [], "tail": ["shape-16"]}, "outliers", "into a long tail"),
        ("reliability", {"cautions": []}, "answers", "No fault was found"),
        ("reliability", {"catch": {"asked": 40, "right": 39}}, "answers", "39 of 40"),
    ],
)
def test_a_finding_and_its_section_say_what_was_found(changed, part, found, section, said):
    facts = changed
    for key in part.split("."):
        facts = facts[key]
    facts |= found
    page = read_page(render(changed))
    cards = page.one(css="findings").said
    assert said in f"{cards} {page.one('section', id=section).said}"
    assert ("No fault was found" in cards) == (page.all(css="caution") == [])


def test_a_ring_has_no_most_central_object(changed):
    changed["structure"] = _line(changed, "ring")
    page = read_page(render(changed))
    assert "none of them is the most central" in page.one(css="headline").said
    assert _rows(page, "order") == list(range(len(changed["objects"])))
    assert "on a ring no object is" in finding(page, "medoid").said.lower()
    assert changed["medoid"]["medoid"] not in page.one("section", id="medoid").said
    assert figure(page, "candidates") is None
    assert [g for g in page.all("g", css="pt") if "best" in g.classes()] == []
    changed["outliers"]["outliers"] = []
    assert "On a ring no object" in words.apart(changed)


def test_many_candidates_are_a_number_and_ten(changed):
    listed = [row["object"] for row in sorted(changed["objects"], key=lambda row: -row["depth"])]
    changed["medoid"]["candidates"], changed["medoid"]["close"] = listed[:15], listed[:15]
    page = read_page(render(changed))
    assert "With 95% confidence, it is one of 15 objects." in finding(page, "medoid").said
    rows = figure(page, "candidates")
    assert len(rows.all("g", css="row")) == 10
    assert "5 more are in the tables" in rows.said


@pytest.mark.parametrize(
    ("stability", "said"),
    [
        ([0.9, 0.8, 0.79], "All reappear"),
        ([0.9, 0.6, 0.6], "1 of them reappears"),
        ([0.9, 0.3, 0.6], "1 of them dissolves"),
    ],
)
def test_stability_has_one_meaning(changed, stability, said):
    for group, value in zip(changed["cluster"]["groups"], stability, strict=True):
        group["stability"] = value
    changed["cluster"]["given"] = False
    html = render(changed)
    assert said in finding(read_page(html), "groups").said
    assert contradictions(html, changed) == []


def test_who_is_in_no_group_is_said(changed):
    row = next(row for row in changed["objects"] if row["cluster"] == 0)
    row["cluster"] = -1
    changed["cluster"]["groups"][0]["size"] -= 1
    changed["cluster"]["groups"][0]["objects"].remove(row["object"])
    html = render(changed)
    assert "one object in none of them" in finding(read_page(html), "groups").said
    assert contradictions(html, changed) == []


def test_an_interval_that_says_nothing_is_said_to(changed):
    rater = changed["reliability"]["raters"][0]
    rater["blind_low"], rater["blind_high"] = 0.01, 1.0
    rater |= {"catch_asked": 5, "catch_right": 4}
    changed["reliability"]["catch"] = {"asked": 40, "right": 39}
    changed["reliability"]["raters"][1]["verdict"] = "differs"
    changed["objects"][0] |= {"low": 0.0, "high": 1.0}
    page = read_page(render(changed))
    rows = page.one("section", id="raters").one("tbody").all("tr")
    assert "too few answers to tell" in rows[0].said
    assert "4 of 5" in rows[0].said
    assert rows[1].one("td", **{"data-h": "careless"}).said == "\N{EN DASH}"
    assert "too few answers to tell" in page.one("section", id="objects").all("tr")[1].said


def test_names_are_cut_in_the_middle(changed):
    assert shorten("e\u0301" * 20, 9)[-1] == "\u0301"
    labels = [node.said for node in read_page(render(changed)).all("text", css="label")]
    assert len(set(labels)) == len(labels)


def test_a_page_of_many_objects_is_light_and_its_landmarks_are_spread_over_the_map(changed):
    row = changed["objects"][-1]
    changed["objects"] += [
        {**row, "object": f"further {i}", "x": 100 + i % 80, "y": i // 80} for i in range(8000)
    ]
    html = render(changed)
    assert len(html.encode()) < 5_000_000
    assert "further 7999" not in html.split('id="data"')[0].split('id="objects"')[1]
    assert "objects are not drawn" in html
    drawn = drawing.map_drawing(changed)
    first = [p for p in drawn["points"] if p["rank"] < drawing.LANDMARKS]
    assert len(first) == drawing.LANDMARKS
    spoken = {changed["medoid"]["medoid"], *(g["medoid"] for g in changed["cluster"]["groups"])}
    assert spoken <= {changed["objects"][p["i"]]["object"] for p in first}
    assert np.ptp([p["x"] for p in first]) > 50


def test_what_is_written_is_what_is_shown(changed, tmp_path):
    written = write_tables(changed, tmp_path / "new" / "tables")
    names = {path.name for path in written}
    assert names >= {"objects.csv", "groups.csv", "raters.csv", "edges.csv"}
    with open(tmp_path / "new" / "tables" / "objects.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    # names that try to be markup, or to end a line, too
    assert [row["object"] for row in rows] == [row["object"] for row in changed["objects"]]
    shown = read_page(render(changed)).one("section", id="objects").all("tr")[1:]
    for row, line in zip(rows, shown, strict=True):
        at = line.one("td", **{"data-h": "centrality"}).said
        assert at == f"{100 * float(row['depth']):.1f}%"
        assert line.one("td", **{"data-h": "group"}).said == row["group"]
        assert line.one("td", **{"data-h": "counted"}).said == f"{100 * float(row['counted']):.1f}%"


def test_a_tree_is_drawn_where_a_branch_is_claimed(changed):
    names = [row["object"] for row in changed["objects"]]
    joined = [
        {"objects": names[: k + 1], "height": 0.1 * k, "support": 0.97, "claimed": k == 3}
        for k in range(1, len(names))
    ]
    changed["hierarchy"] = {"branches": joined, "order": names}
    page = read_page(render(changed))
    drawn = figure(page, "tree")
    assert _rows(page, "tree", None) == list(range(len(names)))
    # every branch: two parts and what joins them
    assert len(drawn.all("line")) == 3 * (len(names) - 1)
    assert drawn.all("text")[0].said == "97%"
    assert float(drawn.one("svg").attributes["height"]) <= 900
    joined[2]["claimed"] = False
    assert figure(read_page(render(changed)), "tree") is None


def test_the_methods_tell_dimensions_and_tests_and_cite_what_was_used(changed):
    changed["cluster"]["p_value"] = 0.021
    said = words.methods(changed)
    assert said.startswith(changed["reliability"]["methods"])
    assert f"The choice map has {words.count(changed['dimension'], 'dimension')}" in said
    assert "without groups (p = 0.021)" in said
    told = read_page(render(changed)).one("section", id="methods").said
    cited = ("@software{trilens,", "@article{kleindessner2017lens,", "Hennig")
    assert all(each in told for each in cited)
    changed["kind"], changed["cluster"]["n_clusters"] = "closer", 1
    told = read_page(render(changed)).one("section", id="methods").said
    assert "Kleindessner" not in told
    assert "Shi" not in told
    assert "without the features" not in words.answers(changed).sentence
    said = words.answers(changed | {"features": {"said": ""}}).sentence
    assert "A map of some answers, without the features, predicts" in said


def test_groups_stand_side_by_side_with_what_differs(facts):
    names = [row["object"] for row in facts["objects"]]
    n = len(names)
    group = {
        "raters": 3, "answers": 90, "agreement": None, "medoid": names[0], "candidates": names[:2],
        "centrality": [0.3] * n, "predicted_by_own": 0.5, "predicted_by_others": None,
        "plane": [[float(i), float(i % 5)] for i in range(n)],
    }  # fmt: skip
    compared = {
        "by": "<country>", "p_value": 0.001, "differ": True, "why_not": None, "shared": None,
        "exchanged": "raters", "permutations": 999, "differing": [names[1]], "agreement": None,
        "groups": [{"name": "DE", **group}, {"name": "FR", **group}], "without_group": 0,
        "objects": names, "object_p_value": [0.5, 0.001] + [0.9] * (n - 2), "shift": [0.1] * n,
        "sentences": ["Compared were DE and FR.", "They answer differently.", "It lies elsewhere."],
        "left_out": ["3 answers without a group were left out."],
    }  # fmt: skip
    page = read_page(render(facts | {"compare_groups": compared}))
    assert page.one("h3", id="compared").said == "Groups compared, by <country>"
    assert "They answer differently. It lies elsewhere." in page.one("section", id="raters").said
    assert len(page.one(css="side-by-side").all("g", css="differs")) == 2
