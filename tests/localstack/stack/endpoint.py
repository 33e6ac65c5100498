"""What answers at an endpoint, and whether all of it is ready."""

from __future__ import annotations

import json
import socket
import time
import urllib.request
from typing import Callable, Optional

from stack.failure import Failure

SERVICES = (
    "s3 sqs sns events scheduler cloudformation cloudwatch logs sts iam dynamodb dynamodbstreams lambda ssm secretsmanager".split()
)
"""The services that are started and must be ready."""

ALSO_CALLED = {"cloudwatch": "monitoring"}
"""Ministack's name for a service, where it differs."""

REGION = "us-east-1"

START_SECONDS = 900
"""How long a start may take beside a load of ten."""


def url(port: int) -> str:
    """Where an emulator on that port of this machine answers."""
    return f"http://127.0.0.1:{port}"


def is_ready(endpoint: str) -> bool:
    """Whether every service is there, and DynamoDB, which is a program of its own, answers."""
    health = _ask(urllib.request.Request(f"{endpoint}/_localstack/health"))
    if health is None:
        return False
    states = health.get("services", {})
    there = (states.get(name) or states.get(ALSO_CALLED.get(name)) for name in SERVICES)
    return all(state in ("available", "running") for state in there) and _lists_tables(endpoint)


def wait_until_ready(endpoint: str, is_alive: Callable[[], bool], last_words: Callable[[], str]) -> None:
    """Waits until it is ready. Fails with its last words when it has ended, or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while not is_ready(endpoint):
        if not is_alive():
            raise Failure(f"the emulator ended while it started. Its last words:\n{last_words()}")
        if time.monotonic() > deadline:
            raise Failure(f"the emulator is not ready after {START_SECONDS} s. Its last words:\n{last_words()}")
        time.sleep(0.1)


def require_free(port: int) -> None:
    """Fails if the port is already in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Failure(f"port {port} is taken by something else", "choose another by --port") from error


def _lists_tables(endpoint: str) -> bool:
    scope = f"test/20000101/{REGION}/dynamodb/aws4_request"
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=none",
    }
    answer = _ask(urllib.request.Request(endpoint, b"{}", headers))
    return answer is not None and "TableNames" in answer


def _ask(request: urllib.request.Request) -> Optional[dict]:
    # Requests to an emulator must not go through the machine's proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None
