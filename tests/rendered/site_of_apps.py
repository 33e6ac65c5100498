"""Serves the applications as they would be deployed: bundles, a JSON API, and one page for all of an application's routes."""

from __future__ import annotations

import json
import mimetypes
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PIXEL = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

ROBOTS = "User-agent: *\nDisallow: /private/\n"

SECRET = "This is for nobody but us."
"""Who shows it has asked for what robots.txt forbids."""

WHOLE = "docs"
"""The application whose pages are whole without scripts: what it does not have is missing, as on any other site."""

COLOURS = ["Amber", "Black", "Crimson", "Green", "Grey", "Ivory", "Orange", "White"]
MACHINES = ["bulldozer", "dragline", "excavator"]
ITEMS = {
    id: {
        "id": id,
        "name": f"{COLOURS[(id - 1) % 8]} {MACHINES[(id - 1) // 8]}",
        "tons": 40 + 7 * id,
        "text": f"The {COLOURS[(id - 1) % 8].lower()} {MACHINES[(id - 1) // 8]} moves {11 * id} tons of earth in an hour, needs a crew of {2 + id % 3}, "
        f"and has been at work in the pit since {1960 + id} without a single long repair.",
    }
    for id in range(1, 25)
}
ITEMS_A_PAGE = 8

AUTHORS = ["Ada", "Grace", "Konrad"]
ENTRIES = {
    id: {
        "id": id,
        "title": f"Shift {id}",
        "author": AUTHORS[id % 3],
        "text": f"In shift {id} we dug {300 + 3 * id} tons from bench {id % 7}, changed a rope after {id % 11} hours, and handed the machine over clean, "
        f"with {100 - id} litres of oil left in the tank and nothing else to report.",
    }
    for id in range(1, 101)
}
ENTRIES_A_PAGE = 25

TOPICS = ["ropes", "winches", "engines"]
SUBJECTS = ["How to choose", "When to replace", "What is new in", "The history of"]
ARTICLES = {
    f"{subject.lower().replace(' ', '-')}-{topic}": {
        "slug": f"{subject.lower().replace(' ', '-')}-{topic}",
        "headline": f"{subject} {topic}",
        "topic": topic,
        "paragraphs": [
            f"{subject} {topic}: our readers have asked about it {10 * number + place + 2} times this year, and here is what we told them.",
            f"Take number {place + 1} of our {topic} to the pit, try it for {number + 2} weeks, and write down what it did; then ask again.",
        ],
    }
    for place, topic in enumerate(TOPICS)
    for number, subject in enumerate(SUBJECTS)
}

Found = tuple[int, Any]
MISSING: Found = (HTTPStatus.NOT_FOUND, {"error": "there is nothing here"})


def part(things: dict[int, dict[str, Any]], query: dict[str, list[str]], each: int) -> tuple[list[dict[str, Any]], int | None]:
    """One page of a list, and the number of the next one."""
    page = int(query.get("page", ["1"])[0])
    return list(things.values())[(page - 1) * each : page * each], page + 1 if page * each < len(things) else None


def one(things: dict[Any, Any], id: Any) -> Found:
    return (HTTPStatus.OK, things[id]) if id in things else MISSING


def number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def react(path: str, query: dict[str, list[str]]) -> Found:
    match path.split("/")[2:]:
        case ["items"]:
            items, following = part(ITEMS, query, ITEMS_A_PAGE)
            return HTTPStatus.OK, {"items": [{"id": item["id"], "name": item["name"]} for item in items], "next": following}
        case ["items", id]:
            return one(ITEMS, number(id))
        case ["gallery"]:
            return HTTPStatus.OK, {"pictures": [{"id": id, "name": ITEMS[id]["name"]} for id in range(2, 25, 2)]}
        case ["broken"]:
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "the database is away"}
    return MISSING


def vue(path: str, query: dict[str, list[str]]) -> Found:
    match path.split("/")[2:]:
        case ["entries"]:
            entries, following = part(ENTRIES, query, ENTRIES_A_PAGE)
            return HTTPStatus.OK, {"entries": [{"id": entry["id"], "title": entry["title"]} for entry in entries], "next": following}
        case ["entries", id]:
            return one(ENTRIES, number(id))
    return MISSING


