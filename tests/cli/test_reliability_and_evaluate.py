"""`trilens reliability`, `trilens evaluate`, and which answers a command uses."""

from __future__ import annotations

import csv
import json

import click
import numpy as np
import pytest

from commandline import run
from people import survey
from trilens.cli import COMMANDS, trilens
from trilens.files import write_statements
from trilens.statements import Statements

POINTS = np.random.default_rng(5).standard_normal((16, 2))


@pytest.fixture(scope="module")
def people():
    S = survey(POINTS, raters=16, per=60, pool=60, seed=1)
    seconds = np.random.default_rng(0).lognormal(1, 0.5, len(S))
    names = [f"o{i}" for i in range(16)]
    return Statements(S.triples, names=names, raters=S.raters, seconds=seconds, kind="central")


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    """Answers with a column of the raters' country and one of test questions."""
    folder = tmp_path_factory.mktemp("people")
    plain = folder / "plain.csv"
    write_statements(people, plain)
    rows = list(csv.reader(plain.read_text().splitlines()))
    test = sorted(rows[1][:3])
    with (folder / "answers.csv").open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow([*rows[0], "country", "check"])
        at = rows[0].index("rater")
        for row in rows[1:]:
            country = "DE" if int(row[at]) % 2 else "FR"
            table.writerow([*row, country, rows[1][0] if sorted(row[:3]) == test else ""])
    return folder / "answers.csv"


def test_everything_at_once(file, tmp_path):
    marked, page, figures = (tmp_path / name for name in ("m.csv", "p.html", "figures"))
    options = ["--by", "country", "--catch", "check", "--json"]
    done = run("reliability", file, *options, "-o", marked, "--figures", figures)
    facts = json.loads(done.stdout)
    assert {g["name"] for g in facts["groups"]["groups"]} == {"DE", "FR"}
    assert facts["catch"]["asked"] > 0
    assert len(facts["raters"]) == 16
    rows = list(csv.DictReader(marked.read_text().splitlines()))
    assert len(rows) == facts["collected"]["answers"]
    used = sum(row["used"] == "true" for row in rows)
    assert used == facts["collected"]["used"] < len(rows)
    assert {p.name for p in figures.iterdir()} >= {
        "answers.png",
        "raters.png",
        "answers.pdf",
        "raters.svg",
    }
    # the same by a table of raters, and by a list of right answers
    groups = tmp_path / "groups.csv"
    lines = [f"{r},{'DE' if r % 2 else 'FR'}" for r in range(16)]
    groups.write_text("\n".join(["rater,group", *lines]))
    right = tmp_path / "right.csv"
    first = next(csv.reader(file.read_text().splitlines()[1:]))
    right.write_text("central,other_1,other_2\n" + ",".join(first[:3]) + "\n")
    options = ["--by", groups, "--catch", right, "--json"]
    assert json.loads(run("reliability", file, *options).stdout) == facts
    run("reliability", file, "-o", page)
    assert "For the Methods section" in page.read_text()


def test_people_can_read_it(file):
    done = run("reliability", file, "--by", "country", "--min-seconds", 1, "--exclude-raters", "3")
    assert "two raters agree" in done.stdout
    assert "faster than 1 s" in done.stdout
    assert "16 raters were asked" in done.stdout
    head = "rater verdict answers agreement predicted careless from to"
    assert head in [" ".join(line.split()) for line in done.stdout.splitlines()]


def test_a_repeated_column_marks_what_counts(file, tmp_path):
    done = run("reliability", file, "--repeated", "check", "--json")
    assert json.loads(done.stdout)["between"]["questions"] == 1


def test_every_command_that_reads_statements_can_leave_answers_out():
    # count adds up files as they come: what is left out must be left out of the files; columns
    # looks at the file alone
    for name in set(COMMANDS) - {"count", "columns"}:
        command = trilens.get_command(click.Context(trilens), name)
        options = {option for parameter in command.params for option in parameter.opts}
        if "--objects" in options:
            assert {"--exclude-raters", "--min-seconds", "--where"} <= options, name


