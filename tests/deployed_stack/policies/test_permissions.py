"""What requests need, as the gate understands them. No emulator is needed."""

import json

import pytest

from permissions import Permission, Request, Unknown, needed, to_know_of_absence

TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/{}"
BUCKET = "arn:aws:s3:::archive"


def signed(service, method="POST", target="/", headers=None, body=b""):
    credential = f"AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host"
    return Request(method, target, {"authorization": credential, **(headers or {})}, body)


def dynamodb(operation, **asked):
    return signed("dynamodb", headers={"x-amz-target": f"DynamoDB_20120810.{operation}"}, body=json.dumps(asked).encode())


def on_table(action, table="a", below=""):
    return Permission(f"dynamodb:{action}", TABLE.format(table) + below)


@pytest.mark.parametrize(
    ("request_", "expected", "why"),
    [
        (dynamodb("GetItem", TableName="a"), [on_table("GetItem")], "an item"),
        (dynamodb("Query", TableName="a"), [on_table("Query")], "a range"),
        (dynamodb("Query", TableName="a", IndexName="i"), [on_table("Query", "a", "/index/i")], "the index, not the table"),
        (
            dynamodb("BatchGetItem", RequestItems={"a": {}, "b": {}}),
            [on_table("BatchGetItem"), on_table("BatchGetItem", "b")],
            "each table of a batch",
        ),
        (
            dynamodb("TransactGetItems", TransactItems=[{"Get": {"TableName": "a"}}]),
            [on_table("GetItem")],
            "a transaction is no action, its reads are",
        ),
        (
            dynamodb(
                "TransactWriteItems",
                TransactItems=[
                    {kind: {"TableName": "a"}} for kind in ("Put", "Update", "Delete", "ConditionCheck", "Put")
                ],
            ),
            [on_table("PutItem"), on_table("UpdateItem"), on_table("DeleteItem"), on_table("ConditionCheckItem")],
            "nor are writes and checks, each named once",
        ),
        (
            dynamodb(
                "BatchExecuteStatement",
                Statements=[{"Statement": "INSERT INTO \"a\" VALUE {'pk': ?}"}, {"Statement": 'UPDATE "b" SET x = ?'}],
            ),
            [on_table("PartiQLInsert"), on_table("PartiQLUpdate", "b")],
            "each statement by its kind and table",
        ),
        (signed("s3", "PUT", "/archive/raw/a?x-id=PutObject"), [Permission("s3:PutObject", f"{BUCKET}/raw/a")], "an object"),
        (signed("s3", "HEAD", "/archive/raw/a%23b"), [Permission("s3:GetObject", f"{BUCKET}/raw/a#b")], "a key is decoded"),
        (
            signed("s3", "GET", "/archive?list-type=2&prefix=raw%2Fa"),
            [Permission("s3:ListBucket", BUCKET, (("s3:prefix", "raw/a"),))],
            "a listing says of what",
        ),
        (
            signed(
                "sqs",
                headers={"x-amz-target": "AmazonSQS.SendMessage"},
                body=b'{"QueueUrl": "http://127.0.0.1:1/000000000000/turns"}',
            ),
            [Permission("sqs:SendMessage", "arn:aws:sqs:us-east-1:000000000000:turns")],
            "a queue by its address",
        ),
        (
            signed("secretsmanager", headers={"x-amz-target": "secretsmanager.GetSecretValue"}, body=b'{"SecretId": "a/b"}'),
            [Permission("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:000000000000:secret:a/b-AbCdEf")],
            "a secret, with what AWS adds to its name",
        ),
        (signed("sns", body=b"Action=Publish&TopicArn=arn%3Ax"), [Permission("sns:Publish", "arn:x")], "a topic"),
    ],
)
def test_a_request_needs_what_the_reference_says(request_, expected, why):
    assert needed(request_) == expected, why


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (dynamodb("ExecuteTransaction"), "an operation that nobody described"),
        (dynamodb("BatchExecuteStatement", Statements=[{"Statement": 'SELECT * FROM "a"'}]), "a statement of another kind"),
        (signed("s3", "PUT", "/archive/a", {"x-amz-copy-source": "b/c"}), "a copy reads, too"),
        (signed("s3", "POST", "/archive/a?uploads"), "an upload in parts"),
        (signed("s3", "GET", "/archive"), "the old listing"),
        (signed("secretsmanager", headers={"x-amz-target": "secretsmanager.ListSecrets"}, body=b"{}"), "secrets are asked for by name"),
        (signed("lambda", "GET", "/"), "another service"),
        (Request("GET", "/", {}), "nobody signed it"),
    ],
)
def test_a_request_that_nobody_described_is_an_error(request_, why):
    with pytest.raises(Unknown):
        pytest.fail(f"{why}: {needed(request_)}")


def test_only_who_may_list_is_told_that_an_object_is_not_there():
    listing = Permission("s3:ListBucket", BUCKET)
    for request, expected, why in [
        (signed("s3", "GET", "/archive/raw/a"), listing, "a read"),
        (signed("s3", "HEAD", "/archive/raw/a"), listing, "a look"),
        (signed("s3", "PUT", "/archive/raw/a"), None, "a write tells nothing"),
        (dynamodb("GetItem", TableName="a"), None, "rows are another matter"),
    ]:
        assert to_know_of_absence(request) == expected, why
