"""One JSON object a line on stderr; no address, no name, no cookie, no answer."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

log = logging.getLogger("trilens.survey")


class JsonLines(logging.Formatter):
    """A record and its facts as one line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            # where it happened, not what it held: an error's text may quote a request
            error, frames = record.exc_info[1], record.exc_info[2]
            line["error"] = type(error).__name__
            while frames is not None and frames.tb_next is not None:
                frames = frames.tb_next
            if frames is not None:
                line["at"] = f"{frames.tb_frame.f_code.co_filename}:{frames.tb_lineno}"
        return json.dumps(line, ensure_ascii=False)


def set_up(level: str) -> None:
    """Send this program's and uvicorn's words to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("trilens.survey", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn").setLevel("WARNING")


def tell(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event and plain facts about it."""
    log.log(level, event, extra={"facts": facts})
