"""What functions may expect of the environment that they run in. All by a real process, which bootstrap.py is."""

import json
import os
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from native_executor.environment import CannotStart, Environment, Limits
from native_executor.runtime import Program
from native_executor.runtime_api import Invocation
from native_executor.stream import Stream

AMPLE_SECONDS = 60
"""A limit that a busy machine does not reach."""

REQUESTS = count(1)


@pytest.fixture
def make(tmp_path):
    """Makes environments of the bootstrap, and stops them at the end."""
    made = []

    def environment(init="well", invoke_seconds=AMPLE_SECONDS, init_seconds=AMPLE_SECONDS):
        code = tmp_path / f"code-{len(made)}"
        code.mkdir()
        bootstrap = code / "bootstrap"
        bootstrap.write_text(f"#!{sys.executable}\n" + (Path(__file__).parent / "bootstrap.py").read_text())
        bootstrap.chmod(0o755)
        program = Program(bootstrap, {"PATH": os.environ["PATH"], "INIT": init, "MINE": "yes"})
        stream = Stream(tmp_path / f"stream-{len(made)}.log")
        limits = Limits(init_seconds=init_seconds, invoke_seconds=invoke_seconds, memory_mb=256)
        made.append(Environment(program, limits, "$LATEST", stream))
        return made[-1]

    yield environment
    for each in made:
        each.stop()


def invoke(environment, what, **more):
    request_id = f"request-{next(REQUESTS)}"
    payload = json.dumps({"do": what, **more}).encode()
    return environment.invoke(Invocation(request_id, payload, "arn:aws:lambda:us-east-1:000000000000:function:f", "Root=1"))


def answer(outcome):
    assert not outcome.is_error, f"the function failed: {outcome.payload}"
    return json.loads(outcome.payload)


def error_of(outcome):
    assert outcome.is_error, f"the function answered well: {outcome.payload}"
    return json.loads(outcome.payload)


def report_of(outcome):
    """The fields of the last line of its log."""
    return dict(field.split(": ", 1) for field in outcome.log.splitlines()[-1].split("\t"))


def state_and_group(pid):
    try:
        state, _, group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return "gone", None
    return state, int(group)


def is_alive(pid):
    return state_and_group(pid)[0] not in ("Z", "gone")


def living_in_group(group):
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if is_alive(pid) and state_and_group(pid)[1] == group]


def test_an_event_reaches_the_function_and_its_answer_the_caller(make):
    environment = make()
    environment.start()
    assert answer(invoke(environment, "echo", text="Grüße"))["event"] == {"do": "echo", "text": "Grüße"}


def test_the_function_is_told_request_arn_and_trace(make):
    environment = make()
    environment.start()
    headers = answer(invoke(environment, "echo"))["headers"]
    assert headers["lambda-runtime-aws-request-id"].startswith("request-")
    assert headers["lambda-runtime-invoked-function-arn"].endswith(":function:f")
    assert headers["lambda-runtime-trace-id"] == "Root=1"


def test_the_deadline_is_the_timeout_from_now(make):
    environment = make(invoke_seconds=AMPLE_SECONDS)
    environment.start()
    before_ms = int(time.time() * 1000)
    told = answer(invoke(environment, "echo"))
    deadline_ms = int(told["headers"]["lambda-runtime-deadline-ms"])
    assert before_ms <= deadline_ms - AMPLE_SECONDS * 1000 <= told["unix_ms"], "it counts from the invocation's start"


def test_the_function_runs_in_its_code_with_the_given_environment_and_no_other(make, monkeypatch):
    monkeypatch.setenv("A_SECRET_OF_THE_MACHINE", "x")
    environment = make()
    environment.start()
    told = answer(invoke(environment, "echo"))
    assert Path(told["cwd"]).name == "code-0"
    assert told["environ"]["MINE"] == "yes"
    assert "A_SECRET_OF_THE_MACHINE" not in told["environ"]


def test_a_process_is_kept_for_the_next_event(make):
    environment = make()
    environment.start()
    assert answer(invoke(environment, "echo"))["pid"] == answer(invoke(environment, "echo"))["pid"]


def test_an_error_of_the_function_is_passed_on_and_costs_no_process(make):
    environment = make()
    environment.start()
    before = answer(invoke(environment, "echo"))["pid"]
    assert error_of(invoke(environment, "fail")) == {"errorType": "ValueError", "errorMessage": "as asked"}
    assert answer(invoke(environment, "echo"))["pid"] == before


