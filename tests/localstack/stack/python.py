"""Python environments in the cache, from requirements that pin every version."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Sequence

from stack.failure import Failure
from stack.locks import alone
from stack.paths import CACHE, SOURCE
from stack.progress import say

OLDEST = (3, 12)
"""LocalStack 4.14 does not parse with an older one."""

PROBE = "import sys, venv, ensurepip; print(*sys.version_info[:2])"

INSTALLER = "uv"
"""The environment of uv, which makes the others: pip would take ten times as long."""


def environment(name: str) -> Path:
    """The `bin` directory of an environment with `requirements/NAME.txt`; made if it is not there."""
    requirements = SOURCE / f"requirements/{name}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    home = CACHE / f"env/{name}-{digest[:12]}"
    if not _is_complete(home):
        with alone(home.with_name(f"{home.name}.lock")):
            if not _is_complete(home):
                _make(home, name, requirements)
    return home / "bin"


def _is_complete(home: Path) -> bool:
    """An environment knows its own path, and the Python that it was made with must still be there."""
    complete = home / "complete"
    return complete.is_file() and complete.read_text() == str(home) and (home / "bin/python").exists()


def _make(home: Path, name: str, requirements: Path) -> None:
    interpreter = _interpreter()
    what = requirements.relative_to(SOURCE)
    say(f"installing {what} for {interpreter}")
    if name == INSTALLER:
        _by_pip(home, interpreter, requirements)
    else:
        try:
            _by_uv(environment(INSTALLER) / "uv", home, interpreter, requirements)
        except Failure as failure:
            # It does not read pip's settings, which may name the only index that a closed network
            # has.
            say(f"{failure}; trying pip")
            _by_pip(home, interpreter, requirements)
    (home / "complete").write_text(str(home))  # last, so that an incomplete set-up is repeated


def _by_uv(uv: Path, home: Path, interpreter: str, requirements: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    environ = {**os.environ, "UV_CACHE_DIR": str(CACHE / "uv")}
    _run([uv, "venv", "--quiet", "--python", interpreter, home], f"uv cannot make an environment of {interpreter}", environ)
    command = [uv, "pip", "install", "--quiet", "--python", home / "bin/python", "--requirement", requirements]
    _run(command, f"uv cannot install {requirements.relative_to(SOURCE)}", environ)


def _by_pip(home: Path, interpreter: str, requirements: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    _run([interpreter, "-m", "venv", home], f"{interpreter} cannot make an environment")
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--requirement", requirements]
    _run([home / "bin/python", "-m", "pip", "install", *options], f"pip cannot install {requirements.relative_to(SOURCE)}")


def _interpreter() -> str:
    """The first recent enough Python that can make environments."""
    for candidate in _candidates():
        try:
            found = subprocess.run([candidate, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            continue
        if found.returncode == 0 and tuple(map(int, found.stdout.split())) >= OLDEST:
            return candidate
    raise Failure("no Python of version 3.12 or later, with its venv module", "put one on PATH")


def _candidates() -> Iterator[str]:
    yield sys.executable
    yield from filter(None, map(shutil.which, ["python3.13", "python3.12", "python3.14", "python3"]))
    # A version manager keeps off PATH what no project has chosen.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob("versions/3.1[2-9]*/bin/python3"), reverse=True))


def _run(command: Sequence[object], what: str, environ: dict[str, str] | None = None) -> None:
    done = subprocess.run(list(map(str, command)), env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = next((line for line in reversed(done.stdout.splitlines()) if line.strip()), f"status {done.returncode}")
        raise Failure(f"{what}: {last.strip()}")
