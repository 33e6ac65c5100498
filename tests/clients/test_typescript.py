"""The client for TypeScript: its types, and its test by Node.js."""

import os
import pathlib
import subprocess

from conftest import CLIENTS, PATIENCE_SECONDS

HERE = pathlib.Path(__file__).parent
MODULES = (CLIENTS / "typescript/node_modules").resolve()
NODE = MODULES.parent / "bin/node"


def node(*arguments, **environ):
    command = [NODE, *arguments]
    done = subprocess.run(command, cwd=HERE, env={**os.environ, **environ}, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def test_its_types_are_sound():
    node(MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--project", "tsconfig.json")


def test_it_adds_starts_and_reads_a_crawl(serve, site, tmp_path):
    said = node("--test", "--test-reporter=tap", "client.test.ts", DRAGLINE_URL=serve(tmp_path), SITE_URL=site)
    assert "# pass 2\n" in said and "# fail 0\n" in said, said
