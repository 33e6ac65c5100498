"""A site whose pages misbehave, and an address beside it that counts whatever arrives there."""

from __future__ import annotations

import math
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTML = "text/html; charset=utf-8"
SCRIPT = "text/javascript"
JSON = "application/json"

TLS_HANDSHAKE = b"\x16\x03"

SESSION_AT = 43
"""Where a greeting has the length of its session's id: behind two headers, a version and 32 random bytes (RFC 8446, section 4.1.2)."""

PAUSE_SECONDS = 0.02
"""How long the counter takes to answer, so that requests at the same time show."""

PATIENCE_SECONDS = 5
"""How long it waits for what a connection brings."""


@dataclass(frozen=True)
class Sent:
    """What a path is answered with."""

    body: bytes = b""
    media_type: str = HTML
    status: int = HTTPStatus.OK
    fields: tuple[tuple[str, str], ...] = ()
    is_silent: bool = False
    """Whether it is never answered."""


def page(body: str, *fields: tuple[str, str]) -> Sent:
    return Sent(f"<!doctype html><meta charset=utf-8>{body}".encode(), fields=fields)


def redirect(to: str) -> Sent:
    return Sent(status=HTTPStatus.FOUND, fields=(("Location", to),))


SILENCE = Sent(is_silent=True)


class Pages(ThreadingHTTPServer):
    """Serves what it is given, by path, until it is closed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str) -> None:
        super().__init__((address, 0), Handler)
        self.url = f"http://{address}:{self.server_port}"
        self.answers: dict[str, Sent] = {}
        self.paths: list[str] = []
        """What it was asked for, in order."""
        self.is_over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        """A client that ends without its answer is no error here."""

    def close(self) -> None:
        self.is_over.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Pages

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.paths.append(path)
        sent = self.server.answers.get(path, Sent(b"Nothing is here.", "text/plain", HTTPStatus.NOT_FOUND))
        if sent.is_silent:
            self.server.is_over.wait()
            self.close_connection = True
            return
        self.send_response(sent.status)
        for name, value in (("Content-Type", sent.media_type), ("Content-Length", str(len(sent.body))), *sent.fields):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent.body)


@dataclass
class Arrival:
    """A connection or a packet that came."""

    protocol: str
    began: float
    """When it came, on the clock of `time.monotonic`."""
    ended: float = math.inf
    """When it was answered."""
    first: bytes = b""
    """Its beginning: of a request, the whole head."""

    @property
    def is_tls(self) -> bool:
        return self.first.startswith(TLS_HANDSHAKE)

    @property
    def is_of_browser(self) -> bool:
        """Whether it greets as Chromium does over TLS: with a cipher suite that nobody has (RFC 8701)."""
        if not self.is_tls:
            return False
        session_bytes = self.first[SESSION_AT]
        suites_at = SESSION_AT + 1 + session_bytes + 2
        suites_bytes = int.from_bytes(self.first[suites_at - 2 : suites_at])
        suites = self.first[suites_at : suites_at + suites_bytes]
        return any(high == low and low & 0x0F == 0x0A for high, low in zip(suites[::2], suites[1::2], strict=True))

    @property
    def line(self) -> str:
        """A request's first line."""
        return self.first.partition(b"\r\n")[0].decode("latin-1")

    @property
    def headers(self) -> dict[str, str]:
        """By their names in lower case."""
        fields = (field.partition(":") for field in self.first.decode("latin-1").split("\r\n")[1:])
        return {name.lower(): value.strip() for name, _, value in fields if name}

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


class Counter:
    """Listens at one port of 127.0.0.1 and ::1, over TCP and UDP. It answers each request by an empty script."""

    def __init__(self, robots: str) -> None:
        self.robots = robots
        self.arrivals: list[Arrival] = []
        self.sockets = self._sockets()
        self.port = self.sockets[0].getsockname()[1]
        for listening in self.sockets:
            serve = self._accept if listening.type == socket.SOCK_STREAM else self._receive
            threading.Thread(target=serve, args=(listening,), daemon=True).start()

    @staticmethod
    def _sockets() -> list[socket.socket]:
        """Takes the same free port of each."""
        kinds = [(family, kind) for family in (socket.AF_INET, socket.AF_INET6) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
        while True:
            port, taken = 0, []
            with suppress(OSError):
                for family, kind in kinds:
                    taken.append(socket.socket(family, kind))
                    taken[-1].bind(("127.0.0.1" if family == socket.AF_INET else "::1", port))
                    port = taken[-1].getsockname()[1]
                    if kind == socket.SOCK_STREAM:
                        taken[-1].listen(128)
                return taken
            for one in taken:
                one.close()

    def close(self) -> None:
        for one in self.sockets:
            with suppress(OSError):  # wakes the thread that waits at it
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _receive(self, packets: socket.socket) -> None:
        with suppress(OSError):
            while True:
                first = packets.recv(2048)
                self.arrivals.append(Arrival("UDP", time.monotonic(), first=first))

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                # A connection counts even if nothing comes over it.
                arrival = Arrival("TCP", time.monotonic())
                self.arrivals.append(arrival)
                threading.Thread(target=self._answer, args=(connection, arrival), daemon=True).start()

    def _answer(self, connection: socket.socket, arrival: Arrival) -> None:
        with connection, suppress(OSError):
            connection.settimeout(PATIENCE_SECONDS)
            while b"\r\n\r\n" not in arrival.first and not arrival.is_tls and (more := connection.recv(4096)):
                arrival.first += more
            time.sleep(PAUSE_SECONDS)
            arrival.ended = time.monotonic()
            if arrival.is_tls or not arrival.line:
                return
            media_type, body = ("text/plain", self.robots) if arrival.path == "/robots.txt" else (SCRIPT, "0")
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall((head + body).encode())
