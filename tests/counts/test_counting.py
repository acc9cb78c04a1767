"""Files counted as they come: whatever the format and the way, the plain count, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import trilens as tl
from trilens.counts import _threads, counting, follow, partition
from trilens.counts.counting import CountReport, count_files
from trilens.counts.file import to_bytes
from trilens.counts.partition import ahead
from trilens.errors import FormatError, LabelError, ParameterError, StatementError


def draw(m, n, seed):
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(n), (m, 1)), axis=1)[:, :3]


def check(path, **options):
    """The counts of files are those of the statements read whole."""
    reading = {key: value for key, value in options.items() if key in ("kind", "objects")}
    S = tl.read_statements(path, **reading)
    found = count_files(path, **options)
    expected = tl.count_central(S)
    assert found.names == S.names
    assert found.kind == S.kind
    assert found.statements == len(S)
    assert found.central.singled.tolist() == expected.singled.tolist()
    assert found.central.appears.tolist() == expected.appears.tolist()
    assert found.appearances.tolist() == S.appearances.tolist()
    if options.get("pairs"):
        pairs = tl.count_pairs(S)
        assert (found.pairs.to_dense().third == pairs.to_dense().third).all()
        assert (found.pairs.to_dense().appears == pairs.to_dense().appears).all()
        assert found.pairs.names == S.names


@pytest.fixture(params=["numpy", "compiled"])
def loops(request, monkeypatch):
    if request.param == "compiled":
        monkeypatch.setattr(_threads, "small", 0)


NAMES = {
    "ids": None,
    "gaps": [str(3 * i + 1) for i in range(12)],
    "text": [f"o {i}" for i in range(12)],
}


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("csv", "central"),
        ("tsv", "odd"),
        ("parquet", "closer"),
        ("arrow", "central"),
        ("jsonl", "odd"),
        ("npz", "closer"),
        ("csv.gz", "closer"),
        ("parquet.gz", "central"),
    ],
)
def test_every_format(tmp_path, ending, kind):
    for name, names in NAMES.items():
        folder = tmp_path / name
        folder.mkdir()
        for seed in range(2):
            S = tl.Statements(draw(60, 12, seed), 12, names, kind)
            tl.write_statements(S, folder / f"{seed}.{ending}")
        check(str(folder / f"*.{ending}"), pairs=True)
        check(folder)


def plain_parquet(path, triples, rows=1 << 20, **more):
    columns = dict(zip(("central", "other_1", "other_2"), triples.T, strict=True))
    pq.write_table(pa.table(columns | more), path, row_group_size=rows)


def test_columns_of_integers(tmp_path, monkeypatch):
    """Of every width, with ids for which the table grows, and too large for a table."""
    monkeypatch.setattr(_threads, "small", 0)
    file = tmp_path / "a.parquet"
    triples = draw(300, 40, 0) * 2 + 5
    for dtype in (np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        plain_parquet(file, triples.astype(dtype), rows=70, rater=np.arange(300))
        check(file, pairs=True)
    far = np.array([[0, 1, 2], [5000, 1, 2], [3, 200_000, 1], [0, 1, 200_000]])
    for ids in (far, far + (1 << 27), np.where(far == 3, 1 << 40, far)):
        plain_parquet(file, ids)
        check(file)


def test_row_groups_are_counted_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(partition, "PARTITION_ROWS", 100)
    monkeypatch.setattr(partition, "_ROWS", 33)
    triples = draw(1000, 50, 1)
    plain_parquet(tmp_path / "a.parquet", triples, rows=64)
    parts = partition.partitions(tmp_path / "a.parquet")
    assert len(parts) == 16
    assert [part.first_row for part in parts[:3]] == [1, 65, 129]
    for n_threads in (1, 3):
        check(tmp_path / "a.parquet", n_threads=n_threads, pairs=True)
    plain_parquet(tmp_path / "negative.parquet", np.array([[0, 1, 2], [3, -4, 1]]))
    with pytest.raises(StatementError, match=r"row 2: the object id -4 is negative"):
        count_files(tmp_path / "negative.parquet")
    triples[704:720, 1] = triples[704:720, 0]  # too many for catch questions
    plain_parquet(tmp_path / "a.parquet", triples, rows=64)
    with pytest.raises(StatementError, match=r"a\.parquet, row 705: object .* appears twice"):
        count_files(tmp_path / "a.parquet")


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize(
    ("text", "row"),
    [("0,1,2\n1,2,1\n", 2), ("a,b,c\nb,c,a\na,b,b\n", 3)],
)
def test_a_bad_row_is_named(tmp_path, text, row):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(StatementError, match=rf"a\.csv, row {row}: "):
        count_files(tmp_path / "a.csv")
    found = count_files(tmp_path / "a.csv", skip_bad=True)
    assert found.statements == row - 1
    assert found.n_skipped == 1
    assert f"row {row}" in found.skipped[0]


ROW = st.permutations(["0", "1", "2", "7", "10", "x", "y z", "é"]).map(lambda names: names[:3])


@settings(max_examples=60)
@given(st.lists(st.lists(ROW, min_size=1, max_size=6), min_size=1, max_size=4))
def test_numbers_that_turn_out_to_be_names(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("mixed")
    for i, rows in enumerate(files):
        text = "central,other_1,other_2\n" + "".join(",".join(row) + "\n" for row in rows)
        (folder / f"{i}.csv").write_text(text)
    S, found = tl.read_statements(folder), count_files(folder)
    assert sorted(found.names) == sorted(S.names)
    at = [found.names.index(name) for name in S.names]
    assert found.central.singled[at].tolist() == tl.count_central(S).singled.tolist()
    assert found.central.appears[at].tolist() == tl.count_central(S).appears.tolist()
    if len(files) == 1 or not any(name.isdigit() for name in S.names):
        assert found.names == S.names


SHOWN = "chosen,shown_1,shown_2,shown_3"
#: Rows of a file, and its objects where they are listed.
HARD = {
    "names after numbers": (
        ["9,8,7", "8,7,6", *["10,9,8"] * 10, "x,9,8", "8,x,y", *["1,x,2"] * 10],
        None,
    ),
    "places": ([SHOWN, "0,10,30,20", "2,10,20,40", "1,10,20,30"], None),
    "chosen of shown": ([SHOWN, "10,10,30,20", "40,10,20,40", "20,10,20,30"], None),
    "chosen of shown, by name": ([SHOWN, "b,a,b,c", "d,c,d,a", "b,d,a,b"], None),
    "listed": (["b,a,c", "c,a,b"], ["a", "zero", "c", "b"]),
    "listed by number": (["0,1,2", "2,1,3"], ["w", "x", "y", "z"]),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_files_block_by_block(tmp_path, monkeypatch, name):
    monkeypatch.setattr(partition, "BLOCK_BYTES", 40)
    rows, objects = HARD[name]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    check(tmp_path / "a.csv", objects=objects, pairs=True)


def test_classes(tmp_path):
    S = tl.Statements(draw(200, 9, 4), names=[f"o{i}" for i in range(9)], kind="central")
    tl.write_statements(S, tmp_path / "a.csv")
    labels = {f"o{i}": "xy"[i % 2] for i in range(7)}
    found = count_files(tmp_path / "a.csv", labels=labels)
    y = np.array([{"x": 0, "y": 1}.get(labels.get(name), -1) for name in found.names])
    expected = tl.counts.count_classes(
        tl.read_statements(tmp_path / "a.csv", objects=found.names), y, 2
    )
    assert found.class_names == ("x", "y")
    assert (found.classes.singled == expected.singled).all()
    assert (found.classes.appears == expected.appears).all()


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        ("empty.csv", {}, "has no statements"),
        ("none.csv", {}, "no such file"),
        ("*.parquet", {}, "no file matches"),
        ("a.csv", {"objects": ["a", "b"]}, "'c' is not in the list of objects"),
        ("a.csv", {"labels": {"elsewhere": "x"}}, "none of the objects has a label"),
        ("a.csv", {"cluster": "local:0"}, r"cluster is .* it must be local"),
        ("a.csv", {"cluster": "there"}, r"cluster is .* it must be local"),
        ("a.csv", {"cluster": 3}, r"cluster is .* it must be local"),
    ],
)
def test_what_cannot_be_counted(tmp_path, path, options, said):
    (tmp_path / "empty.csv").write_text("central,other_1,other_2\n")
    (tmp_path / "a.csv").write_text("b,a,c\nc,a,b\n")
    with pytest.raises((FormatError, LabelError, ParameterError, StatementError), match=said):
        count_files(str(tmp_path / path), **options)


def test_counts_of_paths(tmp_path):
    S = tl.Statements(draw(100, 8, 0), 8, kind="central")
    tl.write_statements(S, tmp_path / "a.csv")
    for path in (tmp_path / "a.csv", str(tmp_path), [tmp_path / "a.csv"]):
        assert tl.count_central(path).singled.tolist() == tl.count_central(S).singled.tolist()
    assert (tl.count_pairs(tmp_path).third == tl.count_pairs(S).third).all()
    with pytest.raises(ParameterError, match="only files are counted on a cluster"):
        tl.count_central(S, cluster="local:2")


def test_a_file_of_which_nothing_is_left_adds_nothing(tmp_path):
    (tmp_path / "1.csv").write_text("central,other_1,other_2,rater\na,b,c,x\nb,c,d,x\n")
    (tmp_path / "2.csv").write_text("central,other_1,other_2,rater\nc,a,b,y\n")
    labels = {"a": "one", "b": "one", "c": "two"}
    found = count_files(tmp_path, where="rater = x", pairs=True, labels=labels)
    alone = count_files(tmp_path / "1.csv", pairs=True, labels=labels)
    assert to_bytes(found) == to_bytes(alone)


def test_a_corrupt_file_is_named_or_skipped(tmp_path):
    for i in range(3):
        plain_parquet(tmp_path / f"{i}.parquet", draw(50, 6, i))
    good = count_files([tmp_path / "0.parquet", tmp_path / "2.parquet"])
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"1\.parquet is truncated"):
        count_files(tmp_path)
    found = count_files(tmp_path, skip_bad=True)
    assert found.central.singled.tolist() == good.central.singled.tolist()
    assert found.statements == 100
    assert found.n_skipped == 1
    assert "1.parquet is left out" in found.skipped[0]


def test_progress_within_a_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "_TASK_FILES", 1)
    monkeypatch.setattr(partition, "BLOCK_BYTES", 1000)
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text("a,b,c\n" * 1000)
    told: list[float] = []
    count_files(tmp_path, n_threads=1, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 12  # threads tell how far a file has come
    told.clear()
    whole = count_files(tmp_path, n_threads=1, pairs=True, progress=told.append)
    assert told == sorted(told)
    assert len([share for share in told if share < 0.5]) > 6
    # a first count is gone on from
    first = count_files(tmp_path)
    reports: list[CountReport] = []
    again = count_files(tmp_path, pairs=True, first=first, tell=reports.append)
    assert to_bytes(again) == to_bytes(whole)
    assert reports[0].passes == 1


def test_checkpoints_are_gone_on_from(tmp_path, monkeypatch):
    data, kept = tmp_path / "data", tmp_path / "kept"
    data.mkdir()
    for i in range(5):
        plain_parquet(data / f"{i}.parquet", draw(50, 6, i))
    told: list[CountReport] = []

    def run(**options):
        return count_files(data, checkpoint=kept, tell=told.append, **options)

    plain = to_bytes(count_files(data))
    assert to_bytes(run()) == plain
    files = sorted(kept.iterdir())
    assert len(files) == 5
    (files[0]).write_bytes(files[0].read_bytes()[:-20])  # cut short: counted again
    files[1].unlink()
    assert to_bytes(run()) == plain
    assert to_bytes(run()) == plain
    assert [report.resumed for report in told] == [0, 3, 5]
    run(columns="central=other_1,other_1=central,other_2=3")  # another question, other counts
    assert told[-1].resumed == 0
    plain_parquet(data / "2.parquet", draw(51, 6, 9))  # and so has another file
    assert run().statements == 251
    assert told[-1].resumed == 4
    run(pairs=True)
    assert told[-1].resumed == 0
    with_pairs = run(pairs=True)
    assert told[-1].resumed == 5
    assert (with_pairs.pairs.third == tl.count_pairs(tl.read_statements(data)).third).all()


def test_memory_does_not_grow_with_the_file(tmp_path):
    plain_parquet(tmp_path / "a.parquet", np.tile(draw(1000, 50, 0), (200, 1)), rows=20_000)
    work_rows = 3 * 8 * partition._ROWS
    count_files(tmp_path / "a.parquet", n_threads=1)  # what is imported and compiled is no file's
    tracemalloc.start()
    try:
        count_files(tmp_path / "a.parquet", n_threads=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < work_rows + (1 << 20)
    assert peak < 200_000 * 3 * 8 // 2


def test_whoever_stops_early_leaves_no_thread_behind():
    rows = ahead(iter(range(1000)))
    assert next(rows) == 0
    rows.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("trilens-reader")]


def put(folder, name, rows):
    draft = folder / f".{name}"
    draft.write_text(rows)
    draft.rename(folder / name)


def look(folder, output):
    (found,) = follow(folder, output)
    return found


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    return made


@pytest.fixture
def output(tmp_path):
    return tmp_path / "counts.npz"


def test_each_file_is_counted_once(folder, output):
    assert look(folder, output).counted == 0
    put(folder, "b.csv", "x,y,z\n")
    assert look(folder, output).counted == 1
    put(folder, "a.csv", "y,x,z\nw,x,y\n")
    put(folder, "c.csv", "z,x,w\n")
    second = look(folder, output)
    assert (second.counted, second.files, second.statements) == (2, 3, 4)
    assert look(folder, output).counted == 0
    found = tl.read_counts(output)
    expected = tl.count_central(tl.read_statements(folder))
    at = [found.names.index(name) for name in expected.names]
    assert found.central.singled[at].tolist() == expected.singled.tolist()
    assert found.central.appears[at].tolist() == expected.appears.tolist()
    # one that changes later is told and not counted again
    put(folder, "b.csv", "x,y,z\nx,z,y\n")
    third = look(folder, output)
    assert (third.counted, third.changed, third.statements) == (0, ("b.csv",), 4)
    # the output may stand in the folder
    assert [look(folder, folder / "counts.npz").counted for _ in range(2)] == [3, 0]


def test_a_file_that_grows_waits_for_the_next_look(folder, output, monkeypatch):
    put(folder, "a.csv", "x,y,z\n")
    put(folder, "b.csv", "x,y,z\n")
    honest = partition._count

    def growing(part, plan):
        if part.path.endswith("b.csv"):
            with open(part.path, "a") as more:
                more.write("z,y,x\n")
        return honest(part, plan)

    with monkeypatch.context() as patch:
        patch.setattr(partition, "_count", growing)
        found = look(folder, output)
        # it is no bad file, but one that is not there yet
        for skip_bad in (False, True):
            with pytest.raises(FormatError, match=r"b\.csv changed while it was being read"):
                tl.counts.counting.count_files(folder, skip_bad=skip_bad)
    assert (found.counted, found.files, found.statements) == (1, 1, 1)
    found = look(folder, output)
    assert (found.counted, found.files, found.changed) == (1, 2, ())


def test_it_waits_between_looks(folder, output):
    waited: list[float] = []

    def wait(seconds):
        waited.append(seconds)
        put(folder, f"{len(waited)}.csv", "x,y,z\n")

    looks = follow(folder, output, every=7.0, wait=wait)
    assert [next(looks).statements for _ in range(4)] == [0, 1, 2, 3]
    assert waited == [7.0] * 3


def test_other_counts_are_not_written_over(folder, output, tmp_path):
    tl.write_counts(tl.Statements([[0, 1, 2]], kind="central"), output)
    with pytest.raises(FormatError, match="does not say which files were counted"):
        look(folder, output)
    with pytest.raises(FormatError, match="pairs and classes cannot be counted"):
        next(follow(folder, tmp_path / "other.npz", pairs=True))
    with pytest.raises(FormatError, match="no such file"):
        look(tmp_path / "none", tmp_path / "other.npz")


CRASH = """
import os, signal, sys
from trilens.counts import follow

