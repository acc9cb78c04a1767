"""Reading while counting: a thread that is a few pieces ahead."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

#: Pieces that wait to be counted.
_WAITING = 2


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, made by a thread of their own while the caller works.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]
    """
    waiting: queue.Queue[tuple[str, Any]] = queue.Queue(_WAITING)
    gone = threading.Event()

    def put(what: str, item: Any) -> bool:
        while not gone.is_set():
            try:
                waiting.put((what, item), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not put("item", item):
                    return
        except BaseException as error:  # it is raised where the items are used
            put("error", error)
        else:
            put("end", None)

    thread = threading.Thread(target=read, name="trilens-reader", daemon=True)
    thread.start()
    try:
        while True:
            what, item = waiting.get()
            if what == "end":
                return
            if what == "error":
                raise item
            yield item
    finally:
        gone.set()
        thread.join()
