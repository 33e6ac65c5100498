"""The roles that the functions of a deployed stack have, and what the template grants each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Iterator

from stack.deployed import Stack

FUNCTIONS = ("Scheduler", "Crawler", "Parser", "Sweeper", "Publisher", "Searcher")


@dataclass(frozen=True)
class Grant:
    """One action on one resource."""

    function: str
    action: str
    resource: str
    statement: dict
    """The same as a statement of a policy, with its condition if it has one."""

    def __str__(self) -> str:
        return f"{self.function}, {self.statement['Sid']}: {self.action} on {self.resource}"


@dataclass(frozen=True)
class Role:
    """A function's role."""

    function: str
    arn: str
    written: tuple[dict, ...]
    """The policies that the template writes."""
    managed: tuple[dict, ...]
    """Those of AWS that SAM attaches, for logs and for receiving messages. They name no resource."""

    @property
    def policies(self) -> tuple[dict, ...]:
        """All that count."""
        return self.written + self.managed

    def grants(self) -> Iterator[Grant]:
        """What the template permits, each by itself."""
        for statement in (statement for policy in self.written for statement in policy["Statement"]):
            if statement["Effect"] == "Allow":
                for action, resource in product(as_list(statement["Action"]), as_list(statement["Resource"])):
                    yield Grant(self.function, action, resource, {**statement, "Action": action, "Resource": resource})


def of_stack(stack: Stack) -> dict[str, Role]:
    """By the function's name in the template."""
    iam = stack.client("iam")

    def written(name: str) -> Iterator[dict]:
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
            yield iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]

    def managed(name: str) -> Iterator[dict]:
        for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
            arn = policy["PolicyArn"]
            version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
            yield iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]

    def read(function: str) -> Role:
        arn = stack.client("lambda").get_function_configuration(FunctionName=stack.outputs[function])["Role"]
        name = arn.rsplit("/", 1)[1]
        return Role(function, arn, tuple(written(name)), tuple(managed(name)))

    return {function: read(function) for function in FUNCTIONS}


def as_list(value: str | list[str]) -> list[str]:
    """IAM accepts a single value in place of a list."""
    return [value] if isinstance(value, str) else value
