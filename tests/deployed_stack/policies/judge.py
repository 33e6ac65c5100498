"""Whether policies permit something, as ministack evaluates them: it is not our own reading of IAM that judges."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Sequence

from permissions import ACCOUNT, Permission
from stack import ministack

PROGRAM = Path(__file__).with_name("judge_in_ministack.py")


class Judge:
    """Evaluates while entered."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> Judge:
        command = [ministack.set_up() / "python", PROGRAM]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()

    def permits(
        self, policies: Sequence[dict], permission: Permission, *, resource_policy: dict | None = None, transport: str = "https"
    ) -> bool:
        """Whether a role's policies permit it and the resource's policy does not deny it."""
        question = {
            "account": ACCOUNT,
            "policies": list(policies),
            "resource_policy": resource_policy,
            "action": permission.action,
            "resource": permission.resource,
            "context": dict(permission.context),
            "transport": transport,
        }
        with self._one_at_a_time:
            self._process.stdin.write(json.dumps(question) + "\n")
            answer = self._process.stdout.readline()
        decision = json.loads(answer)
        assert decision in ("Allow", "Deny", "ImplicitDeny"), f"no decision: {answer}"
        return decision == "Allow"
