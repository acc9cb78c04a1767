"""How the commands read files, what they say of them, and what they refuse in one line."""

from __future__ import annotations

import pytest

from commandline import facts, run
from trilens.cli import columns
from trilens.files import read_statements

SALMON = "head,winner,loser,puid,rt,score\n" + "".join(
    f"{a},{b},{c},p,1800,0.5\n"
    for a, b, c in [["cat", "dog", "cow"], ["dog", "cow", "cat"], ["cow", "cat", "pig"]]
)
OWN = "who,p,q,r,key\ns0,van,bus,car,2\ns1,bus,ski,van,1\ns0,ski,car,bus,3\n"


@pytest.fixture
def file(tmp_path):
    """Write a file of answers."""

    def write(text, name="answers.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


@pytest.fixture
def good(file):
    return file("a,b,c\nb,c,d\nd,a,c\na,d,b\n", "good.csv")


def test_one_line_of_what_was_understood(file):
    salmon = file(SALMON)
    said = run("depth", salmon).stderr.splitlines()
    lines = [line for line in said if line.startswith("read ")]
    assert lines == [
        f"read {salmon}: 3 statements, kind closer, 4 objects, 1 rater; columns anchor=head, "
        f"near=winner, far=loser, rater=puid, seconds=rt; unused: score; "
        f"rt taken as ms (median 1,800)"
    ]
    quiet = run("depth", salmon, "--quiet").output
    assert "read " not in quiet
    assert "anchor=" not in quiet
    shown = run("describe", salmon).stdout
    for words in ("anchor=head, near=winner", "left out", "score", "rt taken as ms", "1.80 s"):
        assert words in shown
    found = facts("describe", salmon)
    assert found["reading"]["columns"]["near"] == "winner"
    assert found["reading"]["left_out"] == ["score"]
    assert found["median_seconds"] == 1.8


def test_bad_rows(file, tmp_path):
    bad = file("a,b,c\n" + "a,a,c\n" * 17 + "NA,b,c\nb,c,a\n")
    stopped = run("depth", bad, status=1).stderr
    assert stopped.startswith(f"Error: {bad}, row 2: object 'a' appears twice")
    _, _, *skipped = run("depth", bad, "--skip-bad").stderr.splitlines()
    assert skipped[0].endswith("18 bad rows skipped")
    assert skipped[1] == f"skipped {bad}, row 2: object 'a' appears twice in one statement"
    assert skipped[11] == "skipped and 8 more bad rows"
    run("depth", bad, "--bad-rows", tmp_path / "bad.csv", "--quiet")
    assert len((tmp_path / "bad.csv").read_text().splitlines()) == 19
    assert "is an input file" in run("depth", bad, "--bad-rows", bad, status=1).stderr


#: A file that is refused, what the message offers, and the options that read it.
ADVICE = {
    "columns of another language": (
        "Gewählt;Andere 1;Andere 2;Versuchsperson;Reaktionszeit\n"
        "van;bus;car;p1;2,5\nbus;van;car;p2;3,1\ncar;van;bus;p1;2,2\n",
        "chosen=Gewählt,other_1=Andere 1,other_2=Andere 2,rater=Versuchsperson",
        "--columns OFFERED",
    ),
    "two columns of one name": (
        "central,central,other_1,rater\nvan,bus,car,p1\nbus,van,car,p2\n",
        "central=1",
        "--columns OFFERED,other_2=2",
    ),
    "two columns of choices": (
        "other_1,other_2,choice,choice\nvan,bus,car,p1\nbus,van,car,p2\n",
        "chosen=3",
        "--columns OFFERED",
    ),
    "columns that could be anything": (
        "n,x,y,z\n1,a,b,c\n2,b,c,a\n3,c,a,b\n",
        "--columns 'chosen=?,other_1=?,other_2=?,rater=?' or "
        "--columns 'chosen=?,shown_1=?,shown_2=?,shown_3=?'",
        "--columns odd=z,other_1=x,other_2=y",
    ),
    "a lone winner, chosen of three": (
        "winner,other,third one\na,b,c\nb,c,d\nc,a,d\n",
        "winner (a, b, c), other (b, c, a), third one (c, d): fill in --columns",
        "--columns central=winner,other_1=other,other_2=third one",
    ),
    "three unknown columns beside the answer": (
        "subject;card_left;card_mid;card_right;choice\np;a;b;c;a\nq;b;c;d;c\np;c;a;d;d\n",
        "--columns chosen=choice,shown_1=card_left,shown_2=card_mid,shown_3=card_right,"
        "rater=subject",
        "OFFERED",
    ),
    "letters of another encoding": (
        "odd,other_1,other_2\né,b,c\n".encode("latin-1"),
        "--encoding latin-1",
        "OFFERED",
    ),
    "places": ("image1,image2,image3,choice\na,b,c,1\nc,a,b,2\n", "--counts-from", "OFFERED 1"),
    "no header": ("x,y,z\na,b,c\nb,c,a\nc,a,b\nb,a,c\n", "--no-header", "OFFERED"),
}


@pytest.mark.parametrize("case", ADVICE)
def test_what_is_refused_names_the_option_that_reads_it(file, case):
    text, offered, options = ADVICE[case]
    path = file(text)
    refused = run("depth", path, status=1).stderr
    assert offered in refused
    assert "columns=" not in refused
    words = options.split(" ", 1) if options.startswith("--columns") else options.split()
    read = [part for word in words for part in taken(word, offered)]
    assert run("describe", path, *read).stdout


def taken(word, offered):
    """A word of a line, which may be what was offered."""
    if word == "OFFERED":
        return offered.split(" ") if offered.startswith("--") else [offered]
    return [word.replace("OFFERED", offered)]


# ---- trilens columns --------------------------------------------------------------------------


def test_columns_through_a_pipe(file):
    own = file(OWN)
    shown = run("columns", own).stdout
    assert "p       van, bus, ski" in shown
    assert "fill in --columns 'chosen=?,shown_1=?,shown_2=?,shown_3=?,rater=?'" in shown
    found = facts("columns", own)
    assert [each["name"] for each in found["columns"]] == ["who", "p", "q", "r", "key"]
    assert found["columns"][4] == {"name": "key", "values": ["2", "1", "3"], "holds": None}
    assert (found["option"], found["first"]) == (None, [])
    said = ("--columns", "chosen=key,shown_1=p,shown_2=q,shown_3=r,rater=who", "--kind", "odd")
    found = facts("columns", own, *said)
    assert found["first"][0] == ["bus", "van", "car"]
    assert found["raters"] == ["s0", "s1", "s0"]
    assert f"keep: {' '.join(said)}" in run("columns", own, *said).stdout
    whole = file("odd,other_1,other_2,vp\na,b,c,1\n")
    assert "the names of the columns suffice" in run("columns", whole).stdout
    found = facts("columns", whole)
    assert (found["kind"], found["first"]) == ("odd", [["a", "b", "c"]])
    assert [each["holds"] for each in found["columns"]] == ["odd", "other_1", "other_2", "rater"]


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ("odd\np,q,r\nkey\nwho\n", "chosen=key,shown_1=p,shown_2=q,shown_3=r,rater=who"),
        ("odd\n2, 3, 4\n9\n5\n\n", "chosen=key,shown_1=p,shown_2=q,shown_3=r"),
        ("closer\np,q,r\nr\n\n", "anchor=p,near=r,far=q"),
    ],
)
def test_three_questions_in_a_terminal(file, monkeypatch, answers, kept):
    monkeypatch.setattr(columns, "in_terminal", lambda: True)
    own = file(OWN)
    result = run("columns", own, stdin=answers)
    assert f"keep: --columns {kept}" in result.stdout
    assert "Which columns were shown" in result.stderr
    kind = answers.split("\n")[0]
    assert len(read_statements(own, columns=kept, kind=None if kind == "closer" else kind)) == 3


