"""A page that its scripts make, in players once its site is gone: it is as the crawl's browser saw it, from the archive alone."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
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

ROOT = Path(__file__).parents[2]

ENTRIES = ["Amber", "Black", "Crimson"]

SHELL = "<!doctype html><title>Loading</title><div id=app></div><script {script}></script>"

SCRIPT = """
const { entries } = await (await fetch('/api/entries?part=1', { headers: { Accept: 'application/json' } })).json();
// A player gives the same random numbers as there were in the crawl, or else this is not in the archive.
const { seen } = await (await fetch(`/api/seen?visitor=${Math.random()}`)).json();
document.title = `${entries.length} entries`;
show([...entries, seen]);
"""

SHOW = "const show = texts => document.getElementById('app').append(...texts.map(text => Object.assign(document.createElement('p'), { textContent: text })));"

FILES = {
    "/": ("text/html", SHELL.format(script="type=module src=/app.js")),
    "/app.js": ("text/javascript", f"import {{ show }} from '/show.js';{SCRIPT}"),
    "/show.js": ("text/javascript", f"export {SHOW}"),
    # pywb does not rewrite modules as such.
    "/classic": ("text/html", SHELL.format(script="src=/classic.js")),
    "/classic.js": ("text/javascript", f"(async () => {{ {SHOW} {SCRIPT} }})()"),
    "/api/entries": ("application/json", json.dumps({"entries": ENTRIES})),
}

TEXTS = "[page.title, [...page.querySelectorAll('#app p')].map((each) => each.textContent)]"
SHOWN = f"{LOOK} return {TEXTS};"
SHOWN_ALONE = f"const page = document; return {TEXTS};"


class Application(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        files = {**FILES, "/api/seen": ("application/json", json.dumps({"seen": self.path}))}
        media_type, text = files.get(path, ("text/plain", ""))
        self.send_response(200 if path in files else 404)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The URL of the first page of an application that is gone, and the folder with its crawl and `site.wacz`."""
    folder = tmp_path_factory.mktemp("rendered")
    site = ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{site.server_port}/"
    dragline(folder, "crawl", url, f"{url}classic", "--render", "auto", "--allow-private", "--delay", "0s", "--quiet")
    dragline(folder, "archive", "-o", "site.wacz")
    site.shutdown()
    site.server_close()
    return url, folder


@pytest.fixture
def in_replayweb_page(archived: tuple[str, Path]) -> Iterator[str]:
    """The page's address in ReplayWeb.page."""
    url, folder = archived
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, archive=folder / "site.wacz", directory=player.directory()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = urlencode({"view": "replay", "url": url}, quote_via=quote)
    yield f"http://127.0.0.1:{server.server_port}/?source=/rendered/site.wacz#{page}"
    server.shutdown()


@pytest.fixture
def in_pywb(archived: tuple[str, Path], tmp_path: Path) -> Iterator[str]:
    """The page's address in pywb."""
    url, folder = archived
    programs = Path(subprocess.check_output(["scripts/environment", "readers", "tests/requirements.txt"], cwd=ROOT, text=True).strip(), "bin")
    for arguments in (["init", "site"], ["add", "--unpack-wacz", "site", folder / "site.wacz"]):
        subprocess.run([programs / "wb-manager", *arguments], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "config.yaml").write_text("framed_replay: false\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([programs / "wayback", "-b", "127.0.0.1", "-p", str(port)], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        while server.poll() is None:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/site/{url}classic"
        server.terminate()


@pytest.mark.parametrize(("address", "script", "path"), [("in_replayweb_page", SHOWN, ""), ("in_pywb", SHOWN_ALONE, "classic")])
def test_a_rendered_page_replays_as_it_was_crawled(request, archived, browser, address, script, path):
    url, folder = archived
    browser.get(request.getfixturevalue(address))
    patience = WebDriverWait(browser, PATIENCE_SECONDS)
    title, texts = patience.until(
        lambda _: (shown := browser.execute_script(script)) and len(shown[1]) == len(ENTRIES) + 1 and shown, "the player does not show what the scripts made"
    )
    documents = map(json.loads, dragline(folder, "export", "--what", "documents").splitlines())
    [page] = [document["page"] for document in documents if document["url"] == url + path]
    assert title == page["title"] == "3 entries"
    assert texts == page["text"].splitlines()
