"""What the action of action.yml runs in a workflow, on the site of the report."""

import json
import os
import subprocess
import threading
import xml.etree.ElementTree
from http.server import ThreadingHTTPServer
from pathlib import Path

import chromium
import pytest
from conftest import DRAGLINE, Site

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Runs the check in a folder, and returns its code and what it said."""
    folder = tmp_path_factory.mktemp("workflow")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    inputs = {"SITE": f"http://127.0.0.1:{server.server_port}/", "OPTIONS": "--allow-private --delay 0s", "BASELINE": "", "IGNORE": ""}

    def run(**more):
        environment = {**os.environ, "PATH": f"{DRAGLINE.parent}:{os.environ['PATH']}", **inputs, "DIRECTORY": "out", **more}
        ran = subprocess.run([ROOT / "packaging/action/check"], cwd=folder, env=environment, timeout=chromium.PATIENCE_SECONDS, capture_output=True, text=True)
        return ran.returncode, ran.stderr

    yield folder, run
    server.shutdown()


def test_a_workflow_fails_for_what_is_new_alone(check):
    folder, run = check
    code, said = run(FAIL_ON="broken,chains", GITHUB_STEP_SUMMARY="summary.md")
    assert code == 5 and "Broken links: " in said, said
    tests = {case.get("name"): case for case in xml.etree.ElementTree.parse(folder / "out/junit.xml").iter("testcase")}
    assert tests["Broken links"].find("failure") is not None and tests["Orphans"].find("failure") is None
    results = json.loads((folder / "out/site.sarif").read_text())["runs"][0]["results"]
    assert {"error", "warning", "note"} >= {result["level"] for result in results} and "broken" in {result["ruleId"] for result in results}
    assert "Broken links" in (folder / "summary.md").read_text()
    (folder / "out/report.json").rename(folder / "baseline.json")
    code, said = run(FAIL_ON="broken,chains", BASELINE="baseline.json", DIRECTORY="again")
    assert code == 0, f"the site is as it was: {said}"


def test_inputs_are_no_script(check):
    folder, run = check
    code, _ = run(FAIL_ON="", SITE="$(touch pwned)", OPTIONS="--allow-private; touch pwned")
    assert code not in (0, 5) and not (folder / "pwned").exists()
