"""What every request passes first: its size, its host, where it comes from; and safe headers.

Plain ASGI around the application, because a body must be refused before it is read.
"""

from __future__ import annotations

import logging
import re
import time

from sqlalchemy.exc import InterfaceError, OperationalError, TimeoutError as PoolTimeout
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trilens_survey.log import log, log_event
from trilens_survey.server import Options

#: Bytes of a request: its headers, and its body.
LONGEST_HEAD = 64 * 1024
LONGEST_BODY = 64 * 1024
#: The database is away, full or too slow: it may be back soon.
OUTAGES = (OperationalError, InterfaceError, TimeoutError, PoolTimeout)
RETRY_AFTER = "5"

_HOST = re.compile(r"(?i:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
#: A picture or sound that is opened by itself may do nothing, whatever is inside.
MEDIA_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class _TooLarge(HTTPException):
    """A body that turned out longer than it may be; FastAPI lets this class through."""

    def __init__(self) -> None:
        super().__init__(413, "the body is too large", {"connection": "close"})


class Middleware:
    """Refuses what no participant or researcher sends."""

    def __init__(self, app: ASGIApp, options: Options) -> None:
        self.app = app
        self.options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        _put_prefix(scope, self.options.root_path)
        headers = dict(scope["headers"])
        status = 500
        begun = False

        async def send_safely(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                begun = True
                status = message["status"]
                given = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    given.setdefault(name, value)
                if self.options.secure:
                    given["strict-transport-security"] = "max-age=31536000"
            await send(message)

        refusal = self._refused(scope, headers)
        try:
            if refusal is not None:
                await _refusal(*refusal)(scope, receive, send_safely)
                return
            read = 0

            async def receive_some() -> Message:
                nonlocal read
                message = await receive()
                read += len(message.get("body", b""))
                if read > LONGEST_BODY:
                    raise _TooLarge
                return message

            await self.app(scope, receive_some, send_safely)
        except Exception as error:
            # FastAPI's own handlers come first; this is the last one, and tells nobody why
            log.exception("error")
            refusal = (500, "internal server error")
            if isinstance(error, OUTAGES):
                refusal = (503, "answers cannot be stored now; try again soon")
            if not begun:
                await _refusal(*refusal)(scope, receive, send_safely)
        finally:
            route = getattr(scope.get("route"), "path", "-")
            method = scope["method"] if scope["method"] in _METHODS else "-"
            level = logging.DEBUG if status < 500 else logging.WARNING
            if log.isEnabledFor(level):
                ms = round(1000 * (time.perf_counter() - start), 1)
                log_event("request", level, method=method, route=route, status=status, ms=ms)

    def _refused(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LONGEST_HEAD:
            return 431, "the headers are too large"
        names = [name for name, _ in scope["headers"]]
        host = headers.get(b"host", b"").decode("latin-1")
        if names.count(b"host") != 1 or not _HOST.fullmatch(host):
            return 400, "invalid Host header"
        bare = re.sub(r":[0-9]+$", "", host).lower()
        if self.options.hosts and bare not in self.options.hosts | _LOOPBACK:
            return 421, "this server does not serve that host"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return 400, "invalid Content-Length header"
        if int(length) > LONGEST_BODY:
            return 413, "the body is too large"
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and _foreign(headers, host):
            return 403, "requests from other sites are refused"
        return None


_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _put_prefix(scope: Scope, root: str) -> None:
    """The path as ASGI wants it, with the prefix, whether the proxy took it off or not."""
    if not root:
        return
    scope["root_path"] = root
    if scope["path"] != root and not scope["path"].startswith(root + "/"):
        scope["path"] = root + scope["path"]
        scope["raw_path"] = root.encode() + scope.get("raw_path", b"")


def _foreign(headers: dict[bytes, bytes], host: str) -> bool:
    """Whether a browser says that another site sent this."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site not in (b"same-origin", b"none")
    origin = headers.get(b"origin")
    if origin is None:
        return False  # not a browser: it has no cookies to abuse
    return origin.decode("latin-1").lower().partition("://")[2] != host.lower()


def _refusal(status: int, why: str) -> JSONResponse:
    headers = {"connection": "close"} | ({"retry-after": RETRY_AFTER} if status == 503 else {})
    return JSONResponse({"detail": why}, status, headers)
