"""What the project's tests expect of the emulator, seen on a small stack that SAM deploys."""

import time
from pathlib import Path

import boto3
import pytest

from stack import host, sam

TEMPLATE = Path(__file__).with_name("template.yaml")

PATIENCE_SECONDS = 180
"""Longer than anything takes on a busy machine; only failing tests wait for it."""


@pytest.fixture(scope="module")
def client(environ):
    return lambda service: boto3.client(
        service,
        endpoint_url=environ["AWS_ENDPOINT_URL"],
        region_name=environ["AWS_REGION"],
        aws_access_key_id=environ["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
    )


@pytest.fixture(scope="module")
def deployed(small, client):
    """The stack's outputs."""
    (stack,) = client("cloudformation").describe_stacks(StackName=small)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def eventually(what, look):
    """Polls until it gets a result."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not seen within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.2)
    return seen


def logged(emulator, deployed):
    """All lines that the function's environments wrote."""
    files = (host.function_logs(emulator.run) / deployed["Worker"]).glob("*.log")
    return [line for file in files for line in file.read_text().splitlines()]


def test_sam_finds_nothing_wrong_with_the_template(environ):
    sam.validate(environ, TEMPLATE)


def test_only_the_failed_message_of_a_batch_comes_again_until_it_is_a_dead_letter(client, emulator, deployed):
    sqs = client("sqs")
    bodies = ["good-1", "bad fail", "good-2"]
    entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(bodies)]
    sqs.send_message_batch(QueueUrl=deployed["Work"], Entries=entries)
    letters = eventually(
        "a dead letter",
        lambda: sqs.receive_message(QueueUrl=deployed["DeadLetters"], WaitTimeSeconds=1).get("Messages"),
    )
    assert [letter["Body"] for letter in letters] == ["bad fail"]
    lines = [line for line in logged(emulator, deployed) if line.startswith(("good", "bad"))]
    assert sorted(lines) == ["bad failed 1", "bad failed 2", "bad failed 3", "good-1 done 1", "good-2 done 1"]


def test_a_message_whose_function_died_is_delivered_again(client, emulator, deployed):
    client("sqs").send_message(QueueUrl=deployed["Work"], MessageBody="mortal die once")
    eventually("a second delivery", lambda: "mortal done 2" in logged(emulator, deployed))
    lines = logged(emulator, deployed)
    assert "mortal dies 1" in lines
    assert any("Runtime.ExitError" in line for line in lines), "the log says how the process ended"


def test_a_rule_fires_every_minute(emulator, deployed):
    eventually("the schedule", lambda: "the schedule fired" in logged(emulator, deployed))


def test_dynamodb_keeps_to_a_condition(client):
    dynamodb = client("dynamodb")
    dynamodb.create_table(
        TableName="once",
        KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    put = {"TableName": "once", "Item": {"key": {"S": "a"}}, "ConditionExpression": "attribute_not_exists(#key)"}
    put["ExpressionAttributeNames"] = {"#key": "key"}
    dynamodb.put_item(**put)
    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.put_item(**put)
