"""The total usage of invocations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable

from bill.invocations import Invocation

MESSAGES_A_RECEIVE = 10
"""The most messages that SQS delivers or deletes at once; a larger batch takes several receives."""


@dataclass
class FunctionUsage:
    """The usage of one function's invocations."""

    invocations: int = 0
    messages: int = 0
    receives: int = 0
    """Polls of a queue that returned messages; there are as many deletions."""
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
    """Invocations that failed before they reported their usage, whose calls are missing from the bill."""

    def add(self, invocation: Invocation) -> None:
        """Adds an invocation."""
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
        """Per function."""
        return self.gb_seconds / self.billed_seconds


Usage = dict[str, FunctionUsage]
"""By function."""


SEARCHER = "searcher"
"""The function that requests invoke, and nothing else."""

PUBLISHER = "publisher"
"""The function that works on what is over."""


def of_pages(invocations: Iterable[Invocation]) -> Usage:
    """The usage of the crawl itself: work triggered by messages."""
    others = (SEARCHER, PUBLISHER)
    return _sum(one for one in invocations if one.function not in others and (one.used is None or one.used.messages))


def of_publications(invocations: Iterable[Invocation]) -> Usage:
    """The usage of the publication of iterations."""
    return _sum(one for one in invocations if one.function == PUBLISHER and (one.used is None or one.used.messages))


def of_ticks(invocations: Iterable[Invocation]) -> Usage:
    """The usage of the rules' ticks, whatever is crawled."""
    return _sum(one for one in invocations if one.function != SEARCHER and one.used is not None and not one.used.messages)


def of_searches(invocations: Iterable[Invocation]) -> Usage:
    """The usage of searches."""
    return _sum(one for one in invocations if one.function == SEARCHER)


def _sum(invocations: Iterable[Invocation]) -> Usage:
    usage: Usage = {}
    for invocation in invocations:
        usage.setdefault(invocation.function, FunctionUsage()).add(invocation)
    return usage
