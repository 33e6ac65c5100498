"""A deployed stack, seen from outside: messages go in, rows and objects come out, and its functions are processes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, TypeVar
from urllib.parse import urlencode, urlsplit

import boto3
from boto3.dynamodb.types import TypeDeserializer

from stack.host import function_logs
from stack.paths import ROOT, RUNS

PATIENCE_SECONDS = 600
"""Longer than anything takes on a busy machine; only failing tests wait for it."""

TICKS = {"Scheduler": "tick.json", "Sweeper": "sweep.json", "Publisher": "tick.json", "Searcher": "tick.json"}
"""The example events that stand for the rules' ticks."""

SWEEP_SECONDS = 2
"""How often the sweeper is called while the end of a crawl is waited for: each time costs more than a look at a row."""

Seen = TypeVar("Seen")


def eventually(what: str, look: Callable[[], Seen], pause_seconds: float = 0.25) -> Seen:
    """Polls until it gets a result."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not seen within {PATIENCE_SECONDS} s: {what}"
        time.sleep(pause_seconds)
    return seen


class Stack:
    """A stack, by its name."""

    def __init__(self, environ: Mapping[str, str], name: str) -> None:
        self._endpoint = environ["AWS_ENDPOINT_URL"]
        self._logs = function_logs(RUNS / str(urlsplit(self._endpoint).port))
        region, key, secret = (environ[f"AWS_{part}"] for part in ("REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
        self._account = {"region_name": region, "aws_access_key_id": key, "aws_secret_access_key": secret}
        self._cloudformation, self._dynamodb, self._lambda = map(self.client, ("cloudformation", "dynamodb", "lambda"))
        self._s3, self.sqs = map(self.client, ("s3", "sqs"))
        (described,) = self._cloudformation.describe_stacks(StackName=name)["Stacks"]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
        self._environ = dict(environ)

    def client(self, service: str) -> Any:
        """A client of a service, with the account's own rights."""
        return boto3.client(service, endpoint_url=self._endpoint, **self._account)

    def command(self, command: Mapping[str, Any]) -> None:
        """Sends a command to the public queue."""
        self.sqs.send_message(QueueUrl=self.outputs["Commands"], MessageBody=json.dumps(command))

    def sweep(self) -> None:
        """Runs the sweeper now; its rule runs it every minute."""
        self.tick("Sweeper")

    def tick(self, function: str) -> None:
        """Runs a function now, with the event that its rule sends."""
        event = (ROOT / "events" / TICKS[function]).read_bytes()
        answer = self._lambda.invoke(FunctionName=self.outputs[function], Payload=event)
        assert "FunctionError" not in answer, answer["Payload"].read()

    def iteration(self, crawl: str, number: int = 1) -> dict[str, Any]:
        """An iteration of a crawl; empty before it begins."""
        return self.row(crawl, f"iteration#{number:010}")

    def is_over_after_a_sweep(self, crawl: str, number: int = 1) -> bool:
        """Runs the sweeper, and returns whether an iteration is closed. To be called every `SWEEP_SECONDS`."""
        self.sweep()
        return self.iteration(crawl, number).get("status") == "closed"

    def row(self, crawl: str, sort: str) -> dict[str, Any]:
        """A row of the crawls' table; empty where there is none."""
        key = {"pk": {"S": crawl}, "sk": {"S": sort}}
        found = self._dynamodb.get_item(TableName=f"{self.outputs['Tables']}-crawls", Key=key, ConsistentRead=True)
        return _plain(found.get("Item", {}))

    def rows(self, table: str, crawl: str) -> Iterator[dict[str, Any]]:
        """All rows of a crawl in a table that has one partition an origin."""
        for page in self._dynamodb.get_paginator("scan").paginate(TableName=f"{self.outputs['Tables']}-{table}"):
            yield from (row for row in map(_plain, page["Items"]) if row["pk"].split("#")[0] == crawl)

    def set_times(self, table: str, partition: str, sort: str, **unix_ms: int) -> None:
        """Says when something is due, as if time had gone by. Fails where one of these attributes is not there."""
        self._dynamodb.update_item(
            TableName=f"{self.outputs['Tables']}-{table}",
            Key={"pk": {"S": partition}, "sk": {"S": sort}},
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in unix_ms),
            ConditionExpression=" AND ".join(f"attribute_exists(#{name})" for name in unix_ms),
            ExpressionAttributeNames={f"#{name}": name for name in unix_ms},
            ExpressionAttributeValues={f":{name}": {"N": str(value)} for name, value in unix_ms.items()},
        )

    def objects(self, prefix: str) -> Iterator[tuple[str, bytes]]:
        """Every object below a prefix of the bucket, but for those that are deleted while others are read, as superseded indexes are."""
        bucket = self.outputs["Archive"]
        for page in self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            for entry in page.get("Contents", []):
                try:
                    yield entry["Key"], self._s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read()
                except self._s3.exceptions.NoSuchKey:
                    continue

    def call(self, method: str, target: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> tuple[int, Mapping[str, str], bytes]:
        """Calls the API by its URL. Returns the status, the header fields and the body. The emulator tells functions by the host that a request names."""
        host = urlsplit(self.outputs["ApiUrl"]).netloc
        request = urllib.request.Request(f"{self._endpoint}{target}", body, {**headers, "Host": host}, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def search(self, crawl: str, what: str = "search", **asked: str) -> tuple[int, Any]:
        """Searches a crawl. Returns the status and what was found."""
        status, _, body = self.call("GET", f"/crawls/{crawl}/{what}?{urlencode(asked)}")
        return status, json.loads(body)

    @contextlib.contextmanager
    def with_variables(self, function: str, **variables: str) -> Iterator[None]:
        """Sets variables of a function while entered."""
        name = self.outputs[function]
        before = self._lambda.get_function_configuration(FunctionName=name)["Environment"]["Variables"]

        def tell(all_of_them: Mapping[str, str]) -> None:
            self._lambda.update_function_configuration(FunctionName=name, Environment={"Variables": all_of_them})
            self._lambda.get_waiter("function_updated_v2").wait(FunctionName=name)

        tell({**before, **variables})
        try:
            yield
        finally:
            tell(before)

    def waiting(self, queue: str) -> int:
        """How many messages a queue holds, including those being handled."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"]
        counts = self.sqs.get_queue_attributes(QueueUrl=self.queue(queue), AttributeNames=names)["Attributes"]
        return sum(map(int, counts.values()))

    def queue(self, resource: str) -> str:
        """The URL of one of the template's queues."""
        (mapped,) = (one["PhysicalResourceId"] for one in self.resources() if one["LogicalResourceId"] == resource)
        return mapped

    def resources(self) -> Iterator[dict[str, Any]]:
        """All that it is made of."""
        for page in self._cloudformation.get_paginator("list_stack_resources").paginate(StackName=self.outputs["Tables"]):
            yield from page["StackResourceSummaries"]

    def logs(self, function: str) -> list[Path]:
        """A file for each environment of a function: what its process wrote, and the emulator about it."""
        return sorted((self._logs / self.outputs[function]).glob("*.log"))

    def log(self, function: str) -> str:
        """All of its logs."""
        return "".join(file.read_text(errors="replace") for file in self.logs(function))

    def processes(self, function: str) -> list[int]:
        """The running processes of a function."""
        pids = (int(pid) for pid in re.findall(r"^INIT_START Pid: (\d+)$", self.log(function), re.MULTILINE))
        return [pid for pid in pids if _runs(pid)]

    def kill(self, function: str) -> int:
        """Kills every process of a function at once, like a failing machine. Returns how many there were."""
        pids = self.processes(function)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(pids)

    def bootstrap(self, function: str) -> bytes:
        """The program of a function, as the stack was deployed with it."""
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([ROOT / "scripts/bootstrap", function.lower(), directory], env=self._environ, check=True)
            return (Path(directory) / "bootstrap").read_bytes()

    def mapping(self, function: str) -> dict[str, Any]:
        """The event source mapping of a function."""
        name = self.outputs[function]
        (mapping,) = self._lambda.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        return mapping

    @contextlib.contextmanager
    def held_back(self, function: str) -> Iterator[None]:
        """Keeps messages from a function while entered."""
        self._switch(function, "Disabled")
        try:
            yield
        finally:
            self._switch(function, "Enabled")

    @contextlib.contextmanager
    def silent(self, function: str = "") -> Iterator[None]:
        """Keeps rules from triggering a function, or all functions, while entered. The emulator's rules fire even when disabled, so they lose their targets."""
        events = self.client("events")
        rules = [rule["Name"] for rule in events.list_rules(NamePrefix=f"{self.outputs['Tables']}-{function}")["Rules"]]
        assert rules, "there is a rule"
        targets = {rule: events.list_targets_by_rule(Rule=rule)["Targets"] for rule in rules}
        for rule in rules:
            events.remove_targets(Rule=rule, Ids=[target["Id"] for target in targets[rule]])
        try:
            yield
        finally:
            for rule in rules:
                events.put_targets(Rule=rule, Targets=targets[rule])

    @contextlib.contextmanager
    def throttling(self, share: float) -> Iterator[None]:
        """Makes DynamoDB throttle this share of its requests while entered."""
        self._configure("DYNAMODB_ERROR_PROBABILITY", share)
        try:
            yield
        finally:
            self._configure("DYNAMODB_ERROR_PROBABILITY", 0)

    def _switch(self, function: str, state: str) -> None:
        self._lambda.update_event_source_mapping(UUID=self.mapping(function)["UUID"], Enabled=state == "Enabled")
        eventually(f"{function} {state}", lambda: self.mapping(function)["State"] == state)

    def _configure(self, variable: str, value: float) -> None:
        body = json.dumps({"variable": variable, "value": value}).encode()
        headers = {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{self._endpoint}/_localstack/config", body, headers)) as answer:
            assert answer.status == 200


def _plain(item: Mapping[str, Any]) -> dict[str, Any]:
    read = TypeDeserializer().deserialize
    return {name: read(value) for name, value in item.items()}


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/exe").readlink().name == "bootstrap"
    return False
