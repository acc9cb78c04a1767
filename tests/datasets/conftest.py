from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from downloads import Server


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and no TRILENS_DATA."""
    monkeypatch.delenv("TRILENS_DATA", raising=False)
    monkeypatch.setenv("TRILENS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
