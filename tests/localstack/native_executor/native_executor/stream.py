"""The output of an execution environment: a file, like Lambda's log stream for each environment."""

from pathlib import Path
from typing import BinaryIO


class Stream:
    """A log stream. The process writes straight into the file, so its lines are there before it asks for more work."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        self._path = path

    @property
    def file(self) -> BinaryIO:
        """For the process: its standard output and standard error."""
        return self._file

    def line(self, text: str) -> None:
        """Adds a line of ours."""
        self._file.write(text.encode() + b"\n")

    def end(self) -> int:
        """Where the next line will be."""
        return self._path.stat().st_size

    def text(self) -> str:
        """All of it."""
        return self.since(0)

    def since(self, offset_bytes: int) -> str:
        """All that was written from this position on."""
        with self._path.open("rb") as file:
            file.seek(offset_bytes)
            return file.read().decode(errors="replace")
