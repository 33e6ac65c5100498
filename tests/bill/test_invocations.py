"""Reading what the functions logged."""

import json

from bill.invocations import LOG_EVENT_BYTES, of_lines

SAID = {
    "Function": "crawler",
    "TookMillis": 250,
    "Used": {
        "messages": 2,
        "cpuMicros": 1_500,
        "calls": {"DynamoDB.GetItem": 2},
        "writeUnits": {"log": 5},
        "readHalfUnits": {"crawls": 3},
    },
}

METRICS = {"_aws": {"Timestamp": 1, "CloudWatchMetrics": [{"Metrics": [{"Name": "MessagesFailed", "Unit": "Count"}]}]}, "MessagesFailed": 1}

REPORT = "REPORT RequestId: a\tDuration: 249.20 ms\tBilled Duration: 250 ms\tMemory Size: 512 MB\tMax Memory Used: 41 MB"


def log(*lines):
    return ["INIT_START Pid: 7", "START RequestId: a Version: $LATEST", *lines, "END RequestId: a", REPORT]


def test_an_invocation_is_what_it_says_of_itself_and_what_lambda_reports():
    (read,) = of_lines("crawler", log(json.dumps(SAID)))
    assert (read.function, read.request_id) == ("crawler", "a")
    assert (read.billed_seconds, read.memory_gb, read.peak_mb) == (0.25, 0.5, 41)
    assert (read.used.messages, read.used.cpu_seconds) == (2, 0.0015)
    assert (read.used.calls, read.used.write_units) == ({"DynamoDB.GetItem": 2}, {"log": 5})
    assert read.used.read_units == {"crawls": 1.5}, "halves"
    assert read.used.metrics == frozenset()


def test_waiting_for_parses_is_told_by_lines_of_its_own():
    waits = [json.dumps({"level": "INFO", "message": "waited for parses", "waited_s": seconds}) for seconds in (2, 3)]
    reads = list(of_lines("crawler", [*log(*waits, json.dumps(SAID)), *log()]))
    assert [read.waited_seconds for read in reads] == [5, 0], "each invocation its own"


def test_counts_that_are_metrics_are_told_apart():
    (read,) = of_lines("crawler", log(json.dumps({**SAID, **METRICS})))
    assert read.used.metrics == {"MessagesFailed"}


def test_an_invocation_that_failed_is_billed_and_says_nothing():
    (read,) = of_lines("crawler", log('{"level":"ERROR","message":"failed"}'))
    assert (read.billed_seconds, read.used) == (0.25, None)


def test_logs_are_billed_with_what_each_line_takes_beside_its_text():
    lines = log("ü")
    (read,) = of_lines("crawler", lines)
    assert read.log_bytes == sum(len(line.encode()) + LOG_EVENT_BYTES for line in lines[1:])


def test_an_invocation_that_is_under_way_is_left_out_and_does_not_lend_its_line_to_the_next():
    lines = log(json.dumps(SAID))
    assert [read.used is None for read in of_lines("crawler", [*lines[:3], *log()])] == [True]
