"""What is claimed of files too large to hold, held to what is claimed of the same in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import trilens as tl
from trilens import answers as handles
from trilens.cli import trilens
from trilens.errors import ParameterError
from trilens.simulate import simulate_statements


def points(shape: str, n: int = 45) -> np.ndarray:
    X = np.random.default_rng(3).standard_normal((n, 2))
    if shape == "outliers":
        X[:2] = [[9, 0], [-6, 7]]
    if shape == "groups":
        X += np.array([[0, 0], [9, 0], [0, 9]])[np.arange(n) % 3]
    return X


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("claims")
    for shape in ("cloud", "outliers", "groups"):
        S = simulate_statements(points(shape), 4000, kind="odd", error_rate=0.14, random_state=4)
        raters = [f"r{i % 12}" for i in range(len(S))]
        S = tl.Statements(S.triples, 45, kind="odd", raters=raters)
        tl.write_statements(S, folder / f"{shape}.parquet")
    return folder


@pytest.mark.slow
def test_the_same_claims_are_made(folder: Path, monkeypatch) -> None:
    held = tl.Answers(folder / "cloud.parquet")
    assert held.held
    whole = tl.medoid(held)
    monkeypatch.setattr(handles, "STREAMED_BYTES", 0)
    found = tl.medoid(tl.Answers(folder / "cloud.parquet"))
    assert found.method == whole.method == "choice"
    assert found.name in whole.candidates
    assert whole.name in found.candidates
    assert len(found.candidates) <= len(whole.candidates) + 3
    assert found.close == tuple(name for name in found.candidates if name in found.close)
    apart = tl.outliers(tl.Answers(folder / "cloud.parquet"))
    assert (apart.names, apart.caution) == ((), None)
    assert tl.cluster(tl.Answers(folder / "cloud.parquet")).n_clusters == 1
    apart = tl.outliers(tl.Answers(folder / "outliers.parquet"))
    assert set(apart.names) == {"0", "1"}
    groups = tl.cluster(tl.Answers(folder / "groups.parquet"))
    assert groups.n_clusters == 3
    assert groups.stability is not None
    assert tl.purity(groups.labels, [int(name) % 3 for name in groups.names]) > 0.95


@pytest.mark.slow
def test_very_many_objects_are_not_compared_one_by_one() -> None:
    X = np.random.default_rng(5).standard_normal((1100, 2))
    S = simulate_statements(X, 40_000, error_rate=0.14, random_state=6)
    found = tl.medoid(S)
    assert found.method == "choice"
    nearest = np.linalg.norm(X[:, None] - X, axis=2).sum(axis=1).argmin()
    assert str(nearest) in found.candidates
    # by counting, hundreds could be it
    assert len(found.candidates) < len(tl.medoid(S, "depth").candidates) / 2


def test_files_are_held_where_they_fit(folder: Path, monkeypatch) -> None:
    file = folder / "cloud.parquet"
    needed = 12 * file.stat().st_size
    monkeypatch.setattr(handles, "available_memory", lambda: 4 * needed)
    assert tl.Answers(file).held
    monkeypatch.setattr(handles, "available_memory", lambda: 4 * needed - 40)
    assert not tl.Answers(file).held
    assert handles.available_memory() > 0


@pytest.mark.slow
def test_commands_run_on_a_cluster(folder: Path, tmp_path: Path) -> None:
    file = folder / "groups.parquet"

    def told(*line: object):
        done = CliRunner().invoke(trilens, [str(word) for word in (*line, "--json")])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    assert told("medoid", file, "--cluster", "local:2")["method"] == "choice"
    assert told("cluster", file, "--cluster", "local:2")["n_clusters"] == 3
    out = tmp_path / "map.csv"
    assert told("embed", file, "-o", out, "--cluster", "local:2")["method"] == "choice"


def test_a_cluster_is_for_files(folder: Path) -> None:
    with pytest.raises(ParameterError, match="these answers are in memory"):
        tl.Answers([[0, 1, 2]], cluster="local:2")
    assert not tl.Answers(folder / "cloud.parquet", cluster="local:2").held
    line = ["medoid", str(folder / "cloud.parquet"), "--cluster", "moon"]
    done = CliRunner().invoke(trilens, line)
    assert done.exit_code == 1
    assert "cluster is 'moon'" in done.output
