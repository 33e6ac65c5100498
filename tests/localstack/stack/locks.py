"""Commands that would get in each other's way wait for each other, those of other checkouts too."""

from __future__ import annotations

import contextlib
import fcntl
from pathlib import Path
from typing import Iterator


@contextlib.contextmanager
def alone(file: Path) -> Iterator[None]:
    """As long as this is entered, nobody else enters it with the same file. It is left behind."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
