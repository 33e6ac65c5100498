"""A page that its scripts make, in ReplayWeb.page once its site is gone: it is as the crawl's browser saw it, from the archive alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlencode

import player
import pytest
from chromium import PATIENCE_SECONDS
from conftest import Files, dragline
from selenium.webdriver.support.ui import WebDriverWait
from test_replay import LOOK

ENTRIES = ["Amber", "Black", "Crimson"]

SHELL = "<!doctype html><title>Loading</title><div id=app></div><script type=module src=/app.js></script>"

SCRIPT = """
import { show } from '/show.js';
const { entries } = await (await fetch('/api/entries?part=1', { headers: { Accept: 'application/json' } })).json();
// A player gives the same random numbers as there were in the crawl, or else this is not in the archive.
const { seen } = await (await fetch(`/api/seen?visitor=${Math.random()}`)).json();
document.title = `${entries.length} entries`;
show([...entries, seen]);
"""

MODULE = "export const show = texts => document.getElementById('app').append(...texts.map(text => Object.assign(document.createElement('p'), { textContent: text })));"

SHOWN = f"{LOOK} return [page.title, [...page.querySelectorAll('#app p')].map((each) => each.textContent)];"


class Application(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        answers = {
            "/": ("text/html", SHELL),
            "/app.js": ("text/javascript", SCRIPT),
            "/show.js": ("text/javascript", MODULE),
            "/api/entries": ("application/json", json.dumps({"entries": ENTRIES})),
            "/api/seen": ("application/json", json.dumps({"seen": self.path})),
        }
        media_type, text = answers.get(path, ("text/plain", ""))
        self.send_response(200 if path in answers else 404)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def rendered(tmp_path: Path) -> Iterator[str]:
    """The address in a player of the page of an application that is gone."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{site.server_port}/"
    dragline(tmp_path, "crawl", url, "--render", "auto", "--allow-private", "--delay", "0s", "--quiet")
    dragline(tmp_path, "archive", "-o", "site.wacz")
    site.shutdown()
    site.server_close()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, archive=tmp_path / "site.wacz", directory=player.directory()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = urlencode({"view": "replay", "url": url}, quote_via=quote)
    yield f"http://127.0.0.1:{server.server_port}/?source=/rendered/site.wacz#{page}"
    server.shutdown()


def test_a_rendered_page_replays_as_it_was_crawled(rendered, browser, tmp_path):
    browser.get(rendered)
    patience = WebDriverWait(browser, PATIENCE_SECONDS)
    title, texts = patience.until(
        lambda _: (shown := browser.execute_script(SHOWN)) and len(shown[1]) == len(ENTRIES) + 1 and shown, "the player does not show what the scripts made"
    )
    [document] = [json.loads(line) for line in dragline(tmp_path, "export", "--what", "documents").splitlines()]
    assert title == document["page"]["title"] == "3 entries"
    assert texts == document["page"]["text"].splitlines()
