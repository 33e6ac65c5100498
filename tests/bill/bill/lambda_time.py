"""Lambda's time by formula. What is billed on an emulator is mostly waiting for the emulator; this is what it would be on AWS."""

from __future__ import annotations

from bill import prices
from bill.usage import FunctionUsage

VCPU_GB = 1769 / 1024
"""The memory at which a function has a whole vCPU; with less it has that much less, and takes so much longer ("Configure Lambda function memory")."""

CALL_SECONDS = 0.010
"""About what a call to DynamoDB, S3 or SQS takes within a region. An assumption."""


def waiting_dollars(seconds: float, memory_gb: float, origins_sharing: float) -> float:
    """What an origin waits, while as many others do in the same invocation."""
    return seconds * memory_gb / origins_sharing * prices.LAMBDA_GB_SECOND


def work_dollars(used: FunctionUsage) -> float:
    """What a function does beside waiting for its pace: it computes, and waits for its calls one after the other."""
    gb_seconds = used.calls.total() * CALL_SECONDS * used.memory_gb + used.cpu_seconds * VCPU_GB
    return gb_seconds * prices.LAMBDA_GB_SECOND
