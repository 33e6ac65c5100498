"""Invocations, read from the functions' logs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator, Mapping

LOG_EVENT_BYTES = 26
"""What CloudWatch adds to each event's text."""

WAITED = "waited_s"
"""The message of a crawler whose turn waited for parses."""

REPORT = re.compile(
    r"REPORT RequestId: (?P<id>\S+)\tDuration: \S+ ms\tBilled Duration: (?P<billed_ms>\d+) ms\tMemory Size: (?P<memory_mb>\d+) MB"
    r"(\tMax Memory Used: (?P<peak_mb>\d+) MB)?"
)


@dataclass(frozen=True)
class Used:
    """The usage of an invocation, as its function reports it."""

    messages: int
    """The messages that it was invoked with; 0 for a rule's tick."""
    cpu_seconds: float
    calls: Mapping[str, int]
    """By service and operation: `DynamoDB.GetItem`."""
    write_units: Mapping[str, int]
    """By table."""
    read_units: Mapping[str, float]
    metrics: frozenset[str]
    """Metrics that CloudWatch extracts and bills."""


@dataclass(frozen=True)
class Invocation:
    """One invocation of a function."""

    function: str
    request_id: str
    billed_seconds: float
    memory_gb: float
    peak_mb: int
    log_bytes: int
    waited_seconds: float
    """For parses, in turns that had nothing else to do, all of them together."""
    used: Used | None
    """None if the function failed before it could report."""


def of_logs(function: str, files: Iterable[Path]) -> Iterator[Invocation]:
    """All finished invocations."""
    for file in files:
        yield from of_lines(function, file.read_text(errors="replace").splitlines())


def of_lines(function: str, lines: Iterable[str]) -> Iterator[Invocation]:
    """The invocations of one environment, which runs one at a time."""
    log_bytes, waited_seconds, used = 0, 0, None
    for line in lines:
        if line.startswith("START RequestId: "):
            log_bytes, waited_seconds, used = 0, 0, None
        log_bytes += len(line.encode()) + LOG_EVENT_BYTES
        if line.startswith('{"Function"'):
            used = _used(json.loads(line))
        elif line.startswith("{") and WAITED in line:
            waited_seconds += json.loads(line)[WAITED]
        elif report := REPORT.match(line):
            yield Invocation(
                function=function,
                request_id=report["id"],
                billed_seconds=int(report["billed_ms"]) / 1000,
                memory_gb=int(report["memory_mb"]) / 1024,
                peak_mb=int(report["peak_mb"] or 0),
                log_bytes=log_bytes,
                waited_seconds=waited_seconds,
                used=used,
            )


def _used(line: Mapping) -> Used:
    used = line["Used"]
    metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"] if "_aws" in line else []
    return Used(
        messages=used["messages"],
        cpu_seconds=used["cpuMicros"] / 1_000_000,
        calls=used["calls"],
        write_units=used["writeUnits"],
        read_units={table: halves / 2 for table, halves in used["readHalfUnits"].items()},
        metrics=frozenset(metric["Name"] for metric in metrics),
    )
