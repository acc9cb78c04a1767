"""What the page says of given facts."""

from __future__ import annotations

import copy
import re

import pytest

from pages import contradictions, read_page, value_of
from trilens._tabular import shorten
from trilens.report import page as pages, render, words


@pytest.fixture
def changed(facts):
    """A copy of the facts, to be changed."""
    return copy.deepcopy(facts)


def _line(facts, shape="line"):
    names = [row["object"] for row in facts["objects"]]
    n = len(names)
    unit = 1.0 if shape == "line" else 340.0
    key = "position" if shape == "line" else "angle"
    places = {name: unit * i / (n - 1) for i, name in enumerate(names)}
    return {
        "shape": shape,
        "sentence": "The objects lie along a line.",
        "p_value": None,
        "scores": {},
        "caution": None,
        "order": names,
        key: places,
        "interval": {name: [at - unit / 20, at + unit / 20] for name, at in places.items()},
    }


def test_no_page_contradicts_itself(facts):
    assert contradictions(render(facts), facts) == []


def test_the_test_sees_contradictions(changed):
    html = render(changed)
    assert contradictions(html.replace("1,100</span>", "1,101</span>", 1), changed)
    assert contradictions(html.replace("</main>", "<p>p = 0.0000</p></main>"), changed)
    assert contradictions(html.replace("Three groups", "Two groups"), changed)
    assert value_of("76%") == pytest.approx((0.755, 0.765))


def test_candidates_are_sorted_by_the_number_beside_them(changed):
    section = read_page(render(changed)).one("section", id="medoid")
    values = [value_of(row.one(css="value").said)[0] for row in section.all("li")]
    assert values == sorted(values, reverse=True)
    m = changed["medoid"]
    number = section.one(css="big-number").said
    assert number.startswith(f"{m['depth']:.0%}")
    low, high = m["interval"]
    assert f"{100 * low:.0f} to {100 * high:.0f}%" in number
    counted = next(r for r in changed["objects"] if r["object"] == m["medoid"])["counted"]
    assert f"Counted, it was chosen in {counted:.0%}" in section.said


def test_a_line_is_the_headline(changed):
    changed["structure"], changed["dimension"] = _line(changed), 1
    page = read_page(render(changed))
    head = page.one(css="headline")
    order = [int(row.attributes["data-i"]) for row in head.all("li")]
    assert order == list(range(len(changed["objects"])))
    assert "along one dimension, from" in head.one(css="finding").said
    assert len(head.all("line", css="span")) == len(order)
    assert "95% intervals" in head.said


def test_a_ring_has_no_most_central_object(changed):
    changed["structure"] = _line(changed, "ring")
    html = render(changed)
    page = read_page(html)
    assert "there is no most central object" in page.one(css="headline").said
    assert len(page.one(css="headline").all("g", css="dot")) == len(changed["objects"])
    section = page.one("section", id="medoid")
    assert "no object of a ring is the most central" in section.said
    assert section.all("li") == []
    assert [g for g in page.all("g", css="pt") if "medoid" in g.classes()] == []


def test_a_cloud_says_how_many_dimensions(changed):
    changed["structure"] = {
        **_line(changed), "shape": "cloud", "p_value": 0.4, "sentence": "",
    }  # fmt: skip
    del changed["structure"]["interval"], changed["structure"]["order"]
    changed["dimension"] = 2
    head = read_page(render(changed)).one(css="headline").said
    assert "The objects spread over two dimensions" in head


def test_groups_in_groups_have_the_number_of_the_table(changed):
    names = [row["object"] for row in changed["objects"]]
    changed["cluster"]["given"] = False
    changed["cluster"]["suggestion"]["n_clusters"] = 3
    inner = {row["object"]: row["cluster"] for row in changed["objects"]}
    changed["structure"] = {
        **_line(changed), "shape": "groups in groups", "p_value": 0.02,
        "group": {name: min(inner[name], 1) for name in names}, "inner_group": inner,
    }  # fmt: skip
    html = render(changed)
    said = read_page(html).one("section", id="map").one(css="finding").said
    assert re.match(r"The objects form three groups, of .*; these make up 2 larger ones\.", said)
    assert contradictions(html, changed) == []


