"""A Dask cluster of real processes on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import distributed


class Cluster:
    """A Dask scheduler and its workers, processes of their own on loopback."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        # the workers see the functions of the tests
        here = str(Path(__file__).parent / "counts")
        path = os.pathsep.join([here, *filter(None, sys.path)])
        self.environment = os.environ | {"PYTHONPATH": path, "DASK_LOGGING__DISTRIBUTED": "error"}
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--no-jupyter")
        self.workers = [self.worker() for _ in range(workers)]
        with distributed.Client(scheduler_file=str(self.file), timeout=60) as client:
            client.wait_for_workers(workers, timeout=60)
            self.address = client.scheduler.address

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        own = ["--nthreads", "1", "--no-nanny", "--death-timeout", "30"]
        return self._start("worker", *own, "--local-directory", str(self.folder), *options)

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        both = ["--scheduler-file", str(self.file), "--host", "127.0.0.1", "--no-dashboard"]
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{what}", *both, *options],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
