"""One emulator for all tests of a run, and the stacks on it. Both are started when the tests are collected."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stack import npm, sam
from stack.cli import variables
from stack.deployed import Stack
from stack.emulator import Kind, Place, free_port
from stack.paths import CACHE
from stack.process import Life

ROOT = Path(__file__).resolve().parent.parent
SMALL = ROOT / "tests/localstack/integration/template.yaml"

STACKS = {"stack": "dragline", "faulty": "faulty", "sinking": "sinking", "rendering": "rendering"}
"""The project's stack is deployed several times, under one name per fixture, so that faults in one do not disturb observations of the other."""

PARAMETERS = {"sinking": "SinkSecret=results/database", "rendering": "Rendering=yes"}
"""What a stack is deployed with in addition."""

TURN = {"crawl": 4, "struck": 4, "stack": 3, "small": 2, "faulty": -1, "emulator": 1}
"""When a test runs, by the first of these that it asks for, and at 0 if it asks for none. Harm is done as soon as it can be and looked at last, as
leases must run out meanwhile."""

BEGUN = pytest.StashKey["Begun"]()


class Begun:
    """What has been started."""

    def __init__(self, wanted: set[str]) -> None:
        self.place = Place(Kind.HOST, free_port())
        self._directory = TemporaryDirectory()
        home = Path(self._directory.name)
        # Its threads live until the end, as the emulator would end with the thread that started it.
        self._pool = ThreadPoolExecutor()
        self.environ = {
            **os.environ,
            **variables(self.place.endpoint),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "DRAGLINE_RENDERING": "yes" if "rendering" in wanted else "no",
            "DRAGLINE_CACHE": str(CACHE),
            "DRAGLINE_BOOTSTRAPS": os.environ.get("DRAGLINE_BOOTSTRAPS", str(ROOT / "target/debug")),
        }
        if "rendering" in wanted:  # the layer is fetched by npm
            self.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{npm.find()[1]}"
        self.started = self._pool.submit(self.place.start, Life.AS_LONG_AS_WE)
        self.stacks = self._pool.submit(self._deploy, home / "built", [fixture for fixture in STACKS if fixture in wanted])
        self.small = self._pool.submit(self._deploy_small) if "small" in wanted else None

    def all_deployed(self) -> dict[str, Stack]:
        """The project's stacks, by the fixture's name."""
        if self.small:
            self.small.result()
        return self.stacks.result()

    def end(self) -> None:
        """Stops everything."""
        for future in filter(None, [self.started, self.stacks, self.small]):
            future.exception()
        self.place.stop()
        self._pool.shutdown()
        self._directory.cleanup()

    def _deploy(self, built: Path, wanted: list[str]) -> dict[str, Stack]:
        if wanted:
            sam.build(self.environ, built)
        self.started.result()
        for fixture in wanted:
            sam.deploy(self.environ, built, STACKS[fixture], PARAMETERS.get(fixture, ""))
        return {fixture: Stack(self.environ, STACKS[fixture]) for fixture in wanted}

    def _deploy_small(self) -> None:
        self.started.result()
        sam.deploy_as_it_is(self.environ, SMALL, "small")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: next((turn for name, turn in TURN.items() if name in item.fixturenames), 0))


def pytest_collection_finish(session):
    wanted = {name for item in session.items for name in item.fixturenames}
    if "emulator" in wanted and not session.config.option.collectonly:
        session.config.stash[BEGUN] = Begun(wanted)


def pytest_unconfigure(config):
    if (begun := config.stash.get(BEGUN, None)) is not None:
        begun.end()


@pytest.fixture(scope="session")
def emulator(pytestconfig) -> Place:
    """Where it runs."""
    begun = pytestconfig.stash[BEGUN]
    begun.started.result()
    return begun.place


@pytest.fixture(scope="session")
def environ(emulator, pytestconfig) -> dict[str, str]:
    """What a program needs to talk to it."""
    return pytestconfig.stash[BEGUN].environ


@pytest.fixture(scope="session")
def stack(emulator, pytestconfig) -> Stack:
    """The project's template with the project's functions, which run as processes of this machine."""
    return pytestconfig.stash[BEGUN].all_deployed()["stack"]


@pytest.fixture(scope="session")
def faulty(emulator, pytestconfig) -> Stack:
    """Another of the same, to do harm to."""
    return pytestconfig.stash[BEGUN].all_deployed()["faulty"]


@pytest.fixture(scope="session")
def sinking(emulator, pytestconfig) -> Stack:
    """Another of the same, which writes results to a database."""
    return pytestconfig.stash[BEGUN].all_deployed()["sinking"]


@pytest.fixture(scope="session")
def rendering(emulator, pytestconfig) -> Stack:
    """Another of the same, which renders pages."""
    return pytestconfig.stash[BEGUN].all_deployed()["rendering"]


@pytest.fixture(scope="session")
def small(emulator, pytestconfig) -> str:
    """The name of a stack of one function behind a queue and a rule."""
    pytestconfig.stash[BEGUN].small.result()
    return "small"
