"""`trilens reliability`, `trilens evaluate`, and which answers a command uses."""

from __future__ import annotations

import csv
import json
import re

import click
import numpy as np
import pytest

from commandline import facts, run
from people import survey
from trilens.cli import COMMANDS, trilens
from trilens.files import read_statements, write_statements
from trilens.statements import Statements

POINTS = np.random.default_rng(5).standard_normal((16, 2))
NAMES = [f"o{i}" for i in range(16)]
RATERS = 8


@pytest.fixture(scope="module")
def people():
    S = survey(POINTS, raters=RATERS, per=60, pool=60, seed=1)
    seconds = np.random.default_rng(0).lognormal(1, 0.5, len(S))
    return Statements(S.triples, names=NAMES, raters=S.raters, seconds=seconds, kind="central")


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


@pytest.fixture(scope="module")
def order(file):
    """The objects in the order of the file."""
    return list(read_statements(file).names)


def test_everything_at_once(file, tmp_path):
    marked, figures = tmp_path / "m.csv", tmp_path / "figures"
    found = facts(
        "reliability", file, "--by", "country", "--catch", "check", "-o", marked,
        "--figures", figures,
    )  # fmt: skip
    assert {g["name"] for g in found["groups"]["groups"]} == {"DE", "FR"}
    assert found["catch"]["asked"] > 0
    assert len(found["raters"]) == RATERS
    rows = list(csv.DictReader(marked.read_text().splitlines()))
    assert len(rows) == found["collected"]["answers"]
    used = sum(row["used"] == "true" for row in rows)
    assert used == found["collected"]["used"] < len(rows)
    names = {path.name for path in figures.iterdir()}
    assert names >= {"answers.png", "raters.png", "answers.pdf", "raters.svg"}
    # the same by a table of raters, and by a list of right answers
    groups, right = tmp_path / "groups.csv", tmp_path / "right.csv"
    lines = [f"{r},{'DE' if r % 2 else 'FR'}" for r in range(RATERS)]
    groups.write_text("\n".join(["rater,group", *lines]))
    first = next(csv.reader(file.read_text().splitlines()[1:]))
    right.write_text("central,other_1,other_2\n" + ",".join(first[:3]) + "\n")
    assert facts("reliability", file, "--by", groups, "--catch", right) == found


def test_people_can_read_it(file, tmp_path):
    page = tmp_path / "p.html"
    done = run("reliability", file, "--min-seconds", 1, "--exclude-raters", "3", "-o", page)
    assert "two raters agree" in done.stdout
    assert "faster than 1 s" in done.stdout
    assert f"{RATERS} raters were asked" in done.stdout
    head = "rater verdict answers agreement predicted careless from to"
    assert head in [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert re.search(r"^\d+ +- +\d+ +0\.", done.stdout, re.MULTILINE)
    assert "For the Methods section" in page.read_text()
    for line in done.stderr.splitlines():
        if "people disagree about most" in line:
            shares = [float(share) for share in re.findall(r"([\d.]+) agreement", line)]
            assert shares == sorted(shares)
            assert len(shares) == 3
    # a column marks which repeated questions count
    assert facts("reliability", file, "--repeated", "check")["between"]["questions"] == 1


def test_of_guesses_no_rater_is_judged(tmp_path):
    rng = np.random.default_rng(0)
    asked = np.array([rng.permutation(12)[:3] for _ in range(240)])
    file, figures = tmp_path / "guesses.csv", tmp_path / "figures"
    write_statements(Statements(asked, raters=np.arange(240) % 6, kind="odd"), file)
    done = run("reliability", file, "--figures", figures)
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert sum(bool(re.fullmatch(r"\d not judged .* - - -", row)) for row in rows) == 6
    assert "careless" not in done.stderr
    assert "no clear difference" in done.stderr
    assert {path.stem for path in figures.iterdir()} == {"answers"}


def test_every_command_that_reads_statements_can_leave_answers_out():
    # count adds up files as they come: what is left out must be left out of the files; columns
    # looks at the file alone
    for name in set(COMMANDS) - {"count", "columns"}:
        command = trilens.get_command(click.Context(trilens), name)
        options = {option for parameter in command.params for option in parameter.opts}
        if "--objects" in options:
            assert {"--exclude-raters", "--min-seconds", "--where"} <= options, name


def test_what_is_left_out_is_left_out_everywhere(file, people):
    raters = np.asarray(people.raters).astype(int)
    kept = run("describe", file, "--where", "country = DE", "--min-seconds", "1.5", "--json")
    expected = (raters % 2 == 1) & (people.seconds >= 1.5)
    assert f'"statements": {expected.sum()}' in kept.stdout
    assert "not country = DE" in kept.stderr
    one = facts("depth", file, "--exclude-raters", "0,1,2,3")
    assert sum(one["appearances"].values()) == 3 * (raters >= 4).sum()
    whole = facts("analyze", file, "--where", "country=DE", "--where", "seconds > 1")
    assert "--where country=DE --where 'seconds > 1'" in whole["how"]["command"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--where", "planet = 3"], "no column 'planet'; the columns seen are central, other_1,"),
        (["--by", "central"], "column 'central' holds objects"),
        (["--where", "country = DE and age = 3"], "repeat --where, all must hold"),
        (["--where", "country"], "such as"),
        (["--by", "planet"], "no column 'planet'"),
        (["--catch", "country"], "it shows"),
    ],
)
def test_bad_options_get_one_line(file, options, words):
    assert words in run("reliability", file, *options, status=1).stderr


