"""Where things are."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
"""tests/localstack: this package, the executor, the requirements."""

ROOT = SOURCE.parent.parent
"""The checkout."""

CACHE = ROOT / ".cache/localstack"
"""All that is fetched, and all that runs leave behind. It may be deleted whenever nothing runs."""

RUNS = CACHE / "runs"
"""A directory for each port: log, lock, state, and the emulator's own files."""
