"""Lambda's time by formula. On an emulator most billed time is waiting for the emulator; this estimates it on AWS."""

from __future__ import annotations

from bill import prices
from bill.usage import FunctionUsage

VCPU_GB = 1769 / 1024
"""The memory at which a function has a whole vCPU; with less it has that much less, and takes so much longer ("Configure Lambda function memory")."""

CALL_SECONDS = 0.010
"""The approximate duration of a call to DynamoDB, S3 or SQS within a region. An assumption."""


def waiting_dollars(seconds: float, memory_gb: float, origins_sharing: float) -> float:
    """The cost of an origin's wait, shared with the others in the same invocation."""
    return seconds * memory_gb / origins_sharing * prices.LAMBDA_GB_SECOND


def work_dollars(used: FunctionUsage) -> float:
    """The cost of a function's work besides waiting for its pace: computing, and waiting for its calls one after another."""
    gb_seconds = used.calls.total() * CALL_SECONDS * used.memory_gb + used.cpu_seconds * VCPU_GB
    return gb_seconds * prices.LAMBDA_GB_SECOND
