"""Stacks, deployed to an emulator as they are to AWS."""

from __future__ import annotations

import json
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Mapping
from zipfile import ZIP_DEFLATED, ZipFile

import boto3

from stack.failure import Failure
from stack.paths import ROOT

BUCKET = "sam"
"""Where what is deployed is put. SAM would make a bucket by a stack of its own, and look every 15 s whether that is there."""

ENVIRON = {"SAM_CLI_POLL_DELAY": "0.5", "SAM_CLI_TELEMETRY": "0"}
"""How often SAM looks whether a stack is there, in seconds: 5 if not said."""


def build(environ: Mapping[str, str], into: Path) -> None:
    """Builds the project's stack, with the functions that DRAGLINE_BOOTSTRAPS names. It needs no emulator."""
    _sam(environ, "build", "--config-env", "localstack", "--build-dir", str(into))
    _pack(into)


def _pack(built: Path) -> None:
    """Packs the functions and layers quickly. SAM would pack them at each deployment as small as it can, which for builds for debugging takes most of its time."""
    template = built / "template.yaml"
    text = template.read_text()
    for directory in (entry for entry in built.iterdir() if entry.is_dir()):
        archive = directory.with_suffix(".zip")
        with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=1) as packed:
            for file in (entry for entry in directory.rglob("*") if entry.is_file()):
                packed.write(file, file.relative_to(directory))
        code = f"Uri: {directory.name}\n"  # CodeUri, or ContentUri of a layer
        assert code in text, f"the built template has no {code}"
        text = text.replace(code, f"Uri: {archive.name}\n")
    template.write_text(text)


def deploy(environ: Mapping[str, str], built: Path, name: str = "dragline", more: str = "") -> None:
    """Deploys it under a name, with more parameters."""
    make_bucket(environ)
    settings = tomllib.loads((ROOT / "samconfig.toml").read_text())
    parameters = settings["localstack"]["deploy"]["parameters"]
    del parameters["resolve_s3"]
    parameters["s3_bucket"] = BUCKET
    parameters["parameter_overrides"] += f" {more}"
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "samconfig.yaml"
        file.write_text(json.dumps(settings))  # JSON is YAML
        options = ["--template-file", str(built / "template.yaml"), "--config-file", str(file), "--config-env", "localstack"]
        _sam(environ, "deploy", "--no-progressbar", "--stack-name", name, *options)


def deploy_as_it_is(environ: Mapping[str, str], template: Path, name: str) -> None:
    """Deploys another stack, which needs no build."""
    make_bucket(environ)
    options = ["--template", str(template), "--stack-name", name, "--s3-bucket", BUCKET, "--region", environ["AWS_REGION"]]
    _sam(environ, "deploy", *options, "--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--no-progressbar")


def validate(environ: Mapping[str, str], template: Path) -> None:
    """Validates a template with SAM."""
    _sam(environ, "validate", "--lint", "--template", str(template), "--region", environ["AWS_REGION"])


def make_bucket(environ: Mapping[str, str]) -> None:
    """Makes the bucket for what is deployed; the owner may make it again."""
    account = {"aws_access_key_id": environ["AWS_ACCESS_KEY_ID"], "aws_secret_access_key": environ["AWS_SECRET_ACCESS_KEY"]}
    s3 = boto3.client("s3", endpoint_url=environ["AWS_ENDPOINT_URL"], region_name=environ["AWS_REGION"], **account)
    s3.create_bucket(Bucket=BUCKET)


def _sam(environ: Mapping[str, str], verb: str, *arguments: str) -> None:
    command = ["sam", verb, *arguments]
    done = subprocess.run(command, cwd=ROOT, env={**environ, **ENVIRON}, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"sam {verb} failed:\n{done.stdout}\n{done.stderr}")
