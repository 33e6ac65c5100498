"""Running a program with all processes that it starts, and measuring them together."""

import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

from .measure import LASTS_S_MAX

PR_SET_CHILD_SUBREAPER = 36

SAMPLE_S = 0.5

GONE_S = 2
"""How long after a program's end its processes may take to end."""


@dataclass(frozen=True)
class TreeUsage:
    """What a program and its processes used."""

    wall_s: float
    cpu_s: float
    """In user and system mode, of all processes."""
    own_cpu_s: float
    """Of those that are no browser's, until the last sample."""
    peak_bytes: int
    """The most that all of them held in a sample, with what they share counted once (`Pss`)."""
    samples: tuple
    """Of that memory: the time since the start, and bytes."""
    left: int
    """How many of them outlived the program by more than a moment."""


def measure_tree(command, codes, directory, environment=None):
    """Runs a program in a directory, without its output. Raises SystemExit if it ends with another code."""
    # Whoever loses its parent becomes a child of this process, so that its time is counted here.
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise SystemExit(f"bench: orphans cannot be waited for: {os.strerror(ctypes.get_errno())}")
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(pathlib.Path(directory) / "said", "w+b") as said:
        process = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        limit = threading.Timer(LASTS_S_MAX, process.kill)
        limit.start()
        samples, own_cpu_s = [], {}
        while process.poll() is None:
            running = descendants()
            own_cpu_s |= {one: cpu_of(one) for one in running if not is_browser(one)}
            samples.append((time.monotonic() - began, sum(map(memory_of, running))))
            try:
                process.wait(SAMPLE_S)
            except subprocess.TimeoutExpired:
                pass
        wall_s = time.monotonic() - began
        limit.cancel()
        left = end_orphans()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode not in codes:
            said.seek(0)
            raise SystemExit(f"bench: exit code {process.returncode}: {' '.join(map(str, command))}\n{said.read().decode(errors='replace')[-2000:]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return TreeUsage(wall_s, cpu_s, sum(own_cpu_s.values()), max(bytes for _, bytes in samples), tuple(samples), left)


def end_orphans():
    """Waits for what is left of a tree, and ends what does not end by itself. Returns how many that were."""
    limit = time.monotonic() + GONE_S
    while reap() and time.monotonic() < limit:
        time.sleep(0.02)
    left = reap()
    for process in left:
        os.kill(process, signal.SIGKILL)
    while reap():
        time.sleep(0.02)
    return len(left)


def reap():
    """Takes notice of the descendants that have ended. Returns those that live."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return descendants()


def descendants():
    """The processes that this one and its children have started."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name in brackets come state and parent.
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except OSError:
            continue
    found = list(children.get(os.getpid(), []))
    for process in found:
        found += children.get(process, [])
    return found


def memory_of(process):
    """What a process holds, and its part of what it shares, in bytes; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as rollup:
            return next(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def is_browser(process):
    """Whether a process is a browser's, or has ended."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as command:
            name = command.read().partition(b"\0")[0]
            # One that has ended and is not waited for yet has no command any more.
            return not name or b"chromium" in name
    except OSError:
        return True


def cpu_of(process):
    """The time that a process itself has used; 0 if it has just ended."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