@pytest.mark.parametrize(
    ("stability", "said"),
    [
        ([0.9, 0.8, 0.79], "All of them come back"),
        ([0.9, 0.6, 0.6], "1 of them comes back"),
        ([0.9, 0.3, 0.6], "1 of them dissolves"),
    ],
)
def test_stability_has_one_meaning(changed, stability, said):
    for group, value in zip(changed["cluster"]["groups"], stability, strict=True):
        group["stability"] = value
    changed["cluster"]["agreement"] = 0.59
    html = render(changed)
    assert said in read_page(html).one("section", id="map").one(css="finding").said
    assert not re.search(r"(?<!\d)0\.59(?!\d)", html.split('id="data"')[0])
    assert contradictions(html, changed) == []


def test_two_halves_that_differ_are_not_called_alike(changed):
    half = {"reliability": -0.07, "correlation": -0.04, "low": -0.3, "high": 0.2, "splits": 100}
    changed["reliability"]["split_half"] = {**half, "unit": "rater"}
    assert "order the objects not alike (split-half reliability -0.07)" in render(changed)
    changed["reliability"]["split_half"]["reliability"] = 0.9
    assert "order the objects much alike" in render(changed)


def test_no_fault_is_said_only_without_a_caution(changed):
    changed["reliability"]["cautions"] = []
    page = read_page(render(changed))
    assert "No fault was found in the answers" in page.one(css="brief").said
    assert page.all(css="caution") == []
    groups = [{"raters": ["a", "b"], "medoid": None, "candidates": []}] * 2
    people = {"groups": groups, "sentences": ["They differ."], "differ": True}
    changed["individuals"] = people
    page = read_page(render(changed))
    assert "No fault" not in page.one(css="brief").said
    assert len(page.all(css="caution")) == 1
    assert "Apart from what is said of single groups below" in page.one(css="caution").said


def test_an_interval_that_says_nothing_is_said_to(changed):
    rater = changed["reliability"]["raters"][0]
    rater["blind_low"], rater["blind_high"] = 0.01, 1.0
    changed["reliability"]["raters"][1]["verdict"] = "differs"
    rows = read_page(render(changed)).one("section", id="collected").one("tbody").all("tr")
    assert "too few answers to tell" in rows[0].said
    assert rows[1].one("td", **{"data-h": "seem to be guesses"}).said == "\N{EN DASH}"
    row = changed["objects"][0]
    row["low"], row["high"] = 0.0, 1.0
    table = read_page(render(changed)).one("section", id="objects")
    assert "too few answers to tell" in table.all("tr")[1].said


def test_names_are_cut_in_the_middle(changed):
    assert shorten("a_very_long_name_of_a_picture_1.png") != shorten(
        "a_very_long_name_of_a_picture_2.png"
    )
    assert shorten("x" * 24) == "x" * 24
    assert len(shorten("x" * 25)) == 24
    assert shorten("e\u0301" * 20, 9)[-1] == "\u0301"
    page = read_page(render(changed))
    labels = [node.said for node in page.all("text", css="label")]
    assert len(set(labels)) == len(labels)


def test_the_sorted_depths_name_outliers_and_the_first(changed):
    named = {node.said for node in read_page(render(changed)).all("text", css="named")}
    assert shorten(changed["medoid"]["medoid"], 16) in named
    least = changed["outliers"]["outliers"] or changed["outliers"]["least_central"]
    assert 2 <= len(named) <= 1 + len(least)


