"""One handle wherever the answers lie: in memory, in files, as counts."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import trilens as tl
from commandline import run
from trilens import Statements, answers as module, write_counts, write_statements
from trilens.answers import Answers, central_counts, pair_counts, read_or_count
from trilens.counts import count_central, count_pairs, counted
from trilens.counts.counting import count_files
from trilens.errors import FormatError, ParameterError, StatementError, TrilensError
from trilens.files.source import Source

S = Statements(
    [[0, 1, 2], [1, 0, 3], [0, 3, 2], [0, 1, 2]], names=["a", "b", "c", "d"], kind="central"
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "answers.parquet"
    write_statements(S, path)
    return path


def places(file, tmp_path, monkeypatch):
    """The same answers in memory, in a small file, in one too large to hold, and as counts."""
    stored = tmp_path / "answers.counts.npz"
    write_counts(count_files(file, pairs=True), stored)
    yield S
    yield Answers(S)
    yield Answers(file)
    yield Answers(stored)
    yield count_files(file, pairs=True)
    monkeypatch.setattr(module, "STREAMED_BYTES", 0)
    yield Answers(file)


def test_counts_do_not_depend_on_where_the_answers_lie(file, tmp_path, monkeypatch):
    one, two = count_central(S), count_pairs(S)
    for data in places(file, tmp_path, monkeypatch):
        found, pairs = central_counts(data), pair_counts(data)
        assert found.names == pairs.names == S.names
        assert found.kind == pairs.kind == "central"
        np.testing.assert_array_equal(found.singled, one.singled)
        np.testing.assert_array_equal(found.appears, one.appears)
        np.testing.assert_array_equal(pairs.third, two.third)
        np.testing.assert_array_equal(pairs.appears, two.appears)


def test_what_is_counted_already_is_passed_on(file, monkeypatch):
    one, two = count_central(S), count_pairs(S)
    assert central_counts(one) is one
    assert pair_counts(two) is two
    with pytest.raises(FormatError, match="pairs were not counted"):
        pair_counts(counted(S))
    assert isinstance(read_or_count(Answers(file)), Statements)
    monkeypatch.setattr(module, "STREAMED_BYTES", 0)
    assert read_or_count(Answers(file), pairs=True).pairs is not None


TABLE = {
    "central": ["a", "b", "c", "a"],
    "other_1": ["b", "c", "a", "c"],
    "other_2": ["c", "a", "b", "b"],
    "country": ["DE", "FR", "DE", "DE"],
    "age": [30, 41, 25, 25],
    "rt": [1800, 900, 2100, 1500],
    "worker": ["w1", "w2", "w1", "w3"],
}
CONDITIONS = ["country = DE", "age < 30", "seconds >= 1.6", "worker != w2"]


@pytest.mark.parametrize("made", [pd.DataFrame, pa.table, dict])
def test_a_table_in_memory_is_selected_from_as_a_file_is(tmp_path, made):
    path = tmp_path / "answers.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    for where in ([], CONDITIONS[:1], CONDITIONS):
        file, table = Answers(path, where=where), Answers(made(TABLE), where=where)
        assert table.read() == file.read()
        assert table.column("age").tolist() == file.column("age").tolist()
        assert table.count().statements == file.count().statements == len(file.read())
    assert str(Answers(made(TABLE)).reading).startswith("table: 4 statements, kind central, 3 ob")
    for source in (path, made(TABLE)):
        with pytest.raises(TrilensError, match="no column 'town'"):
            Answers(source, where=["town = Bonn"]).read()
        with pytest.raises(TrilensError, match="column 'central' holds objects"):
            Answers(source).column("central")
    with pytest.raises(ParameterError, match="only files and tables have further columns"):
        Answers(S).column("age")


@pytest.mark.parametrize(
    ("options", "name", "cells"),
    [
        ({}, "age", ["31", "", "32"]),
        ({"columns": ["central", "other_1", "other_2", "age", "rater"], "header": True}, "age",
         ["31", "", "32"]),
        ({"columns": "odd=central,other_1=2,other_2=3,round=rater"}, "rater", ["x", "y", "x"]),
        ({"skip_bad": True}, "age", ["31", "", "32"]),
    ],
)  # fmt: skip
def test_further_columns(options, name, cells, tmp_path):
    path = tmp_path / "answers.csv"
    rows = ["central,other_1,other_2,Age,rater", "a,b,c,31,x", "", "b,a,c,,y", "c,a,b,32,x"]
    rows += ["b,b,c,40,x"] if options.get("skip_bad") else []
    path.write_text("\n".join(rows))
    assert Answers(path, **options).column(name).tolist() == cells


def test_conditions_do_not_read_a_file_again(tmp_path, monkeypatch):
    path = tmp_path / "answers.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    opened = []
    raw = Source.raw

    def counted_raw(self):
        opened.append(self.label)
        return raw(self)

    monkeypatch.setattr(Source, "raw", counted_raw)
    Answers(path).read()
    once = len(opened)
    chosen = Answers(path, where=CONDITIONS)
    assert len(chosen.read()) == 1
    assert chosen.column("country").tolist() == ["DE"]
    assert len(opened) == 2 * once
    # nor does the standard input need to be read twice
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    piped = Answers("-", where=CONDITIONS)
    assert piped.read() == chosen.read()
    assert piped.column("country").tolist() == ["DE"]
    with pytest.raises(FormatError, match="can be read only once; give a file"):
        piped.column("rt")


def test_bad_rows_of_a_table_are_skipped(tmp_path):
    table = TABLE | {"other_1": ["b", "b", None, "c"], "rt": ["1800", "900", "2100", "soon"]}
    with pytest.raises(TrilensError, match="statement 2: an empty cell in column other_1"):
        Answers(table).read()
    answers = Answers(table, skip_bad=tmp_path / "bad.csv")
    assert list(answers.read()) == [("a", "b", "c")]
    assert [str(fault) for fault in answers.reading.faults] == [
        "statement 1: object 'b' appears twice in one statement",
        "statement 2: an empty cell in a column of objects does not name an object",
        "statement 3: 'soon' is not a time",
    ]
    assert len((tmp_path / "bad.csv").read_text().splitlines()) == 4


def test_a_path_stands_for_the_answers_in_it(file):
    assert tl.medoid(str(file)).name == tl.medoid(S).name
    with pytest.raises(FormatError, match=r"a.csv: no such file"):
        tl.medoid("a.csv")


def test_chunks_of_the_answers_that_meet_a_condition(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text(
        "central,other_1,other_2,country\na,b,c,DE\nb,a,d,FR\nc,a,b,DE\n", encoding="utf-8"
    )
    chunks = list(Answers(file, where="country = DE").scan(chunk_rows=1))
    assert [S.triples.tolist() for S in chunks] == [[[0, 1, 2]], [[2, 0, 1]]]
    assert chunks[0].names == ("a", "b", "c", "d")
    with pytest.raises(ParameterError, match="no answer is left where country = IT"):
        list(Answers(file, where="country = IT").scan())
    with pytest.raises(ParameterError, match="go with read"):
        Answers(file, exclude_raters=["x"]).scan()


def test_large_files_are_counted_where_counts_suffice(file, monkeypatch):
    expected = [tl.medoid(S, "depth"), tl.depth_intervals(S, method="depth"), tl.k_rng(S, 1)]
    monkeypatch.setattr(module, "COUNTED_BYTES", 1)
    monkeypatch.setattr(Answers, "read", lambda self: pytest.fail("the file was read"))
    found = tl.medoid(Answers(file), "depth")
    assert found.to_dict() == expected[0].to_dict()
    by_counting = tl.depth_intervals(Answers(file), method="depth")
    assert by_counting.low.tolist() == expected[1].low.tolist()
    assert tl.outliers(Answers(file), 2, method="depth").names == ("c", "d")
    assert (tl.k_rng(Answers(file), 1) != expected[2]).nnz == 0
    assert Answers(file).n_statements == len(S)
    for line in (["depth", file], ["medoid", file, "--method", "depth"]):
        assert run(*line).stdout


def test_raters_are_not_lost_by_counting(tmp_path, monkeypatch):
    raters = Statements([[0, 1, 2], [1, 0, 2]] * 20, raters=np.arange(40) // 4, kind="central")
    write_statements(raters, tmp_path / "answers.csv")
    monkeypatch.setattr(module, "COUNTED_BYTES", 1)
    assert isinstance(read_or_count(Answers(tmp_path / "answers.csv"), enough=True), Statements)
    assert isinstance(read_or_count(Answers(raters), enough=True), Statements)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_negative_integers_that_are_listed_are_names(tmp_path, ending):
    file, names = tmp_path / f"answers.{ending}", ["-1", "0", "1"]
    table = pd.DataFrame({"central": [-1, 1], "other_1": [0, 0], "other_2": [1, -1]})
    table.to_csv(file, index=False) if ending == "csv" else table.to_parquet(file)
    found = Answers(file, objects=names).count()
    assert found.names == Answers(file, objects=names).read().names == tuple(names)
    assert found.first.tolist() == [1, 0, 1]
    with pytest.raises(TrilensError, match="the object id -1 is negative"):
        Answers(file).count()


@pytest.mark.parametrize("way", [Answers.read, Answers.count])
def test_what_is_not_used_is_looked_at_wherever_the_answers_lie(tmp_path, way):
    file = tmp_path / "answers.csv"
    file.write_text("central,other_1,other_2,reason\na,b,c,x\nb,c,d,\na,c,d,y\n")
    with pytest.raises(FormatError, match=r"no row has 'z' .* the words are \(empty\), x, y"):
        way(Answers(file, reason_random="z"))
    file.write_text("central,other_1,other_2,cond\na,b,c,u\na,a,d,v\nb,c,d,u\n")
    with pytest.raises(TrilensError, match="row 3: object 'a' appears twice"):
        way(Answers(file, where="cond = u"))


def test_chosen_questions_alone_have_a_map_and_no_shares(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("central,other_1,other_2,reason\na,b,c,adaptive\nb,c,d,adaptive\n")
    assert Answers(file).count_all().statements == 2
    with pytest.raises(TrilensError, match="all 2 questions were chosen"):
        Answers(file).count()


def test_ids_up_to_which_no_memory_holds_counts_are_one_line(monkeypatch):
    monkeypatch.setattr(module, "available_memory", lambda: 1 << 28)
    vast = Statements([[0, 1, 20_000_000]], kind="central")
    for ask in (tl.medoid, tl.fit, tl.lens_depth, lambda S: tl.medoid(Answers(S))):
        with pytest.raises(StatementError, match="largest id is 20,000,000"):
            ask(vast)
