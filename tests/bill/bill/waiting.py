"""The part of Lambda's dollars that is waiting for the origins' pace, by formula: for delays and numbers of origins that were not measured."""

from __future__ import annotations

from bill import prices


def dollars(pages: float, delay_seconds: float, memory_gb: float, origins_sharing: float) -> float:
    """Each page waits for its delay once, while as many origins wait in the same invocation."""
    return pages * delay_seconds * memory_gb / origins_sharing * prices.LAMBDA_GB_SECOND


def origins_sharing(pages: int, delay_seconds: float, billed_seconds: float) -> float:
    """How many origins shared a second that was billed, at least: what else a second went to counts as waiting alone."""
    return pages * delay_seconds / billed_seconds
