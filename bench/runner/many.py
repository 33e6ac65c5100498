"""A polite crawl of many origins: how long it takes beside what its delays add up to, and what memory it needs."""

import os
import pathlib
import resource
import shutil
import tempfile

from .measure import measure
from .places import RELEASE
from .server import Server

PAGES = 5
"""Of each origin. With its robots.txt it is asked for one more, so there are as many delays as pages."""


def show(origins, delay_s, server_binary):
    """Crawls this many origins, and prints what that took. Fails if a page is missing."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    program = os.environ.get("DRAGLINE_BIN") or RELEASE / "dragline"
    arguments = ["--hosts", str(origins), "--pages", str(PAGES), "--bytes", "1000", "--links", str(PAGES)]
    cores = os.sched_getaffinity(0)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dragline-bench-"))
    try:
        with Server(arguments, origins, max(cores), server_binary) as server:
            command = [program, "crawl", *server.urls, "--data", directory / "data", "--delay", f"{delay_s}s", "--allow-private", "--quiet", "--json"]
            usage = measure([command], {0}, cores)
            requests = server.counts()["requests"]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    bound_s = delay_s * PAGES
    print(
        f"{origins:,} origins of {PAGES} pages, a request each {delay_s} s: {usage.wall_s:.1f} s, of which their delays are {bound_s} s; "
        f"{usage.cpu_s:.1f} s CPU; {usage.peak_bytes / 2**20:.0f} MiB at most; {requests:,} requests"
    )
    if requests < origins * PAGES:
        raise SystemExit("bench: pages are missing")
    return 0
