"""The same count on processes and on Dask, with real processes that are really killed."""

from __future__ import annotations

import os
import signal

import distributed
import numpy as np
import pytest

import trilens as tl
from clusters import Cluster
from trilens.counts import counting
from trilens.counts.counting import Checkpoints, CountReport, count_files, count_or_resume
from trilens.counts.engines import FAN, Processes, open_engine
from trilens.counts.file import to_bytes
from trilens.counts.partition import Plan, partitions
from trilens.errors import EngineError, FormatError

N_FILES = 2 * FAN + 3


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    rng = np.random.default_rng(0)
    for i in range(N_FILES):
        triples = rng.permuted(np.tile(np.arange(30 + i), (40, 1)), axis=1)[:, :3]
        S = tl.Statements(triples, names=[f"o{j}" for j in range(30 + i)], kind="central")
        tl.write_statements(S, folder / f"{i:02}.parquet")
    return folder


@pytest.fixture(scope="module")
def plain(data):
    return to_bytes(count_files(data, n_threads=1))


@pytest.fixture
def one_file_a_task(monkeypatch):
    monkeypatch.setattr(counting, "_TASK_FILES", 1)


def killed_once(flag, parts, plan, folder):
    """Count, but the first process to come here is killed in the middle."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return count_or_resume(parts, plan, folder)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def killed_always():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("one_file_a_task")
@pytest.mark.parametrize("cluster", [None, "local:2"])
def test_threads_and_processes(data, plain, tmp_path, cluster):
    told: list[float] = []
    found = count_files(data, cluster=cluster, n_threads=3, progress=told.append)
    assert to_bytes(found) == plain
    assert told == sorted(told)
    assert told[-1] == 1.0
    # an error of a worker is the error of the command
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,c\na,b,b\n")
    with pytest.raises(tl.errors.StatementError, match=r"bad\.csv, row 2"):
        count_files([bad, data], cluster=cluster)


@pytest.mark.slow
def test_a_killed_process_costs_nothing_but_time(data, plain, tmp_path):
    engine = Processes(2)
    try:
        parts, plan = partitions(data), Plan.of()
        flag = str(tmp_path / "flag")
        handles = [engine.submit(killed_once, flag, (part,), plan, None) for part in parts]
        assert to_bytes(engine.merge(handles).counts) == plain
        assert os.path.exists(flag)
        with pytest.raises(EngineError, match="a worker process died 3 times"):
            engine.merge([engine.submit(killed_always)])
    finally:
        engine.close()


@pytest.fixture
def cluster(tmp_path):
    started = Cluster(tmp_path)
    try:
        yield started
    finally:
        started.close()


pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own, when its processes are killed


@pytest.mark.slow
@pytest.mark.usefixtures("one_file_a_task")
def test_dask(cluster, data, plain, tmp_path):
    assert to_bytes(count_files(data, cluster=cluster.address)) == plain
    with distributed.Client(cluster.address, set_as_default=False) as client:
        found = count_files(data, cluster=client, pairs=True)
        assert client.status == "running"  # the caller's client is left open
    assert (found.pairs.third == count_files(data, pairs=True).pairs.third).all()
    # a worker is killed in the middle
    engine = open_engine(cluster.address)
    try:
        parts, plan = partitions(data), Plan.of()
        flag = str(tmp_path / "flag")
        handles = [engine.submit(killed_once, flag, (part,), plan, None) for part in parts]
        done = engine.merge(handles)
    finally:
        engine.close()
    assert os.path.exists(flag)
    assert sorted(worker.wait(0) if worker.poll() else 0 for worker in cluster.workers)[0] == -9
    assert to_bytes(done.counts) == plain


@pytest.mark.slow
def test_the_scheduler_is_killed_and_the_command_run_again(cluster, data, plain, tmp_path):
    kept = tmp_path / "kept"
    # the first half is counted, then the scheduler dies
    files = sorted(data.iterdir())
    half = files[: N_FILES // 2]
    count_files(half, cluster=cluster.address, checkpoint=kept)
    assert len(list(kept.iterdir())) == len(half)
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    with pytest.raises(EngineError, match="no Dask scheduler answers at"):
        count_files(data, cluster=cluster.address, checkpoint=kept)
    told: list[CountReport] = []
    found = count_files(data, checkpoint=kept, tell=told.append)  # another engine goes on
    assert to_bytes(found) == plain
    assert told[0].resumed == len(half)


def kill_scheduler(pid, parts, plan, folder):
    done = count_or_resume(parts, plan, folder)
    os.kill(pid, signal.SIGKILL)
    return done


@pytest.mark.slow
def test_the_scheduler_dies_while_it_is_waited_for(cluster, data, tmp_path, monkeypatch):
    import dask

    monkeypatch.setitem(dask.config.config["distributed"]["comm"]["timeouts"], "connect", "2s")
    engine = open_engine(cluster.address)
    try:
        part, plan = partitions(data)[:1], Plan.of()
        work = engine.submit(kill_scheduler, cluster.scheduler.pid, tuple(part), plan, None)
        with pytest.raises(EngineError, match=r"lost the Dask .* run the same command again"):
            engine.merge([work])
    finally:
        engine.close()


def test_a_checkpoint_that_cannot_be_written_stops_the_count(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="choose another folder"):
        count_files(data, checkpoint=tmp_path / "file")
    assert Checkpoints(str(tmp_path / "kept")).load(str(tmp_path / "none")) is None
