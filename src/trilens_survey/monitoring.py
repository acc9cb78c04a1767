"""What the server says about itself: its log, and numbers for Prometheus; nothing about people."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections import Counter
from typing import Any

log = logging.getLogger("trilens_survey")


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
            # where it happened, not what it held: an error's text may quote a request
            error, frames = record.exc_info[1], record.exc_info[2]
            line["error"] = type(error).__name__
            while frames is not None and frames.tb_next is not None:
                frames = frames.tb_next
            if frames is not None:
                line["at"] = f"{frames.tb_frame.f_code.co_filename}:{frames.tb_lineno}"
        return json.dumps(line, ensure_ascii=False)


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


#: Upper ends of the commit times' buckets, in seconds.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """Counts of this process, since it started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._events: Counter[str] = Counter()
        self._commits: Counter[float] = Counter()
        self._commit_seconds = 0.0
        self._n_commits = 0

    def request(self, method: str, route: str, status: int) -> None:
        """One answered request; ``route`` is the pattern, never the address."""
        with self._lock:
            self._requests[method, route, status] += 1

    def event(self, name: str) -> None:
        """Something that is worth counting: ``answers``, ``joins``, ``refused_sign_ins``."""
        with self._lock:
            self._events[name] += 1

    def commit(self, writes: int, seconds: float) -> None:
        """One commit of the writer."""
        with self._lock:
            self._n_commits += 1
            self._commit_seconds += seconds
            self._events["committed_writes"] += writes
            bucket = next((b for b in _BUCKETS if seconds <= b), float("inf"))
            self._commits[bucket] += 1

    def render(self, waiting: int) -> str:
        """The page that Prometheus reads.

        >>> metrics = Metrics()
        >>> metrics.event("answers")
        >>> "trilens_answers_total 1" in metrics.render(waiting=0)
        True
        """
        with self._lock:
            return self._render(waiting)

    def _render(self, waiting: int) -> str:
        lines = ["# TYPE trilens_requests_total counter"]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{_escaped(route)}",status="{status}"'
            lines.append(f"trilens_requests_total{{{labels}}} {count}")
        for name, count in sorted(self._events.items()):
            lines += [f"# TYPE trilens_{name}_total counter", f"trilens_{name}_total {count}"]
        for name in {"answers", "joins"} - set(self._events):
            lines += [f"# TYPE trilens_{name}_total counter", f"trilens_{name}_total 0"]
        lines.append("# TYPE trilens_commit_seconds histogram")
        below = 0
        for bucket in (*_BUCKETS, float("inf")):
            below += self._commits[bucket]
            end = "+Inf" if bucket == float("inf") else f"{bucket:g}"
            lines.append(f'trilens_commit_seconds_bucket{{le="{end}"}} {below}')
        lines += [
            f"trilens_commit_seconds_sum {self._commit_seconds:.6f}",
            f"trilens_commit_seconds_count {self._n_commits}",
            "# TYPE trilens_waiting gauge",
            f"trilens_waiting {waiting}",
        ]
        return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
