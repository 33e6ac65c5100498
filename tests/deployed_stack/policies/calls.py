"""A call of AWS for each action that a test tries under a function's role."""

from __future__ import annotations

from resources import OBJECTS, PREFIXES, SECRETS

KEY = {"pk": {"S": "a"}, "sk": {"S": "a"}}


def _execute(client, statement):
    parameters = [{"S": "a"}, {"S": "a"}]
    return client("dynamodb").batch_execute_statement(Statements=[{"Statement": statement, "Parameters": parameters}])


def _insert(client, resources, name):
    return _execute(client, f"INSERT INTO \"{resources.table(name)}\" VALUE {{'pk': ?, 'sk': ?}}")


def _delete(client, resources, name):
    return _execute(client, f'DELETE FROM "{resources.table(name)}" WHERE pk = ? AND sk = ?')


def _delete_item(client, resources, name):
    # In a transaction, as the functions do it.
    delete = {"Delete": {"TableName": resources.table(name), "Key": KEY}}
    return client("dynamodb").transact_write_items(TransactItems=[delete])


def _query(client, resources, name):
    table, _, index = name.partition("/")
    return client("dynamodb").query(
        TableName=resources.table(table),
        IndexName=index,
        KeyConditionExpression=f"{index} = :a",
        ExpressionAttributeValues={":a": {"S": "a"}},
    )


CALLS = {
    "s3:GetObject": lambda client, resources, name: client("s3").get_object(Bucket=resources.bucket, Key=OBJECTS[name]),
    "s3:PutObject": lambda client, resources, name: client("s3").put_object(Bucket=resources.bucket, Key=OBJECTS[name], Body=b"x"),
    "s3:DeleteObject": lambda client, resources, name: client("s3").delete_object(Bucket=resources.bucket, Key=OBJECTS[name]),
    "s3:ListBucket": lambda client, resources, name: client("s3").list_objects_v2(Bucket=resources.bucket, Prefix=PREFIXES[name]),
    "secretsmanager:GetSecretValue": lambda client, resources, name: client("secretsmanager").get_secret_value(SecretId=SECRETS[name]),
    "sqs:SendMessage": lambda client, resources, name: client("sqs").send_message(QueueUrl=resources.queues[name], MessageBody="{}"),
    "sqs:ReceiveMessage": lambda client, resources, name: client("sqs").receive_message(QueueUrl=resources.queues[name]),
    "dynamodb:GetItem": lambda client, resources, name: client("dynamodb").get_item(TableName=resources.table(name), Key=KEY),
    "dynamodb:PutItem": lambda client, resources, name: client("dynamodb").put_item(TableName=resources.table(name), Item=KEY),
    "dynamodb:Scan": lambda client, resources, name: client("dynamodb").scan(TableName=resources.table(name)),
    "dynamodb:DeleteTable": lambda client, resources, name: client("dynamodb").delete_table(TableName=resources.table(name)),
    "dynamodb:DeleteItem": _delete_item,
    "dynamodb:Query": _query,
    "dynamodb:PartiQLInsert": _insert,
    "dynamodb:PartiQLDelete": _delete,
}
"""Each takes clients that have the role, the stack's resources, and which of them by its short name."""