def test_landmarks_are_spread_over_the_map(changed):
    row = changed["objects"][-1]
    changed["objects"] += [
        {**row, "object": f"more {i}", "x": 100 + i % 30, "y": float(i // 30)} for i in range(900)
    ]
    drawing = pages._map_drawing(changed, {})
    first = [p for p in drawing.points if p.rank < pages.LANDMARKS]
    assert len(first) == pages.LANDMARKS
    spoken = {changed["medoid"]["medoid"], *(g["medoid"] for g in changed["cluster"]["groups"])}
    assert spoken <= {changed["objects"][p.i]["object"] for p in first}
    assert max(p.x for p in first) - min(p.x for p in first) > 50


def test_test_questions_stand_on_the_page(changed):
    changed["reliability"]["catch"] = {"asked": 40, "right": 39}
    for rater in changed["reliability"]["raters"]:
        rater["catch_asked"], rater["catch_right"] = 5, 4
    section = read_page(render(changed)).one("section", id="collected")
    assert "39 of 40" in section.said
    assert "4 of 5" in section.one("tbody").said


def test_what_is_written_is_what_is_shown(changed, tmp_path):
    import csv

    pages.write_tables(changed, tmp_path)
    with open(tmp_path / "objects.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shown = read_page(render(changed)).one("section", id="objects").all("tr")[1:]
    for row, line in zip(rows, shown, strict=True):
        at = line.one("td", **{"data-h": "centrality"}).said
        assert at == f"{100 * float(row['depth']):.1f}%"
        assert line.one("td", **{"data-h": "group"}).said == row["group"]
        assert line.one("td", **{"data-h": "counted"}).said == f"{100 * float(row['counted']):.1f}%"


def test_a_tree_is_drawn_with_its_supports(changed):
    names = [row["object"] for row in changed["objects"]]
    changed["structure"] = {
        **_line(changed), "shape": "groups", "p_value": 0.02,
        "group": {row["object"]: row["cluster"] for row in changed["objects"]},
    }  # fmt: skip
    joined = [
        {"objects": names[: k + 1], "height": 0.1 * k, "support": 0.97, "claimed": k == 3}
        for k in range(1, len(names))
    ]
    changed["hierarchy"] = {"branches": joined, "order": names}
    figure = read_page(render(changed)).one("figure", css="tree")
    assert [int(row.attributes["data-i"]) for row in figure.all("li")] == list(range(len(names)))
    # every branch: two parts and what joins them
    assert len(figure.all("line")) == 3 * (len(names) - 1)
    assert [text.said for text in figure.all("text")] == ["97%"]
    assert "claimed more strictly than the groups" in figure.one("figcaption").said


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_the_caption_of_centrality_fits_the_kind(changed, kind):
    changed["kind"] = kind
    note = read_page(render(changed)).one("section", id="medoid").all("p", css="note")[-1].said
    assert words.EXPECTED_OF[kind] in note
    assert words.SHARE_OF[kind] in note


def test_whether_the_map_of_a_part_knows_the_features_is_said(changed):
    changed["reliability"]["predicted"] = 0.68
    assert "without the features" not in words.collected(changed)
    said = words.collected(changed | {"features": {"said": ""}})
    assert "A map of part of the answers, without the features, predicts" in said


def test_a_candidate_without_a_picture_keeps_its_place():
    # the frame stays, unseen, so that name and interval stand below those of the others
    rule = re.search(r"body\.pictured \.rungs span\.pic\.small\{(.*?)\}", pages.asset("report.css"))
    assert "display:block;visibility:hidden" in rule[1]


def test_groups_stand_side_by_side_with_what_differs(facts):
    names = [row["object"] for row in facts["objects"]]
    n = len(names)
    plane = [[float(i), float(i % 5)] for i in range(n)]
    group = {
        "raters": 3, "answers": 90, "agreement": None, "medoid": names[0], "candidates": names[:2],
        "centrality": [0.3] * n, "predicted_by_own": 0.5, "predicted_by_others": None,
        "plane": plane,
    }  # fmt: skip
    compared = {
        "by": "<country>", "p_value": 0.001, "differ": True, "why_not": None, "shared": None,
        "exchanged": "raters", "permutations": 999, "differing": [names[1]],
        "groups": [{"name": "DE", **group}, {"name": "FR", **group}], "without_group": 0,
        "objects": names, "object_p_value": [0.5, 0.001] + [0.9] * (n - 2), "shift": [0.1] * n,
        "sentences": ["Compared were DE and FR.", "They answer differently.", "It lies elsewhere."],
        "left_out": ["3 answers without a group were left out."],
    }  # fmt: skip
    page = render(facts | {"compare_groups": compared})
    block = page[page.index('id="compared"') :]
    assert "&lt;country&gt;" in block[:200]
    assert block.count("<figure>") >= 2
    assert "They answer differently. It lies elsewhere." in block
    assert "3 answers without a group were left out." in block
    assert "p is of another measure: how far the answers of a group would move the object" in block
    assert "Both may be right" not in block
    people = {"groups": [], "sentences": ["That they differ could not be shown."], "differ": False}
    both = render(facts | {"compare_groups": compared, "individuals": people})
    assert "groups that nobody named" in both[both.index('id="compared"') :]
    assert block.count('class="differs"') == 2
    assert 'id="compared"' not in render(facts)
