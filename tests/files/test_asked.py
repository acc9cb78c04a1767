"""What a file does not say is asked, never guessed: raters, picks, marked rows, units, names."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from trilens.cli.options import groups_of
from trilens.errors import FormatError, TrilensError
from trilens.files import Reading, read_statements

NAMES = ["van", "bus", "car", "ski", "tram", "bike", "boat", "jet"]


def rows_of(n=60, seed=0):
    """Three objects in a row, of which the last is the odd one."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(NAMES)[:3].tolist() for _ in range(n)]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def understood(path, **options) -> Reading:
    told: list[Reading] = []
    read_statements(path, tell=told.append, **options)
    return told[0]


def concern(reading: Reading, code: str):
    return next((each for each in reading.concerns if each.code == code), None)


def test_raters_that_are_not_known_are_asked_for(tmp_path):
    rows = [[*row, f"p{i // 6}", i, 1.5 + i] for i, row in enumerate(rows_of())]
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2", "id", "nr", "score"], rows)
    found = concern(understood(file), "raters")
    assert found.what == "No column names the person."
    said = "No column names the person. If one does, add --columns rater=COLUMN"
    assert said in run("describe", file).stderr
    assert said in run("medoid", file, "--method", "depth").stderr
    assert said not in run("medoid", file, "--method", "depth", "--quiet").stderr
    assert "names the person" not in run("describe", file, "--columns", "rater=id").stderr
    codes = [each.code for each in tl.reliability(tl.Answers(file)).cautions]
    assert codes[0] == "raters"
    run("analyze", file, "-o", tmp_path / "report.html")
    assert "No column names the person" in (tmp_path / "report.html").read_text()


def test_nothing_is_asked_where_there_is_nothing_to_say(tmp_path):
    rows = [[*row, f"p{i // 6}", 1.5] for i, row in enumerate(rows_of())]
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2", "rater", "seconds"], rows)
    assert understood(file).concerns == ()


def test_a_wide_table_is_read_by_the_advice(tmp_path):
    """Ten questions in a row, five participants: forty-one columns of the same objects."""
    rng = np.random.default_rng(3)
    header = ["vp", *(f"t{k}_{part}" for k in range(1, 11) for part in ("a", "b", "c", "resp"))]
    rows = []
    for who in range(5):
        row = [f"p{who}"]
        for _ in range(10):
            three = rng.permutation(NAMES)[:3].tolist()
            row += [*three, three[int(rng.integers(3))]]
        rows.append(row)
    file = write(tmp_path / "wide.csv", header, rows)
    with pytest.raises(FormatError) as caught:
        read_statements(file)
    columns = "chosen=t{}_resp,shown_1=t{}_a,shown_2=t{}_b,shown_3=t{}_c,rater=vp"
    assert f"columns='{columns}'" in str(caught.value)
    S = read_statements(file, columns=columns, kind="odd")
    assert (len(S), sorted(set(S.raters.tolist()))) == (50, [f"p{who}" for who in range(5)])
    assert S[11] == (rows[1][8], *(name for name in rows[1][5:8] if name != rows[1][8]))
    write(file, [name.replace("_resp", "_code") for name in header], rows[:1])
    with pytest.raises(FormatError, match=r"t\{\}_a \(.*chosen=\?,.*rater=vp.*, where \{\} stands"):
        read_statements(file)


def grids(n=30, seed=1):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        query, *shown = rng.permutation([*NAMES, "cat", "dog"]).tolist()[:9]
        found.append((query, shown, rng.permutation(shown)[:4].tolist()))
    return found


def implied(questions):
    return [
        (query, near, far)
        for query, shown, picked in questions
        for near in picked
        for far in shown
        if far not in picked
    ]


def test_four_of_eight_in_lists_of_json(tmp_path):
    questions = grids()
    trials = [{"query": q, "shown": s, "near_answer": p, "subject": "x"} for q, s, p in questions]
    (tmp_path / "a.json").write_text(json.dumps(trials))
    S = read_statements(tmp_path / "a.json")
    assert (S.kind, len(S)) == ("closer", 16 * 30)
    assert sorted(S) == sorted(implied(questions))
    assert len(set(S.questions.tolist())) == 30


def test_several_picks_are_roles(tmp_path):
    questions = grids()
    header = ["ref pic", *(f"s{k}" for k in range(8)), *(f"w{k}" for k in range(4))]
    file = write(tmp_path / "a.csv", header, [[q, *s, *p] for q, s, p in questions])
    roles = {"anchor": "ref pic"} | {f"shown_{k + 1}": f"s{k}" for k in range(8)}
    roles |= {f"chosen_{k + 1}": f"w{k}" for k in range(4)}
    S = read_statements(file, columns=roles)
    assert sorted(S) == sorted(implied(questions))
    said = ",".join(f"{role}={name}" for role, name in roles.items())
    assert facts("describe", file, "--columns", said)["statements"] == len(S)


def test_picks_that_were_not_named_are_not_left_out(tmp_path):
    questions = grids()
    header = ["query", *(f"image_{k + 1}" for k in range(8))]
    header += [f"near_answer_{k + 1}" for k in range(4)]
    file = write(tmp_path / "a.csv", header, [[q, *s, *p] for q, s, p in questions])
    assert sorted(read_statements(file)) == sorted(implied(questions))
    said = "anchor=query,chosen=near_answer_1," + ",".join(
        f"shown_{k + 1}=image_{k + 1}" for k in range(8)
    )
    refusal = r"4 columns hold what was chosen .* near_answer_2 would count as not chosen"
    with pytest.raises(TrilensError, match=refusal):
        read_statements(file, columns=said)
    three = "chosen=near_answer_1,shown_1=image_1,shown_2=image_2,shown_3=image_3"
    with pytest.raises(TrilensError, match=refusal):
        read_statements(file, columns=three, kind="odd")