replace = os.replace
def crash(*paths):
    if sys.argv[3] == "after":
        replace(*paths)
    os.kill(os.getpid(), signal.SIGKILL)

follow.__globals__["_FILES"] = 2
os.replace = crash
list(follow(sys.argv[1], sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_the_worst_moment_every_file_is_still_counted_once(folder, output, moment):
    for i in range(5):
        put(folder, f"{i}.csv", "x,y,z\n" * (i + 1))
    counted = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", CRASH, str(folder), str(output), moment],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert done.returncode == -signal.SIGKILL
        counted.append(tl.read_counts(output).statements if output.exists() else 0)
    assert counted == ([0, 0] if moment == "before" else [3, 10])
    assert look(folder, output).statements == 15


def test_what_cannot_be_read_is_named_and_tried_again(folder, output):
    (folder / "good.csv").write_text("a,b,c\nb,c,d\n")
    (folder / "rows.csv").write_text("a,b,c\na,a,b\nc,d,a\n")
    late = folder / "late.parquet"
    tl.write_statements(tl.Statements([[0, 1, 2], [1, 2, 3]], names=list("abcd")), late)
    whole = late.read_bytes()
    late.write_bytes(whole[: len(whole) // 2])
    (look,) = follow(folder, output, skip_bad=True)
    assert (look.counted, look.statements, look.skipped) == (2, 4, 1)
    assert "late.parquet" in " ".join(look.left_out)
    assert "late.parquet" in str(look)
    late.write_bytes(whole)
    (look,) = follow(folder, output, skip_bad=True)
    assert (look.counted, look.statements, look.left_out) == (1, 6, ())
