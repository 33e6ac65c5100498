"""A small site on loopback that remembers what it was asked for."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {
    "/": '<title>Home</title><a href="/a">a</a> <a href="/b">b</a>',
    "/a": '<title>A</title><a href="/b">b</a> <a href="https://elsewhere.example/">elsewhere</a>',
    "/b": '<title>B</title><a href="/">home</a> <a href="/missing">missing</a>',
}


class Site:
    """Serves as long as it is entered."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        """Each request's path and user agent."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers.get("User-Agent", "")))
                page = PAGES.get(self.path)
                body = (page or "nothing here").encode()
                self.send_response(200 if page else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Site:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
