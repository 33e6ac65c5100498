"""The crawlers, and how each is asked to get a whole site as fast as it can."""

import os
import pathlib
import shutil
from dataclasses import dataclass
from typing import Callable

from .places import RELEASE


@dataclass(frozen=True)
class Crawler:
    """A crawler in one form."""

    name: str
    commands: Callable
    """Returns the commands that crawl all origins of a shape, given the shape, their URLs and an empty directory. They run at the same time."""
    codes: frozenset
    """The exit codes of a crawl that came to its end."""
    shares_server_core: bool = False
    """Whether it may use the server's core besides its own."""
    attempts_max: int = 1
    """How often it may try, if it ends without having got all pages."""


def dragline(shape, urls, directory):
    insecure = ["--insecure"] if urls[0].startswith("https:") else []
    command = [RELEASE / "dragline", "crawl", *urls, "--data", directory / "data", "--delay", "0s", "--concurrency", str(shape.concurrency)]
    return [[*command, "--allow-private", "--quiet", "--json", *insecure]]


def spider(_shape, urls, _directory):
    # Without `--output-links`, version 2.53.9 ends before its crawl has begun. With it, it ends
    # when the crawl is over, or as soon as it prints more slowly than it finds, whatever is left.
    insecure = ["--accept-invalid-certs"] if urls[0].startswith("https:") else []
    program = os.environ.get("SPIDER_CLI") or "spider"
    return [[program, "--url", url, *insecure, "crawl", "--output-links"] for url in urls]


def wget(_shape, urls, directory):
    insecure = ["--no-check-certificate"] if urls[0].startswith("https:") else []
    command = ["wget", "--quiet", "--recursive", "--level=inf", "--execute=robots=off", f"--directory-prefix={directory}"]
    return [[*command, *insecure, url] for url in urls]


DRAGLINE = Crawler("dragline", dragline, frozenset({0, 1}))
DRAGLINE_TWO_CORES = Crawler("dragline, two cores", dragline, frozenset({0, 1}), shares_server_core=True)
SPIDER = Crawler("spider_cli", spider, frozenset({0}), attempts_max=20)
# It exits with 8 where a server said 404, as it does of what real sites link to and lack.
WGET = Crawler("wget", wget, frozenset({0, 8}))


def installed():
    """Returns the crawlers that are there, in the order in which they take turns."""
    there = [DRAGLINE]
    if shutil.which(os.environ.get("SPIDER_CLI") or "spider"):
        there.append(SPIDER)
    if shutil.which("wget"):
        there.append(WGET)
    return [*there, DRAGLINE_TWO_CORES]


def stored(directory):
    """Returns how many bytes a crawl left in its directory, by kind."""
    kinds = {}
    for file in pathlib.Path(directory).rglob("*"):
        if file.is_file() and not file.is_symlink():
            kind = "WARC" if file.name.endswith(".warc.gz") else "database" if ".db" in file.name else "files"
            kinds[kind] = kinds.get(kind, 0) + file.stat().st_size
    return {kind: size for kind, size in kinds.items() if size}
