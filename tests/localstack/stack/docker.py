"""LocalStack in Docker, where Docker works."""

from __future__ import annotations

import shutil
import subprocess

from stack import endpoint
from stack.failure import Failure

IMAGE = "localstack/localstack:4.14.0"
SOCKET = "/var/run/docker.sock"


def works() -> bool:
    """Whether Docker is installed and running."""
    return shutil.which("docker") is not None and _docker("info", "--format", "{{.ServerVersion}}").returncode == 0


def start(port: int) -> None:
    """Starts a container, with Docker's socket, as Lambda functions get containers of their own."""
    endpoint.require_free(port)
    started = _docker(
        *("run", "--detach", "--rm", "--name", _name(port)),
        *("--publish", f"127.0.0.1:{port}:4566", "--volume", f"{SOCKET}:{SOCKET}"),
        *("--env", f"SERVICES={','.join(endpoint.SERVICES)}", "--env", "STRICT_SERVICE_LOADING=1"),
        *("--env", "DISABLE_EVENTS=1", "--env", "SQS_ENDPOINT_STRATEGY=path", "--env", "DYNAMODB_IN_MEMORY=1"),
        IMAGE,
    )
    if started.returncode != 0:
        raise Failure(f"docker cannot run {IMAGE}: {started.stderr.strip()}")


def is_running(port: int) -> bool:
    """Whether the container for that port exists."""
    return works() and bool(_docker("ps", "--quiet", "--filter", f"name=^{_name(port)}$").stdout.strip())


def stop(port: int) -> bool:
    """Stops the container for that port. Returns whether there was one."""
    return is_running(port) and _docker("stop", _name(port)).returncode == 0


def last_lines(port: int, count: int) -> str:
    """The end of its log."""
    shown = _docker("logs", "--tail", str(count), _name(port))
    return shown.stdout + shown.stderr


def _name(port: int) -> str:
    return f"dragline-localstack-{port}"


def _docker(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True)
