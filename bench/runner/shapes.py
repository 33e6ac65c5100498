"""What is crawled: the shapes of sites, as a table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A site, or several, to be crawled by each crawler in turn."""

    name: str
    """What it is called on the command line."""
    title: str
    pages: int
    """How many different pages a crawler has to get, of all origins together: all of generated sites, and most of real ones."""
    server: tuple[str, ...]
    """The server's arguments."""
    concurrency: int
    """How many requests Dragline makes to one origin at a time. The other crawlers are left as they are."""
    is_long: bool = False
    """Whether it takes minutes, so that it is run only if it is named, or all are."""
    directories: tuple[str, ...] = ()
    """The real sites, below the directory that scripts/fetch-sites prints."""


def generated(pages, size, links, *more):
    return ("--pages", str(pages), "--bytes", str(size), "--links", str(links), *more)


LARGE = (20_000, 50)
"""The page that crawls were always measured on: bytes and links."""
TINY = (1_000, 10)
"""A page so small that what a URL costs shows, rather than what its bytes cost."""

SHAPES = [
    Shape("10k", "one origin, 10,001 pages of 20 KB with 50 links", 10_001, generated(10_001, *LARGE), 64),
    Shape("origins", "ten origins of 1,001 pages of 20 KB with 50 links", 10_010, generated(1_001, *LARGE, "--origins", "10"), 16),
    Shape(
        "debian",
        "two real sites: Debian's python3.11-doc and postgresql-doc-15",
        1_690,
        (),
        16,
        directories=("python3.11/html", "postgresql-doc-15/html"),
    ),
    Shape("tls", "one origin, 10,001 pages of 20 KB in gzip over TLS and HTTP/2", 10_001, generated(10_001, *LARGE, "--tls", "--gzip"), 64),
    Shape("tiny-10k", "one origin, 10,001 pages of 1 KB with 10 links", 10_001, generated(10_001, *TINY), 64),
    Shape("100k", "one origin, 100,001 pages of 20 KB with 50 links", 100_001, generated(100_001, *LARGE), 64, is_long=True),
    Shape("tiny-200k", "one origin, 200,000 pages of 1 KB with 10 links", 200_000, generated(200_000, *TINY), 64, is_long=True),
    Shape("tiny-1m", "one origin, 1,000,001 pages of 1 KB with 10 links", 1_000_001, generated(1_000_001, *TINY), 64, is_long=True),
]


def chosen(names, with_long):
    """Returns the shapes of these names; without names those that are not long, or all."""
    by_name = {shape.name: shape for shape in SHAPES}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise SystemExit(f"bench: no such shape: {', '.join(unknown)}. hint: bench/run --list")
    if names:
        return [by_name[name] for name in names]
    return [shape for shape in SHAPES if with_long or not shape.is_long]
