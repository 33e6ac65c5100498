"""Packages from npm, pinned by version and checksum."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from stack import python
from stack.failure import Failure


def pack(package: str, sha256: str, into: Path) -> Path:
    """Fetches `NAME@VERSION` into a directory that is empty, and returns the file."""
    npm, path = find()
    done = subprocess.run(
        [npm, "pack", package, "--loglevel=error"],
        cwd=into,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise Failure(f"npm cannot fetch {package}: {lines[-1]}", "npm config get registry says where it looks")
    (file,) = into.glob("*.tgz")
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != sha256:
        raise Failure(f"{package} has the checksum {found}, not {sha256}: it is not what was tested")
    return file


def find() -> tuple[str, str]:
    """An npm, and the PATH that it needs. If the machine has none, it comes from PyPI."""
    path = os.environ["PATH"]
    if npm := shutil.which("npm"):
        return npm, path
    bin_ = python.environment("npm")
    return str(bin_ / "npm"), f"{bin_}{os.pathsep}{path}"