@pytest.mark.parametrize(
    ("name", "words", "most"),
    [
        ("phase", ("practice", "main", "main"), "main"),
        ("is_catchtrial", ("0", "1", "0"), "0"),
        ("task", ("odd", "central", "odd"), "odd"),
    ],
)
def test_columns_that_mark_rows_are_named(tmp_path, name, words, most):
    rows = [[*row, "x", words[i % 3]] for i, row in enumerate(rows_of())]
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2", "rater", name], rows)
    found = concern(understood(file), "marked")
    assert f"Column {name} divides the answers: {most} (40)" in found.what
    shown = run("describe", file).stderr
    assert f"--where '{name} = {most}'" in shown
    assert "divides" not in run("describe", file, "--where", f"{name} = {most}").stderr
    assert len(tl.Answers(file, where=f"{name} = {most}").read()) == 40


def test_a_sampler_of_another_tool(tmp_path):
    words = ["RandomSampling", "InfoGain", "InfoGain"]
    rows = [[*row, "x", words[i % 3]] for i, row in enumerate(rows_of())]
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2", "rater", "alg_label"], rows)
    remedy = "--columns reason=alg_label --reason-random RandomSampling"
    assert remedy in run("describe", file).stderr
    S = read_statements(file, columns="reason=alg_label", reason_random="RandomSampling")
    assert S.chosen.sum() == 40
    told = facts("describe", file, *remedy.split())
    assert (told["statements"], told["chosen"]) == (60, 40)
    answers = tl.Answers(file, columns="reason=alg_label", reason_random=["RandomSampling"])
    assert answers.count().statements == 20
    with pytest.raises(TrilensError, match="the reason 'RandomSampling' is not known"):
        read_statements(file, columns="reason=alg_label")
    with pytest.raises(FormatError, match="no row has 'random' as the reason"):
        read_statements(file, columns="reason=alg_label", reason_random="random")
    with pytest.raises(FormatError, match=r"columns='reason=\?'"):
        read_statements(file, reason_random="RandomSampling")


def test_times_that_are_hardly_seconds(tmp_path):
    rows = [[*row, "x", 2008] for row in rows_of()]
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2", "rater", "seconds"], rows)
    found = concern(understood(file), "times")
    assert "The median of seconds is 2,008 seconds" in found.what
    assert "--columns ms=seconds" in found.remedy
    assert "The median of seconds is 2,008" in run("medoid", file, "--method", "depth").stderr
    assert read_statements(file, columns="ms=seconds").seconds[0] == 2.008


def test_names_that_differ_in_capitals_or_blanks(tmp_path):
    rows = [["Hund", "cat", "cow"], ["hund", "cat", "cow"], ["Hund", '"', "cow "]]
    text = "\n".join(["odd,other_1,other_2", *(",".join(f'"{c}"' for c in r) for r in rows[:2])])
    (tmp_path / "a.csv").write_text(f'{text}\n"Hund","cat","cow "\n')
    found = concern(understood(tmp_path / "a.csv"), "alike")
    assert "'Hund' and 'hund'; 'cow' and 'cow '" in found.what


def test_a_file_that_was_read_twice_is_named(tmp_path):
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2"], rows_of() * 2)
    said = "How often each row occurs is a multiple of 2."
    assert concern(understood(file), "copies").what == said
    for words in (["describe", file], ["medoid", file, "--method", "depth"]):
        assert said in run(*words).stderr
    for data in (tl.Answers(file), tl.read_statements(file)):
        whats = [each.what for each in tl.reliability(data).cautions]
        assert whats.count(said) == 1


def test_describe_tells_the_checks(tmp_path):
    rows = [*rows_of(), ["van", "bus", "bus"]]
    file = write(tmp_path / "a.csv", ["odd", "other_1", "other_2"], rows)
    assert "1 row shows an object twice" in run("describe", file).stdout
    assert facts("describe", file)["reading"]["checks"] == 1


def test_ids_beside_names(tmp_path):
    number = {name: str(i) for i, name in enumerate(NAMES)}
    rows = [[*(number[name] for name in row), *row, "x"] for row in rows_of()]
    header = ["head", "winner", "loser", "head_object", "winner_object", "loser_object", "puid"]
    file = write(tmp_path / "a.csv", header, rows)
    found = concern(understood(file), "ids")
    said = "anchor=head_object,near=winner_object,far=loser_object"
    assert f"--columns {said}" in found.remedy
    assert set(read_statements(file, columns=said).names) == set(NAMES)


def test_the_columns_of_a_table_of_groups(tmp_path):
    people = [[f"p{i}", 20 + i, "DE" if i % 2 else "FR"] for i in range(12)]
    groups = write(tmp_path / "people.csv", ["vp", "age", "country"], people)
    for by in (f"{groups}::country", f"{groups}::rater=vp,group=country"):
        assert groups_of(by) == {row[0]: row[2] for row in people}
    assert groups_of("country") == "country"
    file = write(
        tmp_path / "a.csv", ["odd", "other_1", "other_2", "rater"], [["a", "b", "c", "p1"]]
    )
    shown = run("reliability", file, "--by", groups, status=1).stderr
    assert "which column names the raters, and which their groups? The columns are vp, age" in shown
    assert "town" in run("reliability", file, "--by", f"{groups}::town", status=1).stderr