def test_one_is_not_many_and_skipped_rows_are_told(tmp_path):
    file = tmp_path / "few.csv"
    file.write_text("central,other_1,other_2,rater\na,b,c,1\nb,a,c,1\na,b\na,b,d,1\na,b,c,2\n")
    refused = run("reliability", file, status=1).stderr
    assert "row 4: 2 columns" in refused
    assert "--skip-bad" in refused
    text = run("reliability", file, "--skip-bad").stdout
    assert "1 question" in text
    assert "1 questions" not in text
    assert "1 further row of the data could not be read as an answer and was skipped." in text
    assert "No other answers were excluded." in text
    alone = facts("reliability", file, "--skip-bad", "--exclude-raters", "2")
    assert alone["collected"]["skipped"] == 1
    excluded = "The following answers were excluded: 1 (rater 2 left out), leaving 3 answers."
    assert excluded in alone["methods"]
    file.write_text("central,other_1,other_2,rater\na,b,c,1\n")
    text = run("reliability", file).stdout
    assert "1 rater was asked" in text
    assert "1 answer about 3 objects was collected. No answers were excluded." in text


# ---- trilens evaluate ---------------------------------------------------------------------------


def test_models_in_one_table(file, order, tmp_path):
    rows = "".join(f"{n},{x},{y}\n" for n, (x, y) in zip(NAMES, POINTS.tolist(), strict=True))
    (tmp_path / "true.csv").write_text("object,x,y\n" + rows)
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).standard_normal((16, 3)))
    X = POINTS[[NAMES.index(name) for name in order]]
    np.save(tmp_path / "distances.npy", np.linalg.norm(X[:, None] - X, axis=2))
    found = facts(
        "evaluate", file, "--embedding", tmp_path / "true.csv", "--embedding",
        tmp_path / "noise.npy", "--distances", tmp_path / "distances.npy",
        "--figure", tmp_path / "models.png",
    )  # fmt: skip
    models = found["models"]
    assert models[2]["name"] == "noise"
    assert models[0]["accuracy"] == models[1]["accuracy"]
    assert models[0]["of_ceiling"] == pytest.approx(1, abs=0.15)
    assert len(found["differences"]) == 3
    assert (tmp_path / "models.png").stat().st_size > 1000
    by_angle = ["--embedding", tmp_path / "true.csv", "--metric", "cosine"]
    assert facts("evaluate", file, *by_angle)["accuracy"] < models[0]["accuracy"]
    said = run("evaluate", file, "--answers", file)
    assert "ceiling" in said.stderr
    assert "accuracy" in said.stdout
    D = np.load(tmp_path / "distances.npy")
    np.save(tmp_path / "alike.npy", D.max() - D)
    said = run("evaluate", file, "--distances", tmp_path / "alike.npy").stderr
    assert "caution: alike is no better than guessing" in said
    assert "give --objects FILE, with one name a line" in said
    run("evaluate", file, status=2)


def test_files_of_vectors_as_they_are_and_aligned(file, tmp_path):
    np.savez(tmp_path / "bent.npz", names=NAMES, vectors=POINTS * [1, 6])
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).random((16, 2)))
    (tmp_path / "order.txt").write_text("\n".join(NAMES))
    words = [tmp_path / "bent.npz", tmp_path / "noise.npy", "--objects", tmp_path / "order.txt"]
    found = facts("evaluate", file, *words)
    raw, bent = ({m["name"]: m for m in part["models"]} for part in (found, found["aligned"]))
    assert (raw["bent"]["rank"], raw["noise"]["rank"]) == ([1, 1], [2, 2])
    assert bent["bent"]["accuracy"] > raw["bent"]["accuracy"]
    shown = run("evaluate", file, *words, "--no-align").stdout
    assert "aligned" not in shown
    assert "rank" in shown


def test_how_a_file_was_taken_is_said(file, order, tmp_path):
    rows = [POINTS[NAMES.index(name)].tolist() for name in order]
    model = tmp_path / "model.csv"

    def evaluated(text, status=0):
        model.write_text(text)
        return run("evaluate", file, "--embedding", model, *["--json"][status:], status=status)

    done = evaluated("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    taken = f"rows taken in the order of the objects: {', '.join(order[:4])}, ... (16)"
    assert f"model: no column of names, coordinates from x, y; {taken}" in done.stderr
    assert f'"matched": "{taken}"' in done.stdout
    assert "caution" not in done.stderr
    accuracy = json.loads(done.stdout)["models"][0]["accuracy"]
    named = evaluated(
        "item,x,y\n" + "".join(f"{n},{x},{y}\n" for n, (x, y) in zip(order, rows, strict=True))
    )
    assert "names from item, coordinates from x, y; objects matched by" in named.stderr
    # the numbers of the rows are not the names, and no coordinates either
    numbered = "x0,x,y\n" + "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(rows))
    assert "has none of the objects: it has '0'" in evaluated(numbered, status=1).stderr
    assert "shape (1, 2)" in evaluated("x,y\n1.5,2\n", status=1).stderr
    assert "lacks 14 of 16 objects" in evaluated("object,x\no1,1\no2,2\n", status=1).stderr
    # rows in another order are named by a list
    np.save(tmp_path / "rows.npy", rows[8:] + rows[:8])
    (tmp_path / "names.txt").write_text("\n".join([*order[8:], *order[:8]]))
    words = ("--embedding", tmp_path / "rows.npy", "--objects", tmp_path / "names.txt")
    assert facts("evaluate", file, *words)["models"][0]["accuracy"] == accuracy
