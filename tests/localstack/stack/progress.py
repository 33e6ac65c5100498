"""Progress messages, on standard error."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """One line of progress."""
    print(f"localstack: {text}", file=sys.stderr, flush=True)
