"""The whole stack as `sam deploy` makes it, seen from outside: commands go in, objects and rows come out.

Run by `scripts/localstack test tests/deployed_stack`. The functions are those of this machine, in the directory that DRAGLINE_BOOTSTRAPS names
(`cargo build -p dragline-scheduler -p dragline-crawler -p dragline-parser -p dragline-sweeper` puts them into `target/debug`).
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest

from site_on_loopback import PAGES, Site
from stack.cli import variables
from stack.emulator import Kind, Place, free_port
from stack.process import Life

ROOT = Path(__file__).resolve().parents[2]

PATIENCE_SECONDS = 240
"""Longer than anything takes on a busy machine; a test that fails waits for it, none that passes does."""


@pytest.fixture(scope="module")
def place():
    place = Place(Kind.HOST, free_port())
    place.start(Life.AS_LONG_AS_WE)
    yield place
    place.stop()


@pytest.fixture(scope="module")
def environ(place, tmp_path_factory):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    bootstraps = os.environ.get("DRAGLINE_BOOTSTRAPS", str(ROOT / "target/debug"))
    ours = {"PATH": path, "HOME": str(tmp_path_factory.mktemp("home")), "DRAGLINE_BOOTSTRAPS": bootstraps}
    return {**os.environ, **variables(place.endpoint, place), **ours}


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
def deployed(environ, client, tmp_path_factory):
    """The stack's outputs."""
    build = str(tmp_path_factory.mktemp("build"))
    sam(environ, "build", "--config-env", "localstack", "--build-dir", build)
    # SAM looks for its settings beside the template.
    template = ["--template-file", f"{build}/template.yaml", "--config-file", str(ROOT / "samconfig.toml")]
    sam(environ, "deploy", "--config-env", "localstack", "--no-progressbar", *template)
    (stack,) = client("cloudformation").describe_stacks(StackName="dragline")["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def sam(environ, *arguments):
    done = subprocess.run(["sam", *arguments], cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, f"sam {arguments[0]} failed:\n{done.stdout}\n{done.stderr}"


def eventually(what, look):
    """Looks until it sees something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not seen within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.5)
    return seen


def test_a_url_is_crawled_to_the_end(client, deployed):
    with Site() as site:
        client("sqs").send_message(QueueUrl=deployed["Commands"], MessageBody=json.dumps({"url": f"{site.url}/"}))
        wanted = {"/robots.txt", "/missing", *PAGES}
        eventually("a request for every page", lambda: wanted <= {path for path, _ in site.asked})

        def closed():
            # The rule would come in at most five minutes.
            tick = (ROOT / "events/tick.json").read_bytes()
            client("lambda").invoke(FunctionName=deployed["Sweeper"], Payload=tick)
            key = {"pk": {"S": "127.0.0.1"}, "sk": {"S": "iteration#0000000001"}}
            row = client("dynamodb").get_item(TableName=f"{deployed['Tables']}-crawls", Key=key)["Item"]
            return row["status"]["S"] == "closed"

        eventually("the end of the iteration", closed)
        paths = sorted(path for path, _ in site.asked)
        assert paths == sorted(wanted), "each once"
        assert {agent for _, agent in site.asked} == {site.asked[0][1]}
        assert "https://example.org/bot" in site.asked[0][1], "the stack's contact"
    objects = client("s3").list_objects_v2(Bucket=deployed["Archive"])["Contents"]
    kinds = {entry["Key"].split("/")[0] for entry in objects}
    assert kinds == {"raw", "documents"}
