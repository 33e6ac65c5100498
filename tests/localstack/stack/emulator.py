"""The choice of an emulator, and its location."""

from __future__ import annotations

import enum
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from stack import docker, endpoint, host, ministack
from stack.failure import Failure
from stack.locks import alone
from stack.paths import RUNS
from stack.process import Life, Process
from stack.progress import say

LAST_LINES = 20
"""How much of a log is shown when a start fails."""


class Kind(enum.Enum):
    """The kinds of emulators."""

    LOCALSTACK = "localstack"
    """LocalStack in Docker if that works, else as a process."""
    HOST = "localstack-host"
    """LocalStack as a process, even if Docker works."""
    MINISTACK = "ministack"


@dataclass(frozen=True)
class Place:
    """The location of an emulator of ours."""

    kind: Kind
    port: int

    @property
    def endpoint(self) -> str:
        """Its address."""
        return endpoint.url(self.port)

    @property
    def run(self) -> Path:
        """Its directory."""
        return RUNS / str(self.port)

    def set_up(self) -> None:
        """Fetches what it needs, unless Docker does that."""
        if self.kind is Kind.MINISTACK:
            ministack.set_up()
        elif not self._in_docker():
            host.set_up()

    def start(self, life: Life) -> None:
        """Starts it and waits until it is ready, or leaves the one that runs."""
        with alone(RUNS / f"{self.port}.lock"):
            if self.is_running():
                return
            if self._in_docker():
                say(f"starting {docker.IMAGE} on port {self.port}")
                docker.start(self.port)
                last_words = lambda: docker.last_lines(self.port, LAST_LINES)  # noqa: E731
            else:
                say(f"starting {self.kind.value} on port {self.port}, its log is {self.run / 'log'}")
                starter = ministack if self.kind is Kind.MINISTACK else host
                process = starter.start(self.port, self.run, life)
                last_words = lambda: process.last_lines(LAST_LINES)  # noqa: E731
        try:
            endpoint.wait_until_ready(self.endpoint, self.is_running, last_words)
        except BaseException:
            self.stop()
            raise

    def is_running(self) -> bool:
        """Whether one of ours is running."""
        return Process(self.run).pid() is not None or docker.is_running(self.port)

    def stop(self) -> bool:
        """Stops ours, and no other. Returns whether there was one."""
        return Process(self.run).stop() or docker.stop(self.port)

    def _in_docker(self) -> bool:
        return self.kind is Kind.LOCALSTACK and docker.works()


def chosen(kind: Kind, port: int) -> Place:
    """The location at a port; at a free one if it is 0."""
    if not 0 <= port <= 65535:
        raise Failure(f"{port} is not a port")
    return Place(kind, port or free_port())


def given() -> str | None:
    """The endpoint in AWS_ENDPOINT_URL, if an emulator answers there."""
    named = os.environ.get("AWS_ENDPOINT_URL")
    return named if named and endpoint.is_ready(named) else None


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