def test_a_process_that_exits_meanwhile_fails_its_event_and_is_replaced(make):
    environment = make()
    environment.start()
    before = answer(invoke(environment, "echo"))["pid"]
    error = error_of(invoke(environment, "die"))
    assert error["errorType"] == "Runtime.ExitError"
    assert error["errorMessage"].endswith("exit status 7")
    assert answer(invoke(environment, "echo"))["pid"] != before


def test_a_process_killed_between_two_events_costs_neither(make):
    environment = make()
    environment.start()
    before = answer(invoke(environment, "echo"))["pid"]
    os.kill(before, signal.SIGKILL)
    while is_alive(before):
        os.sched_yield()
    assert answer(invoke(environment, "echo"))["pid"] != before


def test_a_function_that_hangs_is_killed_with_its_children_at_its_timeout(make):
    environment = make(invoke_seconds=5)
    environment.start()
    pid = answer(invoke(environment, "echo"))["pid"]
    error = error_of(invoke(environment, "hang"))
    assert error["errorType"] == "Sandbox.Timedout"
    assert error["errorMessage"].endswith("Task timed out after 5.00 seconds")
    assert living_in_group(pid) == [], "the kill reached its children too"
    assert answer(invoke(environment, "echo"))["pid"] != pid, "the next event finds a new process"


@pytest.mark.parametrize(
    ("init", "limit_seconds", "kind", "why"),
    [
        ("dies", AMPLE_SECONDS, "Runtime.ExitError", "it exits before it asks for work"),
        ("fails", AMPLE_SECONDS, "Init.Refused", "what it says itself counts"),
        ("hangs", 1, "Sandbox.Timedout", "it never asks for work"),
    ],
)
def test_a_function_that_cannot_start_says_why(make, init, limit_seconds, kind, why):
    with pytest.raises(CannotStart) as caught:
        make(init, init_seconds=limit_seconds).start()
    assert json.loads(caught.value.payload)["errorType"] == kind, why


def test_an_archive_without_bootstrap_cannot_start(make, tmp_path):
    environment = make()
    shutil.rmtree(tmp_path / "code-0")
    with pytest.raises(CannotStart) as caught:
        environment.start()
    assert json.loads(caught.value.payload)["errorType"] == "Runtime.InvalidEntrypoint"


def test_an_answer_to_an_event_that_is_not_its_own_is_refused(make):
    environment = make()
    environment.start()
    assert answer(invoke(environment, "answer another")) == {"status": 400}


def test_a_start_is_billed_with_the_first_event_and_no_other(make):
    environment = make()
    environment.start()
    first, second = (report_of(invoke(environment, "echo")) for _ in range(2))
    took_ms, init_ms, billed_ms = (float(first[name].split()[0]) for name in ("Duration", "Init Duration", "Billed Duration"))
    assert abs(billed_ms - (took_ms + init_ms)) <= 1.01, "both together, rounded up"
    assert "Init Duration" not in second


def test_the_log_of_an_event_holds_all_that_was_written_for_it_and_nothing_else(make):
    environment = make()
    environment.start()
    invoke(environment, "fail")
    lines = invoke(environment, "echo").log.splitlines()
    assert lines[0].startswith("START RequestId: request-"), lines
    assert lines[1:3] == ["handling echo", "after the answer"], "what it writes before it asks for more work belongs to it"
    assert lines[3].startswith("END RequestId: request-"), lines
    report = lines[4].split("\t")
    assert [field.split(":")[0] for field in report] == [
        "REPORT RequestId", "Duration", "Billed Duration", "Memory Size", "Max Memory Used",
    ]  # fmt: skip
    assert report[3] == "Memory Size: 256 MB"
    assert len(lines) == 5, lines


def test_a_stream_tells_of_the_start_and_of_how_a_process_died(make, tmp_path):
    environment = make()
    environment.start()
    invoke(environment, "die")
    stream = (tmp_path / "stream-0.log").read_text()
    assert "starting\n" in stream
    assert "INIT_START Pid: " in stream
    assert "exit status 7" in stream


def test_environments_work_side_by_side(make):
    environments = [make() for _ in range(3)]
    with ThreadPoolExecutor(len(environments)) as pool:
        list(pool.map(Environment.start, environments))
        pids = {answer(outcome)["pid"] for outcome in pool.map(lambda each: invoke(each, "echo"), environments)}
    assert len(pids) == len(environments)


def test_a_stopped_environment_leaves_no_process(make):
    environment = make()
    environment.start()
    pid = answer(invoke(environment, "echo"))["pid"]
    environment.stop()
    assert not is_alive(pid)
