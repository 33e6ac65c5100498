"""Failures, as shown to the user."""

from __future__ import annotations


class Failure(Exception):
    """One line that says what failed, with a hint if there is one."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}. hint: {hint}")
