"""A server process in the background: started, found again by another command, stopped."""

from __future__ import annotations

import ctypes
import enum
import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Mapping, Optional, Sequence

PATIENCE_SECONDS = 20
"""How long a server may take to end by itself; LocalStack takes about five."""


class Life(enum.Enum):
    """How long a server lives."""

    UNTIL_STOPPED = "until stopped"
    AS_LONG_AS_WE = "as long as we"


class Process:
    """The server that belongs to a run's directory.

    It holds the directory's lock for as long as it lives, so that whoever asks is not misled by the id of a process that is
    gone, which may be another's by now.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self.log = run / "log"

    def start(self, command: Sequence[object], environ: Mapping[str, str], life: Life) -> None:
        """Starts the server, with its output in the log. What an earlier run left in the directory goes first."""
        shutil.rmtree(self._run, ignore_errors=True)
        self._run.mkdir(parents=True)
        with self._lock_file().open("w") as lock, self.log.open("w") as log:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = subprocess.Popen(
                list(map(str, command)),
                env=dict(environ),
                cwd=self._run,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lock.fileno()],
                preexec_fn=_end_with_parent if life is Life.AS_LONG_AS_WE else None,
            )
            (self._run / "pid").write_text(str(process.pid))

    def pid(self) -> Optional[int]:
        """The server's process id, if it lives."""
        if not self._lock_file().exists():
            return None
        with self._lock_file().open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return int((self._run / "pid").read_text())
        return None

    def stop(self) -> bool:
        """Ends the server, by force if necessary. Returns whether there was one."""
        pid = self.pid()
        if pid is None:
            return False
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.pid() is not None:
            if time.monotonic() > deadline:
                os.killpg(pid, signal.SIGKILL)
                deadline = float("inf")
            time.sleep(0.05)
            _reap(pid)
        return True

    def last_lines(self, count: int) -> str:
        """The end of the log."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(lines[-count:])

    def _lock_file(self) -> Path:
        return self._run / "lock"


def _reap(pid: int) -> None:
    """Collects a child's status; another command's child is not ours to collect."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def _end_with_parent() -> None:
    """Linux ends the process when the one that started it dies, even by SIGKILL. Elsewhere nothing happens."""
    set_death_signal = 1
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(set_death_signal, signal.SIGTERM)
