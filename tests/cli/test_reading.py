"""How the commands read files, and what they say of them."""

from __future__ import annotations

import json

import pytest

from commandline import run

SALMON = "head,winner,loser,puid,rt,score\n" + "".join(
    f"{a},{b},{c},p,1800,0.5\n"
    for a, b, c in [["cat", "dog", "cow"], ["dog", "cow", "cat"], ["cow", "cat", "pig"]]
)


@pytest.fixture
def salmon(tmp_path):
    (tmp_path / "s.csv").write_text(SALMON)
    return tmp_path / "s.csv"


def test_one_line_of_what_was_understood(salmon):
    said = run("depth", salmon).stderr.splitlines()
    lines = [line for line in said if line.startswith("read ")]
    assert lines == [
        f"read {salmon}: 3 statements, kind closer, 4 objects, 1 rater; columns anchor=head, "
        f"near=winner, far=loser, rater=puid, seconds=rt; unused: score; "
        f"rt taken as ms (median 1,800)"
    ]
    assert "read " not in run("depth", salmon, "--quiet").stderr
    assert "anchor=" not in run("depth", salmon, "--quiet").output


def test_describe_shows_it_in_full(salmon):
    shown = run("describe", salmon).stdout
    for words in ("anchor=head, near=winner", "left out", "score", "rt taken as ms", "1.80 s"):
        assert words in shown
    found = json.loads(run("describe", salmon, "--json").stdout)
    assert found["reading"]["columns"]["near"] == "winner"
    assert found["reading"]["left_out"] == ["score"]
    assert found["median_seconds"] == 1.8


def test_bad_rows(tmp_path):
    (tmp_path / "b.csv").write_text("a,b,c\n" + "a,a,c\n" * 17 + "NA,b,c\nb,c,a\n")
    stopped = run("depth", tmp_path / "b.csv", status=1)
    assert stopped.stderr.startswith(
        f"Error: {tmp_path / 'b.csv'}, row 2: object 'a' appears twice"
    )
    assert len(stopped.stderr.splitlines()) == 1
    skipped = run("depth", tmp_path / "b.csv", "--skip-bad").stderr.splitlines()
    assert skipped[0].endswith("18 bad rows skipped")
    assert (
        skipped[1]
        == f"skipped {tmp_path / 'b.csv'}, row 2: object 'a' appears twice in one statement"
    )
    assert skipped[11] == "skipped and 8 more bad rows"
    run("depth", tmp_path / "b.csv", "--bad-rows", tmp_path / "bad.csv", "--quiet")
    assert len((tmp_path / "bad.csv").read_text().splitlines()) == 19
    refused = run("depth", tmp_path / "b.csv", "--bad-rows", tmp_path / "b.csv", status=1)
    assert "is an input file" in refused.stderr


def test_options_of_the_command_line(tmp_path):
    (tmp_path / "a.csv").write_text(
        "n,x,y,z,w\n" + "1,a,b,c,c\n2,b,c,a,b\n3,c,a,d,a\n4,d,a,b,a\n" * 5
    )
    refused = run("depth", tmp_path / "a.csv", status=1).stderr
    assert "--columns chosen=w,shown_1=x,shown_2=y,shown_3=z and --kind central or" in refused
    assert "columns=" not in refused
    (tmp_path / "w.csv").write_text("n,x,y,z\n1,a,b,c\n2,b,c,a\n3,c,a,b\n")
    refused = run("depth", tmp_path / "w.csv", status=1).stderr
    assert "--columns 'chosen=?,shown_1=?,shown_2=?,shown_3=?,rater=?'" in refused
    columns = "odd=z,other_1=x,other_2=y"
    assert (
        json.loads(run("describe", tmp_path / "w.csv", "--columns", columns, "--json").stdout)[
            "kind"
        ]
        == "odd"
    )
    (tmp_path / "names.txt").write_text("van\nbus\ncar\n")
    (tmp_path / "t.txt").write_text("1 2 0\n2 1 0\n")
    done = run("depth", tmp_path / "t.txt", "--from", "things", "--objects", tmp_path / "names.txt")
    assert done.stdout.splitlines()[-1].startswith("van")
    (tmp_path / "l.csv").write_bytes("odd,other_1,other_2\né,b,c\n".encode("latin-1"))
    assert "--encoding latin-1" in run("depth", tmp_path / "l.csv", status=1).stderr
    assert "é" in run("depth", tmp_path / "l.csv", "--encoding", "latin-1").stdout
    (tmp_path / "p.csv").write_text("image1,image2,image3,choice\na,b,c,1\nc,a,b,2\n")
    assert "--counts-from" in run("depth", tmp_path / "p.csv", status=1).stderr
    run("depth", tmp_path / "p.csv", "--counts-from", 1)
    (tmp_path / "h.csv").write_text("x,y,z\n" + "a,b,c\nb,c,a\nc,a,b\nb,a,c\n")
    assert "--no-header" in run("depth", tmp_path / "h.csv", status=1).stderr
    assert "x " in run("depth", tmp_path / "h.csv", "--no-header").stdout


def test_a_folder_and_a_pattern(tmp_path):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("odd,other_1,other_2\na,b,c\n")
    for path in (tmp_path, tmp_path / "*.csv"):
        assert json.loads(run("describe", path, "--json").stdout)["statements"] == 2
    # three words a line, and yet no statements
    (tmp_path / "README.txt").write_text("odd,other_1,other_2\nread,me,first\n")
    assert json.loads(run("describe", tmp_path, "--json").stdout)["statements"] == 2
    assert "not read: README.txt" in run("depth", tmp_path).stderr
    # by its own name it is read
    assert "first" in run("depth", tmp_path / "README.txt").stdout
