"""The project's stack, deployed to an emulator as it is to AWS."""

from __future__ import annotations

import subprocess
import tempfile
from typing import Mapping

from stack.failure import Failure
from stack.paths import ROOT


def deploy(environ: Mapping[str, str]) -> None:
    """Builds and deploys it, with the functions that DRAGLINE_BOOTSTRAPS names."""
    with tempfile.TemporaryDirectory() as build:
        _sam(environ, "build", "--build-dir", build)
        # SAM looks for its settings beside the template.
        built = ["--template-file", f"{build}/template.yaml", "--config-file", str(ROOT / "samconfig.toml")]
        _sam(environ, "deploy", "--no-progressbar", *built)


def _sam(environ: Mapping[str, str], verb: str, *arguments: str) -> None:
    command = ["sam", verb, "--config-env", "localstack", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=dict(environ), capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"sam {verb} failed:\n{done.stdout}\n{done.stderr}")
