"""Which permissions a request to AWS needs, by the service authorization reference. What is not known here is an error: it is refused.

https://docs.aws.amazon.com/service-authorization/latest/reference/
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

ACCOUNT = "000000000000"
"""The emulator's account."""


@dataclass(frozen=True)
class Permission:
    """An action on one resource, with the condition keys that the request sets."""

    action: str
    resource: str
    context: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.action} on {self.resource}"


@dataclass(frozen=True)
class Request:
    """A signed request, header names in lower case."""

    method: str
    target: str
    """Path and query."""
    headers: Mapping[str, str]
    body: bytes = field(repr=False, default=b"")

    @property
    def credential(self) -> re.Match[str]:
        """Who signed it, for which region and service."""
        found = re.search(
            r"Credential=(?P<key>[^/]+)/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request",
            self.headers.get("authorization", ""),
        )
        if found is None:
            raise Unknown("a request that is not signed")
        return found


class Unknown(Exception):
    """A request with unknown needs."""


def needed(request: Request) -> list[Permission]:
    """All of them; each must be there."""
    service, region = request.credential["service"], request.credential["region"]
    of_service = {"dynamodb": _dynamodb, "s3": _s3, "secretsmanager": _secrets, "sqs": _sqs, "sns": _sns}.get(service)
    if of_service is None:
        raise Unknown(f"a request to {service}")
    return list(dict.fromkeys(of_service(request, region)))


def to_know_of_absence(request: Request) -> Permission | None:
    """S3 says that an object is not there only to who may list the bucket; to others it says that they may not read.

    https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax
    """
    if request.credential["service"] != "s3" or request.method not in ("GET", "HEAD"):
        return None
    bucket, key, _ = _s3_names(request)
    return Permission("s3:ListBucket", f"arn:aws:s3:::{bucket}") if key else None


ITEM_ACTIONS = {
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
"""A transaction is no action of its own: each of its items is one.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
"""

STATEMENTS = {
    r'INSERT INTO "([^"]+)"': "PartiQLInsert",
    r'UPDATE "([^"]+)"': "PartiQLUpdate",
    r'DELETE FROM "([^"]+)"': "PartiQLDelete",
}
"""Nor is a batch of statements: each is the action of its kind, on its table.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
"""


def _dynamodb(request: Request, region: str) -> Iterator[Permission]:
    operation = request.headers.get("x-amz-target", "").removeprefix("DynamoDB_20120810.")
    asked = json.loads(request.body)

    def permission(action: str, table: str, index: str | None = None) -> Permission:
        below = f"/index/{index}" if index else ""
        return Permission(f"dynamodb:{action}", f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/{table}{below}")

    if operation in ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Scan", "DeleteTable"):
        yield permission(operation, asked["TableName"])
    elif operation == "Query":
        yield permission(operation, asked["TableName"], asked.get("IndexName"))
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        yield from (permission(operation, table) for table in asked["RequestItems"])
    elif operation in ("TransactGetItems", "TransactWriteItems"):
        for item in asked["TransactItems"]:
            yield from (permission(ITEM_ACTIONS[kind], part["TableName"]) for kind, part in item.items())
    elif operation == "BatchExecuteStatement":
        yield from (permission(*_of_statement(statement["Statement"])) for statement in asked["Statements"])
    else:
        raise Unknown(f"dynamodb:{operation}")


def _of_statement(text: str) -> tuple[str, str]:
    for pattern, action in STATEMENTS.items():
        if found := re.match(pattern, text):
            return action, found[1]
    raise Unknown(f"the statement {text}")


def _s3(request: Request, _region: str) -> Iterator[Permission]:
    bucket, key, query = _s3_names(request)
    # Parts of uploads, versions, copies and lists of rights are other actions.
    others = {"uploads", "uploadId", "versionId", "acl", "tagging"} & query.keys() or "x-amz-copy-source" in request.headers
    action = {"GET": "GetObject", "HEAD": "GetObject", "PUT": "PutObject", "DELETE": "DeleteObject"}.get(request.method)
    if key and action and not others:
        yield Permission(f"s3:{action}", f"arn:aws:s3:::{bucket}/{key}")
    elif not key and request.method == "GET" and query.get("list-type") == "2":
        prefix = (("s3:prefix", query["prefix"]),) if "prefix" in query else ()
        yield Permission("s3:ListBucket", f"arn:aws:s3:::{bucket}", prefix)
    else:
        raise Unknown(f"s3: {request.method} {request.target}")


def _s3_names(request: Request) -> tuple[str, str, dict[str, str]]:
    address = urlsplit(request.target)
    bucket, _, key = address.path.lstrip("/").partition("/")
    return bucket, unquote(key), dict(parse_qsl(address.query, keep_blank_values=True))


def _sqs(request: Request, region: str) -> Iterator[Permission]:
    operation = request.headers.get("x-amz-target", "").removeprefix("AmazonSQS.")
    queue = json.loads(request.body)["QueueUrl"].rsplit("/", 1)[1]
    if operation not in ("SendMessage", "ReceiveMessage"):
        raise Unknown(f"sqs:{operation}")
    yield Permission(f"sqs:{operation}", f"arn:aws:sqs:{region}:{ACCOUNT}:{queue}")


def _secrets(request: Request, region: str) -> Iterator[Permission]:
    operation = request.headers.get("x-amz-target", "").removeprefix("secretsmanager.")
    if operation != "GetSecretValue":
        raise Unknown(f"secretsmanager:{operation}")
    name = json.loads(request.body)["SecretId"]
    yield Permission(f"secretsmanager:{operation}", secret_arn(name, region))


def secret_arn(name: str, region: str) -> str:
    """The ARN of a secret, to whose name AWS adds a hyphen and six characters of its own."""
    return f"arn:aws:secretsmanager:{region}:{ACCOUNT}:secret:{name}-AbCdEf"


def _sns(request: Request, _region: str) -> Iterator[Permission]:
    asked = dict(parse_qsl(request.body.decode()))
    if asked.get("Action") not in ("Publish", "Subscribe"):
        raise Unknown(f"sns:{asked.get('Action')}")
    yield Permission(f"sns:{asked['Action']}", asked["TopicArn"])
