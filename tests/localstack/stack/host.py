"""LocalStack as a process of this machine: its host mode, with our executor for Lambda functions."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stack import dynamodb, endpoint, java, python
from stack.paths import BYTECODE, SOURCE
from stack.process import Life, Process


def set_up() -> Path:
    """Fetches what is missing. Returns the directory of its Python."""
    java.home()  # the cheapest check first
    with ThreadPoolExecutor() as pool:
        bin_, tables = pool.submit(python.environment, "localstack"), pool.submit(dynamodb.directory)
        tables.result()
        return bin_.result()


def start(port: int, run: Path, life: Life) -> Process:
    """Starts it, after setting up what is missing."""
    bin_ = set_up()
    tables, java_home = dynamodb.directory(), java.home()
    endpoint.require_free(port)
    process = Process(run)
    command = [bin_ / "python", "-m", "localstack.runtime.main"]
    process.start(command, _environ(port, run), life)
    _offer(run, tables, java_home)
    return process


def function_logs(run: Path) -> Path:
    """A directory for each function, with a file for each of its environments. The executor knows it, too."""
    return run / "functions"


def _offer(run: Path, tables: Path, java_home: Path) -> None:
    """Puts what LocalStack would otherwise fetch where it looks for it, which it does when DynamoDB is first used."""
    packages = run / "root/var/lib/localstack/lib"
    for link, target in [("dynamodb-local/2", tables), ("java/21", java_home)]:
        (packages / link).parent.mkdir(parents=True, exist_ok=True)
        (packages / link).symlink_to(target)


def _environ(port: int, run: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    return {
        **kept,
        "OVERRIDE_IN_DOCKER": "0",  # in a container it would not take the directory below
        "FILESYSTEM_ROOT": str(run / "root"),
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "LOCALSTACK_HOST": f"127.0.0.1:{port}",
        "SERVICES": ",".join(endpoint.SERVICES),
        "STRICT_SERVICE_LOADING": "1",
        "EAGER_SERVICE_LOADING": "0",
        "SQS_ENDPOINT_STRATEGY": "path",
        "DYNAMODB_IN_MEMORY": "1",
        "LAMBDA_RUNTIME_EXECUTOR": "native",
        "PYTHONPATH": str(SOURCE / "native_executor"),
        "PYTHONPYCACHEPREFIX": str(BYTECODE),
        # AWS's pollers see a message at once; the emulator's pause ever longer after queues that
        # were empty, up to 10 s.
        "LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_EMPTY_POLL_SEC": "1",
        "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",  # so that a test can read those of AWS that SAM attaches
        "ENABLE_CONFIG_UPDATES": "1",  # so that a test can have DynamoDB throttle
        # Nothing leaves the machine: no statistics, no certificate, no name server.
        "DISABLE_EVENTS": "1",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "DNS_ADDRESS": "0",
    }
