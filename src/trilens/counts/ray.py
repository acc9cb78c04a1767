"""Counting on a Ray cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from trilens.counts.engine import Handle, merge_by_tree, when_done
from trilens.errors import EngineError, TrilensError


class RayEngine:
    """A Ray cluster: the one at an address, or one that is started on this machine."""

    def __init__(self, address: str = "") -> None:
        import ray

        self._ray: Any = ray
        self._started = not ray.is_initialized()
        if self._started:
            try:
                ray.init(address or None, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise EngineError(f"there is no Ray cluster at {address or 'hand'}") from error

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        return self._ray.remote(max_retries=3)(function).remote(*arguments)

    def watch(self, handle: Handle, told: Callable[[], None]) -> None:
        when_done(handle.future(), told)

    def merge(self, function: Callable[..., Any], handles: list[Handle]) -> Handle:
        return merge_by_tree(self, function, handles)

    def collect(self, handle: Handle) -> Any:
        lost = self._ray.exceptions
        try:
            return self._ray.get(handle)
        except lost.RayTaskError as error:
            if isinstance(error.cause, TrilensError):
                raise error.cause from None
            raise
        except lost.RayError as error:
            raise EngineError(
                f"the Ray cluster was lost ({type(error).__name__}); run the same command again: "
                f"with a checkpoint folder only what is missing is counted"
            ) from error

    def close(self) -> None:
        if self._started:
            self._ray.shutdown()
