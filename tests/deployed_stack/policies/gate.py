"""A gate before the emulator: it lets through what the caller's role permits, refuses the rest, and remembers both.

LocalStack checks no permissions, and ministack, which does, knows neither what a batch of statements needs nor DynamoDB as exactly. So
ministack judges here, and LocalStack does.
"""

from __future__ import annotations

import http.client
import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable
from urllib.parse import urlsplit

from permissions import Permission, Request, Unknown, needed, to_know_of_absence

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "expect", "content-length"}

SECONDS = 60
"""How long the emulator may take for an answer."""


@dataclass(frozen=True)
class Asked:
    """A request's permission, and whether it was granted."""

    role: str
    permission: Permission | str
    """A description, if it is unknown what the request needs."""
    permitted: bool


class Gate:
    """Serves in front of an emulator while entered."""

    def __init__(self, emulator: str, role_of: Callable[[str], str], permits: Callable[[str, Permission], bool]) -> None:
        """`role_of` tells an access key's role, `permits` whether a role has a permission."""
        self._emulator, self._role_of, self._permits = urlsplit(emulator).netloc, role_of, permits
        self._asked: dict[Asked, None] = {}
        self._lock = threading.Lock()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_request(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, answer_headers, answer = gate.answer(Request(self.command, self.path, headers, body))
                self.send_response_only(status)
                for name, value in answer_headers.items():
                    self.send_header(name, value)
                if "content-length" not in {name.lower() for name in answer_headers}:
                    self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Gate:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def asked(self) -> list[Asked]:
        """Everything requested so far, each once."""
        with self._lock:
            return list(self._asked)

    def refused(self) -> list[str]:
        """Descriptions of what was refused so far."""
        return [f"{one.role}: {one.permission}" for one in self.asked() if not one.permitted]

    def answer(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        """Status, header and body."""
        try:
            role = self._role_of(request.credential["key"])
        except Unknown as unknown:
            self._note(Asked("nobody", str(unknown), False))
            return _refusal(request)
        try:
            permissions = needed(request)
        except Unknown as unknown:
            self._note(Asked(role, str(unknown), False))
            return _refusal(request)
        if not all([self._has(role, permission) for permission in permissions]):
            return _refusal(request)
        status, headers, body = self._forward(request)
        absence = to_know_of_absence(request) if status == 404 else None
        if absence and not self._has(role, absence):
            return _refusal(request)
        return status, headers, body

    def _has(self, role: str, permission: Permission) -> bool:
        permitted = self._permits(role, permission)
        self._note(Asked(role, permission, permitted))
        return permitted

    def _note(self, asked: Asked) -> None:
        with self._lock:
            self._asked[asked] = None

    def _forward(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self._emulator, timeout=SECONDS)
        try:
            headers = {name: value for name, value in request.headers.items() if name not in HOP_BY_HOP}
            connection.request(request.method, request.target, request.body, headers)
            answer = connection.getresponse()
            body = answer.read()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP}
            if request.method == "HEAD" and (length := answer.getheader("Content-Length")):
                kept["Content-Length"] = length
            return answer.status, kept, body
        finally:
            connection.close()


def _refusal(request: Request) -> tuple[int, dict[str, str], bytes]:
    """A refusal in the service's own format."""
    if "x-amz-target" in request.headers:
        refusal = {"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "refused by the gate"}
        return 400, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(refusal).encode()
    error = "<Code>AccessDenied</Code><Message>refused by the gate</Message>"
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        error = f"<ErrorResponse><Error><Type>Sender</Type>{error}</Error></ErrorResponse>"
    else:
        error = f"<Error>{error}</Error>"
    return 403, {"Content-Type": "text/xml"}, error.encode()
