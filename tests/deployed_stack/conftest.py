"""What the stack is compared with."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def dragline():
    """The command."""
    command = Path(os.environ.get("DRAGLINE", ROOT / "target/debug/dragline"))
    assert command.is_file(), f"{command} is not there. hint: make build"
    return command


@pytest.fixture(scope="session")
def provided():
    """The locations of what `scripts/setup` provides."""
    said = subprocess.run([ROOT / "scripts/setup"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: Path(where) for name, where in (line.split("=", 1) for line in said.splitlines())}


@pytest.fixture(scope="session")
def debian_docs(provided):
    """Where real sites are, unpacked."""
    return provided["sites"]


@pytest.fixture(scope="session")
def warcio(provided):
    """A third-party WARC reader."""
    return provided["readers"] / "warcio"
