from __future__ import annotations

import re
import shlex

import pytest

from commandline import facts, run
from trilens.files import write_statements
from trilens.simulate import study


@pytest.mark.slow
def test_cars_report(cars, tmp_path, browser):
    target = tmp_path / "cars.html"
    told = facts(
        "analyze", cars / "ordinal_data_preprocessed" / "T_ALL.csv",
        "-o", target, "--images", cars / "car_data_set_images", "--tables", tmp_path / "tables",
        "--n-clusters", 3,
    )  # fmt: skip
    assert told["medoid"]["medoid"] == "44"
    assert {"44", "7"} <= set(told["medoid"]["candidates"])
    assert len(told["medoid"]["candidates"]) < 23
    far = {"48", "53", "21", "23"}
    assert far <= set(told["outliers"]["least_central"])
    assert far <= set(told["outliers"]["apart"])
    assert told["outliers"]["p_value"] <= 0.05
    assert told["cluster"]["suggestion"]["n_clusters"] == 1
    assert told["structure"]["shape"] == told["cluster"]["shape"] == "arms"
    assert (tmp_path / "tables" / "objects.csv").exists()
    browser.resize(1440)
    browser.open(target)
    browser.requests()
    count = "return document.querySelectorAll(arguments[0]).length"
    said = "return document.querySelector(arguments[0]).innerText"
    assert browser.run(count, "figure.map .legend.by-group > span") == 3
    assert browser.run(count, ".plane .frame") == 60
    assert "44" in browser.run(said, "#medoid .finding")
    assert "48" in browser.run(said, "#outliers .finding")
    assert browser.console() == []
    command = browser.run(said, "#methods pre")
    assert command.startswith("trilens analyze ")
    assert "--seed 0" in command


@pytest.mark.slow
def test_survey_file_shows_rounds_times_and_places(cars):
    told = facts("analyze", cars / "survey_data.csv")
    trusted = told["reliability"]
    assert trusted["rater_unit"] == "round"
    assert told["describe"]["statements"] == 7097
    assert told["seconds"]["median"] > 0
    places = [row["same_place"] for row in trusted["raters"]]
    assert all(1 / 3 - 1e-9 <= place <= 1 for place in places)
    assert sum(row["answers"] for row in trusted["raters"]) == 7097


@pytest.fixture
def small(tmp_path):
    S = study(n_objects=16, n_statements=400, random_state=0).statements
    write_statements(S, tmp_path / "answers.csv")
    write_statements(S[:100], tmp_path / "few.csv")
    return tmp_path


def test_the_headline_the_cautions_and_the_figures(small, monkeypatch):
    monkeypatch.chdir(small)
    result = run("analyze", "answers.csv", "--kind", "central", "--figures", "figures")
    headline, said = result.stdout.strip(), (small / "report.html").read_text()
    assert headline.endswith("most central.") or "most central;" in headline
    assert headline in re.sub(r"<[^>]*>", "", said)
    assert "wrote report.html" in result.stderr
    names = {path.name for path in (small / "figures").iterdir()}
    assert {f"{name}.{kind}" for name in ("map", "centrality", "answers", "raters")
            for kind in ("svg", "png", "pdf")} <= names  # fmt: skip
    run("embed", "answers.csv", "-o", "map.svg")
    assert "</svg>" in (small / "map.svg").read_text()
    (small / "one.csv").write_text("central,other_1,other_2\na,b,c\n")
    one = run("analyze", "one.csv", "-o", "r.html")
    assert one.stdout == "One answer about three objects is too few to conclude anything.\n"
    assert "caution: 3 objects appear in fewer than 25 answers." in one.stderr
    flat = run("embed", "answers.csv", "--dim", "3", "-o", "map.svg", status=2)
    assert "a picture shows two dimensions" in flat.stderr


def test_labels_and_broken_pictures(small):
    (small / "labels.csv").write_text(
        "object,label\n" + "\n".join(f"shape-{i:02d},{'ab'[i % 2]}" for i in range(1, 13))
    )
    (small / "pics").mkdir()
    (small / "pics" / "shape-01.png").write_text("broken")
    result = run(
        "analyze", small / "few.csv", "-o", small / "r.html", "--labels", small / "labels.csv",
        "--images", small / "pics", "--title", "A <b>title</b>", "--n-clusters", 2, "--seed", 7,
        "--figures", small / "figures",
    )  # fmt: skip
    assert "shape-01.png: not a picture" in result.stderr
    assert re.search(r"no picture for 'shape-\d\d'", result.stderr)
    html = (small / "r.html").read_text()
    assert "A &lt;b&gt;title&lt;/b&gt;" in html
    assert "16 pictures cannot be shown" in html
    assert "the column <code>picture</code> of the table of objects" in html
    assert "<bdi>shape-02</bdi>" in html.split("No file for", 1)[1].split("</p>", 1)[0]
    assert "--n-clusters 2 " in html
    assert "--seed 7" in html
    assert "predicted classes</summary>" in html


@pytest.mark.slow
def test_the_printed_command_makes_the_same_facts(small, monkeypatch):
    monkeypatch.chdir(small)
    first = facts("analyze", "answers.csv", "--seed", 3)
    words = shlex.split(first["how"]["command"])
    assert words[:2] == ["trilens", "analyze"]
    assert facts(*words[1:]) == first


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["none.csv"], 1, "none.csv: no such file"),
        (["answers.csv", "--images", "nowhere"], 1, "folder nowhere of --images does not exist"),
        (["answers.csv", "-o", "no/such/r.html"], 1, "does not exist"),
        (["answers.csv", "-o", "report.docx"], 2, "report.docx from its ending; use one of .html"),
        (["answers.csv", "-o", "."], 1, ". is a folder; give the name of a file to write"),
        (["answers.csv", "--n-clusters", "99"], 1, "99 clusters of 16 objects"),
        (["answers.csv", "--n-clusters", "0"], 2, "n-clusters"),
        (["answers.csv", "--tables", "answers.csv"], 1, "answers.csv is a file; give a folder"),
    ],
)
def test_bad_input_is_one_line(small, monkeypatch, arguments, status, said):
    monkeypatch.chdir(small)
    assert said in run("analyze", *arguments, status=status).stderr
    assert not (small / "report.html").exists()
