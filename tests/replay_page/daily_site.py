"""A small site with pictures and a style sheet, some of which change from day to day."""

from __future__ import annotations

import hashlib
import struct
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = ["/", "/still", "/news", "/once"]


def png(width: int, height: int) -> bytes:
    """A red picture of this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xc0\0\0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def text(path: str, day: int) -> str:
    """What a page says on a day."""
    return {
        "/": "The spider keeps what it saw",
        "/still": "words that stay",
        "/news": f"the news of day {day}",
        "/once": "before the change" if day == 1 else "after the change",
    }[path]


CHART = "/chart.png"
"""The picture that changes every day."""


def pictures(day: int) -> dict[str, list[int]]:
    """The pictures of all pages with their widths and heights. Two have one body."""
    return {"/dot.png": [40, 30], "/twin.png": [40, 30], CHART: [100 * day, 20]}


PAPER = [16, 8]
"""The size of the picture that the style sheet names."""

COLOUR = "rgb(0, 102, 51)"
"""That of the text, by the style sheet."""

STYLE = f"@import '/more.css'; p {{ color: {COLOUR} }} body {{ background-image: url(/paper.png) }}"
WIDTH = "321px"
"""That of the text, by the style sheet that the other one names."""


def content(path: str, day: int) -> tuple[str, bytes] | None:
    """The type and body of a path; None if there is none."""
    if path in PAGES:
        links = "".join(f'<a href="{page}">{page}</a> ' for page in PAGES)
        images = "".join(f'<img src="{picture}">' for picture in pictures(day))
        page = f'<!doctype html><title>{path}</title><link rel="stylesheet" href="/style.css"><p>{text(path, day)}</p>{images}{links}'
        return "text/html; charset=utf-8", page.encode()
    sizes = {**pictures(day), "/paper.png": PAPER}
    if path in sizes:
        return "image/png", png(*sizes[path])
    sheets = {"/style.css": STYLE, "/more.css": f"p {{ width: {WIDTH} }}"}
    return ("text/css", sheets[path].encode()) if path in sheets else None


class Site:
    """Serves the day that it is, with an ETag for everything, until the context is left."""

    def __init__(self) -> None:
        self.day = 1
        self.answers: list[tuple[int, str, int]] = []
        """The day, the path and the status of each."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Site:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, asked: BaseHTTPRequestHandler) -> None:
        found = content(asked.path, self.day)
        etag = f'"{hashlib.sha256(found[1]).hexdigest()[:16]}"' if found else None
        status = 404 if found is None else 304 if asked.headers.get("If-None-Match") == etag else 200
        self.answers.append((self.day, asked.path, status))
        body = found[1] if status == 200 else b""
        asked.send_response(status)
        if found:
            asked.send_header("ETag", etag)
        if status == 200:
            asked.send_header("Content-Type", found[0])
        if status != 304:
            asked.send_header("Content-Length", str(len(body)))
        asked.end_headers()
        asked.wfile.write(body)
