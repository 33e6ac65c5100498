"""An execution environment: one process that handles one invocation at a time, and is restarted when it has died."""

import json
import math
import time
from dataclasses import dataclass

from native_executor.runtime import Exited, Program, Runtime, TimedOut
from native_executor.runtime_api import Answered, InitFailed, Invocation, Polled
from native_executor.stream import Stream


@dataclass(frozen=True)
class Limits:
    """How long the process may take."""

    init_seconds: float
    invoke_seconds: float
    memory_mb: int
    """The function's memory, which is reported but not enforced."""


@dataclass(frozen=True)
class Outcome:
    """The result of an invocation: the caller's answer, and its log."""

    payload: bytes
    is_error: bool
    log: str


class CannotStart(Exception):
    """The process did not initialise. The payload is what Lambda tells the caller."""

    def __init__(self, payload: bytes) -> None:
        super().__init__(payload.decode(errors="replace"))
        self.payload = payload


class Environment:
    """Runs a program for one version of a function."""

    def __init__(self, program: Program, limits: Limits, version: str, stream: Stream) -> None:
        self._program = program
        self._limits = limits
        self._version = version
        self._stream = stream
        self._runtime: Runtime | None = None
        self._unbilled_init_ms: float | None = None
        """How long the start took that the next invocation is billed for."""

    def start(self) -> None:
        """Starts the process. Raises CannotStart."""
        started = time.monotonic()
        try:
            runtime = Runtime(self._program, self._stream)
        except OSError as error:
            raise CannotStart(error_payload("Runtime.InvalidEntrypoint", str(error))) from error
        self._stream.line(f"INIT_START Pid: {runtime.pid}")
        match runtime.initialise(self._limits.init_seconds):
            case Polled():
                self._runtime = runtime
                self._unbilled_init_ms = (time.monotonic() - started) * 1000
                return
            case InitFailed(payload):
                pass
            case Exited(status):
                payload = error_payload("Runtime.ExitError", f"Error: {exit_text(status)} during init")
            case TimedOut():
                payload = error_payload("Sandbox.Timedout", f"Error: init took over {self._limits.init_seconds:g} seconds")
        runtime.kill()
        self._stream.line(payload.decode(errors="replace"))
        raise CannotStart(payload)

    def invoke(self, invocation: Invocation) -> Outcome:
        """Handles one invocation. First restarts a process that has died since the last one, as Lambda does."""
        request = f"RequestId: {invocation.request_id}"
        begin = self._stream.end()
        self._stream.line(f"START {request} Version: {self._version}")
        init_ms = self._unbilled_init_ms
        started = time.monotonic()
        payload, is_error = self._answer(invocation)
        elapsed_ms = (time.monotonic() - started) * 1000
        self._unbilled_init_ms = None  # that of a start meanwhile is part of what elapsed
        self._stream.line(f"END {request}")
        self._stream.line(self._report(request, elapsed_ms, init_ms))
        return Outcome(payload, is_error, self._stream.since(begin))

    def stop(self) -> None:
        """Ends the process. An invocation that this cuts short still writes its end, so the stream stays open."""
        self._drop()

    def _answer(self, invocation: Invocation) -> tuple[bytes, bool]:
        try:
            runtime = self._living()
        except CannotStart as error:
            return error.payload, True
        request = f"RequestId: {invocation.request_id}"
        match runtime.invoke(invocation, self._limits.invoke_seconds):
            case Answered(_, payload, is_error):
                return payload, is_error
            case Exited(status):
                payload = error_payload("Runtime.ExitError", f"{request} Error: {exit_text(status)}")
            case TimedOut():
                seconds = f"{self._limits.invoke_seconds:.2f}"
                payload = error_payload("Sandbox.Timedout", f"{request} Error: Task timed out after {seconds} seconds")
        self._stream.line(payload.decode())
        return payload, True

    def _living(self) -> Runtime:
        if self._runtime is None or not self._runtime.is_alive():
            self._drop()
            self.start()
        return self._runtime

    def _drop(self) -> None:
        if self._runtime is not None:
            self._runtime.kill()
            self._runtime = None

    def _report(self, request: str, elapsed_ms: float, init_ms: float | None) -> str:
        fields = [
            f"REPORT {request}",
            f"Duration: {elapsed_ms:.2f} ms",
            f"Billed Duration: {math.ceil(elapsed_ms + (init_ms or 0))} ms",
            f"Memory Size: {self._limits.memory_mb} MB",
        ]
        runtime = self._runtime  # `stop` may take it away meanwhile
        peak_bytes = runtime.peak_memory_bytes() if runtime else None
        if peak_bytes is not None:
            fields.append(f"Max Memory Used: {math.ceil(peak_bytes / 2**20)} MB")
        if init_ms is not None:
            fields.append(f"Init Duration: {init_ms:.2f} ms")
        return "\t".join(fields)


def error_payload(kind: str, message: str) -> bytes:
    """An error as callers of Lambda see it."""
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


def exit_text(status: int) -> str:
    """How a process ended, in Lambda's words."""
    if status < 0:
        return f"Runtime exited with error: signal: {-status}"
    return f"Runtime exited with error: exit status {status}"
