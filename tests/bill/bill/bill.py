"""Usage in dollars."""

from __future__ import annotations

from dataclasses import dataclass

from bill import prices
from bill.usage import FunctionUsage, Usage

PUTS = {"S3.PutObject", "S3.ListObjectsV2"}
FREE = {"S3.DeleteObject"}


@dataclass(frozen=True)
class Line:
    """A quantity of something at a price."""

    service: str
    what: str
    quantity: float
    price: float

    @property
    def dollars(self) -> float:
        """The total of these lines."""
        return self.quantity * self.price


def lines(usage: Usage) -> list[Line]:
    """The bill, with a line for everything used that has a price of its own."""
    billed = [line for function, used in sorted(usage.items()) for line in _of_function(function, used)]
    return [line for line in billed if line.quantity]


def dollars(billed: list[Line]) -> float:
    """The total of a bill."""
    return sum(line.dollars for line in billed)


def calls(usage: Usage) -> int:
    """Requests to AWS: the functions' own, and those of the queues' event source mappings."""
    return sum(used.calls.total() + 2 * used.receives for used in usage.values())


def scaled(billed: list[Line], factor: float) -> list[Line]:
    """The bill of this many times the usage."""
    return [Line(line.service, line.what, line.quantity * factor, line.price) for line in billed]


def _of_function(function: str, used: FunctionUsage) -> list[Line]:
    def requests(service: str) -> int:
        return sum(count for call, count in used.calls.items() if call.startswith(f"{service}."))

    puts = sum(used.calls[call] for call in PUTS)
    gets = requests("S3") - puts - sum(used.calls[call] for call in FREE)
    return [
        Line("Lambda", f"{function}, GB-s", used.gb_seconds, prices.LAMBDA_GB_SECOND),
        Line("Lambda", f"{function}, requests", used.invocations, prices.LAMBDA_REQUEST),
        Line("SQS", f"{function}, sends", requests("SQS"), prices.SQS_REQUEST),
        Line("SQS", f"{function}, receives", used.receives, prices.SQS_REQUEST),
        Line("SQS", f"{function}, deletes", used.receives, prices.SQS_REQUEST),
        *(
            Line("DynamoDB", f"{function}, write units of {table}", units, prices.DYNAMODB_WRITE_UNIT)
            for table, units in sorted(used.write_units.items())
        ),
        *(
            Line("DynamoDB", f"{function}, read units of {table}", units, prices.DYNAMODB_READ_UNIT)
            for table, units in sorted(used.read_units.items())
        ),
        Line("S3", f"{function}, puts and lists", puts, prices.S3_PUT),
        Line("S3", f"{function}, gets", gets, prices.S3_GET),
        Line("SNS", f"{function}, notices", requests("SNS"), prices.SNS_REQUEST),
        Line("CloudWatch", f"{function}, GB of logs", used.log_bytes / 1e9, prices.LOGS_GB),
    ]