def svelte(path: str, _query: dict[str, list[str]]) -> Found:
    match path.split("/")[2:]:
        case ["articles"]:
            return HTTPStatus.OK, {"articles": [{key: article[key] for key in ("slug", "headline", "topic")} for article in ARTICLES.values()]}
        case ["articles", slug]:
            return one(ARTICLES, slug)
    return MISSING


APPS: dict[str, Callable[[str, dict[str, list[str]]], Found]] = {"react": react, "vue": vue, "svelte": svelte, WHOLE: lambda _path, _query: MISSING}
"""What answers an application's calls, by its name: path and query make a status and JSON."""


@dataclass(frozen=True)
class Request:
    """A request that the site got."""

    method: str
    path: str
    """With its query."""
    at: float
    """When it came, on the clock of `time.monotonic`."""
    headers: dict[str, str]
    """By their names in lower case."""


@dataclass(frozen=True)
class Response:
    status: int
    media_type: str
    body: bytes
    cache_control: str = "no-cache"


def sent_json(found: Found) -> Response:
    return Response(found[0], "application/json", json.dumps(found[1]).encode())


class Site(ThreadingHTTPServer):
    """One application at a port of its own. It serves until it is closed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, apps: Path, app: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.app = app
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.requests: list[Request] = []
        """What it was asked for, in order. Tests may clear it."""
        self.files = apps / app
        """Where its bundle is."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()

    def paths(self) -> list[str]:
        """What it was asked for, without the queries."""
        return [request.path.partition("?")[0] for request in self.requests]

    def answer(self, target: str) -> Response:
        """What is at a path with a query."""
        parts = urllib.parse.urlsplit(target)
        path, query = urllib.parse.unquote(parts.path), urllib.parse.parse_qs(parts.query)
        if path == "/robots.txt":
            return Response(HTTPStatus.OK, "text/plain", ROBOTS.encode())
        if path == "/private/data.json":
            return sent_json((HTTPStatus.OK, {"text": SECRET}))
        if path.startswith("/private/"):
            return Response(HTTPStatus.OK, "text/html; charset=utf-8", f"<!doctype html><title>Private</title><p>{SECRET}</p>".encode())
        if path.startswith("/pictures/"):
            return Response(HTTPStatus.OK, "image/gif", PIXEL, "max-age=86400")
        if path.startswith("/api/"):
            return sent_json(APPS[self.app](path, query))
        return self._file(path)

    def _file(self, path: str) -> Response:
        file = (self.files / path.lstrip("/")).resolve()
        # What has a dot in its last part is a file, and no route, as routers' servers have it.
        if path == "/" or (self.app != WHOLE and "." not in path.rpartition("/")[2]):
            file = self.files / "index.html"
        if not file.is_relative_to(self.files.resolve()) or not file.is_file():
            return Response(HTTPStatus.NOT_FOUND, "text/html; charset=utf-8", b"<!doctype html><title>Missing</title><p>Nothing is here.</p>")
        media_type = {".html": "text/html; charset=utf-8", ".js": "text/javascript"}.get(file.suffix) or mimetypes.guess_type(file.name)[0]
        # The name of a bundle has a digest of its contents.
        lasting = "public, max-age=31536000, immutable" if path.startswith("/assets/") else "no-cache"
        return Response(HTTPStatus.OK, media_type or "application/octet-stream", file.read_bytes(), lasting)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._note()
        self._send(self.server.answer(self.path))

    do_HEAD = do_GET

    def do_POST(self) -> None:
        self._note()
        self.close_connection = True  # its body is not read
        self._send(Response(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", b"It is only read here."))

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST

    def _note(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(Request(self.command, self.path, time.monotonic(), headers))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.media_type)
        self.send_header("Content-Length", str(len(response.body)))
        self.send_header("Cache-Control", response.cache_control)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)
