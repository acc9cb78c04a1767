"""Counting on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import distributed

from trilens.counts.engine import Handle, merge_by_tree
from trilens.errors import EngineError, TrilensError

#: Seconds in which a scheduler must answer.
_PATIENCE = 10


class DaskEngine:
    """A Dask scheduler and its workers.

    Dask does the work of a worker that dies again by itself. What the scheduler knew is lost
    with the scheduler: that is what checkpoints are for.
    """

    def __init__(self, client: Any, address: str | None = None) -> None:
        self._client = client
        self._address = address
        if not client.scheduler_info()["workers"]:
            self.close()
            raise EngineError(f"{self._where} has no workers; start some with dask worker")

    @classmethod
    def at(cls, address: str) -> DaskEngine:
        """The scheduler at an address."""
        connect: Any = distributed.Client
        try:
            client = connect(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"there is no Dask scheduler at {address}; start one with dask scheduler"
            ) from error
        return cls(client, address)

    @property
    def _where(self) -> str:
        return f"the Dask scheduler at {self._address or self._client.scheduler.address}"

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        # pure=False: the same file may have changed since it was counted
        return self._client.submit(function, *arguments, pure=False, retries=0)

    def watch(self, handle: Handle, told: Callable[[], None]) -> None:
        handle.add_done_callback(lambda done: told() if done.status == "finished" else None)

    def merge(self, function: Callable[..., Any], handles: list[Handle]) -> Handle:
        return merge_by_tree(self, function, handles)

    def collect(self, handle: Handle) -> Any:
        try:
            return handle.result()
        except TrilensError:
            raise
        except distributed.scheduler.KilledWorker as error:
            raise EngineError(
                "the workers died over the same piece of work again and again; "
                "they may need more memory"
            ) from error
        except (CancelledError, OSError, TimeoutError, RuntimeError) as error:
            raise EngineError(
                f"{self._where} was lost ({type(error).__name__}); run the same command again: "
                f"with a checkpoint folder only what is missing is counted"
            ) from error

    def close(self) -> None:
        if self._address is not None:  # a client of the caller's is the caller's
            self._client.close(timeout=1)
