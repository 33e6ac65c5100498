"""What the user is told when something cannot be done."""

from __future__ import annotations


class Failure(Exception):
    """One line that says what failed, and where it is known a hint at what helps."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}. hint: {hint}")
