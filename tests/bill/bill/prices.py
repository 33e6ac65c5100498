"""AWS's list prices in us-east-1, in dollars, without any free tier; for functions on arm64."""

MILLION = 1_000_000

LAMBDA_GB_SECOND = 0.0000133334
LAMBDA_REQUEST = 0.20 / MILLION
SQS_REQUEST = 0.40 / MILLION
"""Of a standard queue, for each 64 KB of payload begun."""
DYNAMODB_WRITE_UNIT = 0.625 / MILLION
DYNAMODB_READ_UNIT = 0.125 / MILLION
S3_PUT = 5.00 / MILLION
"""Puts and lists."""
S3_GET = 0.40 / MILLION
SNS_REQUEST = 0.50 / MILLION
LOGS_GB = 0.50
"""CloudWatch Logs, taken in."""
METRIC_MONTH = 0.30
ALARM_MONTH = 0.10

MONTH_MINUTES = 30 * 24 * 60
"""A month, as far as standing costs go."""
