"""A small site, `dragline serve`, and what `scripts/clients` made."""

import os
import pathlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAGLINE = pathlib.Path(os.environ.get("DRAGLINE_BIN", ROOT / "target/debug/dragline")).absolute()
CLIENTS = ROOT / "target/clients"
PATIENCE_SECONDS = 120
"""Longer than anything takes on a busy machine; only failing tests wait for it."""

sys.path.insert(0, str(CLIENTS / "python"))

PRODUCT = '{"@context": "https://schema.org", "@type": "Product", "name": "Chair", "offers": {"@type": "Offer", "price": "19.00", "priceCurrency": "EUR"}}'
SITE = {
    "/": "<title>Start</title><main><h1>Start</h1><p>How to turn a winch.</p><a href=/chair>Chair</a> <a href=/gone>Gone</a></main>",
    "/chair": f'<title>Chair</title><script type="application/ld+json">{PRODUCT}</script><main><h1>Chair</h1><p>It has four legs.</p></main>',
}


class Site(BaseHTTPRequestHandler):
    """Two pages, one with an item, and a broken link."""

    def do_GET(self):
        page = SITE.get(self.path)
        data = f"<!doctype html>{page or '<title>Gone</title>'}".encode()
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site():
    """The URL of its first page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture
def serve():
    """Starts `dragline serve` over a directory, and returns its URL."""
    running = []

    def start(directory):
        command = [DRAGLINE, "serve", "--listen", "127.0.0.1:0", "--allow-private", "--keep-free", "0B", "--data", directory]
        running.append(server := subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        line = server.stderr.readline()
        assert "http://" in line, f"{line}{server.stderr.read()}"
        # Nobody reads what else it says, and a full pipe would stop it.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        return f"http://{line.partition('http://')[2].partition('/')[0]}"

    yield start
    for server in running:
        server.terminate()
    for server in running:
        assert server.wait(PATIENCE_SECONDS) == 0, "it does not end as it should"
