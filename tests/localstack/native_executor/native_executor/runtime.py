"""One life of a bootstrap: from its start until it exits or is killed. Another life is another `Runtime`."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from native_executor.runtime_api import Answered, InitFailed, Invocation, Polled, RuntimeApi, Work
from native_executor.stream import Stream


@dataclass(frozen=True)
class Program:
    """The program to run."""

    bootstrap: Path
    environ: Mapping[str, str]


@dataclass(frozen=True)
class Exited:
    """The process is gone. Negative: the signal that killed it."""

    status: int


@dataclass(frozen=True)
class TimedOut:
    """There was no answer before the deadline; the process has been killed."""


class Runtime:
    """A running bootstrap with the API it asks for work. One thread uses it at a time."""

    def __init__(self, program: Program, stream: Stream) -> None:
        self._events: SimpleQueue = SimpleQueue()
        self._api = RuntimeApi(self._events)
        try:
            self._process = subprocess.Popen(
                [program.bootstrap],
                cwd=program.bootstrap.parent,
                env={**program.environ, "AWS_LAMBDA_RUNTIME_API": self._api.address},
                stdin=subprocess.DEVNULL,
                stdout=stream.file,
                stderr=stream.file,
                start_new_session=True,  # a group of its own, killed with what it started
            )
        except OSError:
            self._api.close()
            raise
        Thread(target=self._wait, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process's id, which is its group's too."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether it can take work."""
        # Not `poll`, which knows nothing while another thread waits for the process.
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    def initialise(self, limit_seconds: float) -> Polled | InitFailed | Exited | TimedOut:
        """Waits until the process asks for work, or has died."""
        return self._hear(time.monotonic() + limit_seconds)

    def invoke(self, invocation: Invocation, limit_seconds: float) -> Answered | Exited | TimedOut:
        """Has the process handle one invocation. It must be initialised, and alive as far as one knows."""
        deadline = time.monotonic() + limit_seconds
        self._api.give(Work(invocation, int((time.time() + limit_seconds) * 1000)))
        while True:
            heard = self._hear(deadline)
            if isinstance(heard, Answered):
                self._settle(deadline)
                return heard
            if isinstance(heard, Exited | TimedOut):
                return heard

    def peak_memory_bytes(self) -> int | None:
        """Its peak memory so far; None where the system does not tell."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return None
        return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)

    def kill(self) -> None:
        """Ends it, its children too, and waits until it is gone."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._api.close()

    def _settle(self, deadline: float) -> None:
        """An invocation is over only when the process asks for the next one: what it logs after its answer belongs to it."""
        while not isinstance(self._hear(deadline), Polled | Exited | TimedOut):
            pass

    def _hear(self, deadline: float) -> Polled | Answered | InitFailed | Exited | TimedOut:
        try:
            return self._events.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            self.kill()
            return TimedOut()

    def _wait(self) -> None:
        self._events.put(Exited(self._process.wait()))
