"""Running programs and measuring them."""

import os
import subprocess
import threading
import time
from dataclasses import dataclass

from .places import pinned

LASTS_S_MAX = 3_600
"""Whatever takes longer is killed, which fails."""


@dataclass(frozen=True)
class Usage:
    """What some processes used together."""

    wall_s: float
    """From the start of the first to the end of the last."""
    cpu_s: float
    """In user and system mode."""
    peak_bytes: int
    """The sum of their largest resident sets."""


def measure(commands, codes, cores, environment=None):
    """Runs commands at the same time on these cores, without their output, and returns what they used.

    Raises SystemExit if one ends with another code.
    """
    began = time.monotonic()
    running = [
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=pinned(cores),
            env=environment,
        )
        for command in commands
    ]
    limit = threading.Timer(LASTS_S_MAX, lambda: [process.kill() for process in running])
    limit.start()
    cpu, peak, failed = 0.0, 0, []
    for command, process in zip(commands, running):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            failed.append(f"exit code {process.returncode}: {' '.join(map(str, command))}")
        cpu += usage.ru_utime + usage.ru_stime
        peak += usage.ru_maxrss * 1024
    wall = time.monotonic() - began
    limit.cancel()
    if failed:
        raise SystemExit(f"bench: {failed[0]}")
    return Usage(wall, cpu, peak)
