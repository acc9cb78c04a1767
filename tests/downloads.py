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
        #: For each request to come: after how many bytes to hang up.
        self.cut: list[int | None] = []
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append(self.path)
                content = server.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                cut = server.cut.pop(0) if server.cut else None
                self.wfile.write((content or b"")[:cut])
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
