"""What the pages of an application are, according to Playwright and Chromium."""

from __future__ import annotations

import asyncio
import urllib.parse
import urllib.request
import urllib.robotparser
from pathlib import Path
from typing import TypedDict

from playwright.async_api import Browser, Route, async_playwright

CHROMIUM = Path("/usr/lib/chromium/chromium-headless-shell")
"""Debian's, which is not fetched by Playwright."""

FLAGS = ["--disable-quic", "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
"""It contacts nobody but this machine."""

WINDOW = {"width": 1280, "height": 4096}
"""As high as the crawler's, so that neither of them has to scroll."""

TABS = 4
"""Pages that are open at a time."""

QUIET_MS = 400
"""A page is done once nothing has changed and nothing was asked for in this time."""

PATIENCE_SECONDS = 120
"""Longer than a page takes on a busy machine; only failing tests wait for it."""

READ = """() => ({
  title: document.title,
  text: document.body.innerText,
  links: [...document.querySelectorAll('a[href]')].map(link => [link.href, link.relList.contains('nofollow')]),
  robots: document.querySelector('meta[name=robots]')?.content ?? null,
  description: document.querySelector('meta[name=description]')?.content ?? null,
  canonical: document.querySelector('link[rel=canonical]')?.href ?? null,
})"""


class Page(TypedDict):
    """A page, once its scripts have done their work."""

    title: str
    text: str
    """What is visible."""
    links: set[str]
    """Where its links lead, as absolute URLs without fragments."""
    unfollowed: set[str]
    """Those of them that it asks not to follow, wherever it has them."""
    robots: str | None
    """What it asks of crawlers by its meta element."""
    description: str | None
    canonical: str | None


Truth = dict[str, Page]
"""All pages of an application, by URL."""


def crawl(home: str) -> Truth:
    """Visits all pages that links lead to from a home page, at its origin, breadth first, as far as robots.txt and the pages allow."""
    return asyncio.run(asyncio.wait_for(_crawl(home), PATIENCE_SECONDS * 4))


def _rules(home: str) -> urllib.robotparser.RobotFileParser:
    rules = urllib.robotparser.RobotFileParser()
    with urllib.request.urlopen(urllib.parse.urljoin(home, "/robots.txt"), timeout=PATIENCE_SECONDS) as answer:
        rules.parse(answer.read().decode().splitlines())
    return rules


async def _crawl(home: str) -> Truth:
    rules, truth, level = _rules(home), Truth(), [home]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tabs = asyncio.Semaphore(TABS)
        while level:
            truth |= zip(level, await asyncio.gather(*(_visit(browser, tabs, rules, url) for url in level)), strict=True)
            found = {link for url in level if not _asks(truth[url], "nofollow") for link in truth[url]["links"] - truth[url]["unfollowed"]}
            level = sorted(link for link in found - truth.keys() if link.startswith(home) and rules.can_fetch("*", link))
        await browser.close()
    return truth


def _asks(page: Page, directive: str) -> bool:
    return directive in {word.strip().lower() for word in (page["robots"] or "").split(",")}


async def _visit(browser: Browser, tabs: asyncio.Semaphore, rules: urllib.robotparser.RobotFileParser, url: str) -> Page:
    async with tabs, asyncio.timeout(PATIENCE_SECONDS):
        # Each in a context of its own: what one page stores must not show in another.
        page = await browser.new_page(viewport=WINDOW)
        page.set_default_timeout(PATIENCE_SECONDS * 1000)
        asked: list[str] = []

        async def obey(route: Route) -> None:
            asked.append(route.request.url)
            await (route.continue_() if rules.can_fetch("*", route.request.url) else route.abort())

        await page.route("**/*", obey)
        await page.goto(url, wait_until="networkidle")
        # The network may be idle before an observer has seen what came: nothing may change, either.
        before = None
        while before != (now := (len(asked), await page.content())):
            before = now
            await page.wait_for_timeout(QUIET_MS)
        found = await page.evaluate(READ)
        await page.context.close()
    links = [(urllib.parse.urldefrag(link).url, is_unfollowed) for link, is_unfollowed in found["links"] if link.startswith(("http:", "https:"))]
    followed = {link for link, is_unfollowed in links if not is_unfollowed}
    return Page(**{**found, "links": {link for link, _ in links}}, unfollowed={link for link, _ in links} - followed)
