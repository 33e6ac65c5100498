"""One stack for all tests of a run."""

import os
import sys
from pathlib import Path

import pytest

from stack import sam
from stack.cli import variables
from stack.deployed import Stack
from stack.emulator import Kind, Place, free_port
from stack.process import Life

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def stack():
    """The project's template with the project's functions, deployed by `sam` to an emulator that runs them as processes of this machine."""
    place = Place(Kind.HOST, free_port())
    place.start(Life.AS_LONG_AS_WE)
    try:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        bootstraps = os.environ.get("DRAGLINE_BOOTSTRAPS", str(ROOT / "target/lambda"))
        environ = {**os.environ, **variables(place.endpoint, place), "PATH": path, "DRAGLINE_BOOTSTRAPS": bootstraps}
        sam.deploy(environ)
        yield Stack(environ, "dragline")
    finally:
        place.stop()


@pytest.fixture(scope="session")
def dragline():
    """The command, built with optimisation."""
    command = Path(os.environ.get("DRAGLINE", ROOT / "target/release/dragline"))
    assert command.is_file(), f"{command} is not there. hint: make build"
    return command


@pytest.fixture(scope="session")
def debian_docs():
    """Where real sites are, unpacked."""
    docs = ROOT / ".cache/sites/files/usr/share/doc"
    assert docs.is_dir(), f"{docs} is not there. hint: make setup"
    return docs


@pytest.fixture(scope="session")
def warcio():
    """Somebody else's reader of WARC."""
    command = ROOT / ".cache/venv/bin/warcio"
    assert command.is_file(), f"{command} is not there. hint: make setup"
    return command
