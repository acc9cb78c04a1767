from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from commandline import run
from trilens.analysis import analyze, histogram
from trilens.report import page, pictures, render
from trilens.simulate import simulate_statements, study
from trilens.statements import Statements

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def shapes():
    return study(n_objects=30, n_statements=2400, n_raters=15)


@pytest.fixture(scope="module")
def shape_analysis(shapes):
    labels = [
        None if i % 4 == 0 or c < 0 else shapes.classes[c] for i, c in enumerate(shapes.labels)
    ]
    return analyze(shapes.statements, labels)


def test_the_truth_of_the_study_is_found(shapes, shape_analysis):
    names = shapes.statements.names
    found = shape_analysis
    assert names[shapes.medoid] in found.medoid.candidates
    assert {names[i] for i in shapes.outliers} <= set(found.outliers.least_central)
    assert found.clusters.n_clusters == 3
    assert found.clusters.purity > 0.9
    careless = {str(i) for i in np.flatnonzero(np.isnan(shapes.raters.error_rates))}
    assert {rater.rater for rater in found.reliability.raters if rater.guessing} == careless
    truth = dict(zip(names, shapes.labels, strict=True))
    predicted = found.classes.predicted
    regular = [name for name in predicted if truth[name] >= 0]
    right = sum(shapes.classes[truth[name]] == predicted[name] for name in regular)
    assert right / len(regular) > 0.9


def test_facts_are_plain_json_and_the_same_again_and_progress_ends_at_one(shape_analysis):
    facts = shape_analysis.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    few = study(n_objects=16, n_statements=100).statements
    seen: list[float] = []
    found = analyze(few, random_state=3, progress=seen.append)
    assert found.to_dict() == analyze(few, random_state=3).to_dict()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_notebook_sees_the_findings_and_a_bare_installation_writes_the_page(
    monkeypatch, shape_analysis, tmp_path
):
    assert shape_analysis.medoid.name in shape_analysis._repr_html_()
    assert repr(shape_analysis).startswith("Analysis: 2,400 answers about 30 objects; most central")
    with pytest.raises(AttributeError):
        shape_analysis.title = "another"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bare = {re.split(r"[<>=\[]", one)[0] for one in needed}
    for package, module in (("jinja2", "jinja2"), ("matplotlib", "matplotlib"), ("pillow", "PIL")):
        if package not in bare:
            monkeypatch.setitem(sys.modules, module, None)
    page.template.cache_clear()
    shape_analysis.write(tmp_path / "page.html")
    written = (tmp_path / "page.html").read_text()
    assert shape_analysis.medoid.name in written
    assert "</html>" in written


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("central", marks=pytest.mark.slow),
        "odd",
        pytest.param("closer", marks=pytest.mark.slow),
    ],
)
def test_every_kind_has_a_page_with_depths_and_the_medoid_and_a_cloud_is_not_divided(kind):
    points = np.random.default_rng(0).normal(size=(30, 2))
    S = simulate_statements(points, 2500, kind=kind, random_state=1)
    found = analyze(S)
    total = np.linalg.norm(points[:, None] - points, axis=2).sum(axis=1)
    assert total[found.medoid.index] < 1.1 * total.min()
    assert S.names[int(total.argmin())] in found.medoid.candidates
    html = render(found.to_dict())
    assert "of the questions that showed it" in html or kind == "closer"
    assert found.clusters.n_clusters == 1
    assert "no groups could be confirmed" in html


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
def test_tiny_collections_make_a_page_whatever_their_times(triples, kind):
    seconds = np.resize([2.0, np.inf, 2.0, 1e300, 2.0, np.nan, 2.0, 2.0, 2.0], len(triples))
    n = 7 if len(triples) == 2 else None
    facts = analyze(Statements(triples, n, kind=kind, seconds=seconds)).to_dict()
    json.dumps(facts, allow_nan=False)
    assert facts["seconds"]["median"] == 2.0
    assert render(facts).count("<section") == 6


@pytest.mark.parametrize("n", [1, 5])
def test_no_answers_say_nothing(n):
    found = analyze(Statements([], n_objects=n))
    assert found.clusters.n_clusters == 1
    assert found.outliers.names == ()
    assert [caution.code for caution in found.reliability.cautions] == ["no-statements"]
    html = render(found.to_dict())
    assert "There are no answers yet." in html
    assert "confidence" not in html.split('id="data"')[0].split("</style>")[1]


def test_bins_of_whole_numbers_hold_them_in_the_middle():
    rows = [tuple(row.values()) for row in histogram(np.array([3.0, 3.0, 5.0]), whole=True)]
    assert rows == [(2.5, 3.5, 2), (3.5, 4.5, 0), (4.5, 5.5, 1)]
    assert histogram(np.array([])) == []
    wide = histogram(np.arange(360.0, 436.0), whole=True)
    assert (wide[0]["from"], wide[-1]["to"]) == (359.5, 435.5)
    assert sum(row["count"] for row in wide) == 76


def test_pictures_that_cannot_be_read_are_refused_before_the_analysis(monkeypatch, tmp_path):
    (tmp_path / "s.csv").write_text("central,other_1,other_2\na,b,c\n")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"")
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    monkeypatch.setattr("trilens.analysis.analyze", lambda *given, **more: pytest.fail("too late"))
    words = ["analyze", str(tmp_path / "s.csv"), "--images", str(tmp_path / "pictures")]
    result = run(*words, "-o", str(tmp_path / "report.html"), status=1)
    assert "reading pictures needs the report extra" in result.stderr
