"""Files of comparisons d(A, B) < d(C, D), and the commands that take them."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from trilens.cli import trilens
from trilens.errors import FormatError, StatementError
from trilens.files import read_comparisons, read_statements, write_comparisons
from trilens.maps import Comparisons, violations
from trilens.statements.names import is_missing

NAMES = st.text(
    st.characters(
        exclude_categories=["Cs"], exclude_characters="\0\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    ),
    min_size=1,
    max_size=6,
).filter(lambda name: name.strip() == name and not is_missing(name))


@given(
    names=st.lists(NAMES, min_size=4, max_size=6, unique=True),
    seed=st.integers(0, 2**32 - 1),
    ending=st.sampled_from(["csv", "tsv", "txt", "csv.gz"]),
)
def test_what_is_written_is_read(names, seed, ending, tmp_path_factory):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(len(names))[:4] for _ in range(5)])
    path = tmp_path_factory.mktemp("c") / f"pairs.{ending}"
    C = Comparisons(rows, names=names)
    write_comparisons(C, path)
    again = read_comparisons(path)
    said = [[C.names[i] for i in row] for row in C.rows]
    assert [[again.names[i] for i in row] for row in again.rows] == said


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("0,1,2,3\n3,2,0,1\n", [[0, 1, 2, 3], [3, 2, 0, 1]]),
        ("a;b;c;d\n5;6;7;8\n", [[0, 1, 2, 3]]),
        ("rater far_2 far_1 near_2 near_1\nx 9 8 7 6\n", [[0, 1, 2, 3]]),
        ("\ufeffnear_1\tnear_2\tfar_1\tfar_2\nu\tv\tu\tw\n", [[0, 1, 0, 2]]),
    ],
)
def test_layouts(text, rows, tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text(text, encoding="utf-8")
    assert read_comparisons(path).rows.tolist() == rows


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (b"", FormatError, "is empty"),
        (b"near_1,near_2,far_1,far_2\n", FormatError, "only a header"),
        (b"one,two,three,four\n1,2,3,4\n", FormatError, "must name the columns near_1"),
        (b"0,1,2\n", FormatError, "must name the columns"),
        (b"0,1,2,3\n0,1,2\n", FormatError, "row 2: 3 columns where the first row has 4"),
        (b"0,1,2,3\n0,1,1,0\n", StatementError, "row 2: .*two different pairs"),
        (b"0,1,2,3\n0,0,1,2\n", StatementError, "row 2: .*different objects"),
        (b"a,b,c,d\nx,,y,z\n", StatementError, "row 2: the object .* is missing"),
        (b"a,b,c,d\n\xff,2,3,4\n", FormatError, "row 2: byte 0xff is not UTF-8"),
        (b"a\0b", FormatError, "binary file"),
    ],
)
def test_bad_files(data, error, said, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(data)
    with pytest.raises(error, match=said):
        read_comparisons(path)


def test_what_cannot_be_written(tmp_path):
    C = Comparisons([[0, 1, 2, 3]])
    with pytest.raises(FormatError, match=r"ending \.parquet"):
        write_comparisons(C, tmp_path / "pairs.parquet")
    with pytest.raises(FormatError, match="would be lost on reading"):
        write_comparisons(
            Comparisons([[0, 1, 2, 3]], names=["", "b", "c", "d"]), tmp_path / "p.csv"
        )
    with pytest.raises(FormatError, match="expected Comparisons"):
        write_comparisons([[0, 1, 2, 3]], tmp_path / "p.csv")


def run(*arguments):
    return CliRunner().invoke(trilens, [str(a) for a in arguments])


@pytest.fixture
def pairs(tmp_path):
    """Comparisons of the distances of ten points in the plane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    rows = np.array([rng.permutation(10)[:4] for _ in range(1500)])
    near, far = (np.linalg.norm(X[rows[:, i]] - X[rows[:, i + 1]], axis=1) for i in (0, 2))
    rows[near > far] = rows[near > far][:, [2, 3, 0, 1]]
    path = tmp_path / "pairs.csv"
    write_comparisons(Comparisons(rows, names=[f"p{i}" for i in range(10)]), path)
    return path, X


def test_embed_comparisons(pairs, tmp_path):
    path, _ = pairs
    out = tmp_path / "map.csv"
    result = run("embed", path, "--comparisons", "-o", out, "--json")
    facts = json.loads(result.stdout)
    assert (facts["method"], facts["dim"]) == ("soe", 2)
    assert facts["violations"] < 0.05
    lines = out.read_text().replace('"', "").splitlines()
    assert lines[0] == "object,x1,x2"
    found = np.array([line.split(",")[1:] for line in lines[1:]], dtype=float)
    C = read_comparisons(path)
    assert violations(found, C) == pytest.approx(facts["violations"])
    # the names come back with the coordinates
    assert [line.split(",")[0] for line in lines[1:]] == list(C.names)
    result = run("embed", path, "--comparisons", "--method", "lensmap", "-o", out)
    assert result.exit_code == 1
    assert "takes statements about three objects" in result.stderr
    result = run("embed", path, "--comparisons", "--kind", "odd", "-o", out)
    assert "--kind cannot be used with --comparisons" in result.stderr


def test_convert_to_and_from_comparisons(pairs, tmp_path):
    path, _ = pairs
    packed = tmp_path / "again.tsv.gz"
    assert (
        "1,500 statements of kind comparisons"
        in run("convert", path, packed, "--comparisons").stderr
    )
    assert gzip.decompress(packed.read_bytes()).startswith(b"near_1\tnear_2\tfar_1\tfar_2\n")
    statements = tmp_path / "s.csv"
    statements.write_text("central,other_1,other_2\na,b,c\n")
    run("convert", statements, tmp_path / "c.csv", "--to", "comparisons")
    text = (tmp_path / "c.csv").read_text().splitlines()
    assert text == ["near_1,near_2,far_1,far_2", "b,a,b,c", "c,a,c,b"]
    assert len(read_statements(statements)) == 1
    result = run("convert", path, tmp_path / "x.csv", "--comparisons", "--to", "odd")
    assert "cannot be converted to statements" in result.stderr
