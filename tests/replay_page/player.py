"""ReplayWeb.page, as it is published. It is fetched at set-up, never committed: AGPL-3.0 covers it."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from stack import npm
from stack.locks import alone
from stack.paths import CACHE

PACKAGE = "replaywebpage@2.5.3"
SHA256 = "b7d35c39c4da9b7121c5a393911d8675d4cc6f19513c380191e16b086bea812c"
FILES = ["index.html", "ui.js", "sw.js"]
"""The page, its interface, and the service worker that reads archives."""


def directory() -> Path:
    """The directory with its files, which are fetched if they are missing."""
    home = CACHE / f"replaywebpage-{SHA256[:12]}"
    complete = home / "complete"
    if not complete.is_file():
        with alone(home.with_name(f"{home.name}.lock")):
            if not complete.is_file():
                _fetch(home)
                complete.touch()  # last, so that an incomplete set-up is repeated
    return home


def _fetch(home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as downloads, tarfile.open(npm.pack(PACKAGE, SHA256, Path(downloads))) as package:
        for name in FILES:
            with package.extractfile(f"package/{name}") as content, (home / name).open("wb") as file:
                shutil.copyfileobj(content, file)
