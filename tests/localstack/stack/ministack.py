"""Ministack, a second emulator: less exact than LocalStack, but it refuses what a role does not permit."""

from __future__ import annotations

import os
from pathlib import Path

from stack import endpoint, python
from stack.paths import BYTECODE
from stack.process import Life, Process


def set_up() -> Path:
    """Fetches what is missing. Returns the directory of its Python."""
    return python.environment("ministack")


def start(port: int, run: Path, life: Life) -> Process:
    """Starts it, after setting up what is missing."""
    bin_ = set_up()
    endpoint.require_free(port)
    process = Process(run)
    process.start([bin_ / "python", "-m", "ministack"], _environ(port, run), life)
    (run / "tmp").mkdir()
    return process


def _environ(port: int, run: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(run),
        "TMPDIR": str(run / "tmp"),
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1",
        "AWS_ENDPOINT_URL": endpoint.url(port),  # what functions are told
        "AUTH": "true",
        "PYTHONPYCACHEPREFIX": str(BYTECODE),
    }