def test_what_is_left_out_is_left_out_everywhere(file, people):
    kept = run("describe", file, "--where", "country = DE", "--min-seconds", "1.5", "--json")
    expected = (np.asarray(people.raters).astype(int) % 2 == 1) & (people.seconds >= 1.5)
    assert json.loads(kept.stdout)["statements"] == expected.sum()
    assert "not country = DE" in kept.stderr
    one = run("depth", file, "--exclude-raters", ",".join(map(str, range(8))), "--json")
    assert sum(json.loads(one.stdout)["appearances"].values()) == 3 * sum(
        int(r) >= 8 for r in people.raters
    )
    whole = run("analyze", file, "--where", "country=DE", "--where", "seconds > 1", "--json")
    again = json.loads(whole.stdout)["how"]["command"]
    assert "--where country=DE --where 'seconds > 1'" in again


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--where", "planet = 3"], "no column 'planet'; the columns seen are central, other_1,"),
        (["--where", "central = o1"], "column 'central' holds objects"),
        (["--by", "central"], "column 'central' holds objects"),
        (["--where", "country = XX"], "the values are DE, FR"),
        (["--where", "country = DE and age = 3"], "repeat --where, all must hold"),
        (["--where", "country"], "such as"),
        (["--exclude-raters", "nobody"], "no rater is named"),
        (["--by", "planet"], "no column 'planet'"),
        (["--catch", "country"], "it shows"),
    ],
)
def test_bad_options_get_one_line(file, options, words):
    done = run("reliability", file, *options, status=1)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_one_is_not_many_and_skipped_rows_are_told(tmp_path):
    file = tmp_path / "few.csv"
    file.write_text("central,other_1,other_2,rater\na,b,c,1\nb,a,c,1\na,b\na,b,d,1\na,b,c,2\n")
    done = run("reliability", file, status=1)
    assert "row 4: 2 columns" in done.stderr
    assert "--skip-bad" in done.stderr
    text = run("reliability", file, "--skip-bad").stdout
    assert "1 question" in text
    assert "1 questions" not in text
    assert "1 further row of the data could not be read as an answer and was skipped." in text
    assert "No other answers were excluded." in text
    alone = run("reliability", file, "--skip-bad", "--exclude-raters", "2", "--json")
    facts = json.loads(alone.stdout)
    assert facts["collected"]["skipped"] == 1
    assert (
        "The following answers were excluded: 1 (rater 2 left out), leaving 3 answers."
        in facts["methods"]
    )
    file.write_text("central,other_1,other_2,rater\na,b,c,1\n")
    text = run("reliability", file).stdout
    assert "1 rater was asked" in text
    assert "1 answer about 3 objects was collected. No answers were excluded." in text


def test_models_in_one_table(file, people, tmp_path):
    names = people.names
    rng = np.random.default_rng(0)
    rows = "".join(f"{n},{x},{y}\n" for n, (x, y) in zip(names, POINTS.tolist(), strict=True))
    (tmp_path / "true.csv").write_text("object,x,y\n" + rows)
    order = [int(n[1:]) for n in _names_of(file)]
    np.save(tmp_path / "noise.npy", rng.standard_normal((16, 3)))
    D = np.linalg.norm(POINTS[order][:, None] - POINTS[order], axis=2)
    np.save(tmp_path / "distances.npy", D)
    done = run(
        "evaluate", file, "--embedding", tmp_path / "true.csv", "--embedding",
        tmp_path / "noise.npy", "--distances", tmp_path / "distances.npy", "--json",
        "--figure", tmp_path / "models.png",
    )  # fmt: skip
    facts = json.loads(done.stdout)
    assert [m["name"] for m in facts["models"]][2] == "noise"
    assert facts["models"][0]["accuracy"] == facts["models"][1]["accuracy"]
    assert facts["models"][0]["of_ceiling"] == pytest.approx(1, abs=0.15)
    assert len(facts["differences"]) == 3
    assert (tmp_path / "models.png").stat().st_size > 1000
    by_angle = ["--embedding", tmp_path / "true.csv", "--metric", "cosine", "--json"]
    one = run("evaluate", file, *by_angle)
    assert json.loads(one.stdout)["accuracy"] < facts["models"][0]["accuracy"]
    said = run("evaluate", file, "--answers", file)
    assert "ceiling" in said.stderr
    assert "accuracy" in said.stdout


