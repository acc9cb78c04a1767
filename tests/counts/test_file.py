"""Counts as files: what is written is read back, and nothing else is."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import trilens as tl
from trilens.counts import counted, is_counts
from trilens.counts.file import HEADER, from_bytes, to_bytes
from trilens.errors import FormatError, KindError, ParameterError


def draw(m, n, seed, kind="central", prefix=None):
    rng = np.random.default_rng(seed)
    triples = rng.permuted(np.tile(np.arange(n), (m, 1)), axis=1)[:, :3]
    names = None if prefix is None else [f"{prefix}{i}" for i in range(n)]
    return tl.Statements(triples, n, names, kind)


def same(a, b):
    return to_bytes(a) == to_bytes(b)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("names", [None, ["", "a\0", "ä", "10", "x" * 1000]])
def test_everything_counted_comes_back(tmp_path, layout, names):
    S = tl.Statements(draw(50, 5, 1).triples, 5, names, kind="central")
    y = np.array([0, 1, 0, 1, -1])
    full = replace(
        counted(S),
        pairs=tl.count_pairs(S, layout=layout),
        classes=tl.counts.count_classes(S, y, 2),
        class_names=("one", "two"),
        skipped=("row 3",),
        n_skipped=7,
    )
    tl.write_counts(full, tmp_path / "counts.npz")
    back = tl.read_counts(tmp_path / "counts.npz")
    assert back.names == S.names
    assert same(back, full)
    assert back.pairs.is_sparse == (layout == "sparse")
    assert (back.pairs.to_dense().third == full.pairs.to_dense().third).all()
    assert back.classes.labels.tolist() == y.tolist()
    assert (back.statements, back.n_skipped, back.class_names) == (50, 7, ("one", "two"))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_parts_make_the_whole_whatever_the_names(layout):
    S = draw(200, 8, 2, prefix="o")
    label = {"o0": 0, "o1": 0, "o2": 1}

    def full(part):
        y = np.array([label.get(name, -1) for name in part.names])
        return replace(
            counted(part),
            pairs=tl.count_pairs(part, layout=layout),
            classes=tl.counts.count_classes(part, y, 2),
            class_names=("x", "y"),
        )

    # one part lacks an object; the others have theirs in orders of their own
    rng = np.random.default_rng(0)
    lacks = (S.triples != 7).all(axis=1)
    parts = [S.take(lacks).subset(np.arange(7))]
    parts += [
        S.take(rows).subset(rng.permutation(8)) for rows in np.split(np.flatnonzero(~lacks), 2)
    ]
    total, expected = tl.merge_counts([full(part) for part in parts]), full(S)
    at = [total.names.index(name) for name in S.names]
    assert total.central.singled[at].tolist() == expected.central.singled.tolist()
    assert total.central.appears[at].tolist() == expected.central.appears.tolist()
    pairs = total.pairs.to_dense()
    assert (pairs.third[np.ix_(at, at)] == expected.pairs.to_dense().third).all()
    assert (total.classes.appears[at] == expected.classes.appears).all()
    assert total.classes.labels[at].tolist() == expected.classes.labels.tolist()
    twice = (expected + expected).pairs.to_dense()
    assert (twice.third == 2 * expected.pairs.to_dense().third).all()
    by_plus = sum(tl.count_central(part) for part in parts)
    assert by_plus.names == total.names
    assert by_plus.singled.tolist() == total.central.singled.tolist()


def test_names_that_are_integers_stay_in_the_order_of_numbers():
    a, b = (
        counted(tl.Statements([[0, 1, 2]], names=names, kind="central"))
        for names in (["10", "9", "1"], ["2", "9", "1"])
    )
    assert (a + b).names == ("1", "2", "9", "10")
    assert (a + a).names == ("10", "9", "1")  # the same list is kept as it is


def test_what_does_not_belong_together_is_refused(tmp_path):
    central, odd = counted(draw(5, 4, 0)), counted(draw(5, 4, 0, "odd"))
    with pytest.raises(KindError, match="cannot add counts of central statements to counts of odd"):
        central + odd
    pairs = replace(central, pairs=tl.count_pairs(draw(5, 4, 0)))
    with pytest.raises(ParameterError, match="only one of the two has counts of pairs"):
        central + pairs
    tl.write_counts(central, tmp_path / "a.npz")
    tl.write_counts(odd, tmp_path / "b.npz")
    with pytest.raises(FormatError, match=r"b\.npz: cannot add counts of central"):
        tl.merge_counts([tmp_path / "a.npz", tmp_path / "b.npz"])
    with pytest.raises(ParameterError, match="at least one"):
        tl.merge_counts([])


def test_every_cut_and_every_changed_byte_is_refused(tmp_path):
    data = to_bytes(counted(draw(20, 4, 3, prefix="n")))
    rng = np.random.default_rng(0)
    for size in [0, 1, 10, *rng.integers(11, len(data), 40), len(data) - 1]:
        with pytest.raises(FormatError, match=r"c\.npz (was cut short|is not a file of counts)"):
            from_bytes(data[:size], "c.npz")
    sound = from_bytes(data, "c.npz")
    for at in rng.integers(0, len(data), 200):
        edited = bytearray(data)
        edited[at] ^= 1 << int(rng.integers(8))
        try:
            found = from_bytes(bytes(edited), "c.npz")
        except FormatError:
            continue
        # a byte of the archive that carries nothing, such as a date
        assert same(found, sound)
    # other facts in the header
    with np.load(io.BytesIO(data)) as archive:
        arrays = dict(archive)
    facts = json.loads(arrays[HEADER].tobytes())
    for changes, said in (
        ({"statements": 21}, r"edited\.npz was changed after it was written"),
        ({"version": 2}, r"written by a newer trilens \(version 2 "),
    ):
        edited = np.frombuffer(json.dumps(facts | changes).encode(), dtype=np.uint8)
        np.savez(tmp_path / "edited.npz", **(arrays | {HEADER: edited}))
        with pytest.raises(FormatError, match=said):
            tl.read_counts(tmp_path / "edited.npz")


def test_other_files_are_told_apart(tmp_path):
    tl.write_statements(draw(5, 4, 0), tmp_path / "s.npz")
    (tmp_path / "t.csv").write_text("0,1,2\n")
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        archive.writestr("a.txt", "a")
    for name, said in {
        "s.npz": "holds statements, not counts",
        "t.csv": "is not a file of counts",
        "none.npz": "No such file",
        "z.npz": "not counts",
    }.items():
        with pytest.raises(FormatError, match=said):
            tl.read_counts(tmp_path / name)
        assert not is_counts(tmp_path / name)
    tl.write_counts(counted(draw(5, 4, 0)), tmp_path / "c.npz")
    assert is_counts(tmp_path / "c.npz")
    with pytest.raises(ParameterError, match="takes Counted or Statements"):
        tl.write_counts([[0, 1, 2]], tmp_path / "d.npz")  # type: ignore[arg-type]
