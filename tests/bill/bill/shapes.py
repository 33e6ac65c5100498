"""The crawls that are measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A number of similar origins, each with this many pages."""

    name: str
    origins: int
    pages: int
    links: int
    """Distinct links on every page."""
    delay_seconds: float
    blob_bytes: int = 0
    """The size of each page but the first; such pages are noise instead of HTML."""
    words: int = 0
    """How many different words the pages have, of which some are frequent and most are rare; the same few if 0."""
    searches: int = 0
    """How many searches follow."""
    crawls: int = 1
    """How often it is crawled, unchanged; the last time is measured."""

    @property
    def pages_of_all(self) -> int:
        """Pages of the whole crawl."""
        return self.origins * self.pages

    def links_of(self, page: int) -> list[int]:
        """The pages that a page links to. With one link per page they form a chain; else half of the links span a tree, and the rest lead anywhere."""
        if self.links == 1:
            return [page + 1] if page + 1 < self.pages else []
        branches = self.links // 2
        tree = range(page * branches + 1, min(page * branches + 1 + branches, self.pages))
        found = dict.fromkeys(tree)
        step = 0
        while len(found) < min(self.links, self.pages):
            found.setdefault((page * 7919 + step * 104_729 + 1) % self.pages)
            step += 1
        return list(found)


def many_origins(origins: int, delay_seconds: float) -> Shape:
    """Small sites: 100 pages with 50 distinct links each."""
    return Shape(f"{origins} origins of 100 pages, {delay_seconds:g} s", origins, 100, 50, delay_seconds)


def again(origins: int, delay_seconds: float) -> Shape:
    """The same small sites, which were crawled before and have not changed."""
    return Shape(f"{origins} origins of 100 pages again, {delay_seconds:g} s", origins, 100, 50, delay_seconds, crawls=2)


def published() -> Shape:
    """A large site with the words of a language, of which the publication is measured."""
    return Shape("one origin of 2,000 pages with texts, published, 0.05 s", 1, 2_000, 50, 0.05, words=30_000)


def one_origin(delay_seconds: float) -> Shape:
    """A large site."""
    return Shape(f"one origin of 5,000 pages, {delay_seconds:g} s", 1, 5_000, 50, delay_seconds)


def chain(delay_seconds: float) -> Shape:
    """A site whose pages each link only to the next one, so that every page is a segment."""
    return Shape(f"a chain of 200 pages, {delay_seconds:g} s", 1, 200, 1, delay_seconds)


def searched() -> Shape:
    """A site with the words of a language, and searches of it."""
    return Shape("one origin of 2,000 pages with texts, 0.05 s", 1, 2_000, 50, 0.05, words=30_000, searches=1_000)


def blobs(delay_seconds: float) -> Shape:
    """Large incompressible bodies everywhere, which a crawler's memory must suffice for."""
    return Shape(f"20 origins of 10 blobs of 10 MB, {delay_seconds:g} s", 20, 11, 50, delay_seconds, 10_000_000)
