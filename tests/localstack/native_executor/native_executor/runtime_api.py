"""The Lambda Runtime API, https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html, for one process."""

import json
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Thread

VERSION = "/2018-06-01/runtime/"
"""All paths start with it."""


@dataclass(frozen=True)
class Invocation:
    """One event for the function."""

    request_id: str
    payload: bytes
    function_arn: str
    trace_id: str = ""


@dataclass(frozen=True)
class Work:
    """An invocation that is under way: the process must have answered by the deadline."""

    invocation: Invocation
    deadline_unix_ms: int


@dataclass(frozen=True)
class Polled:
    """The process asked for work: it is initialised, and done with whatever it had."""


@dataclass(frozen=True)
class Answered:
    """The process answered an invocation, well or with an error."""

    request_id: str
    payload: bytes
    is_error: bool


@dataclass(frozen=True)
class InitFailed:
    """The process said that it cannot start."""

    payload: bytes


class RuntimeApi:
    """Serves one process on a free port of loopback: work goes out through `give`, what the process says comes in as `events`."""

    def __init__(self, events: SimpleQueue) -> None:
        self._events = events
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._under_way: Work | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def address(self) -> str:
        """What the process gets as AWS_LAMBDA_RUNTIME_API."""
        return "127.0.0.1:%d" % self._server.server_address[1]

    def give(self, work: Work) -> None:
        """Hands work to the process, at its next poll."""
        self._work.put(work)

    def close(self) -> None:
        """Stops serving. A poll that waits ends without an answer."""
        self._work.put(None)
        self._server.shutdown()
        self._server.server_close()

    def _next(self) -> Work | None:
        self._events.put(Polled())
        work = self._work.get()
        if work is None:
            self._work.put(None)  # for the next one that asks
        self._under_way = work
        return work

    def _answer(self, request_id: str, kind: str, payload: bytes) -> bool:
        """Takes an answer. Refuses one to an invocation that is not under way, as Lambda does."""
        work = self._under_way
        if work is None or work.invocation.request_id != request_id:
            return False
        self._under_way = None
        self._events.put(Answered(request_id, payload, is_error=kind == "error"))
        return True

    def _init_failed(self, payload: bytes) -> None:
        self._events.put(InitFailed(payload))

    def _handler(api) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_) -> None:
                """The process's own log is what counts."""

            def do_GET(self) -> None:
                if self.path != VERSION + "invocation/next":
                    return self._reply(404, _error("NotFound", self.path))
                if (work := api._next()) is None:
                    self.close_connection = True
                    return None
                invocation = work.invocation
                return self._reply(
                    200,
                    invocation.payload,
                    {
                        "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
                        "Lambda-Runtime-Deadline-Ms": str(work.deadline_unix_ms),
                        "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
                        "Lambda-Runtime-Trace-Id": invocation.trace_id,
                    },
                )

            def do_POST(self) -> None:
                payload = self._body()
                match self.path.removeprefix(VERSION).split("/"):
                    case ["init", "error"]:
                        api._init_failed(payload)
                    case ["invocation", request_id, "response" | "error" as kind]:
                        if not api._answer(request_id, kind, payload):
                            return self._reply(400, _error("InvalidRequestID", request_id))
                    case _:
                        return self._reply(404, _error("NotFound", self.path))
                return self._reply(202, b'{"status":"OK"}')

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                chunks = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    chunks.append(self.rfile.read(size))
                    self.rfile.readline()
                while self.rfile.readline().strip():
                    pass  # trailers
                return b"".join(chunks)

            def _reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        return Handler


def _error(kind: str, message: str) -> bytes:
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()
