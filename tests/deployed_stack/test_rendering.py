"""Pages that need JavaScript, rendered by a function with the browser that Lambda would have."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Iterator

import pytest

from sites import Page, Site
from stack.deployed import SWEEP_SECONDS, Stack, eventually

CRAWL = "app"

SHELL = Page(b"<!doctype html><title>App</title><div id=root></div><script type=module src=/app.js></script>")

APP = Page(
    b"""const page = await (await fetch('/api' + location.pathname)).json();
document.title = page.title;
const show = (tag, fields, into = document.body) => into.append(Object.assign(document.createElement(tag), fields));
show('h1', {textContent: page.title});
show('p', {textContent: page.text});
for (const link of page.links) show('a', {href: link, textContent: link});
fetch('/private/count').catch(() => {});
""",
    "text/javascript",
)

PAGES = {
    "/": {"title": "Machines", "text": "All machines of the pit.", "links": ["/one", "/two", "/loop"]},
    "/one": {"title": "The first machine", "text": "It digs since 1961.", "links": ["/"]},
    "/two": {"title": "The second machine", "text": "It digs since 1962.", "links": ["/", "/three"]},
    "/three": {"title": "The third machine", "text": "It rests.", "links": []},
}

LOOP = Page(b"<!doctype html><title>Loop</title><div id=root></div><script>for (;;); // until somebody stops it, which no page should need</script>")


def answer(path: str) -> Page | None:
    if path.startswith("/api/"):
        page = PAGES.get(path.removeprefix("/api"))
        return page and Page(json.dumps(page).encode(), "application/json")
    if path == "/robots.txt":
        return Page(b"User-agent: *\nDisallow: /private/\n", "text/plain")
    return SHELL if path in PAGES else {"/app.js": APP, "/loop": LOOP}.get(path)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(answer) as site:
        yield site


@pytest.fixture(scope="module")
def crawled(rendering: Stack, site: Site) -> dict[str, dict[str, Any]]:
    """The documents of the site's pages, by path, that the stack made."""
    render = {"when": "auto", "timeout": "5s"}
    rendering.command({"definition": {"name": CRAWL, "seeds": [f"{site.url}/"], "render": render, "politeness": {"delay": "0s"}}})
    eventually("the end of the crawl", lambda: rendering.is_over_after_a_sweep(CRAWL), pause_seconds=SWEEP_SECONDS)
    packed = [body for _, body in rendering.objects(f"documents/{CRAWL}/1/")]
    made = [json.loads(line) for part in packed for line in gzip.decompress(part).splitlines()]
    return {document["url"].removeprefix(site.url): document for document in made}


def test_documents_are_of_the_pages_that_scripts_made(crawled: dict[str, dict[str, Any]], site: Site) -> None:
    for path, page in PAGES.items():
        made = crawled[path]
        assert made["page"]["title"] == page["title"], path
        assert page["text"] in made["page"]["text"], path
        followed = [link["target"] for link in made["links"] if link["kind"] == "a"]
        assert followed == [f"{site.url}{link}" for link in page["links"]], path
        assert made["content"]["rendering"]["browser"].startswith("HeadlessChrome/153."), "the layer's own browser"


def test_a_page_that_never_ends_costs_itself_alone(crawled: dict[str, dict[str, Any]]) -> None:
    assert crawled["/loop"]["page"]["title"] == "Loop"
    assert crawled["/loop"]["content"]["rendering"]["ended"] == "stopped"


def test_what_pages_ask_for_obeys_robots_txt(crawled: dict[str, dict[str, Any]], site: Site) -> None:
    asked = site.paths()
    assert [path for path in asked if path.startswith("/private/")] == []
    assert asked.count("/app.js") <= 2, "pages share scripts"
    assert all(asked.count(f"/api{path}") == 1 for path in PAGES)


@pytest.mark.usefixtures("crawled")
def test_tickets_of_the_crawl_are_worked_by_the_renderer_alone(rendering: Stack) -> None:
    assert rendering.waiting("RenderTurns") == rendering.waiting("Turns") == 0
    assert "turn ended" in rendering.log("Renderer")
    assert "turn ended" not in rendering.log("Crawler")


@pytest.mark.usefixtures("crawled")
def test_no_browser_is_left() -> None:
    left = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if command[0].endswith(b"/chromium/chromium"):
            left.append(command[0])
    assert left == []

