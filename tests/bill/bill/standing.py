"""What a stack costs per month, whether or not it crawls."""

from __future__ import annotations

from dataclasses import dataclass

from bill import prices
from bill.bill import Line, dollars, lines
from bill.usage import Usage

TICK_MINUTES = {"scheduler": 1, "sweeper": 5}
"""How often the template's rules fire. Rules with a schedule cost nothing themselves."""

POLLERS = 5
"""Of an event source mapping while its queue is empty ("Using Lambda with Amazon SQS")."""

POLL_SECONDS = 20
"""How long an empty poll lasts."""


@dataclass(frozen=True)
class Fixtures:
    """What a stack has that costs money just by existing."""

    mappings: int
    alarms: int
    metrics: int
    """Each name and function is one."""


def month(fixtures: Fixtures, ticks: Usage) -> list[Line]:
    """A month's bill, with the measured ticks scaled to a month."""
    billed = [_ticks(function, ticks) for function in TICK_MINUTES if function in ticks]
    polls = fixtures.mappings * POLLERS * 60 / POLL_SECONDS * prices.MONTH_MINUTES
    return [
        *billed,
        Line("SQS", "empty polls", polls, prices.SQS_REQUEST),
        Line("CloudWatch", "metrics", fixtures.metrics, prices.METRIC_MONTH),
        Line("CloudWatch", "alarms", fixtures.alarms, prices.ALARM_MONTH),
    ]


def _ticks(function: str, ticks: Usage) -> Line:
    count = prices.MONTH_MINUTES / TICK_MINUTES[function]
    each = dollars(lines({function: ticks[function]})) / ticks[function].invocations
    return Line("Ticks", f"{function}, all that they use", count, each)
