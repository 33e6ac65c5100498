"""The cost of the same pages for a crawler without turns and segments: a message per URL, an object per page, a conditional put per link."""

from __future__ import annotations

from bill import prices
from bill.bill import Line

CRAWL_AND_PARSE = 2
"""Messages per page: one to fetch it, one to parse it. Each is an invocation."""

SEND_RECEIVE_DELETE = 3


def lines(pages: int, links_a_page: int, delay_seconds: float, memory_gb: float) -> list[Line]:
    """Its bill. Each invocation waits only for its own delay, although many such workers could not be polite."""
    seconds = pages * delay_seconds * memory_gb
    messages = pages * CRAWL_AND_PARSE
    return [
        Line("Lambda", "waiting, GB-s", seconds, prices.LAMBDA_GB_SECOND),
        Line("Lambda", "requests", messages, prices.LAMBDA_REQUEST),
        Line("SQS", "sends, receives, deletes", messages * SEND_RECEIVE_DELETE, prices.SQS_REQUEST),
        Line("DynamoDB", "a conditional put a link", pages * links_a_page, prices.DYNAMODB_WRITE_UNIT),
        Line("DynamoDB", "an outcome a page", pages, prices.DYNAMODB_WRITE_UNIT),
        Line("S3", "an object a page, put", pages, prices.S3_PUT),
        Line("S3", "an object a page, got", pages, prices.S3_GET),
    ]
