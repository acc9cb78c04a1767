"""Files as people have them: what columns are called, headers, positions, ids, bad rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trilens.errors import FormatError, StatementError, TrilensError
from trilens.files import Reading, read_statements, scan_statements, write_statements
from trilens.statements import Statements
from trilens.statements.roles import NAMES, role_of


@pytest.fixture
def read(tmp_path: Path):
    def read(content: str, ending: str = ".csv", **options: Any) -> Statements:
        path = tmp_path / f"s{ending}"
        path.write_text(content, newline="")
        S = read_statements(path, **options)
        parts = list(scan_statements(path, chunk_rows=1, **options))
        triples = [[part.names[i] for i in row] for part in parts for row in part.triples.tolist()]
        assert triples == named(S)
        for column in ("raters", "seconds", "places"):
            if getattr(S, column) is not None:
                joined = np.concatenate([getattr(part, column) for part in parts])
                np.testing.assert_array_equal(joined, getattr(S, column))
        return S

    return read


@pytest.fixture
def understood(tmp_path: Path):
    def understood(content: str | bytes, ending: str = ".csv", **options: Any) -> Reading:
        path = tmp_path / f"s{ending}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        told: list[Reading] = []
        read_statements(path, tell=told.append, **options)
        return told[0]

    return understood


def named(S: Statements) -> list[list[str]]:
    return [[S.names[i] for i in row] for row in S.triples.tolist()]


CLOSER = [["cat", "dog", "cow"], ["dog", "cow", "cat"]]


def test_positions_among_integers(read) -> None:
    rows = "shown_1,shown_2,shown_3,chosen\n10,11,12,0\n12,13,1,2\n"
    assert named(read(rows)) == [["10", "11", "12"], ["1", "12", "13"]]
    # every answer is among those shown: names, although they could be positions
    rows = "shown_1,shown_2,shown_3,chosen\n0,1,2,2\n2,1,0,0\n"
    assert named(read(rows)) == [["2", "0", "1"], ["0", "2", "1"]]


def test_positions_that_do_not_tell_where_they_begin(read) -> None:
    rows = "image1,image2,image3,choice\na,b,c,1\na,c,b,2\n"
    with pytest.raises(FormatError, match=r"positions \(1, 2\), but do they count from 0 or"):
        read(rows)
    assert named(read(rows, counts_from=1)) == [["a", "b", "c"], ["c", "a", "b"]]
    assert named(read(rows, counts_from=0)) == [["b", "a", "c"], ["b", "a", "c"]]
    with pytest.raises(FormatError, match="as positions they go from 0 to 2"):
        read(rows.replace("b,2", "b,3"), counts_from=0)


def test_one_name_one_role() -> None:
    for role, names in NAMES.items():
        for name in names:
            expected = "round" if role == "round" and name != "session" else role
            found = role_of(name)
            assert found == expected or name == "session", name
    assert role_of("colour") is None
    assert role_of("a") is None


UNKNOWN = "probe,pick1,left over\n"
ROWS = "cat,dog,cow\ndog,cow,cat\ncow,cat,dog\ncat,cow,dog\n"


def test_a_header_that_is_not_understood(read) -> None:
    with pytest.raises(FormatError) as caught:
        read("x,y,z\n" + ROWS)
    text = str(caught.value)
    assert "row 1: the first row looks like a header" in text
    assert "the columns are x (cat, dog, cow), y (dog, cow, cat), z (cow, cat, dog)" in text
    assert "fill in columns='chosen=?,shown_1=?,shown_2=?,shown_3=?,rater=?'" in text
    assert read("x,y,z\n" + ROWS, header=False).names[:3] == ("x", "y", "z")
    assert read(ROWS).names == ("cat", "dog", "cow")


def test_columns_given_for_a_header_that_is_not_known(read) -> None:
    for columns in ("anchor,near,far", "anchor=1,near=2,far=3", ["anchor", "near", "far"]):
        S = read("one,two,three\n" + ROWS, columns=columns)
        assert (S.kind, S.names, len(S)) == ("closer", ("cat", "dog", "cow"), 4)
        S = read("head,winner,loser\ncat,dog,cow\n", columns=columns)
        assert (S.names, len(S)) == (("cat", "dog", "cow"), 1)


WIDE = [f"v{i}" for i in range(22)]
WIDE_ROWS = [
    [*(["x1", "x2", "x3"]), a, b, c, *[str(i) for i in range(16)]]
    for a, b, c in (("cat", "dog", "cow"), ("dog", "cow", "cat"), ("cow", "dog", "cat"))
]


def test_some_of_many_columns(read, understood) -> None:
    content = "\n".join(",".join(row) for row in [WIDE, *WIDE_ROWS]) + "\n"
    with pytest.raises(FormatError, match=r"v21 \(15\): fill in columns="):
        read(content)
    for columns in (
        "odd=v5,other_1=v3,other_2=v4,rater=v0",
        "odd=6, other_1=4, other_2=5, rater=1",
        {"odd": 6, "other_1": "v3", "other_2": "V4", "rater": 1},
    ):
        S = read(content, columns=columns)
        assert (S.kind, named(S)[0], S.raters[0]) == ("odd", ["cow", "cat", "dog"], "x1")
    found = understood(content, columns="odd=v5,other_1=v3,other_2=v4")
    assert found.columns == {"odd": "v5", "other_1": "v3", "other_2": "v4"}
    assert len(found.left_out) == 19
    without = "\n".join(",".join(row) for row in WIDE_ROWS)
    assert len(read(without, columns="odd=6,other_1=4,other_2=5")) == 3
    with pytest.raises(FormatError, match="columns without a header"):
        read(without)


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ("odd=nothing,other_1=v3,other_2=v4", "no column 'nothing'; the columns seen are v0"),
        ("odd=v3,other_1=v3,other_2=v4", "'v3' is named twice"),
        ("odd=99,other_1=v3,other_2=v4", "no column '99'"),
        ("strange=v3", "'strange' is not something a column can hold; it can hold central, odd"),
        ("odd=v3,odd=v4", "odd is given twice"),
        ("odd=v3", "no columns other_1, other_2"),
        ("odd,other_1", "names 2 columns, but there are 22"),
    ],
)
def test_columns_that_cannot_be(read, columns: str, what: str) -> None:
    content = "\n".join(",".join(row) for row in [WIDE, *WIDE_ROWS]) + "\n"
    with pytest.raises(FormatError, match=what):
        read(content, columns=columns)


@pytest.mark.parametrize("missing", ["NA", "NaN", "", "null", "None", " ", "n/a", '"NA"'])
def test_missing_values_are_missing(read, missing: str) -> None:
    rows = f"odd,other_1,other_2,rater\na,b,c,r\na,{missing},c,r\nb,a,c,r\n"
    with pytest.raises(StatementError, match=r"row 3: .* does not name an object"):
        read(rows)
    assert read(rows, skip_bad=True).names == ("a", "b", "c")
    assert read(rows.replace(",r\n", f",{missing}\n"), skip_bad=True).raters.tolist() == ["", ""]


def test_a_name_that_is_listed_is_not_missing(read) -> None:
    assert read("NA,DE,FR\nDE,FR,NA\n", objects=["DE", "FR", "NA"]).names == ("DE", "FR", "NA")


BAD = (
    "odd,other_1,other_2,rt\na,b,c,1\na,b,b,1\n\nb,NA,c,1\na,b\nb,a,c,soon\n"
    "b,c,a,2\nc,c,a,2\na,b,c,d,e\n"
)


def test_bad_rows_are_skipped_and_named(tmp_path: Path, understood) -> None:
    found = understood(BAD, skip_bad=True)
    assert found.rows == 2
    assert [(fault.row, fault.problem) for fault in found.faults] == [
        (3, "an object appears twice"),
        (5, "an object is missing"),
        (6, "2 columns instead of 4"),
        (7, "'soon' is not a time"),
        (9, "an object appears twice"),
        (10, "5 columns instead of 4"),
    ]
    assert "6 bad rows skipped" in str(found)
    with pytest.raises(TrilensError, match="row 3"):
        understood(BAD.replace("\na,b\n", "\n").replace("soon", "1").replace("a,b,c,d,e\n", ""))
    path = tmp_path / "bad.csv"
    understood(BAD, skip_bad=path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 6
    assert {row["row"] for row in rows} == {"3", "5", "6", "7", "9", "10"}


def test_only_ten_bad_rows_are_named(understood) -> None:
    found = understood("a,b,c\n" + "a,a,b\n" * 17 + "c,b,a\n", skip_bad=True)
    assert len(found.faults) == 17
    assert len(found.named_faults()) == 11
    assert found.named_faults()[-1] == "and 7 more bad rows"
    assert found.named_faults()[0].endswith("row 2: an object appears twice")
    with pytest.raises(FormatError, match="all 3 rows are bad, such as row 1: an object"):
        understood("a,a,b\n" * 3, skip_bad=True)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet", ".npz", ".arrow"])
def test_bad_rows_of_tables(tmp_path: Path, ending: str) -> None:
    import json

    import pyarrow as pa
    import pyarrow.feather as pf
    import pyarrow.parquet as pq

    rows = [[0, 1, 2], [0, 0, 2], [2, 1, 0]]
    columns = dict(zip(("odd", "other_1", "other_2"), np.array(rows).T.tolist(), strict=True))
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    path = tmp_path / f"s{ending}"
    if ending == ".npz":
        np.savez(path, triples=np.array(rows), kind=np.array("odd"))
    elif ending == ".parquet":
        pq.write_table(pa.table(columns), path)
    elif ending == ".arrow":
        pf.write_feather(pa.table(columns), path)
    else:
        lines = "\n".join(map(json.dumps, records))
        path.write_text(json.dumps(records) if ending == ".json" else lines)
    with pytest.raises(StatementError, match=r"row 2: object '?0'? appears twice"):
        read_statements(path)
    told: list[Reading] = []
    S = read_statements(path, skip_bad=True, tell=told.append)
    assert (S.kind, S.triples.tolist()) == ("odd", [[0, 1, 2], [2, 1, 0]])
    assert [fault.row for fault in told[0].faults] == [2]
    assert sum(map(len, scan_statements(path, skip_bad=True))) == 2


def test_objects_by_their_line(read, understood, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("van\ncoupe\nsedan\ntruck\n")
    names = tmp_path / "names.txt"
    assert named(read("0,1,2\n", objects=names)) == [["van", "coupe", "sedan"]]
    assert named(read("4,1,2\n", objects=names)) == [["truck", "van", "coupe"]]
    assert "by their line in" in str(understood("4,1,2\n", objects=names))
    with pytest.raises(FormatError, match=r"numbers from 1 to 3, and the list has 4 names; do the"):
        read("1,2,3\n", objects=names)
    assert named(read("1,2,3\n", objects=names, counts_from=0)) == [["coupe", "sedan", "truck"]]
    assert named(read("1,2,3\n", objects=names, counts_from=1)) == [["van", "coupe", "sedan"]]
    with pytest.raises(FormatError, match=r"numbers from 0 to 4, but the 4 lines .* are 0 to 3"):
        read("0,1,4\n", objects=names)
    with pytest.raises(FormatError, match=r"numbers from 0 to 2, but the 4 lines .* are 1 to 4"):
        read("0,1,2\n", objects=names, counts_from=1)
    assert named(read("van,coupe,sedan\n", objects=names)) == [["van", "coupe", "sedan"]]


@pytest.mark.parametrize(
    "table",
    [
        "id,name\n7,van\n8,coupe\n9,sedan, long\n".replace("sedan, long", '"sedan, long"'),
        "Index\tWord\tnote\n7\tvan\tx\n8\tcoupe\ty\n9\tsedan, long\tz\n",
        '7,van\n8,coupe\n9,"sedan, long"\n',
    ],
)
def test_objects_by_their_id(read, tmp_path: Path, table: str) -> None:
    path = tmp_path / "names.csv"
    path.write_text(table)
    S = read("9,7,8\n8,7,9\n", objects=path)
    assert S.names == ("van", "coupe", "sedan, long")
    assert named(S)[0] == ["sedan, long", "van", "coupe"]
    with pytest.raises(FormatError, match=r"no id '6' \(1 of 3 objects"):
        read("6,7,8\n", objects=path)
    assert named(read('van,coupe,"sedan, long"\n', objects=path))[0][0] == "van"


def test_ids_in_python(read) -> None:
    S = read("9,7,8\n", objects={7: "van", 8: "coupe", 9: "sedan"})
    assert (S.names, named(S)) == (("van", "coupe", "sedan"), [["sedan", "van", "coupe"]])


def test_bad_tables_of_ids(read, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    for table, what in [
        ("id,name\n7,van\n7,coupe\n", "row 3: the id '7' is already in row 2"),
        ("id,name\n7,van\n8,van\n", "row 3: the name 'van' is already in row 2"),
        ("id,name\n7,\n", "row 2: the name is empty"),
        ("id,name\n7\n", "row 2: 1 columns where the first row has 2"),
        ("id,name\n", "has a header and no objects"),
    ]:
        path.write_text(table)
        with pytest.raises(FormatError, match=what):
            read("7,8,9\n", objects=path)


def test_things_with_their_names(data_dir: Path) -> None:
    things = data_dir / "things"
    S = read_statements(things / "test_10.txt", preset="things", objects=things / "unique_id.txt")
    assert (S.kind, S.n_objects, S.names[0]) == ("odd", 1854, "aardvark")
    rows = np.loadtxt(things / "test_10.txt", dtype=int)
    np.testing.assert_array_equal(S.triples, rows[:, [2, 0, 1]])


def test_encodings(understood) -> None:
    text = "odd,other_1,other_2\né,b,c\nb,é,c\n"
    with pytest.raises(FormatError, match=r"row 2: byte 0xe9 is not UTF-8 .*encoding='latin-1'"):
        understood(text.encode("latin-1"))
    assert understood(text.encode("utf-16")).objects == 3  # its first bytes say it
    for encoding in ("latin-1", "utf-16", "utf-8", "utf-8-sig"):
        assert understood(text.encode(encoding), encoding=encoding).objects == 3
    with pytest.raises(FormatError, match="unknown encoding 'klingon'"):
        understood(text, encoding="klingon")
    with pytest.raises(FormatError, match="is not utf-16 text"):
        understood(text.encode() + b"x", encoding="utf-16")


def test_a_quote_that_is_never_closed(read) -> None:
    for rows in ('a,b,"c\nb,c,a\n', 'a,b,c\nb,c,"a\n', 'a,b,c\nb, "c,a\nc,a,b\n'):
        with pytest.raises(FormatError, match=r"row [12]: a quote is opened and never closed"):
            read(rows)
    assert read('5" pipe,b,c\nb,c,a\n').names[0] == '5" pipe'


def test_kinds_that_contradict(read) -> None:
    with pytest.raises(FormatError, match=r"'head' says .* closer, but kind odd"):
        read("head,winner,loser\ncat,dog,cow\n", kind="odd")
    with pytest.raises(FormatError, match="more than three objects are shown"):
        read("shown_1,shown_2,shown_3,shown_4,score\na,b,c,d,a\n", kind="odd")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("odd,other_1,other_2", "{},{},{}"),
        ("odd,other_1,other_2,rater", "{},{},{},w1"),
        ("odd,other_1,other_2,seconds", "{},{},{},1.5"),
        ("Odd , other_1,other_2,note", "{},{},{},x"),
        ("\ufeffodd,other_1,other_2", "{},{},{}"),
    ],
)
@pytest.mark.parametrize("names", [("cat", "dog", "cow"), ("1", "2", "3")])
def test_a_header_that_comes_again(
    read, understood, header: str, row: str, names: tuple[str, ...]
) -> None:
    once = f"{header}\n{row.format(*names)}\n{row.format(*names[::-1])}\n"
    with pytest.raises(FormatError, match=r"row 4: the header is repeated here.*skip_bad=True"):
        read(once + once)
    S = read(once + once, skip_bad=True)
    assert (S.kind, S.names, len(S)) == ("odd", names, 4)
    faults = understood(once + once, skip_bad=True).faults
    assert [(fault.row, fault.problem) for fault in faults] == [(4, "the header is repeated here")]


def test_objects_that_are_called_as_columns_are(tmp_path: Path) -> None:
    names = ["odd", "other_1", "other_2", "rater"]
    S = Statements([[1, 0, 2], [0, 1, 3]], names=names, kind="odd")
    same = Statements([[1, 0, 2], [0, 1, 2]], names=names, kind="odd")
    for ending in ("csv", "tsv", "txt", "jsonl"):
        file = tmp_path / f"a.{ending}"
        write_statements(S, file)
        back = read_statements(file)
        assert [[back.names[i] for i in row] for row in back.triples] == [
            ["other_1", "odd", "other_2"],
            ["odd", "other_1", "rater"],
        ]
        if ending != "jsonl":
            with pytest.raises(FormatError, match=r"statement 2 is odd.*\.parquet or \.jsonl"):
                write_statements(same, file)
    rated = Statements([[0, 1, 2]], names=names[:3], kind="odd", raters=["w1"])
    write_statements(rated, tmp_path / "rated.csv")
    assert read_statements(tmp_path / "rated.csv").raters.tolist() == ["w1"]
    write_statements(same, tmp_path / "same.jsonl")
    assert len(read_statements(tmp_path / "same.jsonl")) == 2


@pytest.mark.parametrize(
    "rows",
    ["a,b,c\nb,c,a\n", "a,b,c\nb,c,a\nd,e,a\nb,d,e\nc,d,f\n"],
)
def test_a_header_of_words_that_never_come_again(read, rows: str) -> None:
    with pytest.raises(FormatError, match=r"row 1: the first row looks like .*header=False"):
        read("First,Second,Third\n" + rows)
    assert "First" in read("First,Second,Third\n" + rows, header=False).names
    assert "First" in read("First,Second,Third\n" + rows + "a,First,b\n").names


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("names", [("cat", "dog", "cow"), ("1", "2", "3")])
def test_a_decimal_comma(read, separator: str, names: tuple[str, ...]) -> None:
    def rows(*times: str) -> str:
        cells = [("odd", "other_1", "other_2", "seconds"), *((*names, time) for time in times)]
        return "".join(separator.join(row) + "\n" for row in cells)

    S = read(rows("2,281", "3", "", "0,5"))
    np.testing.assert_array_equal(S.seconds, [2.281, 3, np.nan, 0.5])
    assert S.names == names
    with pytest.raises(FormatError, match="row 3: 'soon' in column seconds is not a number"):
        read(rows("2,281", "soon"))
    with pytest.raises(FormatError, match=r"row 3: '2\.5' in column seconds: some numbers have"):
        read(rows("2,281", "2.5"))
    assert read(rows("2,281", "soon", "1,5"), skip_bad=True).seconds.tolist() == [2.281, 1.5]
    S = read('odd,other_1,other_2,seconds\na,b,c,"2,281"\nb,a,c,3\n')
    assert S.seconds.tolist() == [2.281, 3]


def test_what_was_decided_by_the_values_is_said(understood) -> None:
    rows = "image1,image2,image3,choice,rt\na,b,c,3,1800\nc,d,a,1,2200\nb,a,d,2,2000\n"
    said = str(understood(rows, kind="odd"))
    assert "choice: positions, from 1" in said
    assert "rt taken as ms (median 2,000)" in said
    with pytest.raises(
        StatementError, match=r"row 2: the chosen object 'cow' is not among the two"
    ):
        understood("target,left,right,choice\ncow,dog,cat,cow\ncow,dog,cat,dog\n")
