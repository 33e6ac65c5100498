"""Whole crawls of a shape: every crawler in turn, round after round."""

import pathlib
import shutil
import tempfile
from dataclasses import asdict, dataclass

from .crawlers import stored
from .measure import measure
from .places import cores, real_sites
from .server import Server


@dataclass(frozen=True)
class Crawl:
    """One crawl."""

    crawler: str
    round: int
    pages: int
    """How many different pages the server sent."""
    requests: int
    """How many requests it answered."""
    wall_s: float
    cpu_s: float
    peak_bytes: int
    stored: dict
    """Bytes by kind."""
    server_busy: float
    """The server's CPU time by the wall time: near 1 it is the server that was measured."""
    is_whole: bool
    """Whether every page was got."""
    attempts: int
    """How often it was tried, until every page was got. The other figures are those of the last attempt."""

    @property
    def pages_per_s(self):
        return self.pages / self.wall_s

    @property
    def cpu_ms_per_page(self):
        return self.cpu_s * 1000 / max(self.pages, 1)


def rounds(shape, crawlers, count, server_binary, tell):
    """Crawls a shape with each crawler in turn, this many times, and returns the crawls. Each is told as it ends."""
    core, server_core = cores()
    arguments = list(shape.server)
    for directory in shape.directories:
        arguments += ["--dir", real_sites() / directory]
    origins = len(shape.directories) or int(dict(zip(shape.server, shape.server[1:])).get("--origins", 1))
    crawls = []
    with Server(arguments, origins, server_core, server_binary) as server:
        for number in range(1, count + 1):
            for crawler in crawlers:
                used = {core, server_core} if crawler.shares_server_core else {core}
                for attempt in range(1, crawler.attempts_max + 1):
                    last = crawl(shape, crawler, number, attempt, server, used)
                    if last.is_whole:
                        break
                crawls.append(last)
                tell(last)
    return crawls


def crawl(shape, crawler, number, attempt, server, used):
    """Crawls a shape once, into a directory of its own."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dragline-bench-"))
    try:
        server.counts()
        busy = server.cpu_s()
        usage = measure(crawler.commands(shape, server.urls, directory), crawler.codes, used)
        busy = server.cpu_s() - busy
        counts = server.counts()
        return Crawl(
            crawler=crawler.name,
            round=number,
            pages=counts["pages"],
            requests=counts["requests"],
            stored=stored(directory),
            server_busy=busy / usage.wall_s,
            is_whole=counts["pages"] >= shape.pages,
            attempts=attempt,
            **asdict(usage),
        )
    finally:
        shutil.rmtree(directory, ignore_errors=True)
