"""What a process finds when it is started: its standard streams, and how it is told to end."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from typing import Any


def open_streams() -> None:
    """Standard streams that can be used, whatever the process was started with.

    One that is closed is opened so that reading and writing fail in the ordinary way (and so
    that no file that is opened later takes its number); what the terminal's encoding lacks is
    written as JSON writes it, so that ``--json`` stays JSON.
    """
    codecs.register_error("json", _json_escapes)
    for number, name, mode, way in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, way)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="json")


def close_output() -> None:
    """Flush what is written; what cannot be is dropped, for its error has been told."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def leave_when_terminated() -> None:
    """SIGTERM ends the process as an exception does: what is half-written is removed."""

    def leave(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, leave)


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    escaped = []
    for character in error.object[error.start : error.end]:
        units = character.encode("utf-16-be", "surrogatepass")
        escaped += [f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)]
    return "".join(escaped), error.end
