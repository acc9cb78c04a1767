"""A server on this machine that files are downloaded from."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from trilens.datasets.fetch import Address, Origin

#: Has the files of a data set come from elsewhere.
Come = Callable[[str, dict[str, Origin]], None]


class Server:
    """Files over HTTP, with the faults that a test asks for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = True
        #: For each request to come: after how many bytes to hang up, or a status to answer.
        self.cut: list[int | None] = []
        self.refuse: list[int | None] = []
        self.asked: list[str | None] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                server.asked.append(wanted)
                refused = server.refuse.pop(0) if server.refuse else None
                content = server.files.get(self.path)
                if refused is not None or content is None:
                    self.answer(refused or 404, b"")
                    return
                if wanted is None or not server.ranges:
                    self.answer(200, content)
                    return
                first, last = wanted.removeprefix("bytes=").split("-")
                start, end = int(first), int(last or len(content) - 1)
                if start >= len(content):
                    self.answer(416, b"", f"bytes */{len(content)}")
                    return
                self.answer(206, content[start : end + 1], f"bytes {start}-{end}/{len(content)}")

            def answer(self, status: int, body: bytes, span: str | None = None) -> None:
                cut = server.cut.pop(0) if server.cut else None
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if span is not None:
                    self.send_header("Content-Range", span)
                self.end_headers()
                self.wfile.write(body[:cut])
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def origin(self, name: str, member: str | None = None) -> Origin:
        return Origin("https://example.org/data", (Address(f"{self.url}/{name}", member),))


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def left_in(cache: Path) -> list[str]:
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())