def _names_of(file):
    from trilens.files import read_statements

    return read_statements(file).names


def test_bad_models_get_one_line(file, tmp_path):
    (tmp_path / "few.csv").write_text("object,x\no1,1\no2,2\n")
    done = run("evaluate", file, "--embedding", tmp_path / "few.csv", status=1)
    assert "lacks 14 of 16 objects" in done.stderr
    np.save(tmp_path / "d.npy", np.zeros((3, 4)))
    done = run("evaluate", file, "--distances", tmp_path / "d.npy", status=1)
    assert "square" in done.stderr
    (tmp_path / "other.csv").write_text("central,other_1,other_2\no1,o2,o3\n")
    done = run("evaluate", file, "--answers", tmp_path / "other.csv", status=1)
    assert "has no answer to" in done.stderr
    run("evaluate", file, status=2)


def test_how_a_file_was_taken_is_said(file, tmp_path):
    names = _names_of(file)
    rows = [POINTS[int(n[1:])].tolist() for n in names]
    model = tmp_path / "model.csv"
    model.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    done = run("evaluate", file, "--embedding", model, "--json")
    order = f"rows taken in the order of the objects: {', '.join(names[:4])}, ... (16)"
    assert f"model: no column of names, coordinates from x, y; {order}" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["matched"] == order
    assert "caution" not in done.stderr
    item = "".join(f"{n},{x},{y}\n" for n, (x, y) in zip(names, rows, strict=True))
    model.write_text("item,x,y\n" + item)
    done = run("evaluate", file, "--embedding", model, "--json")
    assert "names from item, coordinates from x, y; objects matched by" in done.stderr
    assert json.loads(done.stdout)["accuracy"] == facts["accuracy"]
    # the numbers of the rows are not the names, and no coordinates either
    model.write_text("x0,x,y\n" + "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(rows)))
    done = run("evaluate", file, "--embedding", model, status=1)
    assert "has none of the objects: it has '0'" in done.stderr
    model.write_text("x,y\n1.5,2\n")
    assert "shape (1, 2)" in run("evaluate", file, "--embedding", model, status=1).stderr


def test_a_model_that_guesses_gets_a_caution(file, tmp_path):
    X = POINTS[[int(n[1:]) for n in _names_of(file)]]
    D = np.linalg.norm(X[:, None] - X, axis=2)
    np.save(tmp_path / "alike.npy", D.max() - D)
    done = run("evaluate", file, "--distances", tmp_path / "alike.npy")
    assert "caution: alike is no better than guessing" in done.stderr
    np.save(tmp_path / "alike.npy", -D)
    done = run("evaluate", file, "--distances", tmp_path / "alike.npy", status=1)
    assert "distances must be 0 or more" in done.stderr


def test_files_of_vectors_as_they_are_and_aligned(file, tmp_path):
    names = [f"o{i}" for i in range(16)]
    np.savez(tmp_path / "bent.npz", names=names, vectors=POINTS * [1, 6])
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).random((16, 2)))
    order = tmp_path / "order.txt"
    order.write_text("\n".join(names))
    given = ["--objects", str(order)]
    models = [str(tmp_path / "bent.npz"), str(tmp_path / "noise.npy")]
    facts = json.loads(run("evaluate", str(file), *models, *given, "--json").stdout)
    raw, bent = ({m["name"]: m for m in part["models"]} for part in (facts, facts["aligned"]))
    assert raw["bent"]["rank"] == [1, 1]
    assert raw["noise"]["rank"] == [2, 2]
    assert bent["bent"]["accuracy"] > raw["bent"]["accuracy"]
    shown = run("evaluate", str(file), *models, *given, "--no-align")
    assert "aligned" not in shown.stdout
    assert "rank" in shown.stdout
