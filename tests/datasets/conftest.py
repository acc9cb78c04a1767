from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from downloads import Come, Server
from trilens.datasets import registry
from trilens.datasets.fetch import Origin


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


@pytest.fixture
def come(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Come:
    """Have the files of a data set come from elsewhere."""

    def one(name: str, origins: dict[str, Origin]) -> None:
        changed = replace(registry.about(name), origins=origins)
        monkeypatch.setattr(registry, "REGISTRY", {**registry.REGISTRY, name: changed})

    return one
