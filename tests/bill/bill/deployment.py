"""A stack on an emulator, deployed as it would be on AWS: a message begins a crawl, and the event source mappings do the rest."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Mapping

import boto3

from bill import invocations
from bill.invocations import Invocation
from bill.shapes import Shape
from bill.sites import Sites
from bill.standing import Fixtures
from stack import sam
from stack.paths import ROOT

FUNCTIONS = ("Scheduler", "Crawler", "Parser", "Sweeper")

STACK = "dragline"

LOOK_SECONDS = 2


class Trouble(Exception):
    """What kept a crawl from being measured."""


class Deployment:
    """The stack."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._billed: set[str] = set()
        names = {"region_name": "AWS_REGION", "aws_access_key_id": "AWS_ACCESS_KEY_ID", "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY"}
        known = {name: environ[variable] for name, variable in names.items()}
        self._client = lambda service: boto3.client(service, endpoint_url=environ["AWS_ENDPOINT_URL"], **known)
        self._outputs: Mapping[str, str] = {}

    def deploy(self) -> None:
        """Builds and deploys it, with the functions that DRAGLINE_BOOTSTRAPS names."""
        sam.deploy(self._environ)
        (stack,) = self._client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        self._outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    def crawl(self, shape: Shape, sites: Sites, patience_seconds: float) -> None:
        """Crawls a shape's sites to the end."""
        name = f"bill-{sites.port}"
        politeness = {"delay": f"{round(shape.delay_seconds * 1000)}ms"}
        command = {"definition": {"name": name, "seeds": sites.seeds, "politeness": politeness}}
        self._client("sqs").send_message(QueueUrl=self._outputs["Commands"], MessageBody=json.dumps(command))
        deadline = time.monotonic() + patience_seconds
        while not self._is_done(name):
            if time.monotonic() > deadline:
                raise Trouble(f"{name} did not end within {patience_seconds:g} s: {sites.fetched.total()} of {shape.pages_of_all} pages fetched")
            time.sleep(LOOK_SECONDS)
        wrong = {url: count for url, count in sites.fetched.items() if count != 1}
        if len(sites.fetched) != shape.pages_of_all or wrong:
            raise Trouble(f"{name} fetched {len(sites.fetched)} pages of {shape.pages_of_all}, not once: {wrong}")

    def sweep(self) -> None:
        """Has the sweeper come now; its rule has it come every five minutes."""
        event = (ROOT / "events/sweep.json").read_bytes()
        self._client("lambda").invoke(FunctionName=self._outputs["Sweeper"], Payload=event)

    def take_invocations(self) -> list[Invocation]:
        """The invocations that are over and were not taken before."""
        fresh = [one for one in self._invocations() if one.request_id not in self._billed]
        self._billed.update(one.request_id for one in fresh)
        return fresh

    def fixtures(self, metrics: int) -> Fixtures:
        """What it has that costs by being there."""
        pages = self._client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=STACK)
        kinds = [resource["ResourceType"] for page in pages for resource in page["StackResourceSummaries"]]
        mappings = kinds.count("AWS::Lambda::EventSourceMapping")
        return Fixtures(mappings=mappings, alarms=kinds.count("AWS::CloudWatch::Alarm"), metrics=metrics)

    def _is_done(self, crawl: str) -> bool:
        """Whether no origin is open any more: then the next sweep closes the iteration."""
        key = {"pk": {"S": crawl}, "sk": {"S": "iteration#0000000001"}}
        row = self._client("dynamodb").get_item(TableName=f"{self._outputs['Tables']}-crawls", Key=key).get("Item")
        return row is not None and row["open"]["N"] == "0"

    def _invocations(self) -> list[Invocation]:
        logs = Path(self._environ["DRAGLINE_FUNCTION_LOGS"])
        found = []
        for function in FUNCTIONS:
            files = sorted((logs / self._outputs[function]).glob("*.log"))
            found.extend(invocations.of_logs(function.lower(), files))
        return found
