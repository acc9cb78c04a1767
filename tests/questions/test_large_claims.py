"""What is claimed of files too large to hold, held to what is claimed of the same in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from trilens import answers as handles
from trilens.errors import ParameterError
from trilens.simulate import simulate_statements


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """Answers about three groups."""
    file = tmp_path_factory.mktemp("claims") / "groups.parquet"
    X = np.random.default_rng(3).standard_normal((45, 2))
    X += np.array([[0, 0], [9, 0], [0, 9]])[np.arange(45) % 3]
    S = simulate_statements(X, 4000, kind="odd", error_rate=0.14, random_state=4)
    tl.write_statements(S, file)
    return file


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


def test_files_are_held_where_they_fit_and_no_cluster_is_asked(file: Path, monkeypatch) -> None:
    with pytest.raises(ParameterError, match="these answers are in memory"):
        tl.Answers([[0, 1, 2]], cluster="local:2")
    assert not tl.Answers(file, cluster="local:2").held
    assert "cluster is 'moon'" in run("medoid", file, "--cluster", "moon", status=1).stderr
    assert handles.available_memory() > 0
    needed = 12 * file.stat().st_size
    for memory, held in ((4 * needed, True), (4 * needed - 40, False)):
        monkeypatch.setattr(handles, "available_memory", lambda memory=memory: memory)
        assert tl.Answers(file).held == held


@pytest.mark.slow
def test_commands_run_on_a_cluster(file: Path, tmp_path: Path) -> None:
    assert facts("medoid", file, "--cluster", "local:2")["method"] == "choice"
    assert facts("cluster", file, "--cluster", "local:2")["n_clusters"] == 3
    out = tmp_path / "map.csv"
    assert facts("embed", file, "-o", out, "--cluster", "local:2")["method"] == "choice"
