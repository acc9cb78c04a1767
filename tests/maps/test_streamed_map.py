"""The lens map by passes over files, held to the lens map of the same statements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import procrustes

import trilens as tl
from trilens.engines.partition import partitions
from trilens.engines.work import Plan
from trilens.errors import ParameterError
from trilens.formats.asked import asked
from trilens.maps.streamed import map_files, product


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_the_product_is_that_of_the_pair_counts(tmp_path: Path, kind: str, ending: str) -> None:
    rng = np.random.default_rng(0)
    triples = rng.permuted(np.tile(np.arange(12), (200, 1)), axis=1)[:, :3]
    S = tl.Statements(triples, 12, [f"n{i}" for i in range(12)], kind)
    tl.write_statements(S, tmp_path / f"a.{ending}")
    S = tl.read_statements(tmp_path / f"a.{ending}")
    pairs = tl.count_pairs(S)
    X = rng.standard_normal((12, 3)).astype(np.float32)
    plan = Plan(asked(), n_objects=12, names=S.names)
    (part,) = partitions(tmp_path / f"a.{ending}")
    E = 0.7 * pairs.third - 0.2 * (pairs.appears - pairs.third)
    assert product(part, plan, X, 0.7, -0.2) == pytest.approx(E @ X, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_it_is_as_good_as_the_lens_map_of_all_pairs(tmp_path: Path, kind: str) -> None:
    points = np.random.default_rng(0).standard_normal((500, 2))
    S = tl.simulate_statements(points, 50_000, kind=kind, random_state=1)
    tl.write_statements(S, tmp_path / "a.parquet")
    found = map_files(tmp_path / "a.parquet", 2)
    assert found.names == S.names
    assert found.counts.statements == 50_000
    assert np.abs(found.embedding.mean(axis=0)).max() < 1e-4
    # measured: 0.0740 and 0.0748, 0.2364 and 0.2379, 0.1464 and 0.1470
    full = procrustes(points, tl.LensMap(2).fit_transform(S))[2]
    assert procrustes(points, found.embedding)[2] < 1.05 * full


def test_threads_do_not_change_it(tmp_path: Path) -> None:
    points = np.random.default_rng(0).standard_normal((60, 2))
    S = tl.simulate_statements(points, 2000, random_state=1)
    for i, rows in enumerate(np.split(np.arange(2000), 4)):
        tl.write_statements(S.take(rows), tmp_path / f"{i}.csv")
    one = map_files(tmp_path, 2, n_threads=1)
    assert np.array_equal(one.embedding, map_files(tmp_path, 2, n_threads=3).embedding)
    tl.write_statements(S, tmp_path / "all.npz")
    (whole,) = [map_files(tmp_path / "all.npz", 2)]
    order = [one.names.index(name) for name in whole.names]
    # another order of objects is another start, and the same map
    assert procrustes(whole.embedding, one.embedding[order])[2] < 0.01


def test_wrong_arguments(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c\nb,c,d\n")
    with pytest.raises(ParameterError, match="4 objects span 3 dimensions"):
        map_files(tmp_path / "a.csv", 4)
    with pytest.raises(ParameterError, match="takes the objects from the files"):
        map_files(tmp_path / "a.csv", 1, objects=["a"])
