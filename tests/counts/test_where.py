"""Counting the rows for which conditions hold; statements and checkpoints behind URLs."""

from __future__ import annotations

import json

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import trilens as tl
from commandline import run
from trilens.counts import counting, partition
from trilens.counts.counting import count_files
from trilens.counts.file import to_bytes
from trilens.errors import FormatError, ParameterError
from trilens.files import arrow

GROUP = 100


def answers(days=6, seed=0):
    """A day's answers are a row group; each day has a few objects of its own."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(days), GROUP)
    m = len(day)
    triples = rng.permuted(np.tile(np.arange(20), (m, 1)), axis=1)[:, :3] + 5 * day[:, None]
    names = np.char.add("o", triples.astype(str))
    town = np.array(["Aden", "Bonn", "Cork", "Duns", "Ely", "Fes"])[day]
    worker = np.char.add("w", (day * 3 + rng.integers(0, 3, m)).astype(str))
    gaps = day == 2
    return pa.table(
        {
            "central": names[:, 0],
            "other_1": names[:, 1],
            "other_2": names[:, 2],
            "worker": worker,
            "day": day,
            "price": np.where(rng.random(m) < 0.1, np.nan, day * 1.5),
            "date": (np.datetime64("2026-03-01") + day).astype("datetime64[D]"),
            "town": pa.array(town.tolist(), mask=gaps),
            "code": pa.array([str(d) for d in day]),
            "some": pa.array(day, mask=rng.random(m) < 0.3),
            "seconds": day + rng.random(m),
            "question": np.arange(m) % 7,
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("where") / "answers.parquet"
    pq.write_table(answers(), path, row_group_size=GROUP)
    return path


def groups_read(monkeypatch):
    """The row groups that are asked for from now on."""
    seen: list[int] = []
    reading = pq.ParquetFile.iter_batches

    def iter_batches(self, batch_size=65536, row_groups=None, columns=None, **rest):
        seen.extend(row_groups or [])
        return reading(self, batch_size, row_groups, columns, **rest)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", iter_batches)
    return seen


def counted_by_hand(path, where):
    """The same from the statements in memory, by the functions that do it there."""
    from trilens.statements.selection import Condition, select

    every = tl.Answers(path)
    beyond = [c.column for c in map(Condition.of, where) if not c.is_own]
    columns = {name: every.column(name) for name in beyond}
    chosen = select(every.read(), where=where, columns=columns).of(every.read())
    return met(tl.count_central(chosen))


def met(counts):
    """Of the objects that are in statements."""
    return {name: one for name, one in as_dict(counts).items() if one[1]}


def as_dict(counts):
    columns = counts.names, counts.singled.tolist(), counts.appears.tolist()
    return {name: [singled, appears] for name, singled, appears in zip(*columns, strict=True)}


CONDITIONS = [
    (["day = 3"], [3]),
    (["day = 3.0"], [3]),
    (["day > 4"], [5]),
    (["day <= 1", "day != 0"], [1]),
    (["day >= 1", "day < 3", "town = Bonn"], [1]),
    (["town = Cork", "day = 2"], None),
    (["town = Ely"], [4]),
    (["town = "], [0, 1, 2, 3, 4, 5]),
    (["code = 3"], [0, 1, 2, 3, 4, 5]),
    (["date = 2026-03-05"], [4]),
    (["price > 5.9"], [4, 5]),
    (["price = 3"], [2]),
    (["price != 3"], [0, 1, 2, 3, 4, 5]),
    (["some != 5"], [0, 1, 2, 3, 4, 5]),
    (["rater = w4"], [1, 3]),  # w10, w11, w9 stand around it
    (["rater != w4", "seconds < 2", "question = 3"], [0, 1]),
    (["day = 1", "town = Bonn", "code = 1", "some = 1", "rater != w4", "question < 5"], [1]),
]


@pytest.mark.parametrize(("where", "groups"), CONDITIONS)
def test_only_the_needed_row_groups_are_read(file, monkeypatch, where, groups):
    seen = groups_read(monkeypatch)
    if groups is None:
        with pytest.raises(ParameterError, match="are left where town = Cork and day = 2"):
            count_files(file, where=where)
        assert seen == []
        return
    found = count_files(file, where=where)
    assert seen == groups
    assert as_dict(found.central) == counted_by_hand(file, where)
    # without what the file says of its groups, the same
    monkeypatch.setattr(arrow, "_may_hold", lambda *_: True)
    assert to_bytes(count_files(file, where=where)) == to_bytes(found)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "arrow", "parquet"])
def test_other_files_and_files_that_say_nothing(tmp_path, ending):
    table = answers().drop_columns(["date"])  # JSON knows no dates
    path = tmp_path / f"answers.{ending}"
    if ending == "parquet":
        pq.write_table(table, path, row_group_size=GROUP, write_statistics=False)
    elif ending == "arrow":
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    elif ending == "jsonl":
        table.to_pandas().to_json(path, orient="records", lines=True)
    else:
        table.to_pandas().to_csv(path, index=False)
    for where in (["day = 3"], ["town = Bonn", "seconds < 1.5"], ["price > 5.9", "rater != w13"]):
        found = count_files(path, where=where)
        assert met(found.central) == counted_by_hand(path, where)
        if ending != "parquet":  # there what is not meant is not read
            assert found.names == tl.Answers(path, where=where).read().names
    both = count_files(path, where="day = 3", pairs=True, labels={"o20": "x", "o21": "y"})
    assert both.pairs is not None
    assert both.statements == GROUP


def test_a_damaged_group_that_is_not_needed_does_no_harm(file, tmp_path):
    facts = pq.ParquetFile(file).metadata
    data = bytearray(file.read_bytes())
    for i in range(facts.num_columns):
        chunk = facts.row_group(2).column(i)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        data[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(bytes(data))
    with pytest.raises(FormatError, match=r"bad\.parquet is truncated or is not"):
        count_files(bad)
    with pytest.raises(FormatError, match=r"bad\.parquet is truncated or is not"):
        count_files(bad, where="day >= 2")
    assert to_bytes(count_files(bad, where="day >= 3")) == to_bytes(
        count_files(file, where="day >= 3")
    )


def test_rows_keep_their_numbers(tmp_path):
    table = answers()
    central = table.column("central").to_pylist()
    central[4 * GROUP + 7] = None
    bad = tmp_path / "bad.parquet"
    gap = table.set_column(0, "central", pa.array(central))
    pq.write_table(gap, bad, row_group_size=GROUP)
    with pytest.raises(tl.errors.StatementError, match=rf"row {4 * GROUP + 8}: an empty cell"):
        count_files(bad, where=["day != 2", "question >= 0"])
    assert count_files(bad, where="day != 4").statements == 5 * GROUP
    found = count_files(bad, where="day = 4", skip_bad=True)
    assert (found.statements, found.n_skipped) == (GROUP - 1, 1)
    assert f"row {4 * GROUP + 8}" in found.skipped[0]


def test_times_in_ms_are_judged_by_the_first_rows_of_the_file(tmp_path):
    table = answers().drop_columns(["seconds"])
    ms = np.where(np.arange(len(table)) < 4 * GROUP, 2000.0, 4.0)  # the last ones look like seconds
    path = tmp_path / "ms.parquet"
    pq.write_table(table.append_column("rt", pa.array(ms)), path, row_group_size=GROUP)
    for where in (["seconds >= 1"], ["seconds < 1", "day = 5"]):
        assert as_dict(count_files(path, where=where).central) == counted_by_hand(path, where)


def test_partitions_threads_and_checkpoints(file, tmp_path, monkeypatch):
    where = ["day >= 1", "town != Ely"]
    expected = to_bytes(count_files(file, where=where, n_threads=1))
    monkeypatch.setattr(partition, "PARTITION_ROWS", 2 * GROUP)
    kept = tmp_path / "kept"
    for options in ({"n_threads": 3}, {"checkpoint": kept}):
        assert to_bytes(count_files(file, where=where, **options)) == expected
    # the counts of other rows are other counts
    assert to_bytes(count_files(file, checkpoint=kept)) == to_bytes(count_files(file))
    assert to_bytes(count_files(file, where=where, checkpoint=kept)) == expected


def test_what_is_refused(file):
    for where, said in {
        "nothing = 3": "no column 'nothing'",
        "central = o1": "holds objects",
        "day < soon": "not a number",
        "day": "it must be a column",
        "place = 1": "no column 'place'",
        "day = 77": "no answers are left",
    }.items():
        with pytest.raises((FormatError, ParameterError), match=said):
            count_files(file, where=where)


def test_commands(file, tmp_path, monkeypatch):
    asked = ("--where", "day >= 1", "--where", "town != Ely")
    listed = tmp_path / "objects.txt"
    listed.write_text("".join(f"o{i}\n" for i in range(45)))
    line = ("medoid", file, "--method", "depth", "--json", *asked, "--objects", listed)
    small = run(*line).stdout
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 1)
    seen = groups_read(monkeypatch)
    counted, read = json.loads(run(*line).stdout), json.loads(small)
    # counts do not know who answered, and raters widen the interval
    assert counted.pop("interval")[0] > read.pop("interval")[0]
    assert "may be too narrow" in counted.pop("caution")
    assert read.pop("caution") is None
    assert counted == read
    assert seen == [1, 2, 3, 5]
    out = tmp_path / "counts.npz"
    run("count", file, "-o", out, *asked)
    assert out.read_bytes() == to_bytes(count_files(file, where=asked[1::2]))
    told = run("describe", file, "--where", "day = 1").stderr
    assert "100 statements" in told
    assert "day = 1" in told
    # who was too fast, counts do not know
    assert run("medoid", file, "--method", "depth", "--json", "--min-seconds", 1).stdout != small


DAYS = ("day-1.parquet", "day-2.parquet", "day-3.parquet")


class Locked(MemoryFileSystem):
    """A file system to which nobody has the key."""

    protocol = "locked"

    def _refuse(self, *given, **options):
        raise RuntimeError("403: the key is wrong")

    info = ls = _open = glob = isdir = makedirs = pipe_file = cat_file = _refuse


fsspec.register_implementation("locked", Locked, clobber=True)


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three files of answers."""
    folder = tmp_path_factory.mktemp("days")
    names = [f"o{j}" for j in range(20)]
    for seed, name in enumerate(DAYS):
        S = tl.simulate_statements(np.arange(20.0)[:, None], 200, error_rate=0.5, random_state=seed)
        tl.write_statements(tl.Statements(S.triples, 20, names, "central"), folder / name)
    return {name: (folder / name).read_bytes() for name in DAYS}


