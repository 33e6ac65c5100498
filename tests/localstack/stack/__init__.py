"""What `scripts/localstack` does: sets up an emulator of AWS, starts it, stops it, runs commands against it.

It uses the standard library alone, and runs on any Python that Debian 12 or later has: `python` finds the newer one that
LocalStack itself wants.
"""
