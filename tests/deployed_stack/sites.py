"""Sites on loopback that record their requests."""

from __future__ import annotations

import io
import mimetypes
import socket
import struct
import threading
import time
from base64 import b64encode
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Callable, Mapping, Optional
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request, as the server saw it."""

    path: str
    agent: str
    at_seconds: float
    """When it arrived, by the monotonic clock."""


@dataclass(frozen=True)
class Page:
    """An answer."""

    body: bytes
    media_type: str = "text/html; charset=utf-8"
    location: Optional[str] = None
    """The target of a permanent redirect."""
    status: int = 200
    """Unless it is a redirect."""


Source = Callable[[str], Optional[Page]]
"""What a site answers to a path; None for 404."""


def of_pages(pages: Mapping[str, Page]) -> Source:
    """A site of these pages."""
    return pages.get


def of_directory(root: Path) -> Source:
    """A site of the files below a directory."""
    root = root.resolve(strict=True)

    def answer(path: str) -> Optional[Page]:
        file = root / unquote(urlsplit(path).path).lstrip("/")
        if path.endswith("/"):
            file /= "index.html"
        if not file.resolve().is_relative_to(root.parent) or not file.is_file():
            return None
        media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return Page(file.read_bytes(), media_type)

    return answer


SO_TIMESTAMPNS = 35
"""Asks Linux for the arrival time of bytes, as a thread may notice them much later on a busy machine."""


class Arrivals(io.RawIOBase):
    """The bytes of a connection, and when the last of them arrived."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.last_seconds = time.monotonic()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        size, stamps, _, _ = self._connection.recvmsg_into([buffer], socket.CMSG_SPACE(16))
        if size:  # the end of a connection has no time
            ((_, _, stamp),) = stamps
            seconds, nanoseconds = struct.unpack("qq", stamp)
            self.last_seconds = time.monotonic() - (time.time() - seconds - nanoseconds / 1e9)
        return size


class Site:
    """Serves while entered."""

    def __init__(self, source: Source, login: Optional[str] = None) -> None:
        """`login` is the name and the password, `ada:secret`, without which every answer is 401."""
        expected = login and f"Basic {b64encode(login.encode()).decode()}"
        self.asked: list[Asked] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                self._arrivals = Arrivals(self.connection)
                self.rfile = io.BufferedReader(self._arrivals)

            def do_GET(self) -> None:
                site.asked.append(Asked(self.path, self.headers.get("User-Agent", ""), self._arrivals.last_seconds))
                answer = source(self.path) or Page(b"nothing here", "text/plain", status=404)
                if expected and self.headers.get("Authorization") != expected:
                    answer = Page(b"who are you?", "text/plain", status=401)
                self.send_response(301 if answer.location else answer.status)
                if answer.location:
                    self.send_header("Location", answer.location)
                self.send_header("Content-Type", answer.media_type)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def paths(self) -> list[str]:
        """The requests so far, in order."""
        return [asked.path for asked in self.asked]

    def __enter__(self) -> Site:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
