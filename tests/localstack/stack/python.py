"""Python environments in the cache, from requirements that name every version."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterable, Iterator, Sequence

from stack.failure import Failure
from stack.paths import CACHE, SOURCE
from stack.progress import say

OLDEST = (3, 12)
"""LocalStack 4.14 does not parse with an older one."""

PROBE = "import sys, venv, ensurepip; print(*sys.version_info[:2])"


def environment(name: str) -> Path:
    """The `bin` directory of an environment with `requirements/NAME.txt`; made if it is not there."""
    requirements = SOURCE / f"requirements/{name}.txt"
    home = CACHE / f"env/{name}"
    complete = home / "complete"
    wanted = _digest([requirements])
    if not _is(complete, wanted):
        interpreter = _interpreter()
        say(f"installing {requirements.relative_to(SOURCE)} for {interpreter}")
        shutil.rmtree(home, ignore_errors=True)
        _run([interpreter, "-m", "venv", home], f"{interpreter} cannot make an environment")
        _pip(home, ["--requirement", requirements], f"pip cannot install {requirements.relative_to(SOURCE)}")
        complete.write_text(wanted)  # last, so that a broken set-up is made anew
    return home / "bin"


def add_package(bin_: Path, source: Path) -> None:
    """Installs a package of ours into an environment, again whenever its source has changed."""
    home = bin_.parent
    complete = home / f"{source.name}.complete"
    wanted = _digest([source / "pyproject.toml", *sorted((source / source.name).glob("*.py"))])
    if _is(complete, wanted):
        return
    say(f"installing {source.name}")
    copy = home / "source" / source.name  # what a build leaves behind stays out of the checkout
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    _pip(home, ["--no-deps", "--no-build-isolation", "--force-reinstall", copy], f"pip cannot install {source.name}")
    complete.write_text(wanted)


def _interpreter() -> str:
    """The first Python that is new enough and can make environments."""
    for candidate in _candidates():
        try:
            found = subprocess.run([candidate, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            continue
        if found.returncode == 0 and tuple(map(int, found.stdout.split())) >= OLDEST:
            return candidate
    raise Failure("no Python of version 3.12 or later, with its venv module", "put one on PATH, or name it in DRAGLINE_PYTHON")


def _candidates() -> Iterator[str]:
    if named := os.environ.get("DRAGLINE_PYTHON"):
        yield named
        return
    yield sys.executable
    yield from filter(None, map(shutil.which, ["python3.13", "python3.12", "python3.14", "python3"]))
    # A version manager keeps off PATH what no project has chosen.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob("versions/3.1[2-9]*/bin/python3"), reverse=True))


def _is(stamp: Path, wanted: str) -> bool:
    return stamp.is_file() and stamp.read_text() == wanted


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _pip(home: Path, arguments: Sequence[object], what: str) -> None:
    _run([home / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *arguments], what)


def _run(command: Sequence[object], what: str) -> None:
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = next((line for line in reversed(done.stdout.splitlines()) if line.strip()), f"status {done.returncode}")
        raise Failure(f"{what}: {last.strip()}")