@pytest.fixture
def days(whole, tmp_path):
    folder = tmp_path / "days"
    folder.mkdir()
    for name, content in whole.items():
        (folder / name).write_bytes(content)
    return folder


def test_every_format_is_read(memory, days, tmp_path):
    expected = tl.read_statements(days / DAYS[0])
    for ending in ("csv", "csv.gz", "csv.zst", "jsonl", "arrow", "npz"):
        file = tmp_path / f"one.{ending}"
        tl.write_statements(expected, file)
        memory.pipe(f"/answers/{file.name}", file.read_bytes())
        assert tl.read_statements(f"memory://answers/{file.name}") == tl.read_statements(file)
        assert count_files(f"memory://answers/{file.name}").statements == 200


def test_commands_take_a_pattern_and_a_folder(days, tmp_path):
    far, near = (
        run("medoid", place, "--method", "depth", "--json").stdout
        for place in (f"{days.as_uri()}/day-*.parquet", days)
    )
    assert far == near
    out = tmp_path / "counts.npz"
    run("count", days.as_uri(), "-o", out)
    assert out.read_bytes() == to_bytes(count_files(days))


def test_checkpoints_behind_a_url(days, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "_TASK_FILES", 1)
    (tmp_path / "kept").mkdir()
    kept = {"checkpoint": (tmp_path / "kept").as_uri()}
    url = days.as_uri()
    count_files([f"{url}/{name}" for name in DAYS[:2]], cluster="local:2", **kept)
    first, _ = (tmp_path / "kept").iterdir()
    first.write_bytes(first.read_bytes()[:100])  # cut short: it is counted again
    told: list[counting.CountReport] = []
    found = count_files(f"{url}/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == to_bytes(count_files(days))
    assert told[0].resumed == 1
    (days / DAYS[0]).write_bytes((days / DAYS[1]).read_bytes())  # another file, counted anew
    found = count_files(f"{url}/day-*.parquet", tell=told.append, **kept)
    assert to_bytes(found) == to_bytes(count_files(days))
    assert told[1].resumed == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("medoid memory://nowhere/day-1.parquet", "no such file"),
        ("count memory://nowhere/day-*.parquet -o OUT", "no file matches the pattern"),
        ("medoid memory://nowhere", "memory://nowhere"),
        ("medoid locked://answers/day-1.parquet", "day-1.parquet cannot be reached: 403"),
        ("count locked://answers/day-1.parquet -o OUT", "day-1.parquet cannot be reached: 403"),
        ("count unheard-of://day-1.parquet -o OUT", "unheard-of://day-1.parquet cannot be reached"),
        ("count DAYS -o OUT --checkpoint locked://answers/kept", "Error: locked://answers/kept"),
    ],
)
def test_what_cannot_be_reached(days, tmp_path, line, said):
    out = tmp_path / "counts.npz"
    words = line.replace("DAYS", str(days)).replace("OUT", str(out)).split()
    assert said in run(*words, status=1).stderr
    assert not out.exists()