# ---- one line and a status ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said", "status"),
    [
        ("cluster FILE --n-clusters 2 -k 0", "-k", 2),
        ("outliers FILE --contamination 0.9", "contamination", 2),
        ("medoid FILE --kind median", "central", 2),
        ("cluster FILE --n-clusters 9", "9 clusters of 4 objects", 1),
        ("cluster FILE --n-clusters 2 --error-rate 0.7", "2/3", 1),
        ("graph FILE -k 1 -o g.xyz", ".graphml", 1),
        ("cluster FILE --kind odd --method krng --n-clusters 2", "map", 1),
        ("convert FILE taken.csv", "taken.csv", 1),
        ("convert FILE missing/x.csv", "missing", 1),
        ("columns none.csv", "no such file", 1),
        ("classify FILE --labels FILE", "good.csv: it must have the columns object and label", 1),
    ],
)
def test_wrong_lines_write_nothing(good, tmp_path, monkeypatch, line, said, status):
    folder = tmp_path / "out"
    (folder / "taken.csv").mkdir(parents=True)
    monkeypatch.chdir(folder)
    done = run(*line.replace("FILE", str(good)).split(), status=status)
    assert said in done.stderr.splitlines()[-1]
    assert [path.name for path in folder.iterdir()] == ["taken.csv"]
