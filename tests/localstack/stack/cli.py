"""The command line."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
import sys
from typing import Mapping, Sequence

from stack import endpoint, ministack, python
from stack.emulator import Kind, Place, chosen, given
from stack.failure import Failure
from stack.paths import BYTECODE, SOURCE
from stack.process import Life

DESCRIPTION = """Gives the tests an AWS of their own. LocalStack is the one that answers at AWS_ENDPOINT_URL, else one in
Docker where Docker works, else one that is set up in a cache and runs as a process."""

PORT = 4566

VERBS = {
    "setup": "fetch what is needed, and start nothing",
    "start": "start one, and wait until it is ready",
    "stop": "stop the one that start began",
    "status": "say whether one runs; fails if none does",
    "env": 'print the variables that a program needs, for eval "$(scripts/localstack env)"; puts sam and cargo-lambda on PATH',
    "run": "run a command against one that is stopped afterwards, if it did not run before",
    "test": "run the tests of all this; arguments go to pytest",
}


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    options = _parse(arguments)
    try:
        return _do(options.verb, Kind(options.emulator), options.port, options.arguments)
    except Failure as failure:
        print(f"localstack: {failure}", file=sys.stderr)
        return 2


def _do(verb: str, kind: Kind, port: int, arguments: Sequence[str]) -> int:
    if verb == "test":
        return _test(arguments)
    if verb == "run":
        return _run(kind, port, arguments)
    if verb == "setup":
        _set_up(kind)
        return 0
    place = chosen(kind, port)
    if verb == "start":
        known = given() if kind is Kind.LOCALSTACK else None
        if known is None:
            place.start(Life.UNTIL_STOPPED)
        print(known or place.endpoint)
    elif verb == "stop":
        print("stopped" if place.stop() else "nothing of ours runs on this port")
    elif verb == "status":
        return _status(place)
    else:
        bins = [python.environment("tools"), python.environment("cargo-lambda")]
        for name, value in variables(given() or place.endpoint).items():
            print(f"export {name}={shlex.quote(value)}")
        print(f'export PATH={shlex.quote(os.pathsep.join(map(str, bins)))}:"$PATH"')
    return 0


def _set_up(kind: Kind) -> None:
    """What the tests need, all at once: much of it is waiting for a registry. What builds for AWS comes with `env`, as it is large."""
    with ThreadPoolExecutor() as pool:
        steps = [pool.submit(Place(kind, 0).set_up), pool.submit(python.environment, "tools"), pool.submit(ministack.set_up)]
        for step in steps:
            step.result()


def variables(address: str) -> Mapping[str, str]:
    """The variables by which a program talks to an emulator."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_REGION": endpoint.REGION,
        "AWS_DEFAULT_REGION": endpoint.REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
    }


def _run(kind: Kind, port: int, command: Sequence[str]) -> int:
    if not command:
        raise Failure("run needs a command", "scripts/localstack run env")
    place = chosen(kind, port)
    address = given() if kind is Kind.LOCALSTACK else None
    ours = address is None and not place.is_running()
    # A signal to us is one to the command: it ends, and then what was started is stopped.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if ours:
            place.start(Life.AS_LONG_AS_WE)
        bin_ = python.environment("tools")
        path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
        environ = {**os.environ, **variables(address or place.endpoint), "PATH": path, "PYTHONPYCACHEPREFIX": str(BYTECODE)}
        return _call(command, environ)
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if ours:
            place.stop()


def _call(command: Sequence[str], environ: Mapping[str, str]) -> int:
    try:
        child = subprocess.Popen(command, env=dict(environ))
    except OSError as error:
        raise Failure(f"{command[0]} cannot be run: {error.strerror}") from error
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _status(place: Place) -> int:
    address = given() or place.endpoint
    ready = endpoint.is_ready(address)
    whose = "ours" if place.is_running() else "not ours"
    print(f"ready at {address}, {whose}" if ready else f"nothing is ready at {address}")
    return 0 if ready else 1


def _test(arguments: Sequence[str]) -> int:
    bin_ = python.environment("tools")
    command = [str(bin_ / "python"), "-m", "pytest", "-q", "-c", str(SOURCE.parent / "pytest.ini"), *(arguments or [str(SOURCE)])]
    return subprocess.run(command, env={**os.environ, "PYTHONPYCACHEPREFIX": str(BYTECODE)}).returncode


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="localstack", description=DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
    for name, what in VERBS.items():
        verb = verbs.add_parser(name, help=what, description=what)
        verb.set_defaults(emulator=Kind.LOCALSTACK.value, port=PORT, arguments=[])
        if name != "test":
            verb.add_argument("--emulator", choices=[kind.value for kind in Kind], help="which one; localstack if not said")
            verb.add_argument("--port", type=int, help=f"where it answers; {PORT} if not said, 0 for a free one")
        if name in ("run", "test"):
            verb.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)
