"""Where things are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping

SOURCE = Path(__file__).resolve().parent.parent
"""tests/localstack: this package, the executor, the requirements."""

ROOT = SOURCE.parent.parent
"""The checkout."""


def cache(environ: Mapping[str, str]) -> Path:
    """Where this machine keeps what is fetched, for all checkouts; scripts/cache.sh says the same.

    Each thing in it is named after what it was made from, so that checkouts of different versions agree.
    """
    if named := environ.get("DRAGLINE_CACHE"):
        return (ROOT / named).resolve()
    if (base := environ.get("XDG_CACHE_HOME", "")).startswith("/"):
        return Path(base) / "dragline"
    if (home := environ.get("HOME", "")).startswith("/"):
        return Path(home) / ".cache/dragline"
    return ROOT / ".cache"


CACHE = cache(os.environ)
"""It may be deleted whenever nothing runs."""

BYTECODE = CACHE / "bytecode"
"""What Python compiles goes here: not into a checkout, and only for what is used."""

RUNS = ROOT / ".cache/runs"
"""What runs leave behind, a directory for each port: log, lock, state, and the emulator's own files."""
