"""The names and ARNs of what a stack is made of."""

from __future__ import annotations

from permissions import ACCOUNT, Permission, secret_arn
from stack.deployed import Stack

REGION = "us-east-1"

PREFIXES = {"bodies": "raw/a/1/", "documents": "documents/a/1/", "items": "items/a/1/", "index": "search/a/editions/"}
"""Of listings."""

OBJECTS = {"body": "raw/a", "document": "documents/a", "robots": "robots/a", "item": "items/a", "index": "search/a/files/a", "report": "reports/a/1.html", "definition": "definitions/a.yaml"}
"""Resources of each kind, none of which exists."""

SECRETS = {"members": "members/login", "others": "payroll/database"}
"""Names of secrets: the stack's parameter names those below `members/`."""


class Resources:
    """Of a deployed stack."""

    def __init__(self, stack: Stack) -> None:
        self.queues = {name: stack.queue(name) for name in ("Commands", "Turns", "Segments", "Publications")}
        self._functions = stack.outputs
        self.bucket, self.topic, self._tables = (stack.outputs[name] for name in ("Archive", "Notices", "Tables"))

    def table(self, name: str) -> str:
        """The full name of a table, given its short one."""
        return f"{self._tables}-{name}"

    def permission(self, action: str, name: str) -> Permission:
        """By short names: `crawls`, `crawls/agenda`, `Turns`, `body`, `bodies`; a function's for its log."""
        service, bucket = action.split(":")[0], f"arn:aws:s3:::{self.bucket}"
        if service == "dynamodb":
            table, _, index = name.partition("/")
            below = f"/index/{index}" if index else ""
            return Permission(action, f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{self.table(table)}{below}")
        if service == "sqs":
            return Permission(action, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{self.queues[name].rsplit('/', 1)[1]}")
        if service == "logs":
            group = f"/aws/lambda/{self._functions[name]}"
            return Permission(action, f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{group}:log-stream:a")
        if service == "secretsmanager":
            return Permission(action, secret_arn(SECRETS[name], REGION))
        if service == "sns":
            return Permission(action, self.topic)
        if action == "s3:ListBucket":
            return Permission(action, bucket, (("s3:prefix", PREFIXES[name]),))
        return Permission(action, f"{bucket}/{OBJECTS[name]}")
