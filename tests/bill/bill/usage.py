"""What invocations used together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable

from bill.invocations import Invocation

MESSAGES_A_RECEIVE = 10
"""SQS hands over no more at once, and deletes no more at once; a batch that is larger takes several receives."""


@dataclass
class FunctionUsage:
    """What the invocations of one function used."""

    invocations: int = 0
    messages: int = 0
    receives: int = 0
    """Polls of a queue that brought messages, and as many deletions of them."""
    billed_seconds: float = 0.0
    gb_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: int = 0
    log_bytes: int = 0
    waited_seconds: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)
    write_units: Counter[str] = field(default_factory=Counter)
    read_units: Counter[str] = field(default_factory=Counter)
    silent: int = 0
    """Invocations that failed before they said what they used: the bill lacks their calls."""

    def add(self, invocation: Invocation) -> None:
        """Counts one more."""
        self.invocations += 1
        self.billed_seconds += invocation.billed_seconds
        self.gb_seconds += invocation.billed_seconds * invocation.memory_gb
        self.peak_mb = max(self.peak_mb, invocation.peak_mb)
        self.log_bytes += invocation.log_bytes
        self.waited_seconds += invocation.waited_seconds
        if (used := invocation.used) is None:
            self.silent += 1
            self.receives += 1
            return
        self.messages += used.messages
        self.receives += -(-used.messages // MESSAGES_A_RECEIVE)
        self.cpu_seconds += used.cpu_seconds
        self.calls.update(used.calls)
        self.write_units.update(used.write_units)
        self.read_units.update(used.read_units)

    @property
    def memory_gb(self) -> float:
        """What each of them had."""
        return self.gb_seconds / self.billed_seconds


Usage = dict[str, FunctionUsage]
"""By function."""


def of_pages(invocations: Iterable[Invocation]) -> Usage:
    """What the crawl itself used: work that messages asked for."""
    return _sum(one for one in invocations if one.used is None or one.used.messages)


def of_ticks(invocations: Iterable[Invocation]) -> Usage:
    """What the rules' ticks used, whatever is crawled."""
    return _sum(one for one in invocations if one.used is not None and not one.used.messages)


def _sum(invocations: Iterable[Invocation]) -> Usage:
    usage: Usage = {}
    for invocation in invocations:
        usage.setdefault(invocation.function, FunctionUsage()).add(invocation)
    return usage
