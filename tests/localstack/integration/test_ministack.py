"""What the second emulator is there for: a function may do what its role permits, and nothing else."""

import io
import json
import sysconfig
import zipfile
from pathlib import Path

import boto3
import pytest

from stack import endpoint
from stack.emulator import Kind, Place, free_port
from stack.process import Life

BUCKET, KEY = "things", "a"
TRUST = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
MAY_READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{BUCKET}/*"}


@pytest.fixture(scope="module")
def client():
    place = Place(Kind.MINISTACK, free_port())
    place.start(Life.AS_LONG_AS_WE)
    yield lambda service: boto3.client(
        service,
        endpoint_url=place.endpoint,
        region_name=endpoint.REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    place.stop()


def policy(statement):
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def archive():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        member = zipfile.ZipInfo("bootstrap")
        member.external_attr = 0o755 << 16
        file.writestr(member, (Path(__file__).parent / "reader/bootstrap").read_text())
    return packed.getvalue()


def test_a_function_does_what_its_role_permits_and_is_refused_the_rest(client):
    client("s3").create_bucket(Bucket=BUCKET)
    client("s3").put_object(Bucket=BUCKET, Key=KEY, Body=b"x")
    role = client("iam").create_role(RoleName="reader", AssumeRolePolicyDocument=policy(TRUST))["Role"]
    client("iam").put_role_policy(RoleName="reader", PolicyName="read", PolicyDocument=policy(MAY_READ))
    client("lambda").create_function(
        FunctionName="reader",
        Runtime="provided.al2023",
        Handler="bootstrap",
        Role=role["Arn"],
        Code={"ZipFile": archive()},
        Timeout=60,
        Environment={"Variables": {"LIBRARIES": sysconfig.get_path("purelib")}},
    )
    client("lambda").get_waiter("function_active_v2").wait(FunctionName="reader")
    event = json.dumps({"Bucket": BUCKET, "Key": KEY})
    answer = client("lambda").invoke(FunctionName="reader", Payload=event)
    said = json.loads(answer["Payload"].read())
    assert "FunctionError" not in answer, said
    assert said == {"get": "done", "put": "AccessDenied"}
