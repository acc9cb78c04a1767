"""The server's log: what happened and why, and nothing about people."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from sqlalchemy.exc import DBAPIError

log = logging.getLogger("trilens_survey")


class ChildFailed(RuntimeError):
    """A process beside the server ended badly; its text is what the process said last."""


class JsonLines(logging.Formatter):
    """One JSON object a line; no address, no name, no cookie, no answer."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error, frames = record.exc_info[1], record.exc_info[2]
            line["error"] = type(error).__name__
            why = reason(error)
            if why is not None:
                line["why"] = why
            while frames is not None and frames.tb_next is not None:
                frames = frames.tb_next
            if frames is not None:
                line["at"] = f"{frames.tb_frame.f_code.co_filename}:{frames.tb_lineno}"
        return json.dumps(line, ensure_ascii=False)


def reason(error: BaseException) -> str | None:
    """The words of the database, of the system or of a child; other errors may quote a request.

    Of the database the first line: the others may quote a row.

    >>> reason(OSError(28, "No space left on device")), reason(ValueError("somebody's name"))
    ('No space left on device', None)
    """
    if isinstance(error, DBAPIError):
        return (str(error.orig).splitlines() or [type(error.orig).__name__])[0]
    if isinstance(error, ChildFailed):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror
    return None


def set_up_log(level: str) -> None:
    """Send this program's and uvicorn's log to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("trilens_survey", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn").setLevel("WARNING")


def log_event(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event and plain facts about it."""
    log.log(level, event, extra={"facts": facts})
