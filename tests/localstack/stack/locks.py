"""Locks between commands that would interfere, including those of other checkouts."""

from __future__ import annotations

import contextlib
import fcntl
from pathlib import Path
from typing import Iterator


@contextlib.contextmanager
def alone(file: Path) -> Iterator[None]:
    """Holds an exclusive lock on the file while entered. The file is not deleted."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
